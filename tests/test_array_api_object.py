"""Tensors as the array object of the standard: operators, indices, conversions, copies, devices and refusals."""

from __future__ import annotations

import operator
from typing import Any

import array_api_compat
import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.array_api import make_strategies_namespace

import gradtape as gt
import gradtape.array_api as xp

DTYPES = ["bool", "int8", "int64", "uint8", "uint64", "float32", "float64", "complex64", "complex128"]
OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift"]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]
NUMBERS = {"b": True, "i": 3, "u": 3, "f": 1.5, "c": 1.5 + 1j}

few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
strategies = make_strategies_namespace(xp)


def same(found: Any, expected: Any) -> None:
    """A tensor with the reference's shape, dtype and numbers."""
    assert isinstance(found, gt.Tensor)
    assert (found.shape, found.dtype) == (expected.shape, expected._array.dtype)
    np.testing.assert_allclose(found.numpy(), expected._array, rtol=1e-5 if found.dtype.itemsize < 8 else 1e-12)


def pairs(dtype: str) -> tuple[Any, Any]:
    return np.array([1, 2, 3], dtype), np.array([[2], [1]], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPERATORS + COMPARISONS)
def test_operators_are_those_of_the_reference(name: str, dtype: str) -> None:
    """`x op y`, `x op number`, `number op x` and `x op= y` give the reference's dtype, shape and values."""
    x, y = pairs(dtype)
    apply, number = getattr(operator, name), NUMBERS[np.dtype(dtype).kind]
    try:
        expected = apply(strict.asarray(x), strict.asarray(y))
    except TypeError:
        return
    same(apply(xp.asarray(x), xp.asarray(y)), expected)
    same(apply(xp.asarray(x), number), apply(strict.asarray(x), number))
    same(apply(number, xp.asarray(x)), apply(number, strict.asarray(x)))
    in_place = getattr(operator, f"i{name.rstrip('_')}", None)
    if in_place is not None and expected.dtype == getattr(strict, dtype):
        ours = kept = xp.asarray(x)
        theirs = strict.asarray(x.copy())
        ours, theirs = in_place(ours, number), in_place(theirs, number)
        same(ours, theirs)
        assert ours is kept


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["neg", "pos", "abs", "invert"])
def test_unary_operators_are_those_of_the_reference(name: str, dtype: str) -> None:
    """`-x`, `+x`, `abs(x)` and `~x` give the reference's dtype and values."""
    x, _ = pairs(dtype)
    try:
        expected = getattr(operator, name)(strict.asarray(x))
    except TypeError:
        return
    same(getattr(operator, name)(xp.asarray(x)), expected)


def test_matrix_operators_are_those_of_the_reference() -> None:
    """`@` and `@=` multiply matrices; `mT` and `T` exchange their axes."""
    x, y = np.arange(6.0).reshape(2, 3), np.arange(9.0).reshape(3, 3)
    same(xp.asarray(x) @ xp.asarray(y), strict.asarray(x) @ strict.asarray(y))
    product = xp.asarray(x)
    product @= xp.asarray(y)
    same(product, strict.asarray(x @ y))
    same(xp.asarray(x).mT, strict.asarray(x).mT)
    same(xp.asarray(x).T, strict.asarray(x).T)


@few
@given(st.data())
def test_reading_and_writing_elements(data: st.DataObject) -> None:
    """`x[index]` and `x[index] = value` do what NumPy does, for all indices that the standard has."""
    shape = data.draw(strategies.array_shapes(min_dims=0, max_dims=3, max_side=4))
    x = data.draw(strategies.arrays("int64", shape))
    assert isinstance(x, gt.Tensor)
    reference = x.numpy().copy()
    index = data.draw(strategies.indices(shape, allow_newaxis=True))
    np.testing.assert_array_equal(x[index].numpy(), reference[index])
    assert isinstance(x[index], gt.Tensor)
    index = data.draw(strategies.indices(shape))
    x[index] = 7
    reference[index] = 7
    np.testing.assert_array_equal(x.numpy(), reference)


def test_masks_and_integer_arrays_are_indices() -> None:
    """A boolean array picks or overwrites where it is true; an integer array picks by position."""
    x = xp.arange(6)
    same(x[x > 3], strict.asarray([4, 5]))
    same(x[xp.asarray([0, -1])], strict.asarray([0, 5]))
    x[x > 3] = 0
    same(x, strict.asarray([0, 1, 2, 3, 0, 0]))


PLACES, MASK = np.array([0, -1]), np.array([True, False, True])


@pytest.mark.parametrize(
    "key",
    [
        (PLACES, 1),
        (0, PLACES),
        (PLACES[:, None], PLACES),
        (PLACES, slice(None), PLACES),
        (..., PLACES),
        (None, PLACES),
        (slice(None), MASK),
        np.array(True),
        np.array(False),
    ],
    ids=str,
)
def test_arrays_numbers_and_slices_are_indices_together(key: Any) -> None:
    """Integer arrays and masks among integers and slices read and write what NumPy reads and writes."""
    parts = key if isinstance(key, tuple) else (key,)
    ours = tuple(xp.asarray(part) if isinstance(part, np.ndarray) else part for part in parts)
    reference = np.arange(24).reshape(2, 3, 4)
    x = xp.asarray(reference)
    np.testing.assert_array_equal(x[ours].numpy(), reference[key])
    x[ours] = 7
    reference[key] = 7
    np.testing.assert_array_equal(x.numpy(), reference)


def test_a_mask_of_another_shape_is_refused() -> None:
    """A mask that does not fit is an `IndexError`, as the standard has it."""
    with pytest.raises(IndexError):
        xp.ones((2, 3))[xp.asarray([True, False, True])]


def test_conversions_to_python() -> None:
    """`bool`, `int`, `float`, `complex` and `operator.index` of an array without axes are Python's numbers."""
    assert bool(xp.asarray(True)) is True
    assert (int(xp.asarray(3)), type(int(xp.asarray(3)))) == (3, int)
    assert (float(xp.asarray(1.5)), complex(xp.asarray(1 + 2j)), complex(xp.asarray(1))) == (1.5, 1 + 2j, 1 + 0j)
    assert [10, 20, 30][xp.asarray(1)] == 20
    with pytest.raises(TypeError):
        operator.index(xp.asarray(1.5))
    assert isinstance(xp.sum(xp.ones(3)), gt.Tensor)
    assert xp.sum(xp.ones(3)).shape == ()


def test_attributes_of_the_array_object() -> None:
    """`dtype`, `device`, `ndim`, `shape`, `size` and `to_device` are there, and say what the standard asks."""
    x = xp.ones((2, 3))
    assert (x.dtype, x.device, x.ndim, x.shape, x.size) == (xp.float64, "cpu", 2, (2, 3), 6)
    assert x.to_device("cpu") is x
    with pytest.raises(ValueError, match="device='cuda'"):
        x.to_device("cuda")
    assert x.__array_namespace__() is xp
    for version in ("2021.12", "2022.12", "2023.12", "2024.12"):
        assert x.__array_namespace__(api_version=version) is xp
    with pytest.raises(ValueError, match=r"2024\.12"):
        x.__array_namespace__(api_version="1999.12")


def test_copies_are_made_where_asked() -> None:
    """`asarray`, `astype` and `reshape` return the same tensor, a fresh one, or refuse, as `copy` says."""
    x = xp.asarray([1.0, 2.0])
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=False) is x
    assert xp.astype(x, xp.float64, copy=False) is x
    for fresh in (xp.asarray(x, copy=True), xp.astype(x, xp.float64), xp.reshape(x, (2,), copy=True)):
        assert fresh is not x
        assert not np.shares_memory(fresh.numpy(), x.numpy())
    kept = xp.asarray(x, copy=True)
    x[0] = 9.0
    assert kept[0] == 1.0
    with pytest.raises(ValueError, match="float64 to int64 is a conversion"):
        xp.asarray(x, dtype=xp.int64, copy=False)
    with pytest.raises(ValueError, match="owns its memory"):
        xp.asarray(np.ones(2), copy=False)
    with pytest.raises(ValueError, match="has to move elements"):
        xp.reshape(xp.ones((2, 3)).T, (6,), copy=False)
    with pytest.raises(gt.ShapeError):
        xp.reshape(xp.ones((2, 3)), (5,), copy=False)


def test_a_copy_of_the_users_array_is_taken() -> None:
    """Writing to an array after `asarray` does not change the tensor."""
    mine = np.ones(2)
    x = xp.asarray(mine)
    mine[0] = 5.0
    assert x[0] == 1.0


def test_numpy_arrays_are_taken_for_tensors() -> None:
    """A NumPy array or scalar among the arguments is copied into a tensor; the result is a tensor."""
    for result in (xp.sum(np.ones(3)), xp.add(np.float32(1), xp.ones(2)), xp.exp(np.zeros(2))):
        assert isinstance(result, gt.Tensor)


def test_sequences_of_tensors_keep_their_gradients() -> None:
    """`asarray` of a list with tracked tensors, and `full` of one, are tracked."""
    gradient = gt.grad(lambda a: xp.sum(xp.asarray([a, 2.0 * a, 1.0]) * 3.0 + xp.sum(xp.full((2,), a))))(2.0)
    assert gradient == 15.0


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: xp.sum([1.0, 2.0]), r"sum: x is a list, not an array"),
        (lambda: xp.concat([xp.ones(2), 1.0]), r"concat: arrays\[1\] is a float"),
        (lambda: xp.add(1, 2), r"add: x1 is 1 and x2 is 2"),
        (lambda: xp.zeros(3, device="cuda"), r"zeros: device='cuda'"),
        (lambda: xp.ones(2, dtype="text"), r"ones: dtype='text'"),
        (lambda: xp.isdtype(xp.int8, "integer"), r"kind='integer'"),
        (lambda: xp.astype(xp.asarray([1j]), xp.float64), r"drop the imaginary part"),
        (lambda: xp.take(xp.ones((2, 2)), xp.asarray([0])), r"take: no axis"),
        (lambda: xp.sort(xp.asarray(1.0)), r"sort: x has no axes"),
        (lambda: xp.nonzero(xp.asarray(1.0)), r"nonzero: x has no axes"),
        (lambda: xp.linalg.det(xp.ones(3)), r"linalg.det: x has shape \(3,\)"),
        (lambda: xp.linalg.outer(xp.ones((2, 2)), xp.ones(2)), r"linalg.outer: x1 has shape \(2, 2\)"),
        (lambda: xp.linalg.qr(xp.ones((2, 2)), mode="r"), r"mode='r'"),
        (lambda: xp.fft.fft(xp.ones(3), norm="unitary"), r"fft.fft: norm='unitary'"),
        (lambda: xp.fft.fftn(xp.ones(3), s=(2,)), r"s=\(2,\) without axes"),
        (lambda: xp.fft.fftfreq(3, dtype=xp.int64), r"dtype=int64"),
        (lambda: xp.meshgrid(xp.ones(2), indexing="yx"), r"indexing='yx'"),
        (lambda: xp.where(xp.asarray(True), 1, 2), r"at least one array"),
        (lambda: xp.repeat(xp.ones(2), xp.asarray([1.0, 2.0])), r"repeats of dtype float64"),
        (lambda: xp.result_type(1, 2.0), r"none of them an array or a dtype"),
        (lambda: xp.matrix_transpose(xp.ones(2)), r"matrix_transpose: x has shape \(2,\)"),
        (lambda: xp.vecdot(xp.ones(2), xp.ones(2), axis=1), r"axis 1"),
    ],
)
def test_a_mistake_is_named(call: Any, says: str) -> None:
    """A wrong argument is an error that names it and what is accepted, at the user's line."""
    with pytest.raises(gt.GradTapeError, match=says) as caught:
        call()
    assert caught.value.problem.fixes
    assert caught.value.problem.spans[0].file.endswith("test_array_api_object.py")


def test_what_the_reference_has_no_example_of() -> None:
    """`isin` inverted, a stable descending order, bounds beyond an integer's range, counts of unsigned integers."""
    assert xp.isin(xp.asarray([1, 2]), xp.asarray([2]), invert=True).tolist() == [True, False]
    assert xp.argsort(xp.asarray([1, 2, 2, 1]), descending=True).tolist() == [1, 2, 0, 3]
    assert gt.grad(lambda x: xp.sort(x, descending=True)[0])(np.array([1.0, 2.0, 2.0])).tolist() == [0.0, 1.0, 0.0]
    clipped = xp.clip(xp.asarray([100], dtype=xp.int8), -1000, 50)
    assert (clipped.tolist(), clipped.dtype) == ([50], xp.int8)
    assert xp.repeat(xp.arange(2), xp.asarray([1, 2], dtype=xp.uint64)).tolist() == [0, 1, 1]
    assert xp.sign(xp.asarray([0j, 3j])).tolist() == [0j, 1j]
    assert xp.broadcast_arrays() == []


def test_tolerances_and_cuts_may_be_tensors() -> None:
    """What SciPy computes in the namespace of its input, and hands on to NumPy's own functions, is taken there."""
    x = xp.asarray([1.0, 2.0, 3.0])
    assert np.isclose(x, np.array([1.1, 2.0, 4.0]), atol=xp.asarray(0.2)).tolist() == [True, True, False]
    assert np.allclose(np.ones(2), np.zeros(2), rtol=xp.asarray(0.0), atol=xp.asarray(1.0))
    assert [part.tolist() for part in np.split(x, xp.asarray([1]))] == [[1.0], [2.0, 3.0]]
    assert len(np.array_split(x, xp.asarray(2))) == 2


def test_a_complete_basis_has_a_derivative_where_it_is_not_arbitrary() -> None:
    """`linalg.qr(mode="complete")` of a tall matrix has that of R, and of a column that it adds to Q; several of them
    are refused one.
    """
    x = np.random.default_rng(0).normal(size=(3, 2))
    complete, triangle = xp.linalg.qr(xp.asarray(x), mode="complete")
    assert (complete.shape, triangle.shape) == ((3, 3), (3, 2))
    np.testing.assert_allclose((complete @ triangle).numpy(), x)
    upper = lambda mode: gt.grad(lambda t: xp.sum(xp.linalg.qr(t, mode=mode).R))(gt.tensor(x)).numpy()
    np.testing.assert_allclose(upper("complete"), upper("reduced"))
    added = lambda t: xp.sum(xp.linalg.qr(t, mode="complete").Q[:, 2])
    assert gt.gradcheck(added, gt.tensor(x))
    with pytest.raises(gt.UnsupportedError):
        gt.grad(added)(gt.tensor(np.random.default_rng(0).normal(size=(4, 2))))


def test_compat_layer_knows_tensors() -> None:
    """array-api-compat takes tensors for arrays of the standard and finds their namespace."""
    x = gt.tensor([1.0, 2.0], requires_grad=True)
    assert array_api_compat.is_array_api_obj(x)
    assert array_api_compat.array_namespace(x, gt.tensor([1])) is xp
    assert array_api_compat.device(x) == "cpu"
    assert array_api_compat.to_device(x, "cpu") is x
    assert array_api_compat.size(x) == 2
    assert array_api_compat.is_writeable_array(x)
