"""Searching and sets: positions, memberships and the distinct elements.

Positions and truth values are tensors off the tape, with a cut that remembers where: a gradient that is asked for
across one of them is None, with the reason. Distinct elements are elements of the input and have its gradient; those
that are equal share it equally, as ties do in `max`. Where the number of results depends on the values there is nothing
to stack inside `vmap`, and that is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.batch import apply_to_each_example
from gradtape.core.operation import Op, apply
from gradtape.core.rules import constant, general
from gradtape.core.tensor import Tensor
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import OperandError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.conversion import stop_gradient
from gradtape.ops.indexed_update import at

# -- positions in sorted arrays


def _batch_places(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    """One sorted array for all examples is searched once; several are searched one after the other."""
    return apply_to_each_example(op, flags, values, params) if flags[0] else apply(op, tuple(values), params)


_searchsorted = constant(
    lambda a, v, side: np.asarray(np.searchsorted(a, v, side)),
    name="searchsorted",
    batch=_batch_places,
    samples=lambda draw: [
        ((np.sort(draw(5)), draw(2, 3)), {"side": "left"}),
        ((np.array([-1.0, 0.0, 0.0, 1.0]), np.array([0.0, 2.0])), {"side": "right"}),
        ((np.sort(draw(4)), draw()), {"side": "left"}),
    ],
)


@answers(np.searchsorted)
def searchsorted(a: TensorLike, v: TensorLike, side: str = "left", sorter: TensorLike | None = None) -> Any:
    """Where the elements of `v` would have to be put into the sorted vector `a`. Positions have no gradient.

    >>> import gradtape as gt
    >>> gt.searchsorted(gt.tensor([1.0, 2.0, 3.0]), [2.0, 9.0])
    Tensor([1, 3])
    """
    if side not in ("left", "right"):
        raise argument_error(OperandError, f"searchsorted: side={side!r}.", "side 'left' or 'right'")
    a = as_value(a)
    return _searchsorted(a if sorter is None else a[as_value(sorter)], as_value(v), side=side)


_digitize = constant(
    lambda x, bins, right: np.asarray(np.digitize(x, bins, right)),
    name="digitize",
    batch=lambda op, flags, values, params: (
        apply_to_each_example(op, flags, values, params) if flags[1] else apply(op, tuple(values), params)
    ),
    samples=lambda draw: [
        ((draw(2, 3), np.sort(draw(5))), {"right": False}),
        ((draw(3), np.array([1.0, 0.5, -1.0])), {"right": True}),
    ],
)


@answers(np.digitize)
def digitize(x: TensorLike, bins: TensorLike, right: bool = False) -> Any:
    """Which of the bins each element is in. Bins have no gradient.

    >>> import gradtape as gt
    >>> gt.digitize(gt.tensor([0.5, 1.5]), [0.0, 1.0, 2.0])
    Tensor([1, 2])
    """
    return _digitize(as_value(x), as_value(bins), right=right)


_isin = constant(
    lambda x, among, invert: np.isin(x, among, invert=invert),
    name="isin",
    batch=lambda op, flags, values, params: (
        apply_to_each_example(op, flags, values, params) if flags[1] else apply(op, tuple(values), params)
    ),
    samples=lambda draw: [((np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([2.0, 9.0])), {"invert": False})],
)


@answers(np.isin)
def isin(
    element: TensorLike,
    test_elements: TensorLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> Any:
    """Whether each element is among `test_elements`. No gradient passes.

    >>> import gradtape as gt
    >>> gt.isin(gt.tensor([1.0, 2.0]), [2.0, 3.0])
    Tensor([False,  True])
    """
    return _isin(as_value(element), as_value(test_elements), invert=invert)


# -- results whose number depends on the values


def _batch_counting(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    try:
        return apply_to_each_example(op, flags, values, params)
    except ValueError:
        raise argument_error(
            OperandError,
            f"{op.name} inside vmap finds another number of elements in every example.",
            "call it on the whole batch, outside vmap; gt.where(mask, x, 0) keeps the shape",
        ) from None


def _counting(kernel: Callable[..., Any], name: str, samples: Any, outputs: bool = False) -> Op:
    return constant(kernel, name=name, batch=_batch_counting, samples=samples, outputs=outputs)


# of samples like these there are as many distinct elements as of ones, which stand for the examples of an empty batch
_SETS: Any = lambda draw: [((np.array([2.0, 2.0, 2.0]), np.array([2.0, 2.0])), {})]
_ONE_SET: Any = lambda draw: [((np.array([2.0, 2.0, 2.0]),), {})]

_unique = _counting(lambda x, **how: np.unique(x, **how), "unique", _ONE_SET)
_unique_parts = _counting(
    lambda x, **how: tuple(np.unique(x, **how)),
    "unique with positions",
    lambda draw: [((np.array([2.0, 2.0, 2.0]),), {"return_index": True, "return_counts": True})],
    outputs=True,
)


def _shares(x: Array, counts: Array) -> Any:
    """Each slice of `x` divided by how often it is there."""
    return x / counts.astype(x.dtype).reshape((-1, *(1,) * (x.ndim - 1)))


def _sums_of_groups(dx: Array, index: Any, inverse: Any, counts: Array) -> Any:
    return at(np.zeros((*index.shape, *dx.shape[1:]), dx.dtype))[inverse].add(_shares(dx, counts[inverse]))


_distinct: Op = general(
    lambda x, index, inverse, counts: x[index],
    reverse=lambda g, inverse, counts: (_shares(g, counts)[inverse], None, None, None),
    forward=lambda dx, index, inverse, counts: _sums_of_groups(dx, index, inverse, counts),
    name="distinct slices",
    names=("x", "index", "inverse", "counts"),
    inputs=4,
    batch=_batch_counting,
    samples=lambda draw: [
        ((draw(3), np.array([1, 2, 0]), np.array([2, 0, 1]), np.array([1, 1, 1])), {}),
        ((draw(2, 3), np.array([1, 0]), np.array([1, 0]), np.array([1, 1])), {}),
    ],
)


def _distinct_slices(x: Any, axis: int | None, equal_nan: bool) -> tuple[Any, Any, Any, Any]:
    """The distinct elements, or slices along an axis, with their gradient, and what `np.unique` says of them."""
    how = {"axis": axis, "equal_nan": equal_nan, "return_index": True, "return_inverse": True, "return_counts": True}
    _, index, inverse, counts = _unique_parts(x, **how)
    slices = x.reshape((-1,)) if axis is None else np.moveaxis(x, axis, 0)
    values = _distinct(slices, index, inverse.reshape((-1,)), counts)
    return (values if axis is None else np.moveaxis(values, 0, axis)), index, inverse, counts


def _moves(*arrays: Array) -> bool:
    """Whether elements of these arrays can have gradients."""
    return any(isinstance(x, Tensor) and x.dtype.kind in "fc" for x in arrays)


def _chosen(ar1: Array, ar2: Array, choose: Callable[[Any, Any], Any]) -> Any:
    """Distinct elements of two arrays, as `choose` says from whether each is in the one and in the other."""
    values = unique(np.concatenate([ar1.reshape((-1,)), ar2.reshape((-1,))]))
    there = stop_gradient(values)
    return values[flatnonzero(choose(isin(there, ar1), isin(there, ar2)))]


_union1d = _counting(lambda a, b: np.union1d(a, b), "union1d", _SETS)
_setdiff1d = _counting(lambda a, b: np.setdiff1d(a, b), "setdiff1d", _SETS)
_setxor1d = _counting(lambda a, b: np.setxor1d(a, b), "setxor1d", _SETS)
_intersect1d = _counting(lambda a, b: np.intersect1d(a, b), "intersect1d", _SETS)
_intersect_parts = _counting(
    lambda a, b: tuple(np.intersect1d(a, b, return_indices=True)), "intersect1d with positions", _SETS, outputs=True
)
_argwhere = _counting(lambda x: np.argwhere(x), "argwhere", _ONE_SET)
_flatnonzero = _counting(lambda x: np.flatnonzero(x), "flatnonzero", _ONE_SET)


@answers(np.unique)
def unique(
    x: TensorLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """The distinct elements of `x`, sorted; or slices along an axis. Equal ones share the gradient equally.

    >>> import gradtape as gt
    >>> gt.unique(gt.tensor([3.0, 1.0, 3.0]))
    Tensor([1., 3.])
    >>> gt.grad(lambda x: (gt.unique(x) * [10.0, 1.0]).sum())(gt.tensor([3.0, 1.0, 3.0]))
    Tensor([ 0.5, 10. ,  0.5])
    """
    x = as_value(x)
    if _moves(x):
        values, *others = _distinct_slices(x, axis, equal_nan)
        wanted_others = zip(others, (return_index, return_inverse, return_counts), strict=True)
        results = (values, *(other for other, is_wanted in wanted_others if is_wanted))
        return results if len(results) > 1 else values
    how: dict[str, Any] = {"axis": axis, "equal_nan": equal_nan}
    if not (return_index or return_inverse or return_counts):
        return _unique(x, **how)
    wanted = {"return_index": return_index, "return_inverse": return_inverse, "return_counts": return_counts}
    return _unique_parts(x, **how, **wanted)


@answers(np.unique_values)
def unique_values(x: TensorLike) -> Any:
    """The distinct elements of `x`. Equal ones share the gradient equally.

    >>> import gradtape as gt
    >>> gt.unique_values(gt.tensor([3.0, 1.0, 3.0]))
    Tensor([1., 3.])
    """
    return unique(x, equal_nan=False)


@answers(np.unique_counts)
def unique_counts(x: TensorLike) -> Any:
    """The distinct elements of `x`, and how often each is there. Equal ones share the gradient equally.

    >>> import gradtape as gt
    >>> gt.unique_counts(gt.tensor([3.0, 1.0, 3.0]))
    (Tensor([1., 3.]), Tensor([1, 2]))
    """
    return unique(x, return_counts=True, equal_nan=False)


@answers(np.unique_inverse)
def unique_inverse(x: TensorLike) -> Any:
    """The distinct elements of `x`, and which of them each element is. Equal ones share the gradient.

    >>> import gradtape as gt
    >>> gt.unique_inverse(gt.tensor([3.0, 1.0, 3.0]))
    (Tensor([1., 3.]), Tensor([1, 0, 1]))
    """
    return unique(x, return_inverse=True, equal_nan=False)


@answers(np.unique_all)
def unique_all(x: TensorLike) -> Any:
    """The distinct elements, where each is first, which of them each element is, and how often each is there.

    >>> import gradtape as gt
    >>> gt.unique_all(gt.tensor([3.0, 3.0]))
    (Tensor([3.]), Tensor([0]), Tensor([0, 0]), Tensor([2]))
    """
    return unique(x, True, True, True, equal_nan=False)


@answers(np.union1d)
def union1d(ar1: TensorLike, ar2: TensorLike) -> Any:
    """The distinct elements of both arrays, sorted. Equal ones share the gradient equally.

    >>> import gradtape as gt
    >>> gt.union1d(gt.tensor([3.0, 1.0]), [2.0, 1.0])
    Tensor([1., 2., 3.])
    """
    ar1, ar2 = as_value(ar1), as_value(ar2)
    if _moves(ar1, ar2):
        return unique(np.concatenate([ar1.reshape((-1,)), ar2.reshape((-1,))]))
    return _union1d(ar1, ar2)


@answers(np.intersect1d)
def intersect1d(ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The distinct elements that are in both arrays, sorted; with `return_indices`, also where they are.

    >>> import gradtape as gt
    >>> gt.intersect1d(gt.tensor([3.0, 1.0]), [2.0, 1.0])
    Tensor([1.])
    """
    ar1, ar2 = as_value(ar1), as_value(ar2)
    if not _moves(ar1, ar2):
        return (_intersect_parts if return_indices else _intersect1d)(ar1, ar2)
    common = _chosen(ar1, ar2, np.logical_and)
    return (common, *_intersect_parts(ar1, ar2)[1:]) if return_indices else common


@answers(np.setdiff1d)
def setdiff1d(ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False) -> Any:
    """The distinct elements of the first array that are not in the second, sorted. Equal ones share the gradient.

    >>> import gradtape as gt
    >>> gt.setdiff1d(gt.tensor([3.0, 1.0]), [2.0, 1.0])
    Tensor([3.])
    """
    ar1, ar2 = as_value(ar1), as_value(ar2)
    if not _moves(ar1):
        return _setdiff1d(ar1, ar2)
    values = unique(ar1)
    return values[flatnonzero(isin(stop_gradient(values), ar2, invert=True))]


@answers(np.setxor1d)
def setxor1d(ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False) -> Any:
    """The distinct elements that are in only one of the two arrays, sorted. Equal ones share the gradient.

    >>> import gradtape as gt
    >>> gt.setxor1d(gt.tensor([3.0, 1.0]), [2.0, 1.0])
    Tensor([2., 3.])
    """
    ar1, ar2 = as_value(ar1), as_value(ar2)
    return _chosen(ar1, ar2, np.logical_xor) if _moves(ar1, ar2) else _setxor1d(ar1, ar2)


@answers(np.argwhere)
def argwhere(x: TensorLike) -> Any:
    """The positions of the elements that are not zero, a row for each. Positions have no gradient.

    >>> import gradtape as gt
    >>> gt.argwhere(gt.tensor([0.0, 2.0]))
    Tensor([[1]])
    """
    return _argwhere(as_value(x))


@answers(np.flatnonzero)
def flatnonzero(x: TensorLike) -> Any:
    """The positions of the elements that are not zero in the flattened array. Positions have no gradient.

    >>> import gradtape as gt
    >>> gt.flatnonzero(gt.tensor([0.0, 2.0]))
    Tensor([1])
    """
    return _flatnonzero(as_value(x))


__all__ = [
    "argwhere",
    "digitize",
    "flatnonzero",
    "intersect1d",
    "isin",
    "searchsorted",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]
