"""The pages behind the codes: each has a program that is reported with its code, what it says, and a cure that works.

The pages are gradtape/explain/model/pages/*.md, so that `gradtape why` finds them wherever gradtape is installed;
docs/errors/ has copies of them for readers, and a list.

`python tests/explain/test_pages.py` (or `make outputs`) writes under each program what it prints now, and the copies.
"""

from __future__ import annotations

import contextlib
import importlib.util
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from test_docs import Block, blocks, normalised, run_script

from gradtape.commands.why import GROUPS
from gradtape.explain.emit import listeners, policy
from gradtape.explain.model.codes import CODES
from gradtape.explain.model.pages import nearest, page, search
from gradtape.explain.model.problem import Problem
from gradtape.watching import watch

ROOT = Path(__file__).resolve().parents[3]
PAGES = ROOT / "gradtape" / "explain" / "model" / "pages"
COPIES = ROOT / "docs" / "errors"
SECTIONS = ["A program, and what it says", "Why", "The cure", "What others say"]


def run(block: Block) -> tuple[str, list[Problem]]:
    """What a program of a page prints, and the problems that are reported in it."""
    found: list[Problem] = []
    policy.notes(clear=True)
    with listeners.listening(found.append):
        name = library(block)
        watching = watch(name, tell=lambda note: None) if name else contextlib.nullcontext()
        printed = run_script(block, {"__name__": "__main__"}, watching)
    return printed, found


def library(block: Block) -> str:
    """The other library that a program is written for, which has to be there; empty for gradtape's own programs."""
    imported = re.search(r"^import (torch)$", block.code, re.MULTILINE)
    return "" if imported is None else imported[1]


def libraries(block: Block) -> list[str]:
    """All libraries that a program needs and that may be missing."""
    return [name for name in ("torch", "dask") if re.search(rf"^import {name}\b", block.code, re.MULTILINE)]


def needed(code: str) -> None:
    """Skip what needs another library that is not installed."""
    for name in {name for block in programs(code) for name in libraries(block)}:
        pytest.importorskip(name, reason=f"the program of this page needs {name}, which is not installed")


def programs(code: str) -> tuple[Block, Block]:
    """The program of a page and its cure."""
    program, cure = blocks(PAGES / f"{code}.md")
    return program, cure


def reported(code: str) -> set[str]:
    """The codes that are reported when the program of a page runs."""
    return {each for problem in run(programs(code)[0])[1] for each in problem.codes}


def test_there_is_a_page_for_every_code() -> None:
    """Every code has a page, and there is no page without a code."""
    assert sorted(path.stem for path in PAGES.glob("*.md")) == sorted(CODES)


@pytest.mark.parametrize("code", CODES)
def test_page_has_its_parts(code: str) -> None:
    """A page has the title of its code, a program with its message, the reason, a cure, and the words of others."""
    text = page(code)
    assert text.splitlines()[0] == f"# {code}: {CODES[code].title}"
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert [heading for heading in headings if heading in SECTIONS] == SECTIONS
    assert programs(code)[0].prints is not None
    assert text.partition("## What others say")[2].strip()


@pytest.mark.parametrize("code", CODES)
def test_program_is_reported_with_its_code(code: str) -> None:
    """The program of a page makes the mistake that the page is about, and it is named."""
    needed(code)
    assert code in reported(code)


@pytest.mark.parametrize("code", CODES)
def test_page_shows_what_is_printed_now(code: str) -> None:
    """The message on the page is the one that the program gives; `make outputs` writes it."""
    needed(code)
    for block in programs(code):
        assert normalised(run(block)[0]) == normalised(block.prints or "")


@pytest.mark.parametrize("code", CODES)
def test_cure_cures(code: str) -> None:
    """The cured program runs to its end and nothing is reported, not even a note."""
    needed(code)
    printed, found = run(programs(code)[1])
    assert [problem.code for problem in found] == []
    assert "Warning: " not in printed


def test_a_program_that_is_fine_would_be_noticed() -> None:
    """The check can fail: a cured program does not report the code of its page."""
    assert run(programs("GT110")[1])[1] == []
    assert [problem.code for problem in run(programs("GT110")[0])[1]] == ["GT110"]


# -- the copies in docs/errors


FINDER = """<!-- site
:::{raw} html
<div class="find-code">
<label for="find-code">Paste a message, of gradtape or of another library</label>
<input id="find-code" type="search" placeholder="element 0 of tensors does not require grad" autocomplete="off">
<ol id="found-codes" aria-live="polite"></ol>
</div>
<script defer src="../_static/codes.js"></script>
<script defer src="../_static/find-code.js"></script>
:::
-->"""
"""The box in which the site finds the page of a message; see docs/_static/find-code.js."""


def listing() -> str:
    """The text of docs/errors/README.md."""
    parts = [
        "# The codes",
        "Every message of gradtape has a code, and every code a page: the situation, a program, its message, why, the "
        "cure,\nand what other libraries say in the same situation. `gradtape why GT101` prints the page of one; "
        "[Explanations](../explanations.md)\nsays how to choose what is raised, warned of or noted.",
        FINDER,
    ]
    severity = {"raise": "error", "warn": "warning", "note": "note"}
    for digit, group in GROUPS.items():
        rows = [
            f"| [{row.code}]({row.code}.md) | {row.title} | {severity[row.severity]} |"
            for row in CODES.values()
            if row.code[2] == digit
        ]
        parts.append("\n".join([f"## GT{digit}xx: {group}\n", "| code | title | kind |", "|---|---|---|", *rows]))
    parts.append("\n".join(["<!-- site", ":::{toctree}", ":hidden:", "", *CODES, ":::", "-->"]))
    return "\n\n".join(parts) + "\n"


def copies() -> dict[str, str]:
    """What docs/errors has to contain, by the names of the files."""
    return {"README.md": listing(), **{f"{code}.md": page(code) + "\n" for code in CODES}}


def test_docs_have_the_same_pages() -> None:
    """docs/errors has a copy of every page and the list of all; `make outputs` writes them."""
    assert {path.name: path.read_text() for path in COPIES.glob("*.md")} == copies()


# -- looking them up


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("grad can be implicitly created only for scalar outputs", "GT307"),
        ("GRADIENT ONLY DEFINED for scalar-output functions. Output had shape", "GT307"),
        ("requested shape has 400", "GT302"),
        ("mat1 and mat2 shapes cannot be multiplied", "GT111"),
        ("operands could not be broadcast together with shapes", "GT110"),
        ("No gradients provided for any variable", "GT201"),
        ("Can't call numpy() on Tensor that requires grad", "GT312"),
        ("A non-persistent GradientTape can only be used to compute one set of gradients", "GT308"),
    ],
)
def test_words_of_others_lead_to_our_page(words: str, code: str) -> None:
    """A search for another library's message finds our page for the same situation."""
    assert code in [row.code for row in search(words)]


def test_search_for_nothing_finds_nothing() -> None:
    """Empty text and text that no page has are not found."""
    assert search("  ") == []
    assert search("no page has these words") == []


def test_nearest_codes_by_number_and_by_title() -> None:
    """A slip in a code leads to those that look like it, a word to the titles that have it."""
    assert nearest("GT1O1")[0].code == "GT101"
    assert nearest("GT999", count=2)[0].code.startswith("GT")
    assert nearest("softmax wrong axis")[0].code == "GT501"


def write() -> None:
    """Write the messages into the pages, and the copies."""
    for path in sorted(PAGES.glob("*.md")):
        pieces = path.read_text()
        for block in blocks(path):  # each is a program of its own, so that one does not depend on the other
            if any(importlib.util.find_spec(name) is None for name in libraries(block)):
                continue  # what it printed where that library is installed stays
            if block.prints is not None:
                lines = "".join(f"{line}\n" for line in normalised(run(block)[0]))
                old = f"{block.code}```\n\n```text\n{block.prints}```"
                assert pieces.count(old) == 1, f"{path.name}: two blocks are alike"
                pieces = pieces.replace(old, f"{block.code}```\n\n```text\n{lines}```")
        if pieces != path.read_text():
            print(f"changed: {path.name}")
            path.write_text(pieces)
    COPIES.mkdir(exist_ok=True)
    for name, text in copies().items():
        (COPIES / name).write_text(text)


if __name__ == "__main__":
    write()
