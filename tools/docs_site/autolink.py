"""Sphinx's part of the reference: names in code are links to their entries, and which types have none.

A page writes `gt.vjp` as code, which a code host shows; in the site it is a link to the entry of that name.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

NAME = re.compile(r"(?:gt|gradtape)\.([A-Za-z_][\w.]*)(\(\))?")

SHORT = 28
"""The length up to which code in a sentence stays on one line."""

NOT_DOCUMENTED = [
    # types of Python, NumPy, SciPy and others, whose documentation an offline build cannot ask
    (r"py:.*", r"(builtins|collections|contextvars|numbers|os|pathlib|types|typing|warnings)\..*"),
    (r"py:.*", r"(np|npt|numpy|scipy|dask|distributed|mpi4py|sparse|torch|ctypes)\..*"),
    (
        r"py:.*",
        r"(Any|Callable|Iterable|Iterator|Sequence|Mapping|MutableMapping|Collection|Generator|Hashable|Literal|Self|"
        r"TextIO|SupportsIndex|EllipsisType|ContextManager|AbstractContextManager|FrameType|CodeType|TracebackType|"
        r"ContextVar|PathLike|Path|NoReturn|ClassVar|Protocol|ABC|ABCMeta|Enum|NamedTuple|Union|Optional|T|F|K|V)",
    ),
    # types of the engine that signatures of `gt.extend` name and that its users only hand on
    (
        r"py:.*",
        r"(_Recorder|ArrayTemplate|Batch|BatchLevel|Collector|Extra|Facts|Free|Instruction|Lock|NanOrigins|Observer|OperandSpec|Program|"
        r"Recording|Residual|RuleArguments|SavePlan|SourceLocation|Spec|TracedAttempts|TracedCallback|Withheld)",
    ),
    (
        r"py:.*",
        r"(bool|bytes|complex|dict|float|frozenset|int|list|object|optional|property|range|set|slice|str|tuple|type|"
        r"None|[A-Z]\w*(Error|Exception|Warning|Interrupt))",
    ),
]


class LinkNames(SphinxPostTransform):  # type: ignore[misc]  # Sphinx is in another environment
    """Make a link of each `gt.name` in the text whose entry is in the reference, outside of headings and links."""

    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        objects = self.env.domains["py"].data["objects"]
        for literal in list(self.document.findall(nodes.literal)):
            if len(literal.astext()) <= SHORT:
                literal["classes"].append("short")
            found = NAME.fullmatch(literal.astext())
            name = found and f"gradtape.{found[1]}"
            if not name or name not in objects or self._is_linked(literal):
                continue
            entry = objects[name]
            if entry.docname == self.env.docname and self._within(literal, entry.node_id):
                continue
            link = nodes.reference("", "", internal=True, classes=["autolink"])
            link["refuri"] = self.app.builder.get_relative_uri(self.env.docname, entry.docname) + f"#{entry.node_id}"
            literal.replace_self(link)
            link += literal

    @staticmethod
    def _is_linked(node: nodes.Node) -> bool:
        parent = node.parent
        while parent is not None:
            if isinstance(parent, nodes.reference | addnodes.pending_xref | nodes.title | addnodes.desc_signature):
                return True
            parent = parent.parent
        return False

    @staticmethod
    def _within(node: nodes.Node, node_id: str) -> bool:
        """Whether the name stands in its own entry."""
        parent = node.parent
        while parent is not None:
            if isinstance(parent, addnodes.desc) and any(node_id in part.get("ids", ()) for part in parent):
                return True
            parent = parent.parent
        return False


def setup(app: Sphinx) -> None:
    """Called by docs/conf.py."""
    app.add_post_transform(LinkNames)
