"""New arrays."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gradtape import ops
from gradtape.array_api.arguments import ArgumentError, array, as_dtype, check_device, each_array, operand
from gradtape.extend import Tensor, argument_error, leaves, tensor
from gradtape.numpy_dispatch.interchange import from_dlpack
from gradtape.ops import creation_from

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Any:
    """`obj` as an array: a tensor, a number, nested sequences, or something that exposes its memory.

    A tensor of the right data type is returned as it is, unless `copy`; gradients pass, from tensors inside sequences
    too. Everything else is copied, because a tensor owns its memory; `copy=False` refuses that.

    >>> import gradtape.array_api as xp
    >>> xp.asarray([1, 2, 3], dtype=xp.float32)
    Tensor([1., 2., 3.], dtype=float32)
    """
    check_device(device, "asarray")
    wanted = as_dtype(dtype, "asarray")
    if isinstance(obj, Tensor):
        if wanted is None or wanted == obj.dtype:
            return ops.identity(obj) if copy else obj
        if copy is not False:
            return ops.astype(obj, wanted)
        reason = f"{obj.dtype} to {wanted} is a conversion"
    elif copy is not False:
        if isinstance(obj, (list, tuple)):
            holds_tensors = any(isinstance(leaf, Tensor) for leaf in leaves(obj))
            return creation_from.array(obj, wanted) if holds_tensors else tensor(obj, wanted)
        if not hasattr(obj, "__array__") and hasattr(obj, "__dlpack__"):
            return asarray(from_dlpack(obj), dtype=wanted)
        return tensor(obj, wanted)
    else:
        reason = f"a tensor owns its memory, and cannot share that of a {type(obj).__name__}"
    raise argument_error(
        ArgumentError, f"asarray: copy=False, but {reason}.", "copy=None, which copies where it has to"
    )


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Any:
    """Evenly spaced numbers from `start` (or 0) up to `stop`, without it.

    >>> import gradtape.array_api as xp
    >>> xp.arange(1, 7, 2)
    Tensor([1, 3, 5])
    """
    check_device(device, "arange")
    dtype = as_dtype(dtype, "arange")
    return ops.arange(start, step=step, dtype=dtype) if stop is None else ops.arange(start, stop, step, dtype=dtype)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Any:
    """`num` evenly spaced numbers from `start` to `stop`; the last one is left out without `endpoint`.

    >>> import gradtape.array_api as xp
    >>> xp.linspace(0, 1, 3)
    Tensor([0. , 0.5, 1. ])
    """
    check_device(device, "linspace")
    dtype = as_dtype(dtype, "linspace")
    if isinstance(start, Tensor) or isinstance(stop, Tensor):
        return ops.linspace(start, stop, num, endpoint, dtype=dtype)
    return Tensor(np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype))


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """An array of a shape; its elements are zeros, but do not rely on it elsewhere."""
    return _filled("empty", shape, 0, dtype, device)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros of a shape."""
    return _filled("zeros", shape, 0, dtype, device)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Ones of a shape."""
    return _filled("ones", shape, 1, dtype, device)


def _filled(function: str, shape: Any, value: int, dtype: Any, device: Any) -> Any:
    check_device(device, function)
    return Tensor(np.full(shape, value, as_dtype(dtype, function) or np.dtype(float)))


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """One value everywhere; a tensor as the value keeps its gradient.

    >>> import gradtape.array_api as xp
    >>> xp.full((2,), 7)
    Tensor([7, 7])
    """
    check_device(device, "full")
    value, dtype = operand(fill_value, "full", "fill_value"), as_dtype(dtype, "full")
    if isinstance(value, Tensor):
        return ops.full(shape, value, dtype)
    return Tensor(np.full(shape, value, dtype))


def _shaped_like(function: str, x: Any, value: Any, dtype: Any, device: Any) -> Any:
    x = array(x, function)
    check_device(device, function)
    return full(x.shape, value, dtype=x.dtype if dtype is None else as_dtype(dtype, function))


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """An array of the shape and data type of `x`."""
    return _shaped_like("empty_like", x, 0, dtype, device)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Zeros of the shape and data type of `x`."""
    return _shaped_like("zeros_like", x, 0, dtype, device)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Ones of the shape and data type of `x`."""
    return _shaped_like("ones_like", x, 1, dtype, device)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """One value everywhere, in the shape and data type of `x`."""
    return _shaped_like("full_like", x, fill_value, dtype, device)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Any:
    """A matrix with ones on its diagonal number `k`, and zeros elsewhere."""
    check_device(device, "eye")
    columns = None if n_cols is None else operator.index(n_cols)
    return ops.eye(operator.index(n_rows), columns, k, as_dtype(dtype, "eye") or np.dtype(float))


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Any]:
    """The coordinates of every point of a grid, from those along each of its axes."""
    vectors = each_array(arrays, "meshgrid")
    if indexing not in ("xy", "ij"):
        raise argument_error(ArgumentError, f"meshgrid: indexing={indexing!r}.", "'xy' or 'ij'")
    return list(ops.meshgrid(*vectors, indexing=indexing))


def tril(x: Any, /, *, k: int = 0) -> Any:
    """The lower triangles of matrices, up to diagonal `k`; zeros above."""
    return ops.tril(array(x, "tril"), k)


def triu(x: Any, /, *, k: int = 0) -> Any:
    """The upper triangles of matrices, from diagonal `k` on; zeros below."""
    return ops.triu(array(x, "triu"), k)
