"""NaN and infinity: the operation where they were born is named, with the element and a fix that was tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain.model.problem import Problem


def found(function: Callable[[Any], Any], at: Any) -> list[Problem]:
    """What is reported when the gradient of `function` is taken."""
    problems: list[Problem] = []
    with gt.explain.configure(GT4="note"), gt.explain.listening(problems.append), np.errstate(all="ignore"):
        gt.grad(function)(np.asarray(at, float))
    return problems


def only(function: Callable[[Any], Any], at: Any) -> Problem:
    """The one thing that is reported."""
    (problem,) = found(function, at)
    return problem


class TestForward:
    @pytest.mark.parametrize(
        ("function", "at", "text", "facts", "fix"),
        [
            (lambda x: np.log(x).sum(), [1.0, 0.0], "np.log(x)", "-inf at [1], where x is 0", "np.log(x + 1e-12)"),
            (lambda x: (x / x).sum(), [2.0, 0.0], "x / x", "nan at [1], where x is 0 and x is 0", None),
            (lambda x: (1.0 / x).sum(), [2.0, 0.0], "1.0 / x", "inf at [1], where x is 0", "1.0 / (x + 1e-12)"),
            (lambda x: np.exp(x).sum(), 1e3, "np.exp(x)", "inf, where x is 1000", "np.exp(np.minimum(x, 350.0))"),
            (lambda x: np.sqrt(x).sum(), [4.0, -1.0], "np.sqrt(x)", "nan at [1], where x is -1",
             "np.sqrt(np.maximum(x, 1e-12))"),
            (lambda x: (x**-2).sum(), [0.0], "x**-2", "inf at [0], where x is 0", None),
        ],
    )  # fmt: skip
    def test_the_first_operation(
        self, function: Callable[[Any], Any], at: Any, text: str, facts: str, fix: str | None
    ) -> None:
        """Expression, element and operands; and an edit with which the operation and its slope are finite."""
        problem = only(function, at)
        assert problem.code == "GT401"
        assert problem.main is not None
        assert problem.main.text == text
        assert problem.title == f"{text} is {facts}"
        checked = [fix for fix in problem.fixes if fix.checked]
        assert fix is None or checked == [fix]

    @pytest.mark.parametrize("function", [np.log, np.sqrt])
    def test_a_parameter_that_has_become_negative(self, function: Callable[[Any], Any]) -> None:
        """Held at a bound it would get no gradient, so that no such edit is offered."""
        problem = only(lambda scale: function(scale) ** 2, -2.0)
        assert "learn its logarithm" in problem.fixes[0]
        assert not any(fix.is_edit for fix in problem.fixes)

    def test_in_the_order_of_the_program(self) -> None:
        """Not the last operation that has NaN in it, and not the one that the walk back meets first."""

        def entropy(x: Any) -> Any:
            p = x / x.sum()
            logs = np.log(p)
            return -(p * logs).sum()

        problem = only(entropy, [1.0, 0.0, 3.0])
        assert problem.main is not None
        assert (problem.code, problem.main.text) == ("GT401", "np.log(p)")
        assert problem.operands[0].come_from.startswith("from x / x.sum()")

    def test_a_quotient_of_infinity(self) -> None:
        """The numerator is named, not the denominator, and with a large number in its place there is a gradient."""

        def soft_minimum(gamma: Any, large: float) -> Any:
            z = -np.array([large, 1.0, 2.0]) / gamma
            return -gamma * (np.log(np.sum(np.exp(z - z.max()))) + z.max())

        problem = only(lambda gamma: soft_minimum(gamma, np.inf), 0.5)
        assert "is infinite: a large finite number, 1e30 say" in problem.fixes[0]
        gt.gradcheck(lambda gamma: soft_minimum(gamma, 1e30), np.asarray(0.5))

    def test_infinity_in_the_data_is_not_a_birth(self) -> None:
        """A mask of minus infinity is put there on purpose; what else went wrong is named."""
        allowed = np.array([True, False])
        problem = only(lambda x: gt.logsumexp(np.where(allowed, x, -np.inf)) + np.log(x).sum(), [0.0, 1.0])
        assert problem.main is not None
        assert problem.main.text == "np.log(x)"

    def test_missing_values_in_the_data(self) -> None:
        """The array that had them is named, and its element; not the operation that met them."""
        table = np.ones((4, 2))
        table[2, 1] = np.nan
        problem = only(lambda w: ((table @ w) ** 2).mean(), [1.0, 1.0])
        assert (problem.code, problem.title) == ("GT401", "table is nan at [2, 1] to begin with")
        assert problem.main is not None
        assert problem.main.text == "table @ w"

    def test_data_that_was_not_saved(self) -> None:
        """A sum does not make NaN of finite numbers: if it is NaN, the operand that is not known was."""
        y = np.array([1.0, np.nan])
        problem = only(lambda w: ((np.tanh(w) - y) ** 2).sum(), [1.0, 1.0])
        assert problem.title == "y is not finite to begin with: np.tanh(w) - y is nan at [1]"

    def test_a_parameter_that_was_spoiled_before(self) -> None:
        """Infinity in a parameter is never meant, and a step before has made it so."""
        problem = only(lambda w: ((np.ones((3, 2)) @ w) ** 2).sum(), [1.0, np.inf])
        assert problem.title == "w is inf at [1] to begin with"
        assert "the step before" in problem.fixes[0]

    def test_a_value_that_is_nan_where_the_gradient_is_not(self) -> None:
        """The slope of a logarithm is finite below zero, and its value is not."""
        assert only(lambda x: np.log(x).sum(), [-1.0]).title == "np.log(x) is nan at [0], where x is -1"

    def test_reported_once_in_a_loop(self) -> None:
        """A training loop that has run into NaN says so once."""
        x = gt.tensor([0.0], requires_grad=True)

        def train() -> None:
            for _ in range(3):
                np.log(x).sum().backward()

        with pytest.warns(gt.NumericsWarning) as caught, np.errstate(all="ignore"):
            train()
        assert [warning.message.problem.code for warning in caught] == ["GT401"]


class TestBackward:
    @pytest.mark.parametrize(
        ("function", "at", "text", "fix"),
        [
            (lambda x: np.sqrt((x**2).sum()), [0.0, 0.0], "np.sqrt((x**2).sum())", "np.sqrt((x**2).sum() + 1e-12)"),
            (lambda x: ((x**0.5 - 1.0) ** 2).sum(), [1.0, 0.0], "x**0.5", "(x + 1e-12)**0.5"),
            (
                lambda x: np.arccos(x.sum()),
                [1.0, 0.0],
                "np.arccos(x.sum())",
                "np.arccos(np.clip(x.sum(), -1 + 1e-7, 1 - 1e-7))",
            ),
        ],
    )
    def test_an_infinite_slope(self, function: Callable[[Any], Any], at: Any, text: str, fix: str) -> None:
        """The value is finite and the slope is not: that operation, not the one where it became NaN."""
        problem = only(function, at)
        assert problem.code == "GT402"
        assert problem.main is not None
        assert problem.main.text == text
        assert problem.fixes[0] == fix
        assert problem.fixes[0].checked

    def test_the_library_has_finite_slopes_where_it_can(self) -> None:
        """norm at 0, and abs at 0, have a slope of 0, and nothing is said."""
        assert found(lambda x: np.linalg.norm(x) + np.abs(x).sum() + x.sum(), [0.0, 0.0]) == []

    def test_an_overflow_that_the_value_hides(self) -> None:
        """1 / (1 + exp(1000)) is 0, a good number; its gradient is not, and the overflow is to blame."""
        problem = only(lambda x: (1.0 / (1.0 + np.exp(-x))).sum(), [-1000.0])
        assert problem.main is not None
        assert (problem.code, problem.main.text) == ("GT401", "np.exp(-x)")


SQUARE = np.array([[1.0, 2.0], [3.0, 1.0]])


class TestWhere:
    @pytest.mark.parametrize(
        ("function", "at", "fix"),
        [
            (lambda x: np.where(x > 0, SQUARE @ np.sqrt(x), 0.0).sum(), [0.0, 0.0], "np.sqrt(np.where(x > 0, x, 1.0))"),
            (lambda x: np.where(x == 0, 1.0, np.cumsum(1.0 / x)).sum(), [4.0, 0.0], "1.0 / np.where(x == 0, 1.0, x)"),
            (
                lambda x: np.where(x > 0, x * np.cumsum(np.log(x)), 0.0).sum(),
                [4.0, 0.0],
                "np.log(np.where(x > 0, x, 1.0))",
            ),
        ],
    )
    def test_the_branch_that_is_not_taken(self, function: Callable[[Any], Any], at: Any, fix: str) -> None:
        """The branch is named, the where that does not take it, and the double where as an edit."""
        problem = only(function, at)
        assert problem.code == "GT403"
        assert problem.spans[1].text.startswith("np.where")
        assert problem.fixes[0] == fix
        assert problem.fixes[0].checked

    def test_a_double_where_is_silent(self) -> None:
        """The cure cures."""
        assert found(lambda x: np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0).sum(), [4.0, 0.0]) == []

    def test_a_branch_of_elementwise_operations_is_silent(self) -> None:
        """What where does not take has a gradient of zero by structure, and nothing is to be explained."""
        assert found(lambda x: np.where(x > 0, x * np.log(x) ** 2, 0.0).sum(), [4.0, 0.0]) == []

    def test_a_slope_that_is_taken_is_another_matter(self) -> None:
        """If the infinite slope is at a place that where takes, where is not to blame."""
        assert only(lambda x: (np.where(x >= 0, np.sqrt(x), 0.0) + 0.0 * x).sum(), [4.0, 0.0]).code == "GT402"


def distances(p: Any) -> Any:
    apart = p[:, None, :] - p[None, :, :]
    square = np.sum(apart * apart, axis=-1)
    distance = np.sqrt(square)
    return np.sum(np.tanh(np.exp(-distance) * 2.0))


def blocks(p: Any) -> Any:
    total = 0.0
    for start in (0, 100):
        square = np.sum((p[start : start + 100, None] - p[None]) ** 2, axis=-1)
        total = total + np.sum(np.log1p(np.sqrt(square)))
    return total


def by_tape(function: Callable[[Any], Any], at: Any) -> None:
    x = gt.Variable(at)
    with gt.GradientTape() as tape:
        y = function(x)
    tape.gradient(y, x)


WAYS: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {
    "grad": lambda function, at: gt.grad(function)(at),
    "value_and_grad": lambda function, at: gt.value_and_grad(function)(at),
    "tape": by_tape,
    "backward": lambda function, at: function(gt.tensor(at, requires_grad=True)).backward(),
    "jit of grad": lambda function, at: gt.jit(gt.grad(function))(at),
    "grad of jit": lambda function, at: gt.grad(gt.jit(function))(at),
    "vjp": lambda function, at: gt.vjp(function, at)[1](1.0),
    "checkpoint": lambda function, at: gt.grad(lambda x: gt.checkpoint(function)(x) * 2.0)(at),
}


class TestLargeArrays:
    @pytest.mark.parametrize("way", WAYS)
    @pytest.mark.parametrize("function", [distances, blocks])
    def test_the_operation_is_found_whatever_was_let_go(self, function: Callable[[Any], Any], way: str) -> None:
        """The root at zero distance is named, with its element, though the walk frees large arrays behind itself."""
        problems: list[Problem] = []
        points = np.random.default_rng(0).normal(size=(200, 3))
        with gt.explain.configure(GT4="note"), gt.explain.listening(problems.append), np.errstate(all="ignore"):
            WAYS[way](function, points)
        (problem,) = problems
        assert problem.code == "GT402"
        assert problem.main is not None
        assert problem.main.text == "np.sqrt(square)"
        assert problem.title.endswith("where square is 0")
        assert problem.fixes[0] == "np.sqrt(square + 1e-12)"

    @pytest.mark.parametrize(
        ("function", "code", "text"),
        [
            (lambda x: np.sum(np.tanh(np.log(x) * 0.5) ** 2), "GT401", "np.log(x)"),
            (lambda x: np.sum(np.log(x - 1.0) ** 2), "GT401", "np.log(x - 1.0)"),
            (lambda x: np.mean(gt.special.gammaln(x) * 0.5), "GT401", "gt.special.gammaln(x)"),
            (lambda x: np.sum(np.where(x > 3, np.cumsum(np.sqrt(x)), 0.0)), "GT403", "np.sqrt(x)"),
            (lambda x: np.sum(np.sqrt(np.sum(x.reshape(100, -1) ** 2 * 0.0, axis=1))), "GT402",
             "np.sqrt(np.sum(x.reshape(100, -1) ** 2 * 0.0, axis=1))"),
        ],
    )  # fmt: skip
    def test_forward_backward_and_in_branches(self, function: Callable[[Any], Any], code: str, text: str) -> None:
        """What is born in the forward pass, in a rule without floating-point flags, or before arrays become large."""
        problem = found(function, np.linspace(0.0, 2.0, 20_000))[0]
        assert problem.code == code
        assert problem.main is not None
        assert problem.main.text == text

    def test_of_a_second_derivative_only_the_operand_itself_is_told(self) -> None:
        """The numbers that a message states are of the expression's operands, not of a gradient that meets them."""
        problems: list[Problem] = []
        points = np.random.default_rng(0).normal(size=(20, 3))
        with gt.explain.configure(GT4="note"), gt.explain.listening(problems.append), np.errstate(all="ignore"):
            gt.grad(lambda p: np.sum(gt.grad(distances)(p) ** 2))(points)
        assert all("square is 1" not in problem.title for problem in problems)
        assert any("np.sqrt(square) is 0" in problem.title for problem in problems)

    def test_a_dead_layer_is_found_whatever_was_let_go(self) -> None:
        """The relu of a large layer is named that is zero for every element."""
        rng = np.random.default_rng(0)
        data = rng.normal(size=(300, 5))

        def loss(params: Any) -> Any:
            weights, bias = params
            return np.mean((gt.relu(data @ weights + bias) @ np.ones(200) - 1.0) ** 2)

        problems: list[Problem] = []
        with gt.explain.configure(GT4="note"), gt.explain.listening(problems.append):
            gt.grad(loss)((rng.normal(size=(5, 200)), np.full(200, -80.0)))
        (problem,) = problems
        assert problem.code == "GT404"
        assert problem.main is not None
        assert problem.main.text == "gt.relu(data @ weights + bias)"

    def test_check_numerics_keeps_them(self) -> None:
        """With check_numerics the element is known."""
        x = gt.Variable(np.zeros((300, 300)))
        with gt.check_numerics():
            with gt.GradientTape() as tape:
                y = np.sqrt(x * x).sum()
            with pytest.raises(gt.NumericsError, match=r"np.sqrt\(x \* x\) is infinite at \[0, 0\]"):
                tape.gradient(y, x)


class TestCheckNumerics:
    def test_forward(self) -> None:
        """The operation itself raises, at its line."""
        x = gt.tensor([1.0, 0.0], requires_grad=True)
        with gt.check_numerics(), pytest.raises(gt.NumericsError) as caught:
            np.log(x)
        assert caught.value.problem.code == "GT401"
        assert caught.value.problem.main.text == "np.log(x)"
        assert caught.value.problem.fixes[0] == "np.log(x + 1e-12)"

    def test_backward(self) -> None:
        """The walk back raises, and names the forward operation."""
        x = gt.tensor([1.0, 0.0], requires_grad=True)
        with gt.check_numerics(), pytest.raises(gt.NumericsError, match="GT402"):
            np.sqrt(x).sum().backward()

    def test_plain_arrays(self) -> None:
        """Data is checked as well."""
        data = np.array([0.0])
        with gt.check_numerics(), pytest.raises(gt.NumericsError, match="GT401"):
            np.log(data)

    def test_silent_on_healthy_programs(self) -> None:
        """Finite numbers pass, and what an operation hides inside is its own business."""
        x = gt.tensor([[1.0, -2000.0], [0.0, 3.0]], requires_grad=True)
        with gt.check_numerics():
            (gt.log_softmax(x) + gt.softplus(x) + gt.sigmoid(x)).sum().backward()
        assert np.isfinite(x.grad.numpy()).all()

    def test_everything_is_as_before_afterwards(self) -> None:
        """Voices, NumPy's error state and what is kept are restored, after an error too."""
        before = np.geterr(), gt.explain.voice("GT401")
        with pytest.raises(RuntimeError, match="stop"), gt.check_numerics():
            raise RuntimeError("stop")
        assert (np.geterr(), gt.explain.voice("GT401")) == before

    def test_the_graph_is_freed_all_the_same(self) -> None:
        """An error while a gradient is checked leaves the tape as spent as any other."""
        x = gt.tensor([0.0], requires_grad=True)
        y = np.sqrt(x).sum()
        with gt.check_numerics(), pytest.raises(gt.NumericsError):
            y.backward()
        with pytest.raises(gt.TapeError):
            y.backward()


def test_missing_values_behind_where() -> None:
    """They are multiplied and added up before they are chosen away: the fix chooses before."""
    table = np.array([[1.0, np.nan], [2.0, 3.0]])
    assert found(lambda w: np.where(np.isnan(table), 0.0, table * w).sum(), [1.0, 1.0]) == []
    problem = only(lambda w: np.where(np.isnan(table), 0.0, np.cumsum(table * w, 1)).sum(), [1.0, 1.0])
    assert problem.code == "GT403"
    assert problem.fixes[0] == "np.where(np.isnan(table), 1.0, table) * w"


DATA = np.array([[3.0, -400.0], [2.0, 500.0]])


SIGNS = np.where(np.arange(400) < 2, -1.0, 1.0)


def cross_entropy_of_scores(w: Any) -> Any:
    z = DATA @ w
    return -np.mean(0.5 * np.log(z) + 0.5 * np.log(1 - z))


def forward_algorithm(x: Any) -> Any:
    alpha = np.ones(2) * x
    for _ in range(400):
        alpha = alpha * 0.1 * x
    return np.log(np.sum(alpha))


def lower_distances(x: Any) -> Any:
    r = np.sqrt((x[:, None] - x) ** 2)
    return np.sum(np.tril(np.cumsum(r, 1), -1))


class TestCures:
    def test_softplus_is_written_with_logaddexp(self) -> None:
        """log(1 + exp(z)) and log1p(exp(z)) have a name that stays in range, and a slope that is not zero."""
        problem = only(lambda w: np.sum(np.log(1 + np.exp(DATA @ w))), [1.0, 2.0])
        assert str(problem.fixes[0]) == "np.logaddexp(0.0, DATA @ w)"
        problem = only(lambda w: np.sum(np.log1p(np.exp(DATA @ w))), [1.0, 2.0])
        assert str(problem.fixes[0]) == "np.logaddexp(0.0, DATA @ w)"

    def test_scores_that_are_taken_for_probabilities(self) -> None:
        """log(z) and log(1 - z) of what is outside of 0 and 1: a sigmoid is missing where z was made."""
        problem = only(cross_entropy_of_scores, [0.1, 0.01])
        assert str(problem.fixes[0]) == "gt.sigmoid(DATA @ w)"
        assert problem.fixes[0].checked

    def test_a_sigmoid_that_rounds_to_one_is_not_offered(self) -> None:
        """The sigmoid of 52 is 1, and log(1 - 1) is infinite: the loss of logits is advised, and no edit."""
        problem = only(cross_entropy_of_scores, [1.0, 0.1])
        assert not any(fix.is_edit for fix in problem.fixes)
        assert "binary_cross_entropy_with_logits" in problem.fixes[0]

    def test_logarithms_of_negative_factors_are_not_offered(self) -> None:
        """A product that underflowed has a logarithm only if its factors have: the edit is computed before."""
        problem = only(lambda x: np.log(np.prod(x * SIGNS)), np.full(400, 0.01))
        assert not any(fix.is_edit for fix in problem.fixes)

    def test_a_small_number_does_not_help_what_has_underflowed(self) -> None:
        """Added to a product that is 0 it would be all that is left, and the gradient 0."""
        problem = only(forward_algorithm, [0.1, 0.2])
        assert not any("1e-12" in fix for fix in problem.fixes)
        assert "underflows to 0 on the way" in problem.fixes[0]

    def test_a_where_that_nobody_wrote_is_not_blamed(self) -> None:
        """np.tril chooses with `where` inside: the square root is to blame, and has a fix."""
        problem = only(lower_distances, [0.3, 1.0, 2.0])
        assert problem.code == "GT402"
        assert str(problem.fixes[0]) == "np.sqrt(((x[:, None] - x) ** 2) + 1e-12)"

    def test_nan_goes_before_infinity(self) -> None:
        """A mask's infinities are meant: the row that has nothing else is what is shown."""
        mask = np.array([[0.0, -np.inf], [-np.inf, -np.inf]])
        problem = only(lambda x: gt.log_softmax(x + mask, axis=1)[:, 0].sum(), np.ones((2, 2)))
        assert "nan at [1, 0]" in problem.title
