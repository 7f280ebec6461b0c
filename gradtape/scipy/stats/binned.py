"""Statistics of the values in bins: by the values; the bins of the points are constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.errors import UnsupportedError
from gradtape.extend import argument_error
from gradtape.scipy.arraylike import as_constant
from gradtape.scipy.stats.common import as_array, original
from gradtape.scipy.stats.significance import Result


class BinnedResult(Result):
    """The statistic in each bin, the edges of the bins, and the bin of each point."""

    fields = ("statistic", "bin_edges", "binnumber")


class Binned2dResult(Result):
    """The same for bins of two coordinates."""

    fields = ("statistic", "x_edge", "y_edge", "binnumber")


def _mean(values: Any) -> Any:
    return values.mean()


STATISTICS: dict[Any, Callable[[Any], Any]] = {
    "mean": _mean,
    "sum": lambda values: values.sum(),
    "std": lambda values: values.std(),
    "median": lambda values: np.median(values),
    "min": lambda values: values.min(),
    "max": lambda values: values.max(),
}
"""The statistics by their names, of the values in one bin."""


def _in_bins(name: str, values: Any, statistic: Any, numbers: Any, counts: tuple[int, ...]) -> Any:
    """A statistic of the values in each bin, for numbers of bins that count those outside at each end too."""
    known = STATISTICS.get(statistic) if isinstance(statistic, str) else statistic
    if known is None or not callable(known):
        raise argument_error(
            UnsupportedError,
            f"stats.{name}: statistic={statistic!r} of tensors has no derivative.",
            f"one of {', '.join(STATISTICS)}, or a function",
        )
    rows = as_array(values)
    lines = [rows] if rows.ndim == 1 else list(rows)
    empty = 0.0 if statistic == "sum" else np.nan
    inside = np.arange(np.prod(counts)).reshape(counts)[(slice(1, -1),) * len(counts)]
    found = []
    for line in lines:
        cells = []
        for cell in inside.reshape(-1):
            places = np.flatnonzero(numbers == cell)
            cells.append(known(line[places]) if len(places) else np.asarray(empty))
        found.append(np.stack(cells).reshape(inside.shape))
    return found[0] if rows.ndim == 1 else np.stack(found)


def _bins(name: str, points: Any, bins: Any, range: Any) -> tuple[list[Any], Any, tuple[int, ...]]:
    """The edges of the bins, the number of the bin of each point, and how many there are along each axis."""
    sample = np.stack([np.asarray(as_constant(each, f"{name}: x")) for each in points], axis=-1)
    counted = original.contents.binned_statistic_dd(sample, None, "count", bins, range)
    edges = list(counted.bin_edges)
    return edges, counted.binnumber, tuple([len(edge) + 1 for edge in edges])


@original.differentiated
def binned_statistic(x: Any, values: Any, statistic: Any = "mean", bins: Any = 10, range: Any = None) -> BinnedResult:
    """A statistic of the values whose x are in the same bin, by the values.

    >>> import gradtape as gt
    >>> from gradtape.scipy import stats
    >>> gt.grad(lambda v: stats.binned_statistic([0.1, 0.2, 0.9], v, bins=2).statistic[0])(gt.tensor([1.0, 2.0, 3.0]))
    Tensor([0.5, 0.5, 0. ])
    """
    grid = bins if np.ndim(bins) == 0 else [np.asarray(bins, float)]
    limits = None if range is None else [range] if np.ndim(range) == 1 else range
    edges, numbers, counts = _bins("binned_statistic", (x,), grid, limits)
    return BinnedResult(_in_bins("binned_statistic", values, statistic, numbers, counts), edges[0], numbers)


@original.differentiated
def binned_statistic_2d(
    x: Any,
    y: Any,
    values: Any,
    statistic: Any = "mean",
    bins: Any = 10,
    range: Any = None,
    expand_binnumbers: bool = False,
) -> Binned2dResult:
    """The same for points with two coordinates."""
    grid = bins
    if np.ndim(bins) and np.size(bins) not in (1, 2):
        grid = [np.asarray(bins, float)] * 2
    edges, numbers, counts = _bins("binned_statistic_2d", (x, y), grid, range)
    found = _in_bins("binned_statistic_2d", values, statistic, numbers, counts)
    shown = np.asarray(np.unravel_index(numbers, counts)) if expand_binnumbers else numbers
    return Binned2dResult(found, edges[0], edges[1], shown)


@original.differentiated
def binned_statistic_dd(
    sample: Any,
    values: Any,
    statistic: Any = "mean",
    bins: Any = 10,
    range: Any = None,
    expand_binnumbers: bool = False,
    binned_statistic_result: Any = None,
) -> BinnedResult:
    """The same for points with any number of coordinates."""
    points = np.asarray(as_constant(sample, "binned_statistic_dd: sample"))
    columns = (points,) if points.ndim == 1 else tuple(points.T)
    edges, numbers, counts = _bins("binned_statistic_dd", columns, bins, range)
    found = _in_bins("binned_statistic_dd", values, statistic, numbers, counts)
    shown = np.asarray(np.unravel_index(numbers, counts)) if expand_binnumbers else numbers
    return BinnedResult(found, edges, shown)
