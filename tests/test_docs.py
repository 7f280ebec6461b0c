"""Everything that the README and the pages of docs/ show is run, and what they say it prints is compared.

A page is one program: its ```python blocks run in order and share their names. A block in doctest form (`>>>`) is a
doctest. Any other block is a script, and the ```text block right behind it, if there is one, is what it prints; an
error that ends it and the warnings that it gives count as printed. A first line such as `# fit.py` names the file that
messages speak of.

`python tests/test_docs.py` (or `make outputs`) writes under each script block what it prints now.
"""

from __future__ import annotations

import contextlib
import difflib
import doctest
import io
import linecache
import re
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from gradtape.core import rules
from gradtape.errors import GradTapeError
from gradtape.explain.emit import policy
from gradtape.numpy_dispatch import protocols
from tools.docs_site import assemble

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *assemble.written_pages()]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Block:
    """A fenced piece of Python, and what it prints if the page says so."""

    page: str
    line: int
    code: str
    prints: str | None
    span: tuple[int, int]  # where in the page the printed text stands

    @property
    def is_doctest(self) -> bool:
        return self.code.lstrip().startswith(">>>")

    @property
    def file(self) -> str:
        named = re.match(r"# (\w+\.py)$", self.code.splitlines()[0])
        return named[1] if named else f"{self.page}, block at line {self.line}"


def blocks(page: Path) -> list[Block]:
    """The Python blocks of `page`, each with the text block that directly follows it."""
    text = page.read_text()
    fences = list(FENCE.finditer(text))
    found = []
    for fence, after in zip_longest(fences, fences[1:]):
        if fence[1] != "python":
            continue
        line = text.count("\n", 0, fence.start()) + 2
        if after is not None and after[1] == "text" and not text[fence.end() : after.start()].strip():
            found.append(Block(page.name, line, fence[2], after[2], after.span(2)))
        else:
            found.append(Block(page.name, line, fence[2], None, (0, 0)))
    return found


def run_doctest(block: Block, names: dict[str, object]) -> str:
    """Run a doctest block; a report of what differs, empty if nothing does."""
    test = doctest.DocTestParser().get_doctest(block.code, names, block.page, block.page, block.line - 1)
    test.globs = names  # a DocTest copies what it is given; the page goes on with these names
    report = io.StringIO()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        doctest.DocTestRunner(verbose=False).run(test, out=report.write, clear_globs=False)
    return report.getvalue()


def run_script(
    block: Block, names: dict[str, object], around: contextlib.AbstractContextManager[Any] | None = None
) -> str:
    """What a script block prints, with its warnings and the error that ends it; it runs inside `around`, if given."""
    lines = block.code.splitlines(keepends=True)
    linecache.cache[block.file] = (len(block.code), None, lines, block.file)
    printed = io.StringIO()

    def show(message: Warning | str, category: type[Warning], *_: object) -> None:
        printed.write(f"{category.__name__}: {message}\n")

    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show  # type: ignore[assignment]
        try:
            with around or contextlib.nullcontext():
                exec(compile(block.code, block.file, "exec"), names)
        except (GradTapeError, ValueError) as error:  # what a page may show; a misspelt name is not among it
            if block.prints is None:
                raise
            printed.write("".join(traceback.format_exception_only(error)))
    return printed.getvalue()


def normalised(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


@pytest.fixture
def table() -> Iterator[None]:
    """The tables of operations as they were, whatever a page adds to them."""
    protocols.open_special_chapters()  # what a page opens is imported once, and would be lost with the tables
    policy.recent.clear()  # pages have files of the same name
    tables: list[dict[Any, Any]] = [rules.TABLE, protocols.UFUNCS, protocols.FUNCTIONS]
    saved = [dict(entries) for entries in tables]
    yield
    for entries, before in zip(tables, saved, strict=True):
        entries.clear()
        entries.update(before)


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_prints_what_it_says(page: Path) -> None:
    """The code of the page runs from top to bottom and prints what the page says."""
    for library in re.findall(
        r"^import (torch|tensorflow|jax|dask)\b", "".join(b.code for b in blocks(page)), re.MULTILINE
    ):
        pytest.importorskip(library, reason=f"a program of this page is for {library}, which is not installed")
    policy.notes(clear=True)  # of other programs
    names: dict[str, object] = {"__name__": "__main__"}
    problems = []
    for block in blocks(page):
        place = f"{block.page}:{block.line}"
        if block.is_doctest:
            report = run_doctest(block, names)
            if report:
                problems.append(f"{place}\n{report}")
            continue
        printed = normalised(run_script(block, names))
        says = normalised(block.prints or "")
        if printed != says:
            difference = "\n".join(difflib.unified_diff(says, printed, "the page says", "it prints", lineterm=""))
            problems.append(f"{place}\n{difference}")
    assert not problems, "\n\n".join(problems)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of the page is to a file that is there."""
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", FENCE.sub("", page.read_text()))
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert not missing


def test_every_guide_page_is_in_the_index() -> None:
    """A reader who starts at docs/index.md can reach every page of docs/."""
    index = (ROOT / "docs" / "index.md").read_text()
    pages = [page.name for page in (ROOT / "docs").glob("*.md") if page.name != "index.md"]
    assert [page for page in pages if f"({page})" not in index] == []


def test_a_wrong_output_is_noticed(tmp_path: Path) -> None:
    """The comparison can fail: a page that promises another number, and one whose error has another text."""
    page = tmp_path / "page.md"
    page.write_text("```python\n# sum.py\nprint(1 + 1)\n```\n\n```text\n3\n```\n\n```python\n>>> 1 + 1\n3\n\n```\n")
    script, session = blocks(page)
    assert script.file == "sum.py"
    assert normalised(run_script(script, {})) == ["2"] != normalised(script.prints or "")
    assert "Expected" in run_doctest(session, {})


def rewritten(page: Path) -> str:
    """The text of `page` with what its scripts print now."""
    names: dict[str, object] = {"__name__": "__main__"}
    policy.recent.clear()
    text = page.read_text()
    shift = 0
    for block in blocks(page):
        if block.is_doctest:
            run_doctest(block, names)
            continue
        printed = run_script(block, names)
        if block.prints is not None:
            start, stop = (place + shift for place in block.span)
            lines = "".join(f"{line}\n" for line in normalised(printed))
            text = text[:start] + lines + text[stop:]
            shift += len(lines) - len(block.prints)
            if lines != block.prints:
                print(f"changed: {block.page}:{block.line}")
    return text


if __name__ == "__main__":
    for written in PAGES:
        written.write_text(rewritten(written))
