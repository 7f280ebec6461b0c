"""The public names: each is listed, documented with an example that runs, and has a line in docs/api.md."""

from __future__ import annotations

import doctest
import importlib
import inspect
import io
import pkgutil
import re
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import gradtape

API = Path(__file__).parent.parent / "docs" / "api.md"
NAMES = sorted(gradtape.__all__)
NAMESPACES = [
    "bridges",
    "distributed",
    "implicit",
    "nn",
    "nn.functional",
    "optim",
    "optimize",
    "quadrature",
    "random",
    "signal",
    "special",
    "stats",
]
QUALIFIED = [f"{space}.{name}" for space in NAMESPACES for name in attrgetter(space)(gradtape).__all__]
CLASSES = [name for name in NAMES if inspect.isclass(getattr(gradtape, name))]

PROMISED = [
    "Tensor Variable tensor GradientTape ForwardAccumulator gradients no_grad enable_grad",
    "grad value_and_grad vjp jvp linearize jacobian jacfwd jacrev hessian hvp vmap",
    "sparse_jacobian sparse_hessian checkpoint custom_vjp custom_jvp custom_gradient stop_gradient gradcheck",
    "config GradTapeError ShapeError DtypeError RuleError TapeError MutationError GradientWarning",
    "add multiply sin exp where sum mean max reshape transpose concatenate stack at matmul einsum softmax logsumexp",
]


def doc_of(value: Any) -> str:
    return inspect.getdoc(value) or ""


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


SECTIONS = {
    "Tensors": "tensor Tensor Variable",
    "Tapes": "GradientTape ForwardAccumulator",
    "The graph behind `.backward()`": "gradients no_grad enable_grad stop_gradient",
    "Functions of functions": "grad value_and_grad vjp jvp linearize jacobian jacrev jacfwd hessian hvp vmap",
    "Sparse derivatives": "sparse_jacobian sparse_hessian",
    "Rules of your own, and recomputing": "custom_vjp custom_jvp custom_gradient checkpoint",
    "Compiling, and loops": "jit scan fori_loop while_loop",
    "Training": "fit EarlyStopping",
    "Differential equations and integrals": "odeint quad",
    "Other libraries' arrays": "from_dlpack from_torch to_torch",
    "Checking": "gradcheck audit_batch check_numerics expect watch load_ipython_extension GradcheckReport",
    "Settings": "config",
}
CHAPTERS = {
    "elementwise": "arithmetic, powers, exponentials, trigonometry, choices",
    "conversion": "real, complex, dtypes, and off the tape",
    "comparison": "rounding, signs, comparison, logic and bits",
    "reductions": "sums, means, products and extremes along axes",
    "cumulative": "running sums and products, and differences",
    "sorting": "sorting, and what is found by sorting",
    "shaping": "shapes and the order of axes",
    "joining": "joining and splitting",
    "rearranging": "turning, shifting, repeating and masking",
    "padding": "margins around arrays",
    "insertion": "putting in, leaving out, laying out anew",
    "creation_from": "tensors built of lists, blocks, functions and ranges",
    "selection": "choices by conditions, and functions applied slice by slice",
    "indexing": "reading elements",
    "indexed_update": "writing elements",
    "inplace": "functions that write into their first argument",
    "searching": "positions, memberships and distinct elements",
    "histograms": "counting into bins",
    "nan_reductions": "reductions that pass over nan, newer names of running sums",
    "covariance": "covariance and correlation",
    "numerics": "interpolation, convolution, slopes on a grid, phases, parts of numbers",
    "polynomials": "polynomials by their coefficients",
    "introspection": "what is asked about arrays, and indices",
    "products": "products of vectors and matrices, diagonals and norms",
    "einsum": "sums of products by Einstein's convention",
    "softmax": "the softmax family and activations",
    "creation": "new tensors",
}


def chapters_of_the_table() -> list[str]:
    """The modules of `gradtape.ops`, by their names in it."""
    prefix = "gradtape.ops."
    return [module.name.removeprefix(prefix) for module in pkgutil.walk_packages(gradtape.ops.__path__, prefix)]


def is_defined_in(module: ModuleType, name: str) -> bool:
    """Whether `name` is made in `module` and not just imported there."""
    return re.search(rf"^(def |class )?{name}( =|\(|:)", inspect.getsource(module), re.MULTILINE) is not None


def sections() -> dict[str, list[str]]:
    """The public names by the headings that they stand under; what fits nowhere is under the last."""
    found = {title: names.split() for title, names in SECTIONS.items()}
    left = [name for name in NAMES if not any(name in names for names in found.values())]
    errors = [name for name in left if name.endswith(("Error", "Warning"))]
    left = [name for name in left if name not in errors]
    for chapter in [*CHAPTERS, *(c for c in chapters_of_the_table() if c not in CHAPTERS)]:
        module = importlib.import_module(f"gradtape.ops.{chapter}")
        topic = CHAPTERS.get(chapter) or f"{doc_of(module)[0].lower()}{first_line(module)[1:].rstrip('.')}"
        names = [name for name in left if is_defined_in(module, getattr(gradtape, name).__name__)]
        left = [name for name in left if name not in names]
        found[f"Operations: {topic}"] = names
    return {**found, "Errors and warnings": errors, "Without a section": left}


def reference() -> str:
    """The text of docs/api.md."""
    parts = [
        "# All names",
        "What `import gradtape as gt` offers, a line to a name. The docstrings say more, with examples: `help(gt.vjp)`."
        "\n"
        "This page is written from them by `make docs`.",
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


def first_line(value: Any) -> str:
    return doc_of(value).partition("\n")[0].replace("|", "\\|")


def test_every_name_has_a_section() -> None:
    """A new public name is given a place in docs/api.md."""
    assert sections()["Without a section"] == []


def test_sections_name_what_exists() -> None:
    """No section has a name that is not public, and none is in two."""
    assert sorted(name for names in sections().values() for name in names) == NAMES


def test_every_name_has_a_line_in_the_reference() -> None:
    """docs/api.md has the first line of the docstring of every public name; `make docs` writes it."""
    assert API.read_text() == reference()


@pytest.mark.parametrize("name", [*NAMES, *QUALIFIED])
def test_first_line_stands_alone(name: str) -> None:
    """The first line of a docstring is a sentence that makes sense in a list."""
    line = first_line(attrgetter(name)(gradtape))
    assert len(line.split()) >= 2
    assert line.endswith((".", "!", "?"))


if __name__ == "__main__":
    API.write_text(reference())
