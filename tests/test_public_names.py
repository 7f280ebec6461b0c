"""The public names: each is listed, documented with an example that runs, and has a line in docs/api.md."""

from __future__ import annotations

import doctest
import importlib
import inspect
import io
from operator import attrgetter
from pathlib import Path
from types import ModuleType

import pytest

import gradtape
from tools.docs_site.names import NAMES, NAMESPACES, doc_of, first_line, sections

API = Path(__file__).parent.parent / "docs" / "api.md"
QUALIFIED = [f"{space}.{name}" for space in NAMESPACES for name in attrgetter(space)(gradtape).__all__]
CLASSES = [name for name in NAMES if inspect.isclass(getattr(gradtape, name))]

PROMISED = [
    "Tensor Variable tensor GradientTape ForwardAccumulator gradients no_grad enable_grad",
    "grad value_and_grad vjp jvp linearize jacobian jacfwd jacrev hessian hvp vmap",
    "sparse_jacobian sparse_hessian checkpoint custom_vjp custom_jvp custom_gradient stop_gradient gradcheck",
    "config GradTapeError ShapeError DtypeError RuleError TapeError MutationError GradientWarning",
    "add multiply sin exp where sum mean max reshape transpose concatenate stack at matmul einsum softmax logsumexp",
]


def test_the_expected_names_are_public() -> None:
    """The names that the README and the guide promise are in `__all__`."""
    assert [name for line in PROMISED for name in line.split() if name not in gradtape.__all__] == []


@pytest.mark.parametrize("space", [*NAMESPACES, "explain", "linalg", "array_api", "numpy"])
def test_public_names_are_completed_by_interpreters(space: str) -> None:
    """`dir`, which shells complete names with, has those too that are imported when they are first used."""
    module = importlib.import_module("gradtape." + space) if space == "explain" else attrgetter(space)(gradtape)
    assert set(module.__all__) <= set(dir(module))


def test_names_are_listed_once() -> None:
    """No name is in `__all__` twice, and every one of them exists."""
    assert len(NAMES) == len(set(NAMES))
    assert [name for name in NAMES if not hasattr(gradtape, name)] == []


def test_nothing_else_looks_public() -> None:
    """What has no underscore in front and is not a module of the package is in `__all__`."""
    visible = {
        name for name, value in vars(gradtape).items() if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert visible - set(NAMES) == set()


@pytest.mark.parametrize("name", [*NAMES, *QUALIFIED])
def test_has_a_docstring_with_an_example_that_runs(name: str) -> None:
    """The docstring says what it is and shows it in use, and the example gives what it says."""
    doc = doc_of(attrgetter(name)(gradtape))
    test = doctest.DocTestParser().get_doctest(doc, {"gt": gradtape}, f"gradtape.{name}", None, 0)
    assert test.examples, f"the docstring of gradtape.{name} has no example"
    report = io.StringIO()
    failed = doctest.DocTestRunner(verbose=False).run(test, out=report.write).failed
    assert not failed, report.getvalue()


@pytest.mark.parametrize("name", CLASSES)
def test_public_methods_have_docstrings(name: str) -> None:
    """Every public method and property that a public class defines says what it does."""
    members = {
        member: value
        for kind in getattr(gradtape, name).__mro__
        if kind.__module__.startswith("gradtape")
        for member, value in vars(kind).items()
        if not member.startswith("_") and (inspect.isroutine(value) or isinstance(value, property | classmethod))
    }
    assert [member for member, value in members.items() if not doc_of(value)] == []


# -- docs/api.md: written from the docstrings


def reference() -> str:
    """The text of docs/api.md."""
    parts = [
        "# All names",
        "What `import gradtape as gt` offers, a line to a name. The docstrings say more, with examples: `help(gt.vjp)`."
        "\n"
        "This page is written from them by `make outputs`.",
    ]
    for title, names in sections().items():
        if names:
            rows = [f"| `{name}` | {first_line(getattr(gradtape, name))} |" for name in names]
            parts.append("\n".join([f"## {title}\n", "| name | |", "|---|---|", *rows]))
    for space in NAMESPACES:
        module = attrgetter(space)(gradtape)
        rows = [f"| `{name}` | {first_line(getattr(module, name))} |" for name in module.__all__]
        parts.append("\n".join([f"## In `gt.{space}`\n", first_line(module), "", "| name | |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def test_every_name_has_a_section() -> None:
    """A new public name is given a place in docs/api.md."""
    assert sections()["Without a section"] == []


def test_sections_name_what_exists() -> None:
    """No section has a name that is not public, and none is in two."""
    assert sorted(name for names in sections().values() for name in names) == NAMES


def test_every_name_has_a_line_in_the_reference() -> None:
    """docs/api.md has the first line of the docstring of every public name; `make outputs` writes it."""
    assert API.read_text() == reference()


@pytest.mark.parametrize("name", [*NAMES, *QUALIFIED])
def test_first_line_stands_alone(name: str) -> None:
    """The first line of a docstring is a sentence that makes sense in a list."""
    line = first_line(attrgetter(name)(gradtape))
    assert len(line.split()) >= 2
    assert line.endswith((".", "!", "?"))


if __name__ == "__main__":
    API.write_text(reference())
