"""Norms, condition numbers and ranks, beyond what the table's own tests say of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt
import gradtape.ops.norms

from .differentiation import assert_differentiates, assert_values_are_numpys, in_the_plane

RANDOM = np.random.default_rng(3)
VECTORS = RANDOM.normal(size=(2, 3, 4))
MATRIX = RANDOM.normal(size=(3, 3)) + np.diag([1.0, 3.0, 6.0])
VECTOR_ORDERS = [None, 0, 1, 2, 3, 2.5, 0.5, -1, -2.5, np.inf, -np.inf]
MATRIX_ORDERS = [None, "fro", "f", "nuc", 1, -1, 2, -2, np.inf, -np.inf]
vector_orders = pytest.mark.parametrize("ord", VECTOR_ORDERS)
matrix_orders = pytest.mark.parametrize("ord", MATRIX_ORDERS)
keepdims_or_not = pytest.mark.parametrize("keepdims", [False, True])


class TestVectors:
    @vector_orders
    @keepdims_or_not
    @pytest.mark.parametrize("axis", [0, 1, -1, (2,)])
    def test_along_an_axis(self, ord: Any, axis: Any, keepdims: bool) -> None:
        """Every order along every axis is NumPy's, real and complex, and differentiates."""
        function = lambda x: np.linalg.norm(x, ord, axis, keepdims)
        assert_values_are_numpys(function, VECTORS)
        assert_values_are_numpys(function, in_the_plane(VECTORS))
        assert_values_are_numpys(function, VECTORS.astype(np.float32), tolerance=1e-5)

    @vector_orders
    def test_derivatives(self, ord: Any) -> None:
        """Every order differentiates in both modes, twice, and in batches, along an axis of real and complex arrays."""
        function = lambda x: np.linalg.norm(x, ord, axis=1)
        small = VECTORS[:, :, :2]
        assert_differentiates(function, small)
        assert_differentiates(function, in_the_plane(small))

    @vector_orders
    @keepdims_or_not
    @pytest.mark.parametrize("axis", [None, 1, (0, 2), (2, 1, 0), (-1,)])
    def test_of_any_axes(self, ord: Any, axis: Any, keepdims: bool) -> None:
        """vector_norm takes any number of axes, as NumPy's does."""
        ord = 2 if ord is None else ord
        assert_values_are_numpys(lambda x: np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord), VECTORS)

    def test_derivatives_along_several_axes(self) -> None:
        """vector_norm over several axes differentiates."""
        assert_differentiates(lambda x: np.linalg.vector_norm(x, axis=(0, 2), ord=3, keepdims=True), VECTORS[:, :2, :2])

    @vector_orders
    def test_zero_has_the_smallest_subgradient(self, ord: Any) -> None:
        """At the zero vector every norm has the gradient zero, and a second derivative that is a number."""
        with np.errstate(divide="ignore"):
            _, pull_back = gt.vjp(lambda x: np.linalg.norm(x, ord), np.zeros(3))
            np.testing.assert_array_equal(pull_back(1.0)[0], np.zeros(3))
            curved = gt.vjp(lambda x: gt.vjp(lambda x: np.linalg.norm(x, ord), x)[1](1.0)[0], np.zeros(3))[1](
                np.ones(3)
            )
        np.testing.assert_array_equal(curved[0], np.zeros(3))

    @pytest.mark.parametrize("ord", [None, 2, 1, 3, 1.5, 0.5, np.inf])
    def test_zeros_among_others(self, ord: Any) -> None:
        """An element that is zero has the slope zero beside others that are not."""
        gradient = gt.grad(lambda x: np.linalg.norm(x, ord))(np.array([0.0, -2.0]))
        np.testing.assert_allclose(gradient, [0.0, -1.0])

    @pytest.mark.parametrize("ord", [None, 2])
    def test_curvature_beside_a_zero(self, ord: Any) -> None:
        """The Euclidean norm is curved where one of its elements is zero."""
        hessian = gt.hessian(lambda x: np.linalg.norm(x, ord))(np.array([0.0, 2.0]))
        np.testing.assert_allclose(hessian, [[0.5, 0.0], [0.0, 0.0]])

    def test_largest_elements_share(self) -> None:
        """Of several largest elements each gets its share."""
        np.testing.assert_allclose(
            gt.grad(lambda x: np.linalg.norm(x, np.inf))(np.array([2.0, -2.0, 1.0])), [0.5, -0.5, 0]
        )

    @settings(max_examples=30, deadline=None)
    @given(shape=st.lists(st.integers(0, 3), max_size=4), seed=st.integers(0, 99))
    def test_of_everything(self, shape: list[int], seed: int) -> None:
        """Without order and axis the norm is that of all elements, and its gradient has length one (or is zero)."""
        x = np.random.default_rng(seed).normal(size=tuple(shape))
        assert_values_are_numpys(np.linalg.norm, x)
        _, pull_back = gt.vjp(np.linalg.norm, x)
        assert np.linalg.norm(pull_back(1.0)[0]) == pytest.approx(float(x.size > 0))


class TestMatrices:
    @matrix_orders
    @keepdims_or_not
    @pytest.mark.parametrize("axis", [(0, 1), (-1, 0), (2, 1)])
    def test_along_two_axes(self, ord: Any, axis: Any, keepdims: bool) -> None:
        """Every order along every pair of axes is NumPy's, real and complex."""
        function = lambda x: np.linalg.norm(x, ord, axis, keepdims)
        assert_values_are_numpys(function, VECTORS)
        assert_values_are_numpys(function, in_the_plane(VECTORS))
        assert_values_are_numpys(function, VECTORS.astype(np.float32), tolerance=1e-5)

    @matrix_orders
    def test_derivatives(self, ord: Any) -> None:
        """Every order differentiates in both modes, twice, and in batches."""
        function = lambda x: np.linalg.norm(x, ord, axis=(-1, 0))
        assert_differentiates(function, VECTORS[:, :2, :3])
        assert_differentiates(function, in_the_plane(VECTORS[:, :2, :3]), tolerance=1e-5)

    @matrix_orders
    @keepdims_or_not
    def test_of_the_last_two_axes(self, ord: Any, keepdims: bool) -> None:
        """matrix_norm is NumPy's."""
        ord = "fro" if ord is None else ord
        assert_values_are_numpys(lambda x: np.linalg.matrix_norm(x, keepdims=keepdims, ord=ord), VECTORS)

    @matrix_orders
    def test_without_axes(self, ord: Any) -> None:
        """The norm of a matrix needs no axes."""
        assert_values_are_numpys(lambda x: np.linalg.norm(x, ord), MATRIX)

    @matrix_orders
    def test_zero_has_the_smallest_subgradient(self, ord: Any) -> None:
        """At the zero matrix every norm has the gradient zero."""
        np.testing.assert_array_equal(gt.grad(lambda x: np.linalg.norm(x, ord))(np.zeros((2, 2))), np.zeros((2, 2)))

    def test_equal_singular_values_share(self) -> None:
        """The largest singular value of the identity is shared by all its directions."""
        np.testing.assert_allclose(gt.grad(lambda x: np.linalg.norm(x, 2))(np.eye(2)), np.eye(2) / 2)


class TestErrors:
    @pytest.mark.parametrize(
        ("x", "ord", "axis", "error", "message"),
        [
            (MATRIX, 3, None, ValueError, "ord=3 is not a norm of matrices(.|\n)*'nuc'"),
            (MATRIX, "nuclear", None, ValueError, "ord='nuclear' is not a norm of matrices"),
            (MATRIX[0], "fro", None, ValueError, "ord='fro' is not a norm of vectors"),
            (VECTORS, 2, None, ValueError, "along 3 axes(.|\n)*vector_norm"),
            (VECTORS, 2, 5, np.exceptions.AxisError, "axis 5"),
            (VECTORS, 2, (1, 1), ValueError, "names an axis twice"),
            (VECTORS, 2, "all", TypeError, "axis='all'"),
        ],
    )
    def test_refusals_are_numpys(self, x: Any, ord: Any, axis: Any, error: type[Exception], message: str) -> None:
        """What NumPy refuses is refused with its class, and what is accepted is named."""
        with pytest.raises(error):
            np.linalg.norm(x, ord, axis)
        with pytest.raises(error, match=message) as caught:
            np.linalg.norm(gt.tensor(x), ord, axis)
        assert isinstance(caught.value, gt.GradTapeError)

    def test_integers_become_floating_point(self) -> None:
        """Norms of integers are NumPy's."""
        for ord in (None, 1, 3, np.inf):
            assert_values_are_numpys(lambda x, ord=ord: np.linalg.norm(x, ord), np.array([3, -4]))


class TestCondition:
    @pytest.mark.parametrize("p", [None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"])
    def test_every_norm(self, p: Any) -> None:
        """The condition number in every norm is NumPy's, and differentiates."""
        function = lambda x: np.real(np.linalg.cond(x, p))  # of complex matrices it is complex in NumPy before 2.4
        assert_values_are_numpys(function, np.stack([MATRIX, MATRIX.T]))
        assert_values_are_numpys(function, in_the_plane(MATRIX))
        assert_differentiates(function, MATRIX, tolerance=1e-5)
        assert_differentiates(function, in_the_plane(MATRIX), tolerance=1e-5)

    @pytest.mark.parametrize("p", [None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"])
    def test_complex_matrices_have_real_ones(self, p: Any) -> None:
        """The condition number of a complex matrix is real and in its precision, with a gradient or without."""
        for dtype, real in ((np.complex64, np.float32), (np.complex128, np.float64)):
            matrix = in_the_plane(MATRIX).astype(dtype)
            for x in (gt.tensor(matrix), gt.tensor(matrix, requires_grad=True)):
                assert np.linalg.cond(x, p).dtype == real

    @pytest.mark.parametrize("p", [None, -2, 1])
    @pytest.mark.parametrize("matrix", [np.ones((2, 2)), np.zeros((2, 2)), np.full((2, 2), np.nan)])
    def test_singular_matrices(self, p: Any, matrix: Any) -> None:
        """Singular and undefined matrices have the condition number that NumPy gives them."""
        if np.isnan(matrix).any() and p != 1:
            with pytest.raises(np.linalg.LinAlgError):
                np.linalg.cond(gt.tensor(matrix), p)
        else:
            np.testing.assert_array_equal(np.linalg.cond(gt.tensor(matrix), p).numpy(), np.linalg.cond(matrix, p))

    def test_of_nothing(self) -> None:
        """A matrix without elements has no condition number, as in NumPy."""
        with pytest.raises(np.linalg.LinAlgError, match=r"shape \(0, 0\) has none"):
            np.linalg.cond(gt.zeros((0, 0)))

    def test_tracked_singular_matrix_has_no_inverse(self) -> None:
        """In other norms than 2 a singular matrix that is tracked is refused."""
        with pytest.raises(gt.LinearAlgebraError, match="Singular"):
            gt.grad(lambda x: np.linalg.cond(x, 1))(np.ones((2, 2)))


class TestRank:
    @pytest.mark.parametrize("matrix", [MATRIX, np.ones((2, 3)), np.zeros((2, 2)), np.ones(3), VECTORS])
    def test_is_numpys(self, matrix: Any) -> None:
        """Ranks of matrices, vectors and stacks are NumPy's."""
        assert_values_are_numpys(np.linalg.matrix_rank, matrix)
        assert_values_are_numpys(lambda a: np.linalg.matrix_rank(a, tol=0.5), matrix)
        assert_values_are_numpys(lambda a: np.linalg.matrix_rank(a, rtol=0.5), matrix)

    def test_inside_vmap(self) -> None:
        """A batch of matrices, and one of vectors, gives the ranks of each."""
        np.testing.assert_array_equal(gt.vmap(np.linalg.matrix_rank)(np.stack([np.eye(2), np.ones((2, 2))])), [2, 1])
        np.testing.assert_array_equal(gt.vmap(np.linalg.matrix_rank)(np.array([[0.0, 0.0], [0.0, 1.0]])), [0, 1])

    def test_has_no_gradient(self) -> None:
        """A rank is a count: its result is not tracked."""
        with gt.GradientTape() as tape:
            assert not np.linalg.matrix_rank(tape.watch(MATRIX)).is_tracked


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_the_order_of_a_norm_has_a_gradient(compiled: bool) -> None:
    """An order that is a tensor; it was taken for a constant."""
    x = np.array([1.5, -2.0, 0.7])
    derivative = gt.grad(lambda order: np.linalg.norm(gt.tensor(x), ord=order))
    found = (gt.jit(derivative) if compiled else derivative)(np.array(3.5))
    wanted = (np.linalg.norm(x, ord=3.5 + 1e-6) - np.linalg.norm(x, ord=3.5 - 1e-6)) / 2e-6
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
