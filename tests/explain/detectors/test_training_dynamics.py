"""A softmax over the wrong axis is found; the health of training is noted, by those who look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.graph import AMBIENT
from gradtape.explain.detectors.training_dynamics import survey_graph
from gradtape.explain.graph.replay import Replay
from gradtape.explain.model.problem import Problem

rng = np.random.default_rng(0)
X, labels = rng.normal(size=(9, 4)), rng.integers(0, 3, size=9)
onehot = np.eye(3)[labels]
W = rng.normal(size=(4, 3))
q, k, v = rng.normal(size=(5, 4)), rng.normal(size=(7, 4)), rng.normal(size=(7, 2))
x = np.array([-2.0, -1.9, 2.0, 2.2, 1.8])


def found(function: Callable[[Any], Any], at: Any) -> list[Problem]:
    """What is reported when the gradient of `function` is taken."""
    problems: list[Problem] = []
    with gt.explain.configure(GT5="note"), gt.explain.listening(problems.append):
        gt.grad(function)(np.asarray(at, float))
    return problems


def notes(function: Callable[[Any], Any], at: Any) -> list[Problem]:
    """What a survey of the graph of `function` says."""
    source = gt.tensor(at, requires_grad=True)
    target = function(source)
    return survey_graph(Replay([(target._node, np.ones(target.shape))], AMBIENT))


def quotient(z: Any) -> Any:
    e = np.exp(z)
    return np.log(e / e.sum(axis=0))


class TestWrittenOut:
    @pytest.mark.parametrize(
        ("logarithm", "fix"),
        [
            (quotient, "e.sum(axis=1, keepdims=True)"),
            (lambda z: z - np.log(np.sum(np.exp(z), axis=0)), "np.sum(np.exp(z), axis=1, keepdims=True)"),
            (lambda z: z - gt.logsumexp(z, axis=0), "gt.logsumexp(z, axis=1, keepdims=True)"),
        ],
    )
    def test_over_the_examples(self, logarithm: Callable[[Any], Any], fix: str) -> None:
        """A softmax of the user's own, from which the labels pick along another axis than it was summed over."""
        (problem,) = found(lambda w: -logarithm(X @ w)[np.arange(9), labels].mean(), W)
        assert (problem.code, problem.fixes[0]) == ("GT501", fix)

    def test_over_everything(self) -> None:
        """A softmax of the user's own that divides by the sum of all examples; of one example it is right."""

        def pick(z: Any) -> Any:
            e = np.exp(z - np.max(z))
            p = e / e.sum() + 1e-9
            return -np.log(p[np.arange(9), labels]).mean() if z.ndim > 1 else -np.log(p[labels]).mean()

        (problem,) = found(lambda w: pick(X @ w), W)
        assert (problem.code, problem.fixes[0]) == ("GT501", "e.sum(axis=1, keepdims=True)")
        assert "over all axes" in problem.title
        assert found(lambda w: pick(X[0] @ w), W) == []

    def test_pairs_have_no_axis_of_classes(self) -> None:
        """One in each row and each column: both axes may be summed over."""
        partner = np.array([1, 2, 0, 4, 3])
        assert (
            found(lambda z: (z - gt.logsumexp(z, axis=0))[np.arange(5), partner].sum(), rng.normal(size=(5, 5))) == []
        )

    def test_attention_by_einsum(self) -> None:
        """The weights sum to 1 over the queries, and the values are summed over the keys."""

        def attend(q: Any, axis: int) -> Any:
            weights = gt.softmax(np.einsum("qd,kd->qk", q, k), axis=axis)
            return (np.einsum("qk,kd->qd", weights, v) ** 2).sum()

        (problem,) = found(lambda q: attend(q, 0), q)
        assert problem.code == "GT501"
        assert found(lambda q: attend(q, 1), q) == []


class TestSoftmax:
    @pytest.mark.parametrize(
        ("function", "at", "axis"),
        [
            (lambda w: -np.log(gt.softmax(X @ w, axis=0)[np.arange(9), labels]).mean(), W, 1),
            (lambda w: -gt.log_softmax(X @ w, axis=0)[np.arange(9), labels].mean(), W, 1),
            (lambda w: -(onehot * gt.log_softmax(X @ w, axis=0)).sum(), W, 1),
            (lambda w: -(onehot * np.log(gt.softmax(X @ w, axis=0) + 1e-9)).sum(), W, 1),
            (lambda w: -np.log(np.clip(gt.softmax(X @ w, axis=0), 1e-7, 1.0))[np.arange(9), labels].sum(), W, 1),
            (lambda w: -(np.log(gt.softmax((X @ w).T)) * onehot.T).sum(), W, 0),
            (lambda w: (gt.softmax(q @ w @ k.T / 2.0, axis=0) @ v).sum(), np.eye(4), 1),
            (
                lambda m: ((np.sum(gt.softmax(-((x[:, None] - m) ** 2), axis=0) * m, axis=1) - x) ** 2).sum(),
                np.array([-1.0, 1.5]),
                1,
            ),
        ],
    )
    def test_the_axis_that_the_loss_uses(self, function: Callable[[Any], Any], at: Any, axis: int) -> None:
        """Picked labels, a one-hot code, attention and weighted means tell which axis the classes are on."""
        (problem,) = found(function, at)
        assert problem.code == "GT501"
        assert problem.main is not None
        assert problem.main.text.startswith("gt.")
        assert f"over axis {axis}" in problem.title
        assert problem.fixes[0].is_edit
        assert f"axis={axis})" in problem.fixes[0]

    @pytest.mark.parametrize(
        ("function", "at"),
        [
            (lambda w: -gt.log_softmax(X @ w)[np.arange(9), labels].mean(), W),
            (lambda w: -gt.log_softmax((X @ w).T, axis=0)[labels, np.arange(9)].mean(), W),
            (lambda w: -(onehot * gt.log_softmax(X @ w)).sum(), W),
            (lambda w: -(onehot * np.log(np.clip(gt.softmax(X @ w), 1e-7, 1.0) + 1e-9)).sum(), W),
            (lambda w: (gt.softmax(q @ w @ k.T / 2.0) @ v).sum(), np.eye(4)),
            (lambda a: (gt.softmax(a, axis=0) @ np.array([[0.2, 0.1], [0.3, 0.5], [0.5, 0.4]]))[0, 0], np.ones((3, 3))),
            (lambda a: (gt.softmax(a, axis=(0, 1)) * np.arange(3.0)).sum(), np.ones((3, 3))),
            (lambda a: -(np.eye(3) * gt.log_softmax(a, axis=0)).sum(), rng.normal(size=(3, 3))),
            (lambda m: _centres(gt.softmax(-((x[:, None] - m) ** 2), axis=1)), np.array([-1.0, 1.5])),
            (lambda w: gt.softmax(X @ w, axis=0).max(), W),
        ],
    )
    def test_what_is_right_or_cannot_be_told(self, function: Callable[[Any], Any], at: Any) -> None:
        """Columns that are distributions, heat maps, the M step of a mixture, and a square one-hot code."""
        assert found(function, at) == []


def _centres(share: Any) -> Any:
    return ((share * x[:, None]).sum(axis=0) / share.sum(axis=0)).sum()


class TestSurvey:
    def test_saturated(self) -> None:
        """Most of a tanh at its ends."""
        (problem,) = notes(lambda a: np.tanh(a).sum(), np.linspace(-40.0, 40.0, 30))
        assert (problem.code, problem.main.text) == ("GT503", "np.tanh(a)")

    def test_dead_units(self) -> None:
        """Two columns of a relu that are zero in every row."""
        shift = np.array([0.0, -99.0, 0.0, -99.0])
        (problem,) = notes(lambda a: gt.relu(X + a + shift).sum(), np.zeros(4))
        assert problem.code == "GT504"
        assert problem.title.startswith("2 of 4 units")

    @pytest.mark.parametrize(("factor", "code"), [(0.05, "GT505"), (20.0, "GT506")])
    def test_a_gradient_that_drifts(self, factor: float, code: str) -> None:
        """Six operations, each of which makes the gradient smaller, or larger."""

        def chain(a: Any) -> Any:
            for _ in range(6):
                a = a * factor
            return a.sum()

        (problem,) = notes(chain, np.ones(4))
        assert problem.code == code
        assert "over 6 operations" in problem.title

    def test_reduced_twice(self) -> None:
        """The mean of what is one number already."""
        (problem,) = notes(lambda a: (a**2).mean().mean(), np.ones(4))
        assert problem.code == "GT502"

    def test_a_sum_beside_a_mean(self) -> None:
        """Two terms over the same examples, of which one grows with their number."""
        (problem,) = notes(lambda a: (a**2).mean() + 0.1 * np.abs(a).sum(), np.ones(4))
        assert problem.code == "GT507"
        assert len(problem.spans) == 2

    def test_a_sum_over_batches_of_different_size(self) -> None:
        """The same line summed over six examples, once over four, and over six; the penalty on the weights stays."""

        def loss(a: Any, rows: int) -> Any:
            return (X[:rows] @ a - 1.0).sum() + (a**2).sum()

        problems: list[Problem] = []
        with gt.explain.surveying(), gt.explain.listening(problems.append):
            for rows in (6, 6, 4, 6):
                assert problems == []
                gt.grad(loss)(np.ones(X.shape[1]), rows)
        (problem,) = problems
        assert problem.code == "GT507"
        assert "over 6 elements; it was one over 4 before" in problem.title

    def test_a_likelihood_that_is_fitted_to_subsets(self) -> None:
        """Every fit takes many steps over as many examples, and the next one over others: no batch is the last."""

        def misfit(a: Any, rows: int) -> Any:
            return (np.log(np.cosh(X[:rows] @ a)) + 0.5).sum()

        problems: list[Problem] = []
        with gt.explain.surveying(), gt.explain.listening(problems.append):
            for rows in (6, 6, 6, 4, 4, 4, 3, 3, 6, 6):
                gt.grad(misfit)(np.ones(X.shape[1]), rows)
        assert [problem.code for problem in problems if problem.code == "GT507"] == []

    def test_high_derivatives_of_a_formula_grow_by_nature(self) -> None:
        """There are no weights to scale in a fifth derivative."""
        function: Callable[..., Any] = lambda x: np.exp(9.0 * x) * np.sin(11.0 * x)
        for _ in range(5):
            function = gt.grad(function)
        problems: list[Problem] = []
        with gt.explain.surveying(), gt.explain.listening(problems.append):
            function(0.7)
        assert [problem.code for problem in problems if problem.code in ("GT505", "GT506")] == []

    @pytest.mark.parametrize("has_layers", [True, False])
    def test_weights_are_spoken_of_where_there_are_some(self, has_layers: bool) -> None:
        """A chain of products with matrices has weights to scale; a formula has variables."""

        def chain(a: Any) -> Any:
            for _ in range(6):
                a = a @ (20.0 * np.eye(4)) if has_layers else a * 20.0
            return a.sum()

        (problem,) = notes(chain, np.ones((4, 4)))
        assert problem.code == "GT506"
        assert ("weights" in problem.fixes[0]) is has_layers

    @pytest.mark.parametrize(
        "loss",
        [
            lambda w, rows: np.log(np.cosh(X[:rows] @ w)).sum() / rows,
            lambda w, rows: (60.0 / rows) * np.log(np.cosh(X[:rows] @ w)).sum(),
            lambda w, rows: sum((np.tanh(part) ** 2).sum() for part in (w[:3], w[1:], w[:2])),
            lambda w, rows: np.log(np.cosh(X[: rows % 5 + 2] @ w)).sum(),
        ],
    )
    def test_sums_that_are_meant(self, loss: Callable[[Any, int], Any]) -> None:
        """Divided or weighed by the number of examples, over parameters in a loop, and over series of any length."""
        problems: list[Problem] = []
        with gt.explain.surveying(), gt.explain.listening(problems.append):
            for rows in (6, 6, 4, 7, 5):
                gt.grad(lambda w, rows=rows: loss(w, rows))(np.ones(4))
        assert [problem.code for problem in problems if problem.code == "GT507"] == []

    def test_an_ambiguous_bias(self) -> None:
        """A vector of four added to four by four."""
        square = rng.normal(size=(4, 4))
        (problem,) = notes(lambda b: (square + b).sum(), np.zeros(4))
        assert problem.code == "GT508"

    def test_a_healthy_network(self) -> None:
        """Nothing to note about a small network with weights of ordinary size."""
        assert notes(lambda w: ((np.tanh(X @ w) @ np.ones(3) - 1.0) ** 2).mean(), W) == []
