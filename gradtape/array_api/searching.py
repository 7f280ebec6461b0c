"""Where elements are: positions, order, and sets of distinct values."""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple

from gradtape import ops
from gradtape.array_api.arguments import ArgumentError, array, operand, operands
from gradtape.extend import Tensor, argument_error, tensor
from gradtape.ops import searching

__all__ = [
    "argmax",
    "argmin",
    "argsort",
    "isin",
    "nonzero",
    "searchsorted",
    "sort",
    "take",
    "take_along_axis",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "where",
]


def argmax(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The position of the largest element along an axis, the first of several."""
    return ops.argmax(array(x, "argmax"), axis, keepdims=keepdims)


def argmin(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The position of the smallest element along an axis, the first of several."""
    return ops.argmin(array(x, "argmin"), axis, keepdims=keepdims)


def nonzero(x: Any, /) -> tuple[Any, ...]:
    """The positions of the elements that are not zero: one vector for each axis."""
    x = array(x, "nonzero")
    if not x.ndim:
        raise argument_error(ArgumentError, "nonzero: x has no axes.", "reshape(x, (1,)), or bool(x)")
    return tuple([Tensor(places) for places in ops.nonzero(x)])


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """Where the elements of `x2` would have to be put into the sorted vector `x1`."""
    x1, x2 = operands(x1, x2, "searchsorted")
    order = None if sorter is None else array(sorter, "searchsorted", "sorter")
    return searching.searchsorted(x1, x2, side, order)


def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """`x1` where the condition holds, `x2` elsewhere; the gradient goes to the one that was taken.

    >>> import gradtape.array_api as xp
    >>> xp.where(xp.asarray([True, False]), xp.asarray([1.0, 2.0]), 0.0)
    Tensor([1., 0.])
    """
    condition = array(condition, "where", "condition")
    x1, x2 = operand(x1, "where", "x1"), operand(x2, "where", "x2")
    if not isinstance(x1, Tensor) and not isinstance(x2, Tensor):
        raise argument_error(ArgumentError, f"where: x1 is {x1!r} and x2 is {x2!r}.", "at least one array among them")
    return ops.where(condition, x1, x2)


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The positions that sort along an axis; equal elements keep their order."""
    x = _with_axes(x, "argsort")
    if not descending:
        return ops.argsort(x, axis)
    turned = ops.flip(ops.argsort(ops.flip(x, axis), axis), axis)
    return x.shape[axis] - 1 - turned


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The elements in order along an axis, equal ones as they were; each keeps its gradient.

    >>> import gradtape.array_api as xp
    >>> xp.sort(xp.asarray([2.0, 3.0, 1.0]), descending=True)
    Tensor([3., 2., 1.])
    """
    x = _with_axes(x, "sort")
    if not descending:
        return ops.sort(x, axis)
    return ops.flip(ops.sort(ops.flip(x, axis), axis), axis)  # turned around twice, equal ones are in order again


def _with_axes(x: Any, function: str) -> Tensor:
    found = array(x, function)
    if not found.ndim:
        raise argument_error(ArgumentError, f"{function}: x has no axes to sort along.", "reshape(x, (1,)) first")
    return found


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """The slices of `x` along an axis at `indices`, a vector; only a vector `x` needs no axis."""
    x, indices = array(x, "take"), array(indices, "take", "indices")
    if axis is None:
        if x.ndim != 1:
            raise argument_error(ArgumentError, f"take: no axis, and x has {x.ndim} of them.", "axis=0, or another one")
        axis = 0
    return ops.take(x, indices, axis)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """The elements at `indices`, which are positions along an axis, as `argsort` gives them."""
    return ops.take_along_axis(array(x, "take_along_axis"), array(indices, "take_along_axis", "indices"), axis)


class UniqueAllResult(NamedTuple):
    """Distinct values, where each comes first, which of them each element is, and how often each occurs."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCountsResult(NamedTuple):
    """Distinct values, and how often each occurs."""

    values: Any
    counts: Any


class UniqueInverseResult(NamedTuple):
    """Distinct values, and which of them each element is."""

    values: Any
    inverse_indices: Any


def unique_all(x: Any, /) -> UniqueAllResult:
    """The distinct values, with their first positions, the way back, and their counts."""
    return UniqueAllResult(*searching.unique_all(array(x, "unique_all")))


def unique_counts(x: Any, /) -> UniqueCountsResult:
    """The distinct values and how often each occurs."""
    return UniqueCountsResult(*searching.unique_counts(array(x, "unique_counts")))


def unique_inverse(x: Any, /) -> UniqueInverseResult:
    """The distinct values and which of them each element is."""
    return UniqueInverseResult(*searching.unique_inverse(array(x, "unique_inverse")))


def unique_values(x: Any, /) -> Any:
    """The distinct values."""
    return searching.unique_values(array(x, "unique_values"))


def isin(x1: Any, x2: Any, /, *, invert: builtins.bool = False) -> Any:
    """Which elements of `x1` are among those of `x2`."""
    x1, x2 = operands(x1, x2, "isin")
    found = searching.isin(x1, x2, invert=invert)
    return found if isinstance(found, Tensor) else tensor(found)
