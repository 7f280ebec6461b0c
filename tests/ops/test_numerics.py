"""Interpolation, convolution, slopes on a grid, phases, polynomials, choices, and functions applied slice by slice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt
from gradtape.ops import numerics, polynomials, selection

from .differentiation import assert_differentiates, assert_values_are_numpys, in_the_plane

RANDOM = np.random.default_rng(21)
GRID = np.array([-1.0, 0.0, 0.5, 2.0, 3.5])
HEIGHTS = np.array([2.0, -1.0, 0.5, 4.0, 3.0])
POINTS = np.array([[-2.0, -0.7, 0.1], [0.6, 2.7, 5.0]])


def gradient(function: Any, *values: Any) -> Any:
    """The gradient of the sum of a function with respect to its first argument, as an array."""
    point = [np.asarray(value, float) for value in values]
    result, pull_back = gt.vjp(function, *point)
    return pull_back(np.ones_like(result))[0]


# -- interpolation


class TestInterpolation:
    @pytest.mark.parametrize("how", [{}, {"left": 7.0}, {"right": -7.0}, {"period": 3.0}, {"period": -5.0}], ids=str)
    def test_is_numpys(self, how: Any) -> None:
        """Inside, beyond the ends, at the points themselves, and around a period."""
        for x in (POINTS, GRID, np.array(0.3)):
            assert_values_are_numpys(lambda x: np.interp(x, GRID, HEIGHTS, **how), x)

    @pytest.mark.parametrize("how", [{}, {"left": 7.0, "right": 1.0}, {"period": 5.0}], ids=str)
    def test_differentiates_in_everything(self, how: Any) -> None:
        """x, xp and fp have gradients, in both modes, twice, and in batches."""
        assert_differentiates(lambda x, xp, fp: np.interp(x, xp, fp, **how), POINTS[:, 1:] - 0.03, GRID, HEIGHTS)

    def test_values_beyond_the_ends_have_a_gradient(self) -> None:
        """`left` and `right` that are tensors get the gradient of the places where they are used."""
        found = gradient(lambda ends: numerics.interp(POINTS, GRID, HEIGHTS, left=ends[0], right=ends[1]), [5.0, 6.0])
        np.testing.assert_array_equal(found, [1.0, 1.0])

    def test_slope_at_a_corner_is_that_to_the_right(self) -> None:
        """At a corner the segment to the right counts, at the last point the one to the left."""
        slope = gradient(lambda x: numerics.interp(x, [0.0, 1.0, 2.0], [0.0, 10.0, 12.0]), [0.0, 1.0, 2.0])
        np.testing.assert_array_equal(slope, [10.0, 2.0, 2.0])

    def test_one_point_is_a_constant(self) -> None:
        """Through one point goes a level line."""
        assert_values_are_numpys(lambda x: np.interp(x, [1.0], [5.0]), POINTS)
        np.testing.assert_array_equal(gradient(lambda x: numerics.interp(x, [1.0], [5.0]), [0.0, 2.0]), [0.0, 0.0])

    def test_nan_stays_nan(self) -> None:
        """An x that is not a number has no value, and the others keep theirs."""
        assert_values_are_numpys(lambda x: np.interp(x, GRID, HEIGHTS), np.array([np.nan, 0.5]))

    def test_complex_heights(self) -> None:
        """Complex values are interpolated like pairs of real ones."""
        assert_values_are_numpys(lambda f: np.interp(POINTS, GRID, f), in_the_plane(HEIGHTS))
        assert_differentiates(lambda f: np.interp(POINTS, GRID, f), in_the_plane(HEIGHTS))

    def test_single_precision_stays(self) -> None:
        """float32 in, float32 out."""
        x = gt.tensor(POINTS.astype("float32"))
        assert np.interp(x, GRID.astype("float32"), HEIGHTS.astype("float32")).dtype == np.float32


# -- convolution

LENGTHS = [(5, 3), (3, 5), (4, 2), (2, 4), (4, 4), (1, 3), (3, 1), (1, 1), (6, 4)]


class TestConvolution:
    @pytest.mark.parametrize("lengths", LENGTHS, ids=str)
    @pytest.mark.parametrize("mode", ["full", "same", "valid"])
    @pytest.mark.parametrize("name", ["convolve", "correlate"])
    def test_is_numpys(self, name: str, mode: Any, lengths: Any) -> None:
        """Whichever of the two is longer, in every mode, real and complex."""
        a, v = (RANDOM.normal(size=n) for n in lengths)
        function = lambda a, v: getattr(np, name)(a, v, mode)
        assert_values_are_numpys(function, a, v)
        assert_values_are_numpys(function, in_the_plane(a), in_the_plane(v, 3))

    @pytest.mark.parametrize("mode", ["full", "same", "valid"])
    @pytest.mark.parametrize("name", ["convolve", "correlate"])
    def test_differentiates(self, name: str, mode: Any) -> None:
        """In both vectors, in both modes, twice, and in batches."""
        function = lambda a, v: getattr(np, name)(a, v, mode)
        assert_differentiates(function, RANDOM.normal(size=5), RANDOM.normal(size=3))
        assert_differentiates(function, in_the_plane(RANDOM.normal(size=2)), in_the_plane(RANDOM.normal(size=4)))

    def test_a_vector_with_itself(self) -> None:
        """The square of a polynomial has twice the derivative of one factor."""
        assert_differentiates(lambda a: np.convolve(a, a), RANDOM.normal(size=4))

    @given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 1000))
    @settings(max_examples=30, deadline=None)
    def test_transpose_is_the_adjoint(self, n: int, m: int, seed: int) -> None:
        """<g, a * v> equals <adjoint of g, a> and <adjoint of g, v>, whatever the lengths."""
        generator = np.random.default_rng(seed)
        a, v, g = generator.normal(size=n), generator.normal(size=m), generator.normal(size=n + m - 1)
        for_a, for_v = gt.vjp(numerics.convolve, a, v)[1](g)
        expected = g @ np.convolve(a, v)
        np.testing.assert_allclose([for_a @ a, for_v @ v], [expected, expected], rtol=1e-9, atol=1e-9)


# -- slopes on a grid


class TestGradient:
    @pytest.mark.parametrize("edge_order", [1, 2])
    @pytest.mark.parametrize("how", [(), (0.5,), (0.5, 2.0), (GRID, 0.1), (GRID, np.array([0.0, 1.0, 3.0]))], ids=str)
    def test_is_numpys(self, edge_order: Any, how: Any) -> None:
        """Along all axes with one spacing, one for each, and coordinates."""
        f = RANDOM.normal(size=(5, 3))
        assert_values_are_numpys(lambda f: np.gradient(f, *how, edge_order=edge_order), f)
        assert_differentiates(lambda f: np.gradient(f, *how, edge_order=edge_order), f)

    @pytest.mark.parametrize("axis", [0, -1, (1, 0)])
    def test_along_axes(self, axis: Any) -> None:
        """Along one axis it is an array, along several a tuple of them, in their order."""
        assert_values_are_numpys(lambda f: np.gradient(f, axis=axis), RANDOM.normal(size=(4, 3)))

    @pytest.mark.parametrize("edge_order", [1, 2])
    def test_differentiates_in_the_coordinates(self, edge_order: Any) -> None:
        """Coordinates and spacings that are tensors have a gradient, too."""
        function = lambda f, x: np.gradient(f, x, edge_order=edge_order)
        assert_differentiates(function, HEIGHTS, GRID)
        assert_differentiates(lambda f, h: np.gradient(f, h, edge_order=edge_order), HEIGHTS, np.array(0.7))

    def test_dtypes(self) -> None:
        """float32 stays, integers become floating point numbers, complex numbers stay complex."""
        assert_values_are_numpys(lambda f: np.gradient(f), HEIGHTS.astype("float32"), tolerance=1e-6)
        assert_values_are_numpys(lambda f: np.gradient(f), np.array([1, 4, 9, 16]))
        assert_values_are_numpys(lambda f: np.gradient(f, 0.5), in_the_plane(HEIGHTS))

    def test_parabola_is_exact(self) -> None:
        """With edge_order=2 the slopes of a parabola are right everywhere, on uneven coordinates, too."""
        found = numerics.gradient(gt.tensor(3 * GRID**2 - GRID), GRID, edge_order=2)
        np.testing.assert_allclose(found.numpy(), 6 * GRID - 1, atol=1e-12)


def test_ediff1d() -> None:
    """Differences in the flattened array, between what is put before and behind."""
    x = RANDOM.normal(size=(2, 3))
    assert_values_are_numpys(lambda x: np.ediff1d(x), x)
    assert_values_are_numpys(lambda x: np.ediff1d(x, to_begin=-1.0, to_end=[2.0, 3.0]), x)
    assert_differentiates(lambda x, y: np.ediff1d(x, to_begin=y), x, np.array([0.3, 0.4]))


class TestUnwrap:
    @pytest.mark.parametrize("how", [{}, {"period": 4.0}, {"discont": 5.0}, {"axis": 0}], ids=str)
    def test_is_numpys(self, how: Any) -> None:
        """Along any axis, for any period, with jumps that are let be."""
        phases = RANDOM.uniform(-9, 9, (4, 6))
        assert_values_are_numpys(lambda p: np.unwrap(p, **how), phases)
        assert_differentiates(lambda p: np.unwrap(p, **how), phases[:2, :3])

    def test_gradient_passes_unchanged(self) -> None:
        """Whole periods are constants: every phase has the slope 1."""
        np.testing.assert_array_equal(gradient(numerics.unwrap, [0.0, 6.0, 1.0, -4.0]), np.ones(4))


# -- parts of floating point numbers


class TestParts:
    NUMBERS = np.array([0.75, -6.0, 1e-5, 3e8])

    def test_frexp_and_ldexp_are_inverse(self) -> None:
        """Mantissa times power of two is the number, and so are their derivatives."""
        assert_values_are_numpys(np.frexp, self.NUMBERS)
        assert_values_are_numpys(lambda x: np.ldexp(x, np.array([1, -3, 0, 7])), self.NUMBERS)
        slope = gradient(lambda x: np.ldexp(*np.frexp(x)), self.NUMBERS)
        np.testing.assert_array_equal(slope, np.ones(4))
        np.testing.assert_array_equal(
            gradient(lambda x: np.frexp(x)[0], self.NUMBERS), 2.0 ** -np.frexp(self.NUMBERS)[1]
        )

    def test_nextafter_and_spacing(self) -> None:
        """The next number moves with the number; the distance to it is off the tape."""
        assert_values_are_numpys(lambda x: np.nextafter(x, 0.0), self.NUMBERS)
        np.testing.assert_array_equal(gradient(lambda x: np.nextafter(x, 9e9), self.NUMBERS), np.ones(4))
        assert_values_are_numpys(np.spacing, self.NUMBERS)

    @pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")  # by NumPy 2.5
    def test_flat_functions(self) -> None:
        """Rounding towards 0, and whether there is an imaginary part, are NumPy's and leave the tape."""
        assert_values_are_numpys(np.fix, self.NUMBERS)
        for function in (np.iscomplex, np.isreal):
            assert_values_are_numpys(function, in_the_plane(self.NUMBERS))
        with gt.GradientTape() as tape:
            assert not np.fix(tape.watch(self.NUMBERS)).is_tracked

    def test_real_if_close(self) -> None:
        """Small imaginary parts are dropped, the gradient passes; others stay."""
        near, far = np.array([1.0 + 1e-15j, 2.0]), np.array([1.0 + 1j, 2.0])
        for x in (near, far, np.array([1.0])):
            assert_values_are_numpys(np.real_if_close, x)
        assert_values_are_numpys(lambda x: np.real_if_close(x, tol=1e-9), near)
        slope = gt.vjp(lambda x: numerics.real_if_close(x), near)[1](np.ones(2))[0]
        np.testing.assert_array_equal(np.asarray(slope), np.ones(2))


# -- polynomials

P, Q = np.array([2.0, -1.0, 0.5, 3.0]), np.array([1.5, -0.5])


class TestPolynomials:
    @pytest.mark.parametrize("name", ["polyadd", "polysub", "polymul", "polydiv"])
    def test_arithmetic(self, name: str) -> None:
        """Sums, differences, products and quotients are NumPy's, whichever is longer, and differentiate."""
        function = getattr(np, name)
        assert_values_are_numpys(function, P, Q)
        assert_values_are_numpys(function, Q, P)
        assert_values_are_numpys(lambda p: function(p, 2.0), P)
        assert_differentiates(function, P, Q)

    def test_values(self) -> None:
        """Horner's rule gives NumPy's values at numbers and arrays, with a gradient in both."""
        assert_values_are_numpys(np.polyval, P, POINTS)
        assert_values_are_numpys(lambda x: np.polyval([], x), POINTS)
        assert_values_are_numpys(lambda x: np.polyval(np.poly1d(P), x), in_the_plane(POINTS))
        assert_values_are_numpys(np.polyval, P.astype("float32"), POINTS.astype("float32"), tolerance=1e-5)
        assert_differentiates(np.polyval, P, POINTS[0])

    @pytest.mark.parametrize("m", [0, 1, 2, 5])
    def test_derivatives(self, m: int) -> None:
        """Derivatives of any order, down to nothing."""
        assert_values_are_numpys(lambda p: np.polyder(p, m), P)
        assert_differentiates(lambda p: np.polyder(p, min(m, 2)), P)

    @pytest.mark.parametrize("how", [{}, {"m": 2}, {"k": 4.0}, {"m": 2, "k": [1.0, 5.0]}, {"m": 3, "k": 2.0}], ids=str)
    def test_integrals(self, how: Any) -> None:
        """Integrals of any order, with one constant or one for each time, are undone by derivatives."""
        assert_values_are_numpys(lambda p: np.polyint(p, **how), P)
        assert_differentiates(lambda p: np.polyint(p, **how), P)
        np.testing.assert_allclose(polynomials.polyder(polynomials.polyint(P, **how), how.get("m", 1)), P)

    def test_from_zeros(self) -> None:
        """The polynomial with given zeros vanishes there, and moves with them."""
        assert_values_are_numpys(np.poly, P)
        assert_differentiates(np.poly, P)
        np.testing.assert_allclose(polynomials.polyval(polynomials.poly(P), P), 0, atol=1e-12)

    @pytest.mark.parametrize("how", [{}, {"N": 2}, {"N": 6, "increasing": True}, {"N": 0}], ids=str)
    def test_vander(self, how: Any) -> None:
        """Powers of a vector, also of 0, with their derivatives."""
        x = np.array([2.0, -1.5, 0.0])
        assert_values_are_numpys(lambda x: np.vander(x, **how), x)
        assert np.vander(gt.tensor(x.astype("float32")), **how).dtype == np.float32
        assert_differentiates(lambda x: np.vander(x, **how), x)


# -- choices

X = np.array([-1.5, -0.2, 0.4, 2.0, 3.0])


class TestChoices:
    def test_select(self) -> None:
        """The first condition that holds decides; where none does, the default."""
        function = lambda x: np.select([x < -1, x < 1], [x * x, -x], 7.0)
        assert_values_are_numpys(function, X)
        assert_differentiates(function, X)
        assert_values_are_numpys(lambda x: np.select([x > 0, x.reshape(5, 1) > 1], [x, 2 * x]), X)
        assert_values_are_numpys(lambda x: np.select([x > 0], [x]), X.astype("float32"))

    @pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
    def test_choose(self, mode: Any) -> None:
        """Integers choose among arrays and numbers, around the end or up to it, if asked."""
        which = np.array([0, 2, 1, 0, 2]) + (0 if mode == "raise" else np.array([0, 1, 0, -1, 2]))
        function = lambda x: np.choose(which, [x, x * x, 5.0 + 0 * x], mode=mode)
        assert_values_are_numpys(function, X)
        assert_differentiates(function, X)
        assert_values_are_numpys(lambda a: np.choose(a, [X, 2 * X]), np.array([[0], [1]]))

    def test_choose_in_a_batch(self) -> None:
        """Integers that differ between the examples of a batch choose for each."""
        which = np.array([[0, 1], [1, 1]])
        found = gt.vmap(lambda a: selection.choose(a, [np.array([1.0, 2.0]), np.array([10.0, 20.0])]))(which)
        np.testing.assert_array_equal(np.asarray(found), [[1.0, 20.0], [10.0, 20.0]])

    def test_compress_and_extract(self) -> None:
        """Slices and elements where a condition holds, which may be shorter than the axis."""
        x = RANDOM.normal(size=(3, 4))
        for function in (
            lambda x: np.compress([True, False, True], x, axis=0),
            lambda x: np.compress([False, True], x, axis=1),
            lambda x: np.compress([False, True, True], x),
            lambda x: np.extract(np.arange(12).reshape(3, 4) % 3 == 0, x),
        ):
            assert_values_are_numpys(function, x)
            assert_differentiates(function, x)

    def test_trim_zeros(self) -> None:
        """Zeros at the ends are left out, and the rest keeps its gradient."""
        x = np.array([0.0, 0.0, 1.0, 0.0, 2.0, 0.0])
        for trim in ("fb", "f", "b"):
            assert_values_are_numpys(lambda x, trim=trim: np.trim_zeros(x, trim), x)
        assert_values_are_numpys(np.trim_zeros, np.zeros(3))
        np.testing.assert_array_equal(gradient(lambda x: selection.trim_zeros(x), x), [0, 0, 1, 1, 1, 0])

    def test_piecewise(self) -> None:
        """Pieces, numbers, a function more than conditions, further arguments, and later pieces over earlier ones."""
        for function in (
            lambda x: np.piecewise(x, [x < 0, x >= 0], [lambda x: -x, lambda x: x * x]),
            lambda x: np.piecewise(x, [x < 0], [lambda x: x**3, 5.0]),
            lambda x: np.piecewise(x, x > 0, [lambda x, k: k * x, lambda x, k: x], 3.0),
            lambda x: np.piecewise(x, [x > -1, x > 1], [lambda x: x, lambda x: x * x]),
        ):
            assert_values_are_numpys(function, X)
            assert_differentiates(function, X)
        assert_values_are_numpys(lambda x: np.piecewise(x, [x < 0, x >= 0], [-1.0, lambda x: 2 * x]), np.array(3.0))

    def test_pieces_do_not_spoil_each_other(self) -> None:
        """A function sees only its own elements, so that the logarithm of a negative number is never taken."""
        function = lambda x: selection.piecewise(x, [x > 0, x <= 0], [lambda x: gt.log(x), lambda x: x])
        np.testing.assert_array_equal(gradient(function, [-1.0, 0.0, 2.0]), [1.0, 1.0, 0.5])


# -- functions of the user's


class TestApplying:
    @pytest.mark.parametrize("axis", [0, 1, -1])
    def test_apply_along_axis(self, axis: int) -> None:
        """What the function returns takes the place of the axis: a number, a vector, or a matrix."""
        x = RANDOM.normal(size=(2, 3, 4))
        for function in (
            lambda v: v.sum(),
            lambda v: v[:2] * v[0],
            lambda v: v.reshape(1, -1) * v.reshape(-1, 1),
        ):
            assert_values_are_numpys(lambda x, f=function: np.apply_along_axis(f, axis, x), x)
        assert_differentiates(lambda x: np.apply_along_axis(lambda v, k: v * v[0] * k, axis, x, 2.0), x[:, :2, :2])

    def test_apply_over_axes(self) -> None:
        """One axis after the other, which stay with length 1."""
        x = RANDOM.normal(size=(2, 3, 4))
        for axes in ([0, 2], 1, (-1,)):
            assert_values_are_numpys(lambda x, axes=axes: np.apply_over_axes(np.sum, x, axes), x)
        assert_differentiates(lambda x: np.apply_over_axes(np.prod, x, [0, 1]), x[0])

    def test_vectorize(self) -> None:
        """A function with branches is called for each element, of arrays that are stretched together."""
        hinge = selection.vectorize(lambda x, y: x * y if x > y else 0 * x)
        x, y = RANDOM.normal(size=(3, 1)), np.array([0.1, -0.2])
        np.testing.assert_allclose(hinge(gt.tensor(x), y).numpy(), np.where(x > y, x * y, 0))
        slope = gradient(lambda x: hinge(x, y), x)
        np.testing.assert_allclose(slope, np.where(x > y, y, 0).sum(axis=1, keepdims=True))

    def test_numpys_own_vectorize_does_not_lose_a_gradient(self) -> None:
        """np.vectorize would turn a tracked tensor into an array of objects: that is an error, not a silent zero."""
        with gt.GradientTape() as tape, pytest.raises(gt.DetachError):
            np.vectorize(lambda x: x)(tape.watch(X))

    def test_fromfunction_keeps_what_the_function_returns(self) -> None:
        """np.fromfunction calls the function once, with arrays of indices, so that tensors in it stay tracked."""
        found = gradient(lambda a: np.fromfunction(lambda i, j: a * i + j, (2, 3)), 2.0)
        assert found == 3.0


REFUSED = {
    "points of two lengths": lambda: numerics.interp(gt.tensor(1.0), GRID, HEIGHTS[:2]),
    "a period of nothing": lambda: numerics.interp(gt.tensor(1.0), GRID, HEIGHTS, period=0),
    "convolving matrices": lambda: numerics.convolve(gt.ones((2, 2)), [1.0]),
    "convolving nothing": lambda: numerics.convolve(gt.ones(0), [1.0]),
    "a way to convolve": lambda: numerics.convolve(gt.ones(2), [1.0], "round"),
    "spacings for axes": lambda: numerics.gradient(gt.ones((3, 3)), 1.0, 2.0, 3.0),
    "an edge order": lambda: numerics.gradient(gt.ones(5), edge_order=3),
    "too few points": lambda: numerics.gradient(gt.ones(1)),
    "coordinates of another length": lambda: numerics.gradient(gt.ones(5), np.arange(4.0)),
    "a phase": lambda: numerics.unwrap(gt.tensor(1.0)),
    "a matrix of coefficients": lambda: polynomials.polyder(gt.ones((2, 2))),
    "fewer than no derivatives": lambda: polynomials.polyder(gt.ones(2), -1),
    "fewer than no integrals": lambda: polynomials.polyint(gt.ones(2), -1),
    "constants of integration": lambda: polynomials.polyint(gt.ones(2), 3, [1.0, 2.0]),
    "zeros in a matrix": lambda: polynomials.poly(gt.ones((2, 3))),
    "powers of a matrix": lambda: polynomials.vander(gt.ones((2, 2))),
    "conditions and choices": lambda: selection.select([gt.tensor([True])], []),
    "conditions that are numbers": lambda: selection.select([gt.ones(2)], [1.0]),
    "a choice too far": lambda: selection.choose(gt.tensor([0, 2]), [1.0, 2.0]),
    "a way to choose": lambda: selection.choose(gt.tensor([0]), [1.0], mode="guess"),
    "zeros around an end": lambda: selection.trim_zeros(gt.ones(2), "left"),
    "functions and conditions": lambda: selection.piecewise(gt.ones(2), [[True, False]], [1.0, 2.0, 3.0]),
    "no slices": lambda: selection.apply_along_axis(gt.sum, 0, gt.ones((2, 0))),
    "axes taken away": lambda: selection.apply_over_axes(lambda x, axis: gt.sum(x), gt.ones((2, 2, 2)), [0]),
    "no elements": lambda: selection.vectorize(lambda x: x)(gt.ones(0)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    """What cannot be done is refused with the line and a way out."""
    with pytest.raises(gt.GradTapeError, match="fix:") as caught:
        REFUSED[name]()
    assert "test_numerics.py" in str(caught.value)
