"""A gradient of the wrong shape is blamed on the seed or the rule that brought it in, at its line.

Elsewhere the same mistakes surface as "Input to reshape is a tensor with 1 values, but the requested shape has 400".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain import Problem


def recorded() -> tuple[Any, Any, Any]:
    """A tape, a target of shape (20, 20), and its source of 400 elements, with a reshape in between."""
    x = gt.Variable(np.ones(400))
    with gt.GradientTape() as tape:
        y = np.tanh(x).reshape(20, 20) * 2.0
    return tape, y, x


def asked(run: Callable[[], Any], kind: type[gt.GradTapeError]) -> Problem:
    """The problem that `run` is refused with, which never mentions the innocent reshape as the culprit."""
    with pytest.raises(kind) as caught:
        run()
    problem: Problem = caught.value.problem
    assert "reshape" not in problem.title
    assert "requested shape" not in str(problem)
    return problem


def line_of(function: Callable[..., Any], mark: str) -> int:
    lines, first = inspect.getsourcelines(function)
    (number,) = [n for n, text in enumerate(lines, first) if text.rstrip().endswith(f"# {mark}")]
    return number


def main_line(problem: Problem) -> int:
    assert problem.main is not None
    return problem.main.line


class TestSeeds:
    """Seeds of the wrong shape are named at the call that gave them."""

    def test_scalar_seed(self) -> None:
        """One number for 400: the call is named, and the broadcast that would fit is written into it."""

        def run() -> None:
            tape, y, x = recorded()
            tape.gradient(y, x, output_gradients=1.0)  # here

        problem = asked(run, gt.ShapeError)
        assert problem.code == "GT301"
        assert main_line(problem) == line_of(run, "here")
        assert problem.fixes[0] == "tape.gradient(y, x, output_gradients=np.broadcast_to(1.0, (20, 20)))"
        assert problem.fixes[0].checked

    def test_flat_seed(self) -> None:
        """400 numbers in a row: the shape that they need is offered."""

        def run() -> None:
            tape, y, x = recorded()
            seed = np.ones(400)
            tape.gradient(y, x, output_gradients=seed)  # here

        problem = asked(run, gt.ShapeError)
        assert main_line(problem) == line_of(run, "here")
        assert [operand.name for operand in problem.operands] == ["seed"]
        assert problem.operands[0].come_from.startswith("from np.ones(400),")
        assert any("np.reshape(seed, (20, 20))" in fix for fix in problem.fixes)

    def test_reduced_seed(self) -> None:
        """A seed that was averaged over the batch before."""

        def run() -> None:
            tape, y, x = recorded()
            weights = np.ones((20, 20)).mean(axis=0, keepdims=True)
            tape.gradient(y, x, output_gradients=weights)  # here

        problem = asked(run, gt.ShapeError)
        assert main_line(problem) == line_of(run, "here")
        assert "(1, 20)" in problem.title

    def test_wrong_batch(self) -> None:
        """A seed of another batch fits no way."""

        def run() -> None:
            tape, y, x = recorded()
            tape.gradient(y, x, output_gradients=np.ones((16, 20)))  # here

        problem = asked(run, gt.ShapeError)
        assert main_line(problem) == line_of(run, "here")
        assert [str(fix) for fix in problem.fixes] == ["give an array of shape (20, 20)"]

    def test_backward(self) -> None:
        """`.backward(seed)` and `gt.vjp` blame the same."""

        def run() -> None:
            x = gt.tensor(np.ones(400), requires_grad=True)
            y = (x * 2.0).reshape(20, 20)
            y.backward(np.float64(1.0))  # here

        problem = asked(run, gt.ShapeError)
        assert (problem.code, main_line(problem)) == ("GT301", line_of(run, "here"))

    def test_dtype(self) -> None:
        """A complex seed of a real target is one, too."""

        def run() -> None:
            tape, y, x = recorded()
            tape.gradient(y, x, output_gradients=np.ones((20, 20), complex))  # here

        problem = asked(run, gt.DtypeError)
        assert (problem.code, main_line(problem)) == ("GT301", line_of(run, "here"))


class TestRules:
    """Rules that return the wrong thing are named at what they return."""

    def test_rule_that_returns_a_sum(self) -> None:
        """A pre-reduced gradient: the return of the rule, and the call it was for."""

        def run() -> None:
            @gt.custom_vjp
            def double(x: Any) -> Any:
                return x * 2.0

            def backward(residuals: Any, g: Any) -> Any:
                return (np.sum(g * 2.0),)  # rule

            double.defvjp(lambda x: (x * 2.0, None), backward)
            x = gt.Variable(np.ones((20, 20)))
            with gt.GradientTape() as tape:
                y = double(x.reshape(400)).reshape(20, 20).sum()  # call
            tape.gradient(y, x)

        problem = asked(run, gt.RuleError)
        assert problem.code == "GT302"
        assert [span.line for span in problem.spans] == [line_of(run, "rule"), line_of(run, "call")]
        assert problem.spans[1].text == "double(x.reshape(400))"
        assert "returned shape () for argument 0 (x), which has shape (400,)" in problem.title

    def test_custom_gradient_that_returns_a_mean(self) -> None:
        """The same for a gradient function that is returned with the value."""

        def run() -> None:
            @gt.custom_gradient
            def identity(x: Any) -> Any:
                return x * 1.0, lambda g: np.mean(g)  # rule

            x = gt.Variable(np.ones((20, 20)))
            with gt.GradientTape() as tape:
                y = identity(x.reshape(400)).sum()
            tape.gradient(y, x)

        problem = asked(run, gt.RuleError)
        assert (problem.code, main_line(problem)) == ("GT302", line_of(run, "rule"))
        assert problem.main is not None
        assert problem.main.text == "np.mean(g)"

    def test_dtype(self) -> None:
        """A gradient in double precision for a float32 argument."""

        def run() -> None:
            @gt.custom_gradient
            def identity(x: Any) -> Any:
                return x * 1.0, lambda g: np.ones(3)  # rule

            x = gt.Variable(np.ones(3, np.float32))
            with gt.GradientTape() as tape:
                y = identity(x).sum()
            tape.gradient(y, x)

        problem = asked(run, gt.RuleError)
        assert (problem.code, main_line(problem)) == ("GT303", line_of(run, "rule"))

    def test_count(self) -> None:
        """One gradient for two arguments."""

        def run() -> None:
            @gt.custom_gradient
            def product(x: Any, y: Any) -> Any:
                return x * y, lambda g: [g]  # rule

            x = gt.Variable(2.0)
            with gt.GradientTape() as tape:
                z = product(x, x)
            tape.gradient(z, x)

        problem = asked(run, gt.RuleError)
        assert (problem.code, main_line(problem)) == ("GT304", line_of(run, "rule"))

    def test_hook(self) -> None:
        """A hook that returns a norm in the place of the gradient."""

        def run() -> None:
            def norm(g: Any) -> Any:
                return np.sqrt(np.sum(g**2))  # rule

            x = gt.tensor(np.ones((4, 5)), requires_grad=True)
            x.register_hook(norm)
            (x.reshape(20) ** 2).sum().backward()

        problem = asked(run, gt.RuleError)
        assert (problem.code, main_line(problem)) == ("GT302", line_of(run, "rule"))


def test_written_inside_the_tape() -> None:
    """NumPy's refusal to write to a locked array names the writing line and carries the problem."""

    def run() -> None:
        data = np.ones(3)
        x = gt.Variable(np.ones(3))
        with gt.GradientTape():
            y = x * data
            data[:] = 2.0
            y.sum()

    with pytest.raises(ValueError, match="read-only") as caught:
        run()
    problem = caught.value.problem  # type: ignore[attr-defined]
    assert problem.code == "GT309"
    assert problem.main.text == "data[:]"
    assert "[GT309]" in caught.value.__notes__[0]


def test_refused_by_a_rule_of_ours() -> None:
    """A derivative that does not exist is told at the operation, not only at the line that asked for the gradient."""

    def run() -> None:
        x = gt.tensor([2.0, 2.0, 5.0], requires_grad=True)
        vectors = np.linalg.eigh(np.diag(x))[1]  # operation
        (vectors[:, 0] * np.arange(3.0)).sum().backward()  # asked

    with pytest.raises(gt.LinearAlgebraError) as caught:
        run()
    problem = caught.value.problem
    assert problem.code == "GT405"
    assert [span.line for span in problem.spans] == [line_of(run, "operation"), line_of(run, "asked")]
