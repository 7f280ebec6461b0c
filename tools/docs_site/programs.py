"""A page for each program of examples/: what its docstring says, and the whole program to copy."""

from __future__ import annotations

import ast
from pathlib import Path

from tools.docs_site import assemble


def page(path: Path) -> str:
    """The page of the program in `path`, in Markdown.

    The first sentence of its docstring is the lead; the rest stands in the program itself.
    """
    code = path.read_text(encoding="utf-8")
    doc = ast.get_docstring(ast.parse(code)) or ""
    lead = " ".join(doc.partition("\n\n")[0].split())
    return (
        f"# {path.name}\n\n{lead}\n\n"
        f"```sh\npython examples/{path.name}\n```\n\n"
        f"## The program\n\n`````python\n{code}`````\n"
    )


def write_pages() -> set[str]:
    """Write all of them; the places that were written."""
    found = assemble.programs()
    for place, path in found.items():
        assemble.write(place, page(path))
    return set(found)
