"""Functions that leave the real numbers, questions about arrays, zeros of polynomials, and names that come late."""

from __future__ import annotations

import importlib
import io
from typing import Any

import numpy as np
import pytest
from numpy.testing import overrides

import gradtape as gt
from gradtape.chapters import OPS_CHAPTERS
from gradtape.numpy_dispatch.protocols import FUNCTIONS

from .differentiation import assert_differentiates, assert_values_are_numpys, in_the_plane

V = np.array([0.4, -1.1, 2.3, 0.9])
M = np.array([[0.7, -1.2, 2.4], [1.9, 0.3, -0.8]])


class TestBeyondTheRealNumbers:
    @pytest.mark.parametrize("name", ["sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh"])
    def test_emath(self, name: str) -> None:
        """Real where the values allow it, complex where they do not; single precision stays."""
        function = getattr(np.emath, name)
        for x in (np.array([0.2, 0.7]), V, in_the_plane(V)):
            assert_values_are_numpys(function, x)
        inside, outside = gt.tensor([0.2], dtype="float32"), gt.tensor([-1.5], dtype="float32")
        assert function(inside).dtype == np.float32
        assert function(outside).dtype == np.complex64

    @pytest.mark.parametrize("name", ["sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh"])
    def test_slopes_on_the_cut(self, name: str) -> None:
        """The slope of a real number that has a complex image is that of the function on that side."""
        function = getattr(np.emath, name)
        for x in V:
            slopes = [gt.grad(lambda x, part=part: part(function(x)))(float(x)) for part in (np.real, np.imag)]
            step = 1e-6
            change = (function(x + step) - function(x - step)) / (2 * step)
            np.testing.assert_allclose(slopes, [np.real(change), np.imag(change)], rtol=1e-7, atol=1e-8)

    def test_powers_and_bases(self) -> None:
        """power and logn, with whole exponents too."""
        assert_values_are_numpys(lambda x: np.emath.power(x, 2), V)
        assert_values_are_numpys(lambda x: np.emath.power(x, -1), np.array([2, 4]))
        assert_values_are_numpys(lambda x: np.emath.logn(2, x), V)
        assert_values_are_numpys(lambda x: np.emath.sqrt(x), np.array([4, -9]))
        assert_differentiates(lambda x: np.emath.logn(3, x), V[:1])


class TestQuestions:
    def test_truths_and_dtypes(self) -> None:
        """Plain answers about tensors, tracked or not."""
        x = gt.tensor(V, requires_grad=True)
        assert np.array_equiv(x, V) is True
        assert np.array_equiv(x, V[:1]) is False
        assert np.can_cast(x, "float32") is False
        assert np.can_cast(x, "complex128") is True
        assert np.common_type(x, gt.tensor([1.0], dtype="float32")) is np.float64
        assert np.min_scalar_type(x) == np.float64
        y = x * 1.0
        assert np.shares_memory(y, y[1:]) is True
        assert np.shares_memory(y, x) is False
        assert np.may_share_memory(y, y[:1]) is True

    def test_paths_and_indices(self) -> None:
        """What becomes an index is a plain array."""
        x = gt.tensor(M, requires_grad=True)
        assert np.einsum_path("ij,kj->ik", x, x)[0] == np.einsum_path("ij,kj->ik", M, M)[0]
        for function in (np.tril_indices_from, np.triu_indices_from):
            for ours, theirs in zip(function(x, 1), function(M, 1), strict=True):
                np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(np.diag_indices_from(gt.eye(3))[0], [0, 1, 2])
        np.testing.assert_array_equal(x[np.ix_(gt.tensor([1, 0]), [0, 2])].numpy(), M[np.ix_([1, 0], [0, 2])])
        assert np.ravel_multi_index((gt.tensor(1), 2), (2, 3)) == 5
        assert [int(i) for i in np.unravel_index(gt.tensor(5), (2, 3))] == [1, 2]

    def test_text_and_files(self) -> None:
        """A tracked tensor can be printed and saved, as it can be logged."""
        x = gt.tensor(V, requires_grad=True)
        assert np.array2string(x) == np.array2string(V)
        assert np.array_str(x) == np.array_str(V)
        assert np.array_repr(x) == np.array_repr(V)
        files = [io.BytesIO(), io.BytesIO(), io.BytesIO()]
        np.save(files[0], x)
        np.savez(files[1], x, named=x)
        np.savez_compressed(files[2], named=x)
        for file in files:
            file.seek(0)
        np.testing.assert_array_equal(np.load(files[0]), V)
        np.testing.assert_array_equal(np.load(files[1])["arr_0"], V)
        np.testing.assert_array_equal(np.load(files[2])["named"], V)
        text = io.StringIO()
        np.savetxt(text, x)
        assert len(text.getvalue().splitlines()) == 4


class TestPolynomials:
    @pytest.mark.parametrize(
        "coefficients",
        [[1.0, -6.0, 11.0, -6.0], [0.0, 2.0, 3.0, -4.0], [1.0, 0.0, 4.0], [1.0, 2.0, 0.0, 0.0], [3.0], [0.0, 0.0]],
        ids=str,
    )
    def test_roots(self, coefficients: list[float]) -> None:
        """Real, complex, at zero, with leading zeros, and none at all."""
        assert_values_are_numpys(np.roots, np.array(coefficients))
        assert gt.roots(gt.zeros(0)).shape == (0,)

    def test_slopes_of_roots(self) -> None:
        """The zeros of a polynomial move with its coefficients: dx = -x^k dc_k / p'(x)."""
        c = np.array([1.5, -6.0, 4.0, 2.0])
        assert_differentiates(lambda c: np.roots(c), c)

    def test_of_mapped_and_compiled_polynomials(self) -> None:
        """Roots and characteristic polynomials that are real are so for batches and compiled, in every NumPy."""
        coefficients = np.array([[1.0, -6.0, 11.0, -6.0], [2.0, 1.0, -5.0, 1.0]])
        matrices = np.array([[[1.0, 2.0], [0.5, 4.0]], [[2.0, 1.0], [1.0, 3.0]]])
        for function, batch in ((np.roots, coefficients), (np.poly, matrices)):
            expected = np.stack([function(one) for one in batch])
            assert expected.dtype == float
            mapped = gt.vmap(function)
            for found in (mapped(batch), gt.jit(mapped)(batch), np.stack([gt.jit(function)(one) for one in batch])):
                assert found.dtype == expected.dtype
                np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)

    def test_from_zeros(self) -> None:
        """Pairs of complex zeros have real coefficients; a matrix stands for its eigenvalues."""
        assert_values_are_numpys(np.poly, np.array([1 + 2j, 1 - 2j, 3.0]))
        assert_values_are_numpys(np.poly, np.array([1 + 2j, 1.0]))
        assert_values_are_numpys(np.poly, np.array([[1.0, 2.0], [-3.0, 4.0]]))
        assert_differentiates(np.poly, np.array([[1.0, 2.0], [0.5, 4.0]]))

    @pytest.mark.parametrize("how", [{}, {"w": np.array([1.0, 2.0, 0.5, 1.5])}, {"cov": True}, {"cov": "unscaled"}])
    @pytest.mark.parametrize("columns", [None, 2])
    def test_fit(self, how: Any, columns: int | None) -> None:
        """With weights, covariance, and several sets of values; differentiable in all of them."""
        y = V if columns is None else np.stack([V, V[::-1]], 1)
        x = np.array([0.0, 0.7, 1.9, 3.1])
        assert_values_are_numpys(lambda x, y: np.polyfit(x, y, 1, **how), x, y, tolerance=1e-9)
        assert_differentiates(lambda x, y: np.polyfit(x, y, 1, **how), x, y, tolerance=1e-5)

    def test_full_fit_and_warning(self) -> None:
        """`full` says what lstsq says; too few points are warned of as in NumPy."""
        x = np.array([0.0, 0.7, 1.9, 3.1])
        for ours, theirs in zip(np.polyfit(gt.tensor(x), V, 1, full=True), np.polyfit(x, V, 1, full=True), strict=True):
            np.testing.assert_allclose(np.asarray(ours), theirs)
        with pytest.warns(np.exceptions.RankWarning):
            np.polyfit(gt.tensor([1.0, 1.0]), [2.0, 2.0], 1)
        for call in (
            lambda: np.polyfit(gt.tensor(x), V, -1),
            lambda: np.polyfit(gt.tensor(x), V[:2], 1),
            lambda: np.polyfit(gt.tensor(x), V, 1, w=[1.0]),
            lambda: np.polyfit(gt.tensor(x[:2]), V[:2], 1, cov=True),
        ):
            with pytest.raises(gt.GradTapeError, match="fix:"):
                call()

    def test_two_variables(self) -> None:
        """Polynomials of two variables at points and on grids, several at once."""
        two = np.polynomial.polynomial
        c = np.arange(12.0).reshape(2, 3, 2) - 4.5

        def called(function: Any, x: Any, *others: Any) -> Any:
            return (FUNCTIONS[function] if isinstance(x, gt.Tensor) else function)(x, *others)

        assert_values_are_numpys(lambda x, y: called(two.polyval2d, x, y, c), V, V[::-1])
        assert_values_are_numpys(lambda x, y: called(two.polygrid2d, x, y, c), V, M)
        assert_differentiates(lambda x, y, c: called(two.polyval2d, x, y, c), V, V[::-1].copy(), c[..., 0])
        with pytest.raises(gt.ShapeError, match="polyval2d"):
            called(two.polyval2d, gt.tensor(V), M, c)

    @pytest.mark.parametrize("name", ["polyval2d", "polygrid2d"])
    def test_two_variables_lose_no_gradient(self, name: str) -> None:
        """NumPy's function gives a tracked tensor, or is refused where NumPy does not ask tensors about it."""
        function = getattr(np.polynomial.polynomial, name)
        x = gt.tensor(V, requires_grad=True)
        if function in overrides.get_overridable_numpy_array_functions():
            assert function(x, V, M).requires_grad
        else:
            with pytest.raises((gt.DetachError, gt.ShapeError)):
                function(x, V, M)


class TestStatisticsWithMasks:
    @pytest.mark.parametrize("function", [np.var, np.std])
    def test_where(self, function: Any) -> None:
        """Variances of the elements that count, with any correction."""
        mask = np.array([[True, True, False], [True, True, True]])
        for how in ({}, {"axis": 1}, {"axis": 1, "ddof": 1, "keepdims": True}, {"axis": 0, "correction": 0.5}):
            assert_values_are_numpys(lambda x, how=how: function(x, where=mask, **how), M)
            assert_differentiates(lambda x, how=how: function(x, where=mask, **how), M)


class TestIndicesInsideMaps:
    def test_an_array_cannot_be_indexed(self) -> None:
        """`array[i]` with an i that differs between examples says what to write."""
        array = np.arange(5.0)
        for function in (lambda i: array[i], lambda i: np.take(array, i)):
            with pytest.raises(gt.GradTapeError) as caught:
                gt.vmap(function)(np.array([0, 2]))
            assert "gt.take(array, i, axis=0) or gt.tensor(array)[i]" in " ".join(str(caught.value).split())

    def test_what_the_message_says_works(self) -> None:
        """Both ways out give the elements of each example, with gradients of what they are taken from."""
        table, places = np.arange(12.0).reshape(4, 3), np.array([[0, 2], [3, 3]])
        for function in (lambda i: gt.take(table, i, axis=0), lambda i: gt.tensor(table)[i]):
            np.testing.assert_array_equal(gt.vmap(function)(places), table[places])
            np.testing.assert_array_equal(gt.vmap(function)(places[0]), table[places[0]])

        def total(table: Any) -> Any:
            return gt.vmap(lambda i, t: gt.take(t, i, axis=0).sum(), in_axes=(0, None))(places, table).sum()

        np.testing.assert_array_equal(gt.grad(total)(table)[:, 0], [1.0, 0.0, 1.0, 2.0])


def test_late_names_are_those_of_their_chapters() -> None:
    """What `gradtape` lists of the late chapters is what they have, without what is there from the start."""
    for chapter, names in OPS_CHAPTERS.items():
        if not names:  # reached through NumPy's functions or a namespace only
            continue
        module = importlib.import_module(f"gradtape.ops.{chapter}")
        assert sorted(names.split()) == sorted(name for name in module.__all__ if name not in gt.ops.__all__)


def test_late_names_are_listed_like_all_others() -> None:
    """They are in `__all__` and in `dir`, and the chapters too."""
    assert {"nansum", "vectorize", "pad", "polyfit", "median"} <= set(gt.__all__)
    assert {"nansum", "vectorize", "pad", "linalg", "fft", "special", "sin"} <= set(dir(gt))
    assert gt.vectorize(lambda x: x * 2.0)(gt.tensor([1.0])).shape == (1,)
    with pytest.raises(AttributeError, match="gradtape has no name 'nonsense'"):
        _ = gt.nonsense


def test_newer_names_are_the_same_functions() -> None:
    """The names of the array API standard stand for what NumPy's stand for."""
    pairs = "acos arccos asin arcsin atan arctan atan2 arctan2 acosh arccosh asinh arcsinh atanh arctanh pow power "
    pairs += "concat concatenate permute_dims transpose bitwise_invert invert bitwise_left_shift left_shift "
    pairs += "bitwise_right_shift right_shift abs absolute conj conjugate"
    names = pairs.split()
    for newer, older in zip(names[::2], names[1::2], strict=True):
        assert getattr(np, newer) is getattr(np, older)
        assert getattr(gt, newer) is getattr(gt, older)
