"""Every public name of the operation table explains itself, with an example that runs."""

from __future__ import annotations

import doctest

import pytest

import gradtape as gt
from gradtape import ops
from gradtape.core.operation import Op
from gradtape.ops.documentation import flat, slopes

PUBLIC = sorted(ops.__all__)


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_run(name: str) -> None:
    """The docstring of every public operation has an example, and its output is what is printed."""
    documented = getattr(gt, name)
    test = doctest.DocTestParser().get_doctest(documented.__doc__ or "", {}, name, None, None)
    assert len(test.examples) >= 2
    report: list[str] = []
    outcome = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert outcome.failed == 0, "".join(report)


@pytest.mark.parametrize("name", [name for name in PUBLIC if isinstance(getattr(ops, name), Op)])
def test_rows_name_their_derivative(name: str) -> None:
    """The docstring of every public row says what its derivative is, or that no gradient passes."""
    op = getattr(ops, name)
    first_line = (op.__doc__ or "").splitlines()[0]
    assert ("Derivative" in first_line) == op.differentiable
    assert ("No gradient passes" in first_line) != op.differentiable


def test_public_names_are_operations() -> None:
    """What `gradtape.ops` offers are operations and functions of its own chapters, and nothing it merely uses."""
    for name in PUBLIC:
        offered = getattr(ops, name)
        assert not name.startswith("_")
        assert isinstance(offered, Op) or offered.__module__.startswith("gradtape.ops.")


@pytest.mark.parametrize(
    "docstring",
    [slopes("The half", "1 / 2", "half(4.0) -> 2., 0.5"), flat("The half", "half([4.0]) -> [2.]")],
    ids=["slopes", "flat"],
)
def test_wrong_examples_are_noticed(docstring: str) -> None:
    """An example whose output is not what the operation gives is a failure, so that docstrings can be trusted."""
    wrong = docstring.replace("half", "square")
    test = doctest.DocTestParser().get_doctest(wrong, {}, "wrong", None, None)
    assert doctest.DocTestRunner(verbose=False).run(test, out=lambda text: None).failed == 1
