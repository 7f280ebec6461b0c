"""The methods of arrays on tensors: those that write in place, their arguments in NumPy's order, `out`, and memory."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.tensor import Tensor

# what describes or changes memory that a tensor alone owns
MEMORY = {"base", "byteswap", "ctypes", "data", "getfield", "resize", "setfield", "setflags"}

WITHDRAWN = {"itemset", "newbyteorder", "tostring"}  # deprecated, or names that only say so; gone from NumPy 2.4


def test_every_method_of_arrays_is_there() -> None:
    """A tensor has all that an array has, except for what is about its memory and what NumPy has withdrawn."""
    public = {name for name in dir(np.ndarray) if not name.startswith("_")} - WITHDRAWN
    assert {name for name in public if not hasattr(gt.Tensor, name)} == MEMORY


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.sum(0, None, None, True),
        lambda x: x.sum(initial=2.5, where=x > 0),
        lambda x: x.prod(1, "float32"),
        lambda x: x.mean(0, None, None, True, where=np.array([[True], [False], [True]])),
        lambda x: x.var(0, None, None, 1),
        lambda x: x.std(1, None, None, 1, True),
        lambda x: x.max(0, None, True),
        lambda x: x.min(initial=-9.0, where=x < 0),
        lambda x: x.argmax(0),
        lambda x: x.argsort(0, "stable"),
        lambda x: x.all(0, keepdims=True),
        lambda x: x.any(where=x > 9),
        lambda x: x.cumsum(0, "float32"),
        lambda x: x.trace(1, 0, 1, "float32"),
        lambda x: x.take([5, 99], None, None, "clip"),
        lambda x: x.compress([True, False, True], 0),
        lambda x: x.astype("int64").clip(0, 1).choose([x, x + 10]),
        lambda x: x.nonzero(),
        lambda x: x[0].searchsorted([0.0]),
        lambda x: x.clip(0.0),
        lambda x: x.astype("float32", "C", "same_kind"),
        lambda x: x.tobytes("F"),
        lambda x: x.strides,
        lambda x: x.view(),
        lambda x: x.copy("K"),
        lambda x: np.sort(x.argpartition(1)),
        lambda x: divmod(7.0, x),
    ],
)
def test_arguments_are_numpys(call: Any) -> None:
    """Methods take their arguments in NumPy's order and return what NumPy returns, in its dtype."""
    array = np.random.default_rng(3).normal(size=(3, 4))
    found, expected = call(gt.tensor(array)), call(array)
    for one, other in zip(*((v if isinstance(v, tuple) else (v,)) for v in (found, expected)), strict=True):
        one = one.numpy() if isinstance(one, gt.Tensor) else one
        assert np.shape(one) == np.shape(other)
        assert getattr(one, "dtype", None) == getattr(other, "dtype", None)
        np.testing.assert_array_almost_equal_nulp(one, other, 4) if isinstance(
            other, np.ndarray
        ) and other.dtype.kind == "f" else np.testing.assert_array_equal(one, other)


def test_methods_name_their_arguments_as_numpys_functions_do() -> None:
    """Where NumPy has a function of the name, its arguments are the method's, in its order; newer ones follow."""
    for name in (
        "sum",
        "prod",
        "mean",
        "var",
        "std",
        "max",
        "min",
        "argmax",
        "argsort",
        "cumsum",
        "trace",
        "all",
        "take",
    ):
        ours = [p for p in inspect.signature(getattr(gt.Tensor, name)).parameters if p != "self"]
        theirs = list(inspect.signature(getattr(np, name)).parameters)[1:]
        assert ours[: len(theirs)] == theirs, name
        assert set(ours[len(theirs) :]) <= {"descending"}, name  # which NumPy has from 2.5 on


# -- in place


def test_sort_in_place_keeps_gradients() -> None:
    """x.sort() returns None, sorts, and each element keeps its gradient."""

    def smallest(x: Any) -> Any:
        y = x * 1.0
        assert y.sort() is None
        return y[0] * 5 + y[-1]

    assert gt.grad(smallest)(np.array([3.0, 1.0, 2.0])).tolist() == [1.0, 5.0, 0.0]
    x = gt.tensor([[3.0, 1.0], [0.0, 2.0]])
    x.sort(0)
    assert x.tolist() == [[0.0, 1.0], [3.0, 2.0]]


def test_partition_fill_and_put_in_place() -> None:
    """partition, fill and put write, with the gradients of what was written."""

    def written(x: Any) -> Any:
        y = x * 1.0
        y.partition(0)
        z = x * 2.0
        z.put([0, -1], gt.stack([x[1] * 3, 7.0]))
        w = x * 1.0
        w.fill(x[0])
        return y[0] + z.sum() + w.sum()

    assert gt.grad(written)(np.array([3.0, 1.0, 2.0])).tolist() == [3.0, 1.0 + 3.0 + 2.0, 0.0]


@pytest.mark.parametrize("write", [lambda x: x.sort(), lambda x: x.partition(0), lambda x: x.fill(0.0)])
def test_writing_methods_obey_the_rules_of_writing(write: Any) -> None:
    """A leaf that is tracked is not written to; a view of a tensor that is written to has what was written."""
    with pytest.raises(gt.GradTapeError, match=r"in place|leaf"):
        write(gt.tensor([2.0, 1.0], requires_grad=True))
    x = gt.tensor([2.0, 1.0], requires_grad=True) * 1.0
    look = x[:1]
    write(x)
    assert x.tolist() != [2.0, 1.0]
    assert look.tolist() == x.tolist()[:1]


def test_what_cannot_be_written_is_refused() -> None:
    """fill takes one number; an unsafe cast is refused where NumPy refuses it."""
    with pytest.raises(gt.OperandError, match=r"fill: a value of shape \(2,\)"):
        gt.tensor([1.0, 2.0]).fill([1.0, 2.0])
    with pytest.raises(gt.OperandError, match="casting='safe'"):
        gt.tensor([1.0]).astype("float32", casting="safe")


def test_view_is_told_apart_from_reshape() -> None:
    """view() shares memory; PyTorch's view(shape) and NumPy's view(dtype) are refused with what does it here."""
    x = gt.tensor([1.0, 2.0])
    assert np.may_share_memory(x.view()._array, x._array)
    with pytest.raises(gt.OperandError, match=r"fix: x.reshape\(2, 1\)"):
        x.view(2, 1)
    with pytest.raises(gt.OperandError, match="astype"):
        x.view("float32")


# -- out

OUT: list[Any] = [
    lambda xp, x, out: xp.sum(x, 0, out=out),
    lambda xp, x, out: xp.mean(x, 0, None, out),
    lambda xp, x, out: xp.max(x, 0, out),
    lambda xp, x, out: xp.var(x, 0, out=out, ddof=1),
    lambda xp, x, out: xp.nansum(x, 0, out=out),
    lambda xp, x, out: xp.nanstd(x, 0, out=out),
    lambda xp, x, out: xp.median(x, 0, out=out),
    lambda xp, x, out: xp.quantile(x, 0.3, 0, out, method="hazen"),
    lambda xp, x, out: xp.clip(x[0], 0.0, 1.0, out),
    lambda xp, x, out: xp.round(x[0], 1, out),
    lambda xp, x, out: xp.take(x, 1, 0, out),
    lambda xp, x, out: xp.dot(x.T[:, :1], x[0, :1], out),
    lambda xp, x, out: xp.cumsum(x[0], out=out),
    lambda xp, x, out: xp.einsum("ij->j", x, out=out),
    lambda xp, x, out: xp.concatenate([x[0, :2], x[1, :2]], out=out),
]


@pytest.mark.parametrize("call", OUT)
@pytest.mark.parametrize("kind", ["tensor", "array"])
def test_out_is_written(call: Any, kind: str) -> None:
    """`out` of a function of gradtape's and of NumPy's is written to and returned, tensor or array."""
    x = np.random.default_rng(1).normal(size=(3, 4))
    expected = call(np, x, None)
    for xp in (gt, np):
        out = gt.zeros(4) if kind == "tensor" else np.zeros(4)
        assert call(xp, gt.tensor(x), out) is out
        np.testing.assert_allclose(np.asarray(out), expected)


def test_out_carries_the_gradient_or_refuses_to_lose_it() -> None:
    """A tensor given as `out` becomes the result; an array cannot, and a tracked result is refused."""

    def summed(x: Any) -> Any:
        out = gt.zeros(())
        gt.sum(x * x, out=out)
        return out

    assert gt.grad(summed)(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]
    with pytest.raises(gt.DetachError):
        gt.sum(gt.tensor([1.0], requires_grad=True), out=np.zeros(()))


# -- memory

ARRAYS = [
    np.arange(24.0).reshape(2, 3, 4),
    np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)),
    np.arange(24.0).reshape(2, 3, 4).transpose(1, 2, 0),
    np.arange(24.0).reshape(4, 6)[::2, ::3],
    np.arange(24.0).reshape(4, 6)[:, ::-1],
    np.array(3.0),
    np.zeros((0, 3)),
]


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_order_of_elements(array: Any, order: Any) -> None:
    """ravel, flatten and reshape read elements in NumPy's order, also where it is that of the memory."""
    x = Tensor(array)
    for function in (lambda v: v.ravel(order), lambda v: v.flatten(order), lambda v: np.ravel(v, order)):
        np.testing.assert_array_equal(function(x), function(array))
    if order != "K":
        np.testing.assert_array_equal(x.reshape(-1, order=order), array.reshape(-1, order=order))
    if array.size:
        seed = np.arange(float(array.size))
        expected = np.zeros(array.size)
        expected[np.arange(array.size).reshape(array.shape).ravel("C")] = 0
        positions = np.empty_like(array)  # in the same order of memory
        positions[...] = np.arange(array.size).reshape(array.shape)
        expected[positions.ravel(order).astype(int)] = seed
        cotangent = gt.vjp(lambda v: Tensor.ravel(v, order), array)[1](seed)[0]
        assert cotangent.shape == array.shape


def test_orders_that_there_are_not() -> None:
    """reshape has no order "K", ravel none but four; inside vmap an example has no memory of its own."""
    x = gt.tensor([[1.0, 2.0]])
    for call in (lambda: x.reshape(2, order="K"), lambda: x.ravel("Z")):
        with pytest.raises(ValueError, match="order="):
            call()
    with pytest.raises(gt.OperandError, match="inside vmap"):
        gt.vmap(lambda v: v.ravel("K"))(np.ones((2, 3, 4)))


def test_reshape_copies_when_it_is_told_to() -> None:
    """copy=True takes a copy, copy=False refuses to, None does what is needed."""
    x = gt.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert not np.may_share_memory(x.reshape(4, copy=True)._array, x._array)
    assert np.may_share_memory(x.reshape(4, copy=False)._array, x._array)
    with pytest.raises(gt.ShapeError, match="copy=False"):
        x.T.reshape(4, copy=False)


REPEATED = ["sum", "prod", "mean", "var", "std", "max", "min", "ptp", "argmax", "argmin", "argsort", "all", "any"]
REPEATED += ["cumsum", "cumprod", "take", "round", "repeat", "diagonal", "trace", "swapaxes", "squeeze"]


@pytest.mark.parametrize("name", REPEATED)
def test_a_method_takes_what_the_function_takes(name: str) -> None:
    """`x.sum(...)` has the names, the kinds and the defaults that `gt.sum(x, ...)` has behind its `x`."""
    method, function = getattr(gt.Tensor, name), getattr(gt, name)
    ours, theirs = ([*inspect.signature(f).parameters.values()][1:] for f in (method, function))
    assert [(p.name, p.kind, p.default) for p in ours] == [(p.name, p.kind, p.default) for p in theirs]


def test_booleans_are_their_own_conjugates() -> None:
    """`x.conj()` of booleans is boolean, as NumPy's method has it."""
    assert (gt.tensor([True, False]).conj().dtype, gt.tensor([1j]).conj().tolist()) == (bool, [-1j])
