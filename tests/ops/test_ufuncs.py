"""Methods of ufuncs and calls of ufuncs with keywords: NumPy's values, and derivatives of all of them."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import overrides

import gradtape as gt

from .differentiation import assert_differentiates, assert_values_are_numpys

RANDOM = np.random.default_rng(5)
M = RANDOM.permutation(np.linspace(0.3, 2.1, 12)).reshape(3, 4)
V = RANDOM.permutation(np.linspace(0.4, 1.9, 6))
W = RANDOM.permutation(np.linspace(0.5, 1.5, 6))
POSITIVE = np.arange(1.0, 4.0)

SMOOTH = [np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin, np.logaddexp, np.logaddexp2]
ORDERED = [np.subtract, np.divide, np.power, np.hypot, np.arctan2]
FLAT = [np.logical_and, np.logical_or, np.logical_xor]
NAME = {"ids": lambda ufunc: ufunc.__name__}


def folded(ufunc: np.ufunc, x: Any, **how: Any) -> Any:
    """`ufunc.reduce` along one axis of an array, by calls of `ufunc` itself, one element after the other.

    NumPy's own `reduce` is wrong for some ufuncs on processors with AVX-512 (see docs/numpy.md).
    """
    if isinstance(x, gt.Tensor):
        return ufunc.reduce(x, **how)
    rows = list(np.moveaxis(x, how.get("axis", 0), 0))
    return reduce(ufunc, rows, how["initial"]) if "initial" in how else reduce(ufunc, rows)


class TestReduce:
    @pytest.mark.parametrize("how", [{}, {"axis": 1}, {"axis": None}, {"axis": (0, 1)}, {"axis": -1, "keepdims": True}])
    @pytest.mark.parametrize("ufunc", SMOOTH, **NAME)
    def test_along_axes(self, ufunc: np.ufunc, how: Any) -> None:
        """Any axes, axis 0 by default, gone or kept; values and derivatives of every order."""
        assert_values_are_numpys(lambda x: ufunc.reduce(x, **how), M)
        assert_differentiates(lambda x: ufunc.reduce(x, **how), M)

    @pytest.mark.parametrize("ufunc", ORDERED, **NAME)
    def test_one_after_the_other(self, ufunc: np.ufunc) -> None:
        """Where the order matters it is that of the elements."""
        assert_values_are_numpys(lambda x: folded(ufunc, x, axis=1), M)
        assert_differentiates(lambda x: folded(ufunc, x, axis=1), M)

    @pytest.mark.parametrize("ufunc", [np.subtract, np.divide, np.power], **NAME)
    def test_two_axes_of_an_ordered_one(self, ufunc: np.ufunc) -> None:
        """Along two axes there is no order, as NumPy says."""
        with pytest.raises(ValueError, match=r"reorderable|order"):
            ufunc.reduce(M, axis=(0, 1))
        with pytest.raises(gt.ShapeError, match="fix: one axis"):
            ufunc.reduce(gt.tensor(M), axis=(0, 1))

    @pytest.mark.parametrize("ufunc", [*SMOOTH, *ORDERED], **NAME)
    def test_initial(self, ufunc: np.ufunc) -> None:
        """`initial` comes first, and has a gradient of its own."""
        assert_values_are_numpys(lambda x: folded(ufunc, x, initial=0.9), M)
        assert_differentiates(lambda x, first: folded(ufunc, x, initial=first), M[:, 0], np.array(0.9))

    @pytest.mark.parametrize("ufunc", [*SMOOTH, np.hypot], **NAME)
    def test_where(self, ufunc: np.ufunc) -> None:
        """Elements that do not count get no gradient."""
        mask = M > 1.0
        call = lambda x: ufunc.reduce(x, axis=1, where=mask, initial=0.7)
        assert_values_are_numpys(call, M)
        assert_differentiates(call, M)

    @pytest.mark.parametrize("ufunc", FLAT, **NAME)
    def test_truths(self, ufunc: np.ufunc) -> None:
        """Logic gives truths, off the tape."""
        for how in ({}, {"axis": None}, {"axis": 1, "keepdims": True}):
            assert_values_are_numpys(lambda x, how=how: ufunc.reduce(x, **how), (M > 1.2) * 1.0)

    def test_bits(self) -> None:
        """Integers are reduced as NumPy does it."""
        numbers = np.array([[12, 18], [30, 42]])
        for ufunc in (np.gcd, np.lcm, np.bitwise_and, np.bitwise_or, np.bitwise_xor):
            assert_values_are_numpys(lambda x, ufunc=ufunc: ufunc.reduce(x), numbers)

    def test_not_a_number_is_left_out(self) -> None:
        """fmax and fmin reduce what is a number, and give nan where nothing is."""
        holes = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan]])
        for ufunc in (np.fmax, np.fmin):
            assert_values_are_numpys(lambda x, ufunc=ufunc: ufunc.reduce(x, axis=1), holes)
        gradient = gt.grad(lambda x: np.fmax.reduce(x, axis=1)[0])(holes)
        np.testing.assert_array_equal(gradient, [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])

    def test_nothing(self) -> None:
        """No elements reduce to the neutral one, and are an error where there is none."""
        empty = np.ones((0, 2))
        for ufunc in (np.add, np.multiply, np.logaddexp):
            assert_values_are_numpys(lambda x, ufunc=ufunc: ufunc.reduce(x), empty)
        for ufunc in (np.fmax, np.subtract):
            with pytest.raises(gt.ShapeError, match="initial="):
                ufunc.reduce(gt.tensor(empty))

    def test_dtype_and_out(self) -> None:
        """`dtype` is the dtype of the result; `out` becomes it, or takes the numbers."""
        single = gt.tensor(M.astype("float32"))
        assert np.add.reduce(single).dtype == np.float32
        assert np.add.reduce(single, dtype="float64").dtype == np.float64
        x, out = gt.tensor(M, requires_grad=True), gt.zeros(4)
        assert np.multiply.reduce(x, out=out) is out
        out.sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), np.prod(M, 0) / M)
        plain = np.zeros(4)
        np.add.reduce(gt.tensor(M), out=plain)
        np.testing.assert_allclose(plain, M.sum(0))
        with pytest.raises(gt.DetachError):
            np.add.reduce(x, out=plain)


class TestAccumulate:
    @pytest.mark.parametrize("axis", [0, 1, -1])
    @pytest.mark.parametrize("ufunc", [*SMOOTH, *ORDERED], **NAME)
    def test_along_an_axis(self, ufunc: np.ufunc, axis: int) -> None:
        """What reduce has found so far; values and derivatives of every order."""
        assert_values_are_numpys(lambda x: ufunc.accumulate(x, axis), M)
        assert_differentiates(lambda x: ufunc.accumulate(x, axis), M)

    @pytest.mark.parametrize("ufunc", FLAT, **NAME)
    def test_truths(self, ufunc: np.ufunc) -> None:
        """Logic gives truths, off the tape."""
        assert_values_are_numpys(lambda x: ufunc.accumulate(x, 1), (M > 1.2) * 1.0)

    @given(st.lists(st.integers(0, 3), min_size=1, max_size=9))
    @settings(max_examples=60, deadline=None)
    def test_ties_share_equally(self, numbers: list[int]) -> None:
        """In a running maximum the elements tied so far have equal shares, as in the maximum of all of them."""
        x = np.array(numbers, float)
        found = gt.jacobian(np.maximum.accumulate)(x)
        for k in range(x.size):
            tied = (x[: k + 1] == x[: k + 1].max()).astype(float)
            np.testing.assert_allclose(found[k, : k + 1], tied / tied.sum(), atol=1e-15)
            assert not found[k, k + 1 :].any()
        np.testing.assert_array_equal(gt.jacobian(np.minimum.accumulate)(-x), found)

    def test_not_a_number(self) -> None:
        """nan spreads through maximum from where it is, and is passed over by fmax; both keep the others' gradients."""
        holes = np.array([np.nan, 1.0, np.nan, 3.0])
        assert_values_are_numpys(np.fmax.accumulate, holes)
        assert_values_are_numpys(np.maximum.accumulate, holes[1:])
        np.testing.assert_array_equal(gt.grad(lambda x: np.fmax.accumulate(x)[1:].sum())(holes), [0.0, 2.0, 0.0, 1.0])

    def test_exponentials_of_nothing(self) -> None:
        """The log of a sum that starts with zeros, -inf, has no nan in its gradient."""
        x = np.array([-np.inf, -np.inf, 0.0, 0.0])
        gradient = gt.grad(lambda x: np.logaddexp.accumulate(x)[2:].sum())(x)
        np.testing.assert_allclose(gradient, [0.0, 0.0, 1.5, 0.5])

    def test_single_precision_and_out(self) -> None:
        """float32 stays float32, and `out` becomes the result."""
        single, out = gt.tensor(V.astype("float32"), requires_grad=True), gt.zeros(6, "float32")
        np.maximum.accumulate(single, out=out)
        out.sum().backward()
        assert out.dtype == single.grad.dtype == np.float32


class TestReduceat:
    @pytest.mark.parametrize("indices", [[0, 2, 4], [0, 4, 1, 5], [3], [5, 0], [2, 2, 2]], ids=str)
    @pytest.mark.parametrize("ufunc", [*SMOOTH, np.subtract], **NAME)
    def test_slices(self, ufunc: np.ufunc, indices: list[int]) -> None:
        """From each index to the next, the last to the end, and one element where it would go backwards."""
        assert_values_are_numpys(lambda x: ufunc.reduceat(x, indices), V)
        assert_differentiates(lambda x: ufunc.reduceat(x, indices), V)

    def test_axis_and_dtype(self) -> None:
        """Along other axes, in other dtypes, and of truths."""
        assert_values_are_numpys(lambda x: np.add.reduceat(x, [0, 2], axis=1, dtype="float32"), M)
        assert_differentiates(lambda x: np.multiply.reduceat(x, [0, 2], axis=1), M)
        assert_values_are_numpys(lambda x: np.logical_or.reduceat(x, [0, 2], axis=1), M > 1.5)

    def test_tensors_as_indices(self) -> None:
        """Indices can be tensors, and there can be none of them."""
        np.testing.assert_allclose(np.add.reduceat(gt.tensor(V), gt.tensor([0, 3])).numpy(), np.add.reduceat(V, [0, 3]))
        assert np.add.reduceat(gt.tensor(V), np.zeros(0, int)).shape == (0,)

    def test_out_of_range(self) -> None:
        """An index that is not there is NumPy's error, with the length."""
        with pytest.raises(gt.IndexingError, match="length 6"):
            np.add.reduceat(gt.tensor(V), [0, 6])


class TestOuter:
    @pytest.mark.parametrize("ufunc", [*SMOOTH, *ORDERED, np.copysign], **NAME)
    def test_every_pair(self, ufunc: np.ufunc) -> None:
        """Every element with every other, of arrays of any rank, on either side."""
        assert_values_are_numpys(lambda x, y: ufunc.outer(x, y), M, POSITIVE + 0.05)
        assert_differentiates(lambda x, y: ufunc.outer(x, y), M[:2, :2], POSITIVE + 0.05)

    def test_two_results_truths_and_numbers(self) -> None:
        """divmod has two tables, comparisons have truths, a number is an array of rank 0."""
        for ours, theirs in zip(np.divmod.outer(gt.tensor(M), POSITIVE), np.divmod.outer(M, POSITIVE), strict=True):
            np.testing.assert_array_equal(ours.numpy(), theirs)
        np.testing.assert_array_equal(np.less.outer(gt.tensor(V), [1.0]).numpy(), np.less.outer(V, [1.0]))
        assert np.add.outer(gt.tensor(V), 1.0).shape == (6,)

    def test_keywords(self) -> None:
        """`dtype` and `out` are taken."""
        out = gt.zeros((6, 3), "float32")
        assert np.multiply.outer(gt.tensor(V), POSITIVE, out=out, dtype="float32") is out
        np.testing.assert_allclose(out.numpy(), np.multiply.outer(V, POSITIVE), rtol=1e-6)


def written(ufunc: np.ufunc, *arguments: Any) -> Any:
    """A function that has `ufunc.at` write into a copy of its argument."""

    def call(x: Any, *values: Any) -> Any:
        y = x * 1.0
        ufunc.at(y, *arguments, *values)
        return y

    return call


class TestAt:
    @pytest.mark.parametrize("indices", [[0, 2], [0, 0, 3, 0], ([[1], [2]], [0, 3]), slice(1, 3), 1], ids=str)
    @pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.multiply, np.divide, np.maximum, np.hypot], **NAME)
    def test_written_in_place(self, ufunc: np.ufunc, indices: Any) -> None:
        """Elements that are named twice are met twice; values stretch; the old and the new have their gradients."""
        x = np.concatenate([M, M + 0.07])[:4]
        value = np.array(1.23)
        assert_values_are_numpys(lambda x, value: written(ufunc, indices)(x, value), x, value)
        assert_differentiates(written(ufunc, indices), x, value)

    @pytest.mark.parametrize("ufunc", [np.negative, np.square, np.exp], **NAME)
    def test_of_one_argument(self, ufunc: np.ufunc) -> None:
        """Functions of one number are applied as often as an element is named."""
        for indices in ([0, 2], [0, 0, 3], []):
            assert_values_are_numpys(lambda x, indices=indices: written(ufunc, np.array(indices, int))(x), V)
            assert_differentiates(written(ufunc, np.array(indices, int)), V)

    def test_returns_nothing_and_keeps_the_object(self) -> None:
        """As in NumPy, the tensor itself is changed."""
        x = gt.tensor([1.0, 2.0])
        assert np.add.at(x, [0, 0], 1.0) is None
        np.testing.assert_array_equal(x.numpy(), [3.0, 2.0])

    def test_semantics_of_writes(self) -> None:
        """A leaf that gradients are asked for is not written; a view of a tensor that is written follows it."""
        leaf = gt.tensor(V, requires_grad=True)
        with pytest.raises(gt.MutationError):
            np.add.at(leaf, [0], 1.0)
        y = leaf * 2.0
        view = y[1:]
        np.add.at(y, [1, 1], 1.0)
        np.testing.assert_array_equal(view.numpy(), [2 * V[1] + 2.0, *(2 * V[2:])])

    def test_plain_arrays(self) -> None:
        """A plain array takes what nobody tracks; a tracked value would lose its gradient there."""
        array = np.zeros(3)
        np.add.at(array, gt.tensor([0, 0]), gt.tensor([1.0, 2.0]))
        np.testing.assert_array_equal(array, [3.0, 0.0, 0.0])
        with pytest.raises(gt.DetachError, match=r"np\.add\.at"):
            np.add.at(array, [0], gt.tensor(1.0, requires_grad=True))
        np.testing.assert_array_equal(array, [3.0, 0.0, 0.0])


class TestKeywords:
    def test_dtype_is_that_of_the_computation(self) -> None:
        """`dtype` casts what goes in, so that the result is computed in it."""
        large = gt.tensor([1e-30], dtype="float32")
        assert float(np.multiply(large, large, dtype="float64")[0]) == pytest.approx(1e-60)
        assert np.sin(gt.tensor([1.0]), dtype="float32").dtype == np.float32
        assert_differentiates(lambda x, y: np.add(x, y, dtype="complex128").real, V, W)

    def test_signature(self) -> None:
        """A loop can be chosen by its signature."""
        assert np.add(gt.tensor([1.0]), 2, signature="dd->d").dtype == np.float64
        assert np.add(gt.tensor([1.0], dtype="float32"), 2.0, signature=(None, None, np.float32)).dtype == np.float32

    def test_casting(self) -> None:
        """What NumPy does not cast is refused; what it is told to cast is cast."""
        x = gt.tensor([1.5, 2.5])
        with pytest.raises(gt.OperandError, match="casting"):
            np.add(x, x, dtype="float32", casting="safe")
        assert np.add(x, x, dtype="int64", casting="unsafe").dtype == np.int64
        out = gt.zeros(2, int)
        with pytest.raises(gt.GradTapeError):
            np.add(x, x, out=out)
        np.testing.assert_array_equal(np.add(x, x, out=out, casting="unsafe").numpy(), [3, 5])

    def test_order_and_subok(self) -> None:
        """What says nothing about numbers is taken."""
        np.testing.assert_array_equal(np.sin(gt.tensor(V), order="F", subok=False).numpy(), np.sin(V))

    def test_where_needs_out(self) -> None:
        """Without `out` the other elements would be undefined."""
        with pytest.raises(gt.OperandError, match=r"gt\.where"):
            np.sqrt(gt.tensor(V), where=V > 1)

    def test_where_stretches(self) -> None:
        """`where` and the result are broadcast to `out`."""
        x, out = gt.tensor(V[:4], requires_grad=True), gt.zeros((3, 4))
        mask = np.array([[True], [False], [True]])
        np.square(x, out=out, where=mask)
        np.testing.assert_array_equal(out.numpy(), np.where(mask, V[:4] ** 2, 0.0))
        out.sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), 4 * V[:4])

    def test_several_outs(self) -> None:
        """Each of several results goes into its own `out`, or into none."""
        x, whole = gt.tensor(2 * V, requires_grad=True), gt.zeros(6)
        part, same = np.modf(x, out=(None, whole))
        assert same is whole
        np.testing.assert_array_equal(whole.numpy(), np.modf(2 * V)[1])
        part.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), np.ones(6))
        first, second = gt.zeros(6), gt.zeros(6)
        np.divmod(gt.tensor(V), 0.4, out=(first, second))
        np.testing.assert_array_equal(second.numpy(), np.divmod(V, 0.4)[1])

    def test_axis_of_vectors(self) -> None:
        """np.vecdot takes an axis; the other products say what to do instead."""
        assert_values_are_numpys(lambda x, y: np.vecdot(x, y, axis=0), M, 2 * M)
        assert_values_are_numpys(lambda x, y: np.linalg.vecdot(x, y, axis=0), M, 2 * M)
        assert_values_are_numpys(lambda x, y: np.vecdot(x, y, axis=0, keepdims=True), M, 2 * M)
        with pytest.raises(gt.OperandError, match="axes"):
            np.matmul(gt.tensor(M), M.T, axes=[(0, 1), (0, 1), (0, 1)])

    def test_out_by_its_place(self) -> None:
        """An `out` that is given by position is written too."""
        x, out = gt.tensor(M, requires_grad=True), gt.zeros(4)
        assert np.sum(x, 0, None, out) is out
        out.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), np.ones((3, 4)))
        plain = np.zeros(4)
        with pytest.raises(gt.DetachError):
            np.cumsum(x[0], 0, None, plain)


class TestComposed:
    def test_products_of_matrices_and_vectors(self) -> None:
        """Those that NumPy has (none before 2.2) of matvec and vecmat, stacked and complex."""
        stacks = RANDOM.normal(size=(2, 3, 4)) + 1j * RANDOM.normal(size=(2, 3, 4))
        products = {"matvec": (stacks, stacks[1, 0], M, M[0]), "vecmat": (stacks[0, :, 0], stacks, M[:, 0], M)}
        known = [ufunc for ufunc in overrides.get_overridable_numpy_ufuncs() if ufunc.__name__ in products]
        for ufunc in known:
            *of_complex, first, second = products[ufunc.__name__]
            assert_values_are_numpys(ufunc, *of_complex)
            assert_differentiates(ufunc, first, second)
        assert {ufunc.__name__ for ufunc in known} == {name for name in products if hasattr(np, name)}

    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
    def test_roots_are_those_of_the_operator(self, dtype: Any) -> None:
        """np.power with the exponent 0.5 is `x ** 0.5` of NumPy to the bit; before 2.3 its own is inf at -inf."""
        x = np.array([0.0, -0.0, 0.25, 2.0, -2.0, np.inf, -np.inf, np.nan], dtype)
        with np.errstate(all="ignore"):
            expected = x**0.5
            for found in (np.power(gt.tensor(x), 0.5), gt.tensor(x) ** 0.5, gt.power(gt.tensor(x), 0.5)):
                assert found.dtype == dtype
                np.testing.assert_array_equal(found.numpy().view(np.uint8), expected.view(np.uint8))

    def test_division_with_remainder(self) -> None:
        """divmod is a constant and a remainder."""
        assert_values_are_numpys(lambda x: list(np.divmod(x, 0.83)), M)
        assert_differentiates(lambda x, y: np.divmod(x, y)[1], M, np.array(0.83))

    def test_clip_of_an_array_between_tensors(self) -> None:
        """`array.clip(x, y)` finds its way here."""
        low = gt.tensor(np.ones(4), requires_grad=True)
        M.clip(low, 1.5).sum().backward()
        np.testing.assert_array_equal(low.grad.numpy(), (M < 1.0).sum(0))


class TestKeywordsOfFunctions:
    def test_numpys_names(self) -> None:
        """Arguments can be given by the names that NumPy has for them."""
        x = gt.tensor(M)
        np.testing.assert_array_equal(np.sum(a=x, axis=0).numpy(), M.sum(0))
        np.testing.assert_array_equal(np.tile(A=x, reps=2).numpy(), np.tile(M, 2))

    def test_unknown_ones_are_named(self) -> None:
        """A keyword that NumPy takes and gradtape does not is refused by name, with those that are taken."""
        with pytest.raises(gt.OperandError, match=r"np\.real_if_close on a tensor does not take nonsense") as caught:
            gt.protocols.array_function(np.real_if_close, (gt.Tensor,), (gt.tensor(V),), {"nonsense": 1})
        assert "accepted: x, tol" in str(caught.value)

    def test_errors_from_inside_stay_what_they_are(self) -> None:
        """A TypeError that the user's own function raises is not taken for a wrong keyword."""

        def broken(row: Any) -> Any:
            raise TypeError("mine")

        with pytest.raises(TypeError, match="mine"):
            np.apply_along_axis(broken, 0, gt.tensor(M))


class Foreign:
    """An array of another library, which answers for itself."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> str:
        return f"foreign {method}"


def test_other_libraries_are_asked_too() -> None:
    """A ufunc of a tensor and something foreign is left to the foreign; an index of `at` may be anything."""
    x = gt.tensor(V)
    assert np.add(x, Foreign()) == "foreign __call__"
    assert np.add.outer(x, Foreign()) == "foreign outer"
    np.add.at(x, slice(0, 2), 1.0)
    np.testing.assert_array_equal(x.numpy(), np.concatenate([V[:2] + 1.0, V[2:]]))
