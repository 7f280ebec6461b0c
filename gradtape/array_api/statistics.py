"""Reductions and running results along axes."""

from __future__ import annotations

import builtins
from typing import Any

from gradtape import ops
from gradtape.array_api.arguments import array, as_dtype
from gradtape.ops import nan_reductions

__all__ = [
    "all",
    "any",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]

Axis = int | tuple[int, ...] | None


def in_dtype(x: Any, dtype: Any) -> Any:
    """`x` in the data type that was asked for: small integers are added up as large ones and cut at the end."""
    return x if dtype is None or x.dtype == dtype else ops.astype(x, dtype)


def sum(x: Any, /, *, axis: Axis = None, dtype: Any = None, keepdims: builtins.bool = False) -> Any:
    """The sum along axes. Small integers are added up as 64-bit ones.

    >>> import gradtape.array_api as xp
    >>> xp.sum(xp.asarray([100, 100], dtype=xp.int8))
    Tensor(200)
    """
    dtype = as_dtype(dtype, "sum")
    return in_dtype(ops.sum(array(x, "sum"), axis, dtype=dtype, keepdims=keepdims), dtype)


def prod(x: Any, /, *, axis: Axis = None, dtype: Any = None, keepdims: builtins.bool = False) -> Any:
    """The product along axes. Small integers are multiplied as 64-bit ones."""
    dtype = as_dtype(dtype, "prod")
    return in_dtype(ops.prod(array(x, "prod"), axis, dtype=dtype, keepdims=keepdims), dtype)


def mean(x: Any, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Any:
    """The mean along axes."""
    return ops.mean(array(x, "mean"), axis, keepdims=keepdims)


def var(x: Any, /, *, axis: Axis = None, correction: float = 0.0, keepdims: builtins.bool = False) -> Any:
    """The variance along axes: the sum of squared deviations over their number less `correction`."""
    return ops.var(array(x, "var"), axis, ddof=correction, keepdims=keepdims)


def std(x: Any, /, *, axis: Axis = None, correction: float = 0.0, keepdims: builtins.bool = False) -> Any:
    """The standard deviation along axes, the square root of `var`."""
    return ops.std(array(x, "std"), axis, ddof=correction, keepdims=keepdims)


def max(x: Any, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Any:
    """The largest element along axes; tied ones share its gradient."""
    return ops.max(array(x, "max"), axis, keepdims=keepdims)


def min(x: Any, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Any:
    """The smallest element along axes; tied ones share its gradient."""
    return ops.min(array(x, "min"), axis, keepdims=keepdims)


def all(x: Any, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Any:
    """Whether all elements along axes are true."""
    return ops.all(array(x, "all"), axis, keepdims=keepdims)


def any(x: Any, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Any:
    """Whether any element along axes is true."""
    return ops.any(array(x, "any"), axis, keepdims=keepdims)


def count_nonzero(x: Any, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Any:
    """How many elements along axes are not zero."""
    return ops.count_nonzero(array(x, "count_nonzero"), axis, keepdims=keepdims)


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: builtins.bool = False
) -> Any:
    """Running sums along an axis; with `include_initial`, from 0 on.

    >>> import gradtape.array_api as xp
    >>> xp.cumulative_sum(xp.asarray([1, 2, 3]), include_initial=True)
    Tensor([0, 1, 3, 6])
    """
    dtype = as_dtype(dtype, "cumulative_sum")
    x = array(x, "cumulative_sum")
    return in_dtype(nan_reductions.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial), dtype)


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: builtins.bool = False
) -> Any:
    """Running products along an axis; with `include_initial`, from 1 on."""
    dtype = as_dtype(dtype, "cumulative_prod")
    x = array(x, "cumulative_prod")
    return in_dtype(nan_reductions.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial), dtype)


def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """Differences between neighbours along an axis, taken `n` times."""
    before = None if prepend is None else array(prepend, "diff", "prepend")
    after = None if append is None else array(append, "diff", "append")
    return ops.diff(array(x, "diff"), n, axis, before, after)
