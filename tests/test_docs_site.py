"""The site of the documentation, as far as it can be judged without building it; `make docs` builds and checks it."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import gradtape
from tools.docs_site import assemble, check, codes, names, programs, reference, signatures
from tools.docs_site.types import RESULTS

ROOT = Path(__file__).parent.parent
GROUPS = names.groups()
QUALIFIED = [name for group in GROUPS for name in group.names]
SPACES = sorted({group.about for group in GROUPS} - {"", "ops", "results"})
TOCTREE = re.compile(r"^:{3,}\{toctree\}\n(.*?)^:{3,}$|^`{3,}\{toctree\}\n(.*?)^`{3,}$", re.MULTILINE | re.DOTALL)


WRITTEN_BY_SPHINX_GALLERY = [
    "gallery/index.md",
    "gallery/index.rst",
    *(f"gallery/{path.stem}.rst" for path in assemble.GALLERY.glob("*.py")),
]


def assembled() -> dict[str, str]:
    """The text of every page of the site, by its place."""
    written = {
        place: assemble.for_the_site(path.read_text(encoding="utf-8"), place, path)
        for place, path in assemble.pages().items()
    }
    return (
        written
        | {place: programs.page(path) for place, path in assemble.programs().items()}
        | {group.place: "" for group in GROUPS}
        | {"reference/index.md": reference.index(GROUPS), "reference/types.md": ""}
        | dict.fromkeys(WRITTEN_BY_SPHINX_GALLERY, "")
    )


PAGES = assembled()


def entries_of(place: str) -> list[str]:
    """The places that the toctrees of a page name."""
    found = []
    for blocks in TOCTREE.findall(PAGES[place]):
        lines = [line for line in "".join(blocks).splitlines() if line.strip() and not line.startswith(":")]
        for line in lines:
            target = re.sub(r"^.*<(.*)>$", r"\1", line)
            found.append(assemble.normalised(f"{Path(place).parent.as_posix()}/{target}.md"))
    return found


# -- the tree of pages


def test_every_page_is_in_the_tree() -> None:
    """From the first page, the tables of contents reach every page, and each of them by one way."""
    reached = ["index.md"]
    for place in reached:
        reached += entries_of(place)
    assert sorted({*reached} - {*WRITTEN_BY_SPHINX_GALLERY}) == sorted({*PAGES} - {*WRITTEN_BY_SPHINX_GALLERY})
    assert len(reached) == len(set(reached))


@pytest.mark.parametrize("place", [place for place in PAGES if PAGES[place]])
def test_links_lead_to_pages_of_the_site(place: str) -> None:
    """A link between pages leads to a page of the site, and its anchor to a heading of that page."""
    text = assemble.FENCE.sub("", PAGES[place])
    for _, _, target, anchor in assemble.LINK.findall(text):
        if "://" in target or target.startswith("mailto:") or target.endswith(".svg"):
            continue
        there = assemble.normalised(f"{Path(place).parent.as_posix()}/{target}") if target else place
        assert there in PAGES, f"{place}: ({target}) leads nowhere"
        if anchor and PAGES[there] and not anchor.startswith("#gradtape."):
            assert anchor[1:] in assemble.anchors(PAGES[there]), (
                f"{place}: ({target}{anchor}): there is no such heading"
            )


def test_a_dead_link_is_noticed(tmp_path: Path) -> None:
    """The check of the built pages can fail: a missing file, a missing anchor, a file from the network."""
    page = '<a href="b.html#there">b</a><a href="c.html">c</a><script src="https://example.org/x.js"></script>'
    (tmp_path / "a.html").write_text(page)
    (tmp_path / "b.html").write_text('<h2 id="here">b</h2>')
    assert [mistake.partition(" ")[2] for mistake in check.mistakes(tmp_path)] == [
        "loads https://example.org/x.js from the network",
        "b.html#there leads to an anchor that is not there",
        "c.html leads to a file that is not there",
    ]


# -- what the pages are made of


def test_what_is_for_the_site_only_is_a_comment_elsewhere() -> None:
    """A comment for the site becomes text, what is for code hosts goes, and no line changes its number."""
    text = "a\n<!-- site\n:::{note}\n-->\nb\n<!-- host -->\nc\n<!-- /host -->\nd\n"
    shown = assemble.for_the_site(text, "x.md", assemble.DOCS / "x.md")
    assert shown.splitlines() == ["a", "", ":::{note}", "", "b", "", "", "", "d"]


def test_links_to_files_without_a_page_are_text_or_lead_to_the_source() -> None:
    """A link to a file of the repository leads to its page, to the given address, or is the name of the file."""
    text = "[kernel](../gradtape/core), [tour](../examples/tour.py), [here](../README.md#install)"
    plain = assemble.for_the_site(text, "x.md", assemble.DOCS / "x.md")
    assert plain == "kernel (`gradtape/core`), [tour](examples/tour.md), [here](index.md#install)"
    linked = assemble.for_the_site(text, "x.md", assemble.DOCS / "x.md", "https://host/tree")
    assert linked.startswith("[kernel](https://host/tree/gradtape/core), ")


def test_the_list_of_names_leads_to_the_entries() -> None:
    """In the site, the list has each name with its namespace, which makes a link of it; lines stay where they are."""
    text = "## Tapes\n\n| `vjp` | x |\n\n## In `gt.nn`\n\n| `Linear` | y |\n"
    shown = "## Tapes\n\n| `gt.vjp` | x |\n\n## In `gt.nn`\n\n| `gt.nn.Linear` | y |\n"
    assert assemble.with_full_names(text) == shown


@pytest.mark.parametrize("path", assemble.written_pages(), ids=lambda path: path.name)
def test_blocks_of_python_are_ones_that_the_tests_run(path: Path) -> None:
    """Python stands in blocks that test_docs.py runs; `py` is for programs of other libraries and of clusters."""
    assert check.unrun_blocks(path) == []


def test_a_block_that_is_not_run_is_noticed(tmp_path: Path) -> None:
    """The check can fail: Python under another name than the one that is run."""
    page = tmp_path / "page.md"
    page.write_text("```py\n1 / 0\n```\n")
    assert len(check.unrun_blocks(page)) == 1


def test_the_finder_knows_the_words_of_others() -> None:
    """What the box above the codes searches has the messages of other libraries, by code."""
    entries = {entry["code"]: entry for entry in codes.entries()}
    assert "grad can be implicitly created only for scalar outputs" in entries["GT307"]["others"]
    assert "[GT101]" in entries["GT101"]["ours"]


# -- the reference


def test_every_public_name_has_an_entry() -> None:
    """The names of `gradtape.__all__` and of each public namespace are in the reference, each once in its namespace."""
    assert len(QUALIFIED) == len(set(QUALIFIED))
    expected = set(names.NAMES)
    for space in [*SPACES, "optim.schedules"]:
        module = names.value_of(space)
        public = getattr(module, "__all__", [])
        expected |= {f"{space}.{name}" for name in public if not inspect.ismodule(getattr(module, name))}
    assert expected - set(QUALIFIED) == set()


@pytest.mark.parametrize("name", QUALIFIED)
def test_entry_has_signature_and_docstring(name: str) -> None:
    """What can be called shows its arguments by name, and every entry says what it is."""
    assert reference.incomplete(name) == ""


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_result_has_a_docstring(name: str) -> None:
    """What functions return is documented under its own name."""
    assert names.doc_of(names.value_of(name))


def test_formulas_in_docstrings_are_no_markup() -> None:
    """Characters of formulas stay as they are, examples are blocks, and code stays code."""
    doc = "p -= a*b*c of x_1 and `y_2`, if x < y.\n\n>>> 1 + 1\n2\n\nMore."
    shown = "p -= a\\*b\\*c of x\\_1 and `y_2`, if x \\< y.\n\n\n```pycon\n>>> 1 + 1\n2\n```\n\n\nMore."
    assert reference.markdown(doc) == shown


def test_signature_names_types_that_have_an_entry() -> None:
    """Types are written with the names of their entries, and defaults as expressions."""
    assert signatures.shown(inspect.signature(gradtape.sum)).startswith("(x: gradtape.types.TensorLike, axis: ")
    assert signatures.default_shown(object()) == "..."
    operation = signatures.signature_of(gradtape.add)
    assert operation is not None
    assert list(operation.parameters) == ["x1", "x2", "out", "where", "dtype", "kwargs"]


def test_layers_made_of_functions_have_the_signature_of_their_options() -> None:
    """`inspect.signature` of such a layer is that of its function without the arrays."""
    assert list(inspect.signature(gradtape.nn.GELU).parameters) == ["approximate"]
    assert list(inspect.signature(gradtape.nn.ReLU).parameters) == []


def test_jit_has_one_signature() -> None:
    """`gt.jit` is a module once `gradtape.jit` was imported, and shows the signature of the function all the same."""
    module: Any = importlib.import_module("gradtape.jit")
    assert list(inspect.signature(module).parameters)[:2] == ["function", "static_argnums"]
