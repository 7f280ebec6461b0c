"""The API reference: a page of Markdown for each group of names, written from signatures and docstrings.

A docstring is Markdown already, but for its examples, which are doctests without a fence, and for characters that mean
something in Markdown (`*`, `_`, `<`) where they stand in formulas.
"""

from __future__ import annotations

import inspect
import re
from types import FunctionType
from typing import Any

from gradtape.extend import Op
from gradtape.nn import Module
from gradtape.stats.family import Continuous, Discrete, Distribution
from tools.docs_site import assemble, names, parameters, signatures, types
from tools.docs_site.names import Group, doc_of

ROUTINES = (FunctionType, classmethod, staticmethod, property)
CODE = re.compile(r"(`+)(?:.|\n)*?\1")
DIRECTIVE_OF_KIND = {property: "property", classmethod: "classmethod", staticmethod: "staticmethod"}


# -- docstrings


def markdown(doc: str) -> str:
    """A docstring as Markdown: examples in fences, formulas with their characters as they are."""
    parts: list[str] = []
    lines = doc.splitlines()
    index = 0
    while index < len(lines):
        if lines[index].lstrip().startswith(">>> "):
            stop = index
            while stop < len(lines) and lines[stop].strip():
                stop += 1
            indent = len(lines[index]) - len(lines[index].lstrip())
            example = "\n".join(line[indent:] for line in lines[index:stop])
            parts.append(f"\n```pycon\n{example}\n```\n")
            index = stop
            continue
        stop = index + 1
        while stop < len(lines) and not lines[stop].lstrip().startswith(">>> "):
            stop += 1
        parts.append(_escaped("\n".join(lines[index:stop])))
        index = stop
    return "\n".join(parts).strip()


def _escaped(text: str) -> str:
    """`text` with what would be Markdown in a formula escaped; code and the bullets of lists stay."""
    parts, last = [], 0
    for code in CODE.finditer(text):
        parts += [_escape_plain(text[last : code.start()]), code[0]]
        last = code.end()
    return "".join([*parts, _escape_plain(text[last:])])


def _escape_plain(text: str) -> str:
    text = re.sub(r"([*_<\[\]])", r"\\\1", text)
    text = re.sub(r"^(\s*)\\\*(?= )", r"\1*", text, flags=re.MULTILINE)
    return re.sub(r"^(\s*)([#>])", r"\1\\\2", text, flags=re.MULTILINE)


def about(doc: str) -> str:
    """The first paragraph of a docstring, as Markdown."""
    return _escaped(doc.partition("\n\n")[0])


# -- entries


def entry(qualified: str) -> str:
    """The entry of a public name: its signature, what its docstring says, its parameters, shapes and members."""
    value = names.value_of(qualified)
    name = names.full_name(qualified)
    if qualified.startswith("extend.") and inspect.isclass(value) and _public(value) != name:
        return _directive("data", name, [], f"The same as {{py:obj}}`{_public(value)}`.", ticks=5)
    if isinstance(value, Distribution):
        return _distribution(name, value)
    if inspect.isclass(value):
        return _class(name, value)
    signature = signatures.signature_of(value) if callable(value) else None
    if signature is None:
        return _directive("data", name, [], _doc(qualified, value), ticks=5)
    body = [_doc(qualified, value), *parameters.sections(value, signature)]
    return _directive("function", f"{name}{signatures.shown(signature)}", [], "\n\n".join(body), ticks=5)


def _doc(qualified: str, value: Any) -> str:
    """The docstring of a name as Markdown; for one of `gt.extend`, what the page of that says if it has no own."""
    own = doc_of(value)
    if qualified.startswith("extend."):
        listed = names.description_in_extend(qualified.removeprefix("extend."))
        if not own or own == doc_of(type(value)):
            own = f"{listed[:1].upper()}{listed[1:]}." if listed else own
    return markdown(own)


def _directive(kind: str, head: str, options: list[str], body: str, ticks: int) -> str:
    fence = "`" * ticks
    return "\n".join([f"{fence}{{py:{kind}}} {head}", *options, "", body, fence])


def _class(name: str, value: type) -> str:
    signature = signatures.signature_of(value)
    head = name if signature is None else f"{name}{signatures.shown(signature)}"
    kind = "exception" if issubclass(value, BaseException) else "class"
    bases = [f"{{py:obj}}`{_public(base)}`" for base in value.__bases__ if _public(base)]
    body = [f"Bases: {', '.join(bases)}"] if bases else []
    body.append(markdown(doc_of(value)))
    if signature is not None:
        body += parameters.sections(value, signature)
    body += [_member(member, found) for member, found in members(value).items()]
    return _directive(kind, head, [], "\n\n".join(body), ticks=7)


def _public(base: type) -> str:
    """The full name under which a base class is documented; empty if it is not."""
    name = signatures.full_names().get(base.__name__, "")
    return name if "." in name and names.value_of(name.removeprefix("gradtape.")) is base else ""


def members(value: type) -> dict[str, Any]:
    """The public methods and properties that a class has of its own, or from a base that has no entry."""
    found: dict[str, Any] = {}
    for kind in value.__mro__:
        if not kind.__module__.startswith("gradtape") or (kind is not value and _public(kind)):
            continue
        for member, defined in vars(kind).items():
            is_documented = isinstance(defined, ROUTINES) or inspect.isdatadescriptor(defined)
            if not member.startswith("_") and is_documented and doc_of(getattr(value, member)):
                found.setdefault(member, defined)
    return found


def _member(name: str, defined: Any) -> str:
    function = defined.__func__ if isinstance(defined, classmethod | staticmethod) else defined
    if isinstance(defined, property) or not callable(function):
        getter = getattr(defined, "fget", None)
        returns = getattr(getter, "__annotations__", {}).get("return")
        options = [f":type: {signatures.type_shown(returns)}"] if returns else []
        return _directive("property", name, options, markdown(doc_of(defined)), ticks=5)
    signature = inspect.signature(function)
    head = f"{name}{signatures.shown(signature, skip_first=not isinstance(defined, staticmethod))}"
    options = [f":{DIRECTIVE_OF_KIND[type(defined)]}:"] if type(defined) in DIRECTIVE_OF_KIND else []
    return _directive("method", head, options, markdown(doc_of(function)), ticks=5)


MOMENTS = ("mean", "var", "std", "entropy", "median")
METHODS_OF_DISTRIBUTIONS = (
    *("logpdf", "pdf", "logpmf", "pmf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf", "rvs"),
    *MOMENTS,
)


def _distribution(name: str, value: Distribution) -> str:
    """A distribution with the calls of its methods, whose arguments its docstring has."""
    shapes = doc_of(value).partition("Arguments: (")[2].partition(")")[0].partition(", ")[2]
    calls = []
    for method in METHODS_OF_DISTRIBUTIONS:
        if not callable(getattr(value, method, None)):
            continue
        arguments = f"{'q' if method in ('ppf', 'isf') else value.first}, {shapes}"
        if method == "rvs":
            arguments = f"{shapes}, size=None, random_state=None"
        if method in MOMENTS:
            arguments = shapes
        calls.append(f"{name.replace('gradtape', 'gt', 1)}.{method}({arguments})")
    listed = "\n".join(["```python", *calls, "```"])
    return _directive("data", name, [], f"{markdown(doc_of(value))}\n\n{listed}", ticks=5)


def methods_of_distributions() -> str:
    """A table of what the methods of distributions compute."""
    rows = []
    for method in METHODS_OF_DISTRIBUTIONS:
        owner = next(each for each in (Continuous, Discrete) if callable(getattr(each, method, None)))
        rows.append(f"| `{method}` | {_escaped(names.first_line(getattr(owner, method)))} |")
    return "\n".join(["## Methods\n", "| method | what it computes |", "|---|---|", *rows, "", "## Distributions"])


# -- pages

RESULTS_LEAD = "Objects that functions return. They have no name in `gradtape`: a program gets them, and reads them."


def page(group: Group) -> str:
    """The page of a group: what it is about, a table of its names, and an entry for each."""
    space = group.about if group.about != "ops" else ""
    lead = [markdown(_lead(space))] if space else []
    parts = [f"# {group.title}", *lead]
    if space == "stats":
        parts.append(methods_of_distributions())
    for heading, qualified in group.parts.items():
        if heading and len(group.parts) > 1:
            parts.append(f"## {_escaped(heading)}")
        rows = [f"| [`{_short(name)}`](#{names.full_name(name)}) | {_cell(name)} |" for name in qualified]
        if len(rows) > 2:
            parts.append("\n".join(["| name | what it does |", "|---|---|", *rows]))
        parts += [entry(name) for name in qualified]
    return "\n\n".join(parts) + "\n"


def _lead(space: str) -> str:
    """The docstring of a namespace; of `gt.extend` what stands before its list of names."""
    if space == "results":
        return RESULTS_LEAD
    doc = doc_of(names.value_of(space))
    return doc.partition("\n\nTensors and their arrays")[0]


def _short(qualified: str) -> str:
    return qualified.rpartition(".")[2] if "." in qualified or qualified in types.RESULTS else f"gt.{qualified}"


def _cell(qualified: str) -> str:
    return _doc(qualified, names.value_of(qualified)).partition("\n")[0].replace("|", "\\|")


def index(groups: list[Group]) -> str:
    """The first page of the reference."""
    parts = [
        "# API reference",
        "Every public name, with its signature, what it does, and an example that runs in the tests. The search finds "
        "names as well as words. [All names](../api.md) is the same on one page, a line to a name; "
        "[what is differentiated](../coverage.md) has every function of NumPy and SciPy, and what becomes of it.",
        "`import gradtape as gt` is assumed throughout, as is `import numpy as np`.",
    ]
    for title, kind in (("Basics", ""), ("Operations", "ops"), ("Namespaces", None)):
        chosen = [
            group for group in groups if (group.about == kind if kind is not None else group.about not in ("", "ops"))
        ]
        rows = [f"| [{group.title}]({group.place.removeprefix('reference/')}) | {_few(group)} |" for group in chosen]
        places = [group.place.removeprefix("reference/").removesuffix(".md") for group in chosen]
        extra = ["types"] if kind == "" else []
        toctree = "\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *places, *extra, "```"])
        parts.append("\n".join([f"## {title}\n", "| page | names |", "|---|---|", *rows, "", toctree]))
    parts.append(
        "```{toctree}\n:hidden:\n:caption: Lists\n\n../api\n../coverage\n```\n\n"
        "The names of types in signatures are explained in [types](types.md)."
    )
    return "\n\n".join(parts) + "\n"


def _few(group: Group, count: int = 8) -> str:
    shown = ", ".join(f"{{py:obj}}`~{names.full_name(name)}`" for name in group.names[:count])
    return f"{shown}, ... ({len(group.names)})" if len(group.names) > count else shown


def incomplete(qualified: str) -> str:
    """What the entry of a name lacks: a docstring, or a signature that names its arguments; empty if nothing."""
    value = names.value_of(qualified)
    head, _, body = entry(qualified).partition("\n\n")
    if not body.strip("` \n"):
        return "it has no docstring"
    is_layer = inspect.isclass(value) and issubclass(value, Module)
    if inspect.isfunction(value) or isinstance(value, Op) or is_layer:
        head = head.partition("\n")[0]
        takes_anything = qualified in ANY_ARGUMENTS
        if "(" not in head or ("(*args: Any, **kwargs: Any)" in head and not takes_anything):
            return "it has no signature"
    return ""


ANY_ARGUMENTS = ("nn.Module", "nn.Identity")
"""Classes that take any arguments by intention."""


def write_pages() -> set[str]:
    """Write the whole reference; the places that were written."""
    groups = names.groups()
    texts = {group.place: page(group) for group in groups}
    texts |= {"reference/index.md": index(groups), "reference/types.md": types.page()}
    for place, text in texts.items():
        assemble.write(place, text)
    return set(texts)
