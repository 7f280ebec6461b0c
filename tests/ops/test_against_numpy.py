"""Forms of calls that NumPy has, one of each kind that is easily forgotten: value, dtype and shape as NumPy's own.

And what is written inside transforms: elements of a tensor that is the same in all examples, of a Variable that is
traced, and `x[i] += y`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg as scipy_linalg

import gradtape as gt

from .cases import assert_close

RANDOM = np.random.default_rng(20)
MATRIX = RANDOM.normal(size=(2, 3))
TALL = RANDOM.normal(size=(4, 2))
VECTOR = RANDOM.normal(size=3)
COMPLEX = RANDOM.normal(size=(2, 3)) + 1j * RANDOM.normal(size=(2, 3))
EMPTY = np.zeros((0, 3))

CALLS: dict[str, tuple[Callable[..., Any], Any]] = {
    "reduce of one number": (np.add.reduce, np.array(2.0)),
    "cumulative sum of one number": (lambda x: np.cumulative_sum(x, include_initial=True), np.array(2.0)),
    "median of no rows": (lambda x: np.median(x, axis=1), EMPTY),
    "percentile by a number with a dtype": (lambda x: np.percentile(x, np.float64(40)), MATRIX.astype(np.float32)),
    "triangle of a vector": (np.tril, VECTOR),
    "upper triangle of a vector": (lambda x: np.triu(x, 1), VECTOR),
    "concatenate cast": (lambda x: np.concatenate([x, x], dtype=int, casting="unsafe"), 10 * VECTOR),
    "all of svd": (lambda x: np.linalg.svd(x)[1], TALL),
    "raw qr": (lambda x: np.linalg.qr(x, "raw")[0], TALL),
    "complete R": (lambda x: np.linalg.qr(x, "complete").R, TALL),
}
REFUSED: dict[str, tuple[Callable[..., Any], Any]] = {
    "where without y": (lambda x: np.where(np.ones(3, bool), x), VECTOR),
    "where= without initial=": (lambda x: np.max(x, where=np.ones(3, bool)), VECTOR),
    "ddof and correction": (lambda x: np.var(x, ddof=1, correction=1), VECTOR),
    "percentile of 140": (lambda x: np.percentile(x, 140), VECTOR),
    "quantile of nothing": (lambda x: np.quantile(x, 0.5), EMPTY),
    "accumulate of one number": (np.add.accumulate, np.array(2.0)),
    "concatenate to integers": (lambda x: np.concatenate([x, x], dtype=int), VECTOR),
    "choose beyond the choices": (lambda x: np.choose([0, 3, 1], [x, x]), VECTOR),
    "linspace of -1": (lambda x: np.linspace(x, 1.0, -1), VECTOR),
    "linalg.outer of a matrix": (lambda x: np.linalg.outer(x, x), MATRIX),
    "weights without axis": (lambda x: np.average(x, weights=np.ones(3)), MATRIX),
    "a string": (lambda x: np.multiply(x, "a"), VECTOR),
}


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize("name", CALLS)
def test_form_of_call(name: str) -> None:
    """What comes out has NumPy's value, dtype and shape."""
    call, x = CALLS[name]
    expected, found = np.asarray(call(x)), call(gt.tensor(x)).numpy()
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("name", REFUSED)
def test_refusal(name: str) -> None:
    """What NumPy refuses is refused with its class, and no numbers are in the message."""
    call, x = REFUSED[name]
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        call(x)
    kind = next(c for c in (TypeError, ValueError, IndexError) if isinstance(theirs.value, c))
    with pytest.raises(gt.GradTapeError) as ours:
        call(gt.tensor(x, requires_grad=True))
    assert isinstance(ours.value, kind)
    assert "Tensor([" not in str(ours.value)


class TestComplexRules:
    @pytest.mark.parametrize(
        "function", [lambda z: gt.logsumexp(z, 1), lambda z: gt.softmax(z, 1), lambda z: gt.log_softmax(z, 1)]
    )
    def test_exponentials(self, function: Callable[..., Any]) -> None:
        """The softmax family has the conjugate gradient of complex numbers, in both modes and twice."""
        assert gt.gradcheck(function, COMPLEX, order=2)

    def test_sylvester_of_a_complex_and_a_real_matrix(self) -> None:
        """One complex and one real operand with complex eigenvalues: the equation holds."""
        a = 3 * np.eye(3) + 0.3j * RANDOM.normal(size=(3, 3))
        b, q = 3 * np.eye(3) + np.diag([1.0, 1.0], 1) - np.diag([1.0, 1.0], -1), RANDOM.normal(size=(3, 3))
        x = gt.linalg.solve_sylvester(gt.tensor(a), gt.tensor(b), gt.tensor(q)).numpy()
        assert_close(a @ x + x @ b, q.astype(complex))
        assert_close(x, scipy_linalg.solve_sylvester(a, b.astype(complex), q))


class TestVectorsThatCompleteABasis:
    def test_what_does_not_depend_on_them_has_a_gradient(self) -> None:
        """Singular values, the known vectors and R have the gradients that they have without the others."""
        pairs = [
            (lambda a: np.linalg.svd(a)[1], lambda a: np.linalg.svd(a, full_matrices=False)[1]),
            (lambda a: np.linalg.svd(a)[0][:, :2], lambda a: np.linalg.svd(a, full_matrices=False)[0]),
            (lambda a: np.linalg.svd(a.T)[2][:2], lambda a: np.linalg.svd(a.T, full_matrices=False)[2]),
            (lambda a: np.linalg.qr(a, "complete").R[:2], lambda a: np.linalg.qr(a).R),
            (lambda a: np.linalg.qr(a, "complete").Q[:, :2], lambda a: np.linalg.qr(a).Q),
        ]
        for whole, thin in pairs:
            weights = RANDOM.normal(size=thin(TALL).shape)
            expected = gt.grad(lambda a, thin=thin, weights=weights: np.sum(weights * thin(a)))(TALL)
            assert_close(gt.grad(lambda a, whole=whole, weights=weights: np.sum(weights * whole(a)))(TALL), expected)

    @pytest.mark.parametrize("function", [lambda a: np.linalg.svd(a)[0], lambda a: np.linalg.qr(a, "complete")[0]])
    def test_what_depends_on_them_is_refused(self, function: Callable[..., Any]) -> None:
        """A gradient through the arbitrary vectors raises and says so."""
        with pytest.raises(gt.UnsupportedError, match="arbitrary and have no derivative"):
            gt.grad(lambda a: np.sum(function(a) ** 3))(TALL)

    @pytest.mark.parametrize(
        "function",
        [
            lambda a: abs(np.linalg.svd(a)[0][:, 2]),
            lambda a: abs(np.linalg.svd(a.T)[2][2]),
            lambda a: abs(np.linalg.qr(a, "complete").Q[:, 2]),
        ],
    )
    def test_a_single_one_stays_orthogonal(self, function: Callable[..., Any]) -> None:
        """One vector that completes a basis is known up to its sign: it has all derivatives, in both modes."""
        a, weights = RANDOM.normal(size=(3, 2)), RANDOM.normal(size=3)
        gt.gradcheck(lambda a: np.sum(weights * function(a)), a)
        gt.gradcheck(lambda a: np.sum(gt.grad(lambda a: np.sum(weights * function(a)))(a) ** 2), a)
        direction = RANDOM.normal(size=(3, 2))
        slope = np.sum(gt.grad(lambda a: np.sum(weights * function(a)))(a) * direction)
        np.testing.assert_allclose(gt.jvp(lambda a: np.sum(weights * function(a)), (a,), (direction,))[1], slope)

    def test_the_space_of_several_moves(self) -> None:
        """In forward mode the space of the vectors that complete a basis moves as it does, whichever they are."""
        a, direction = RANDOM.normal(size=(4, 2)), RANDOM.normal(size=(4, 2))
        space = lambda a: np.linalg.svd(a)[0][:, 2:] @ np.linalg.svd(a)[0][:, 2:].T
        expected = -gt.jvp(lambda a: a @ np.linalg.pinv(a), (a,), (direction,))[1]
        assert_close(gt.jvp(space, (a,), (direction,))[1], expected)


class TestInterpolationInBatches:
    @pytest.mark.parametrize("period", [None, 2.5])
    def test_points_that_are_the_same_for_all(self, period: float | None) -> None:
        """`np.interp` with plain points is batched over what is interpolated, and so is its gradient."""
        places, heights = np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0])
        function = lambda x: np.interp(x, places, heights, period=period)
        rows = RANDOM.uniform(-1, 3, (4, 5))
        assert_close(gt.vmap(function)(rows), np.stack([function(row) for row in rows]))
        slope = gt.grad(lambda x: np.sum(function(x)))
        assert_close(gt.vmap(slope)(rows), np.stack([slope(row) for row in rows]))

    def test_lists_as_operands(self) -> None:
        """A list is an array inside vmap too."""
        rows = RANDOM.normal(size=(4, 2, 3))
        assert_close(gt.vmap(lambda m: m @ [1.0, 2.0, 3.0])(rows), rows @ np.array([1.0, 2.0, 3.0]))
        assert_close(gt.vmap(lambda m: [[1.0, 2.0]] @ m)(rows), np.array([[1.0, 2.0]]) @ rows)


def filled(x: Any) -> Any:
    """The running example: a tensor of zeros whose elements are written one by one."""
    out = gt.zeros(3)
    out[0] = x[0]
    out[1:] = x[:2] * x[1]
    out[2] += x[0]
    return out * 2


def expected_fill(x: Any) -> Any:
    return np.array([2 * x[0], 2 * x[0] * x[1], 2 * x[1] * x[1] + 2 * x[0]])


class TestWritingInsideTransforms:
    ROWS = RANDOM.normal(size=(4, 2))

    def test_vmap(self) -> None:
        """A tensor that is the same in all examples becomes one that differs when something that differs is written."""
        assert_close(gt.vmap(filled)(self.ROWS), np.stack([expected_fill(row) for row in self.ROWS]))

    def test_gradients(self) -> None:
        """The gradient goes through what was written, in a batch, compiled, and both."""
        slope = gt.grad(lambda x: np.sum(filled(x)))
        expected = np.stack([slope(row) for row in self.ROWS])
        assert_close(expected[:, 0], 4 + 2 * self.ROWS[:, 1])
        assert_close(gt.vmap(slope)(self.ROWS), expected)
        assert_close(gt.jit(slope)(self.ROWS[0]), expected[0])
        assert_close(gt.jit(gt.vmap(slope))(self.ROWS), expected)

    def test_nested_vmap(self) -> None:
        """What a map inside writes into a tensor of the map outside belongs to the map inside."""

        def inner(x: Any, y: Any) -> Any:
            out = x * 1.0
            out[0] = y
            return out

        found = gt.vmap(lambda x: gt.vmap(lambda y: inner(x, y))(np.arange(3.0)))(self.ROWS)
        expected = np.repeat(self.ROWS[:, None], 3, axis=1)
        expected[:, :, 0] = np.arange(3.0)
        assert_close(found, expected)

    def test_overwritten_by_what_is_the_same_for_all(self) -> None:
        """A tensor of a batch that is overwritten with one value has that value in each example."""

        def function(x: Any) -> Any:
            out = x * 1.0
            np.copyto(out, np.array([5.0, 6.0]))
            return out

        assert_close(gt.vmap(function)(self.ROWS), np.tile([5.0, 6.0], (4, 1)))

    def test_a_variable_that_is_traced(self) -> None:
        """An element of a Variable that a compiled function writes is written, in this run and in later ones."""
        state = gt.Variable(np.zeros(2))

        @gt.jit
        def step(x: Any) -> Any:
            state[0] = x
            return state * 2

        for number in (1.0, 2.0, 3.0):
            assert_close(np.asarray(step(np.array(number))), np.array([2 * number, 0.0]))
            assert_close(state.numpy(), np.array([number, 0.0]))

    def test_a_variable_in_a_batch(self) -> None:
        """A Variable has one value, not one for each example."""
        state = gt.Variable(np.zeros(2))
        with pytest.raises(gt.DetachError, match="4 examples at once"):
            gt.vmap(lambda x: state.__setitem__(0, x[0]))(self.ROWS)
        assert_close(state.numpy(), np.zeros(2))


class TestAugmentedElements:
    def test_gradient(self) -> None:
        """`x[i] += y` and its like write elements, slices and rows of a recorded tensor."""

        def function(x: Any) -> Any:
            out = x * 1.0
            out[0] += x[1]
            out[1:] *= 3.0
            for i in range(3):
                out[i] -= 0.5
            return np.sum(out**2)

        a, b, c = VECTOR
        expected = [2 * (a + b - 0.5), 2 * (a + b - 0.5) + 6 * (3 * b - 0.5), 6 * (3 * c - 0.5)]
        assert_close(gt.grad(function)(VECTOR), np.array(expected))
        assert_close(gt.jit(gt.grad(function))(VECTOR), np.array(expected))

    def test_a_view_with_a_name(self) -> None:
        """A view that has a name is written as its base is."""
        out = gt.tensor(VECTOR, requires_grad=True) * 1.0
        view = out[:2]
        view += 1.0
        np.testing.assert_array_equal(out.numpy(), VECTOR + np.array([1.0, 1.0, 0.0]))
