"""Counting into bins. What is counted has no gradient, since counts jump; the weights of what is counted have one.

So have the edges of the bins: those that are given, and those that lie between the smallest and the largest sample.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.batch import BatchTensor
from gradtape.core.operation import Lifted
from gradtape.core.rules import constant
from gradtape.core.tensor import Tensor, plain
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import DtypeError, OperandError, ShapeError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops import reductions
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.conversion import stop_gradient
from gradtape.ops.creation import linspace
from gradtape.ops.elementwise import where
from gradtape.ops.indexing import add_flat
from gradtape.ops.shaping import reshape

_bincount = constant(
    lambda x, length: np.bincount(x, minlength=length),
    name="bincount",
    samples=lambda draw: [((np.array([0, 2, 2]),), {"length": 4}), ((np.array([1]),), {"length": 2})],
)


@answers(np.bincount)
def bincount(x: TensorLike, weights: TensorLike | None = None, minlength: int = 0) -> Any:
    """How often 0, 1, 2, ... are in the vector of integers `x`, or the sums of their `weights`, which have a gradient.

    Weights of single precision stay so.

    >>> import gradtape as gt
    >>> gt.grad(lambda w: gt.bincount([0, 2, 2], w)[2])(gt.tensor([1.0, 2.0, 3.0]))
    Tensor([0., 1., 1.])
    """
    x = as_value(x)
    if x.dtype.kind not in "iub" or x.ndim != 1:
        raise argument_error(
            DtypeError, f"bincount: an array of shape {x.shape} and {x.dtype}.", "a vector of integers"
        )
    if isinstance(x, BatchTensor):
        length = minlength
        if not minlength:
            raise argument_error(
                OperandError, "bincount inside vmap: the length differs between examples.", "minlength= above all of x"
            )
    else:  # in a trace these are guards: the lengths of other calls may differ
        if x.size and bool(reductions.min(x) < 0):
            raise argument_error(ShapeError, "bincount: negative integers.", "integers from 0 up")
        length = max(minlength, int(reductions.max(x)) + 1 if x.size else 0)
    if weights is None:
        return _bincount(x, length=length)
    weights = as_value(weights)
    if weights.shape != x.shape:
        raise argument_error(
            ShapeError, f"bincount: weights of shape {weights.shape} for {x.shape}.", "a weight for each"
        )
    return add_flat(weights if weights.dtype.kind in "fc" else weights.astype(float), x, length=length)


# -- bins of any number of dimensions: where a sample is, as a position in the flattened array of bins


def _cell_kernel(*inputs: Array, count: int) -> Any:
    """The bin of every sample, or one past the last for those outside; inputs are coordinates, then edges."""
    coordinates, edges = inputs[:count], inputs[count:]
    cell, inside = np.zeros(np.shape(coordinates[0]), int), np.ones(np.shape(coordinates[0]), bool)
    total = 1
    for values, bounds in zip(coordinates, edges, strict=True):
        place = np.searchsorted(bounds, values, "right") - 1
        place = np.where(values == bounds[-1], len(bounds) - 2, place)  # the last bin has both its ends
        inside &= (place >= 0) & (place <= len(bounds) - 2)
        cell = cell * (len(bounds) - 1) + place
        total *= len(bounds) - 1
    return np.where(inside, cell, total)


_cell = constant(
    _cell_kernel,
    name="bin of a sample",
    samples=lambda draw: [
        ((draw(5), np.array([-1.0, 0.0, 1.0])), {"count": 1}),
        ((draw(4), draw(4), np.array([-1.0, 0.0, 1.0]), np.array([-3.0, 3.0])), {"count": 2}),
    ],
)


def _counted(coordinates: list[Any], edges: list[Any], density: bool, weights: Any) -> Any:
    """The sums of the weights (1 by default) in each bin; with `density`, such that the integral is 1."""
    shape = tuple([len(bounds) - 1 for bounds in edges])
    cells = int(np.prod(shape))
    place = _cell(*[reshape(values, (-1,)) for values in coordinates], *edges, count=len(edges))
    if weights is None:
        counts = _bincount(place, length=cells + 1)
    else:
        weights = as_value(weights)
        if weights.shape != coordinates[0].shape:
            raise argument_error(
                ShapeError,
                f"histogram: weights of shape {weights.shape} for samples of shape {coordinates[0].shape}.",
                "a weight for each sample",
            )
        counts = add_flat(reshape(weights, (-1,)), place, length=cells + 1)
    found = reshape(counts[:cells], shape)
    if density:
        volume = np.ones(())
        for bounds in edges:
            volume = volume[..., None] * np.diff(bounds)
        total = reductions.sum(found)
        found = where(total == 0, np.nan, found / volume / where(total == 0, 1, total))
    return found


def _values(x: Array, how: str) -> Any:
    """The numbers of `x` for finding edges; inside `vmap` there are none."""
    if isinstance(x, BatchTensor):
        raise argument_error(
            OperandError, f"{how} inside vmap: the edges differ between examples.", "bins= as an array of edges"
        )
    return plain(x)


def _edges(x: Array, bins: TensorLike, range: Any, weights: TensorLike | None) -> Any:
    given = plain(bins)
    if not isinstance(given, str) and np.ndim(given) == 1:
        edges = np.asarray(given)
        if np.any(edges[1:] < edges[:-1]):
            raise argument_error(ShapeError, "histogram: edges of bins that do not increase.", "np.sort(bins)")
        return bins if isinstance(bins, Tensor) else edges
    if isinstance(given, str) and weights is not None:
        raise argument_error(
            OperandError, f"histogram: bins={given!r} with weights.", "a number of bins, or their edges"
        )
    ends = _ends(x, range)
    is_lifted = isinstance(x, Lifted) or (range is not None and any(isinstance(limit, Lifted) for limit in range))
    if is_lifted and not isinstance(given, str) and (range is not None or ends is not None):
        limits = None if ends is not None else range
        edges = np.histogram_bin_edges(np.zeros(0), given, limits)  # as many as there will be
    else:
        limits = None if range is None else tuple([plain(limit) for limit in range])
        edges = np.histogram_bin_edges(_values(x, "histogram"), given, limits)
    if ends is None:
        return edges
    dtype = np.result_type(*[end.dtype if isinstance(end, Tensor) else end for end in ends], x.dtype)
    margin = where(ends[0] == ends[1], 0.5, 0.0).astype(dtype)  # NumPy's, around samples that are all alike
    moved = linspace(ends[0] - margin, ends[1] + margin, len(edges)).astype(dtype if dtype.kind == "f" else float)
    return moved if is_lifted else edges + (moved - stop_gradient(moved))  # with NumPy's last digits


def _ends(x: Array, range: Any) -> tuple[Any, Any] | None:
    """The first and the last edge, if they can have gradients."""
    if range is not None:
        first, last = range
    elif isinstance(x, Tensor) and x.dtype.kind == "f" and x.size:
        first, last = reductions.min(x), reductions.max(x)
    else:
        return None
    return (first, last) if _are_tensors(first, last) else None


def _as_tensors(tracked: bool, edges: list[Any]) -> list[Any]:
    return [bounds if isinstance(bounds, Tensor) or not tracked else Tensor(bounds) for bounds in edges]


def _are_tensors(*values: TensorLike | None) -> bool:
    return any(isinstance(value, Tensor) for value in values)


@answers(np.histogram_bin_edges)
def histogram_bin_edges(
    x: TensorLike, bins: TensorLike = 10, range: Any = None, weights: TensorLike | None = None
) -> Any:
    """The edges of the bins that `histogram` would use; those between the ends of `x` have their gradients.

    >>> import gradtape as gt
    >>> gt.histogram_bin_edges(gt.tensor([0.0, 2.0]), bins=2)
    Tensor([0., 1., 2.])
    >>> gt.grad(lambda x: gt.histogram_bin_edges(x, bins=2)[1])(gt.tensor([0.0, 0.5, 2.0]))
    Tensor([0.5, 0. , 0.5])
    """
    x = as_value(x)
    return _as_tensors(_are_tensors(x, bins, weights), [_edges(x, bins, range, weights)])[0]


@answers(np.histogram)
def histogram(
    x: TensorLike,
    bins: TensorLike = 10,
    range: Any = None,
    density: bool | None = None,
    weights: TensorLike | None = None,
) -> tuple[Any, Any]:
    """How many elements of `x` are in each bin, or the sums of their `weights`, and the edges of the bins.

    Counts jump where an element crosses an edge, and are flat elsewhere: they have gradients in the weights only. The
    edges have gradients in `bins`, `range`, or the smallest and the largest of `x`.

    >>> import gradtape as gt
    >>> gt.histogram(gt.tensor([0.0, 0.5, 2.0]), bins=2)
    (Tensor([2, 1]), Tensor([0., 1., 2.]))
    """
    x = as_value(x)
    edges = [_edges(x, bins, range, weights)]
    found = _counted([x], edges, bool(density), weights)
    return found, _as_tensors(_are_tensors(x, weights), edges)[0]


@answers(np.histogramdd)
def histogramdd(
    sample: Any,
    bins: TensorLike = 10,
    range: Any = None,
    density: bool | None = None,
    weights: TensorLike | None = None,
) -> tuple[Any, Any]:
    """How many rows of `sample` are in each bin of a grid, or the sums of their `weights`, and the edges.

    >>> import gradtape as gt
    >>> gt.histogramdd(gt.tensor([[0.0, 0.0], [1.0, 1.0]]), bins=2)[0]
    Tensor([[1., 0.],
            [0., 1.]])
    """
    if isinstance(sample, list | tuple):
        columns = [as_value(column) for column in sample]
    else:
        sample = as_value(sample)
        columns = [sample] if sample.ndim == 1 else [sample[:, k] for k in np.arange(sample.shape[1]).tolist()]
    several = bins if isinstance(bins, list | tuple) else [bins] * len(columns)
    if len(several) != len(columns):
        raise argument_error(
            ShapeError, f"histogramdd: {len(several)} bins for {len(columns)} dimensions.", "one for each"
        )
    ranges = [None] * len(columns) if range is None else range
    edges = [_edges(column, each, limits, None) for column, each, limits in zip(columns, several, ranges, strict=True)]
    found = _counted(columns, edges, bool(density), weights)
    found = found if found.dtype.kind in "fc" else found.astype(float)
    return found, tuple(_as_tensors(_are_tensors(*columns, weights), edges))


@answers(np.histogram2d)
def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Any, Any, Any]:
    """How many points (x, y) are in each bin of a grid, or the sums of their `weights`, and the edges along both axes.

    >>> import gradtape as gt
    >>> gt.histogram2d(gt.tensor([0.0, 1.0]), [0.0, 1.0], bins=2)[0]
    Tensor([[1., 0.],
            [0., 1.]])
    """
    pair = isinstance(bins, list | tuple) and len(bins) in (1, 2) and not all(np.ndim(plain(b)) == 0 for b in bins)
    both = bins if pair or (isinstance(bins, list | tuple) and len(bins) == 2) else [bins, bins]
    found, (first, second) = histogramdd((x, y), list(both), range, density, weights)
    return found, first, second


__all__ = ["bincount", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]
