"""Broadcasts that nobody meant are found, and those that somebody meant are left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain.model.problem import Problem
from gradtape.explain.source.axes import is_outer

rng = np.random.default_rng(0)
X, y, Y = rng.normal(size=(20, 3)), rng.normal(size=20), rng.normal(size=(20, 4))


def found(function: Callable[[], Any]) -> list[Problem]:
    """What is reported while `function` runs."""
    problems: list[Problem] = []
    with gt.explain.configure(GT1="note"), gt.explain.listening(problems.append):
        function()
    return problems


def slope(function: Callable[[Any], Any], at: Any = None) -> list[Problem]:
    """What is reported when the gradient of `function` is taken, at a column of weights unless told."""
    return found(lambda: gt.grad(function)(np.ones((3, 1)) if at is None else at))


@pytest.mark.parametrize(
    ("left", "right", "outer"),
    [
        ((5, 1), (5,), True),
        ((5,), (5, 1), True),
        ((5, 1, 3), (5, 3), True),
        ((5, 1), (1, 5), False),
        ((5, 1), (4,), False),
        ((5, 1), (5, 4), False),
        ((1, 1), (1,), False),
        ((5, 4), (4,), False),
        ((), (5,), False),
    ],
)
def test_the_three_criteria(left: tuple[int, ...], right: tuple[int, ...], outer: bool) -> None:
    """Both are stretched, to a length that is on both sides, and one of them along an axis that it does not have."""
    assert is_outer(left, right) is outer


class TestOuter:
    def test_the_intent_is_written_as_the_user_wrote_it(self) -> None:
        """Names in the user's own expression are not replaced by those of another import."""
        from gradtape.explain.messages import problem
        from gradtape.explain.model.problem import Fix, Span

        span = Span(__file__, 1)
        assert (
            problem("GT101", "", spans=[span], intent=Fix("np.conj(x)[None, :]", True)).intent == "np.conj(x)[None, :]"
        )

    def test_a_column_against_a_vector(self) -> None:
        """The operation's own expression is named, with its operands, the table of shapes, fixes and the intent."""
        w = gt.tensor(np.ones((3, 1)), requires_grad=True)
        pred = X @ w
        with pytest.warns(gt.BroadcastWarning, match="GT101") as caught:
            error = pred - y
        assert error.shape == (20, 20)
        problem = caught[0].message.problem
        assert problem.main.text == "pred - y"
        assert [(o.name, o.shape) for o in problem.operands] == [("pred", (20, 1)), ("y", (20,))]
        assert problem.operands[0].come_from.startswith("from X @ w")
        assert list(problem.fixes) == ["pred[:, 0] - y", "pred - y[:, None]"]
        assert all(fix.checked and fix.replaces == problem.main for fix in problem.fixes)
        assert "pred - y[None, :]" in problem.intent
        assert "400 elements; 20 if they are matched" in str(problem)

    def test_once_per_place(self) -> None:
        """A loop hears of it once, another line again."""
        w = gt.tensor(np.ones((3, 1)), requires_grad=True)

        def run() -> None:
            for _ in range(3):
                _ = X @ w - y
            _ = y * (X @ w)

        assert [problem.code for problem in found(run)] == ["GT101", "GT101"]

    @pytest.mark.parametrize(
        "function",
        [
            lambda w: ((X @ w) * y).sum(),
            lambda w: np.subtract(y, X @ w).sum(),
            lambda w: np.maximum(X @ w, y).sum(),
            lambda w: (np.tanh(X @ w) / y).sum(),
            lambda w: (X @ w[:, 0][:, None] - y).sum(),
        ],
    )
    def test_any_elementwise_operation(self, function: Callable[[Any], Any]) -> None:
        """It is not about subtraction, and a `None` inside a matrix product says nothing about the result."""
        assert [problem.code for problem in slope(function)] == ["GT101"]

    @pytest.mark.parametrize(
        "function",
        [
            lambda w: (y[:, None] * w[:, 0].sum() - y).sum(),
            lambda w: (np.exp((X @ w)[:, 0])[:, None] - y).sum(),
            lambda w: (np.expand_dims(X @ w[:, 0], 1) - y).sum(),
            lambda w: ((X * w.T).sum(axis=1, keepdims=True) - y).sum(),
            lambda w: ((X @ w).reshape(20, 1) - y).sum(),
            lambda w: (X @ w - y[None, :]).sum(),
            lambda w: (X @ w - y[:, np.newaxis]).sum(),
            lambda w: (X @ w + w[:, 0]).sum(),
            lambda w: ((X @ w)[:, 0] - y).sum(),
            lambda w: (X @ w - 1.0).sum(),
        ],
    )
    def test_what_is_spelled_out_is_meant(self, function: Callable[[Any], Any]) -> None:
        """An axis of length 1 made by None, expand_dims, keepdims or reshape in the operand, or other lengths."""
        assert slope(function) == []

    def test_a_name_is_followed_to_where_it_was_bound(self) -> None:
        """`column = x[:, None]` on another line is as good as in the operand; a reshape elsewhere is not."""

        def meant(w: Any) -> Any:
            column = (X @ w[:, 0])[:, None]
            shifted = column * 2.0
            return (shifted - y).sum()

        target = y.reshape(-1, 1)

        def slipped(w: Any) -> Any:
            return (target - X @ w[:, 0]).sum()

        assert slope(meant) == []
        assert [problem.code for problem in slope(slipped)] == ["GT101"]

    def test_a_tensor_against_itself(self) -> None:
        """All pairs of a tensor's own elements are meant, however the column was made."""

        def pairs(w: Any) -> Any:
            column = w.reshape(-1, 1)
            return ((column - w[:, 0]) ** 2).sum()

        assert slope(pairs) == []

    def test_a_parameter_against_a_column_of_data(self) -> None:
        """As many knots as points: a column that was reshaped elsewhere is enough, where no prediction is involved."""
        points = np.linspace(0.0, 1.0, 5).reshape(-1, 1)
        assert slope(lambda knots: np.abs(points - knots).sum(), np.linspace(0.1, 0.9, 5)) == []

    def test_functions_of_the_library_may_stretch(self) -> None:
        """What gradtape does inside its own functions is not reported at the user's line."""
        square = rng.normal(size=(5, 5))
        assert found(lambda: gt.grad(lambda a: gt.cov(a).sum())(square)) == []
        assert found(lambda: gt.grad(lambda a: np.linalg.det(a * 1.0))(square)) == []

    def test_it_can_be_raised_and_switched_off(self) -> None:
        """The code has a voice like any other."""
        w = gt.tensor(np.ones((3, 1)), requires_grad=True)
        for _ in range(2):
            with gt.explain.configure(GT101="raise"), pytest.raises(gt.ShapeError, match="GT101"):
                _ = X @ w - y
        with gt.explain.configure(GT101="off"):
            assert (X @ w - y).shape == (20, 20)

    def test_labels_in_an_index(self) -> None:
        """Labels of shape (n, 1) next to arange(n) pick a table."""
        labels = rng.integers(0, 3, size=(20, 1))
        problems = slope(lambda w: gt.log_softmax(X @ w)[np.arange(20), labels].sum(), np.ones((3, 3)))
        assert [problem.code for problem in problems] == ["GT101"]
        assert problems[0].fixes[0].endswith("[np.arange(20), labels[:, 0]]")


def _named(v: Any) -> Any:
    column = v[:, None]
    turned = np.conj(column)
    copied = turned.astype(np.complex128).copy()
    return copied * v


class TestSeveralUses:
    def test_a_column_that_a_loss_uses_twice_is_mended_where_it_is_made(self) -> None:
        """An edit of one use would leave the other; where the name is used otherwise, each use is edited."""

        def entropy(w: Any) -> Any:
            p = gt.sigmoid(X @ w)
            return -np.mean((y > 0) * np.log(p) + (y <= 0) * np.log(1.0 - p))

        def shown(w: Any) -> Any:
            p = gt.sigmoid(X @ w)
            assert p.shape == (20, 1)
            return np.mean((p - y) ** 2)

        assert slope(entropy)[0].fixes[0] == "gt.sigmoid(X @ w)[:, 0]"
        assert slope(shown)[0].fixes[0] == "p[:, 0] - y"


class TestAxisOnPurpose:
    @pytest.mark.parametrize(
        "function",
        [
            lambda v: np.conj(v[:, np.newaxis]) * v[::-1] ** 1.0,
            lambda v: np.real(v[:, None]) * np.imag(v)[::-1],
            lambda v: -v[:, None].astype(np.complex128) * np.exp(v),
            lambda v: v[None, :].T * np.exp(v),
            lambda v: np.transpose(v[None, :]) * np.exp(v),
            lambda v: v[:, None].real * np.exp(v),
            lambda v: gt.sigmoid(v[:, None].real) * np.exp(v),
            lambda v: np.where(v.real[:, None] > 0, v[:, None], 0.0) * np.exp(v),
            _named,
        ],
    )
    def test_is_seen_through_what_keeps_the_axes(self, function: Callable[[Any], Any]) -> None:
        """A new axis that was written counts behind conj, real, a sign, a cast, a transposition, and behind names."""
        z = rng.normal(size=6) + 1j * rng.normal(size=6)
        assert slope(lambda v: np.sum(np.abs(function(v)) ** 2), z) == []

    def test_is_seen_behind_the_functions_of_autograd(self) -> None:
        """A module that stands in for NumPy is one: its conj is elementwise as well."""
        from gradtape.explain.source.files import SourceFile

        assert SourceFile("a.py", "import autograd.numpy as np").is_array_module("np")


class TestOneSided:
    @pytest.mark.parametrize(
        "function",
        [
            lambda w: ((X @ w - Y) ** 2).mean(),
            lambda w: np.abs(Y - np.tanh(X @ w)).sum(),
            lambda w: (((X @ w).mean(axis=0) - y) ** 2).sum(),
            lambda w: ((Y - (X @ w)[:1]) ** 2).sum(),
        ],
    )
    def test_one_prediction_against_many_targets(self, function: Callable[[Any], Any]) -> None:
        """A prediction that was computed from data has an axis of length 1, which the target stretches."""
        (problem,) = slope(function)
        assert problem.code == "GT102"
        assert "-" in problem.main.text
        assert "compared with" in problem.title

    @pytest.mark.parametrize(
        ("function", "at"),
        [
            (lambda m: ((y - m) ** 2).mean(), np.ones(1)),
            (lambda m: ((y - np.exp(m)) ** 2).mean(), np.ones(1)),
            (lambda m: ((y - 0.1 * np.tanh(m[1:])) ** 2).mean(), np.ones(2)),
            (lambda m: ((Y - m) ** 2).mean(), np.ones((1, 4))),
            (lambda w: ((Y - (X @ w).mean(axis=0, keepdims=True)) ** 2).mean(), np.ones((3, 4))),
            (lambda w: ((Y - (X @ w[:, 0])[:, None]) ** 2).mean(), np.ones((3, 1))),
            (lambda w: ((np.broadcast_to(X @ w, (20, 4)) - Y) ** 2).mean(), np.ones((3, 1))),
            (lambda w: (gt.softmax(X @ w - np.arange(4.0)) @ np.ones(4)).sum(), np.ones((3, 1))),
            (lambda w: ((X @ w - y[:, None]) ** 2).mean(), np.ones((3, 1))),
            (lambda w: ((X @ w) * Y).mean(), np.ones((3, 1))),
        ],
    )
    def test_likelihoods_and_centring_are_left_alone(self, function: Callable[[Any], Any], at: Any) -> None:
        """A parameter against data, statistics with keepdims, thresholds and products are what they should be."""
        assert slope(function, at) == []

    def test_only_where_it_is_reduced(self) -> None:
        """A table of differences that is itself the answer is not a residual."""
        w = gt.tensor(np.ones((3, 1)), requires_grad=True)
        assert found(lambda: (X @ w - Y).backward(np.ones((20, 4)))) == []


class TestMadeElsewhere:
    """Judged when a gradient is taken, with the source's help."""

    def test_a_table_of_plain_arrays(self) -> None:
        """A column and a vector that met off the tape are named, where the table meets a prediction."""
        rewards, following = y, X

        def loss(w: Any) -> Any:
            best = np.max(following, axis=1, keepdims=True)
            target = rewards + 0.9 * best
            return ((target - (X @ w)[:, 0]) ** 2).mean()

        (problem,) = slope(loss)
        assert problem.code == "GT101"
        assert problem.main.text == "rewards + 0.9 * best"
        assert list(problem.fixes) == ["rewards + (0.9 * best)[:, 0]"]
        assert problem.spans[1].text == "target - (X @ w)[:, 0]"

    def test_a_row_of_targets(self) -> None:
        """Predictions (n, 1) against targets (1, n) of other origin are a table of pairs."""
        row = np.array(y, ndmin=2)
        (problem,) = slope(lambda w: ((row - X @ w) ** 2).mean())
        assert problem.code == "GT101"
        assert all(fix.checked for fix in problem.fixes)

    def test_one_prediction_of_the_mean_example(self) -> None:
        """A prediction (1, 1) that was made of the data's mean is compared with all targets."""
        column = np.array(y, ndmin=2).T.copy()

        def loss(w: Any) -> Any:
            pred = X.mean(axis=0, keepdims=True) @ w
            return ((pred - column) ** 2).mean()

        assert [problem.code for problem in slope(loss)] == ["GT102"]

    def test_tables_that_are_meant(self) -> None:
        """Written axes, norms of one array, transposes in so many words and parameters of size 1 are left alone."""
        column = y[:, None]
        squares = (X**2).sum(axis=1, keepdims=True)
        distances = squares + (X**2).sum(axis=1)
        gaps = column - y
        assert slope(lambda w: ((X @ w)[:, 0] * distances).mean()) == []
        assert slope(lambda w: (((X @ w)[:, 0] - gaps) ** 2).mean()) == []
        assert slope(lambda w: np.abs(X @ w - column.T).mean()) == []
        assert slope(lambda m: ((np.exp(m) / len(X) - column) ** 2).mean(), np.ones((1, 1))) == []
        assert slope(lambda m: ((X.mean(keepdims=True) * np.exp(m) - X) ** 2).mean(), np.ones((1, 1))) == []
