"""Statistics of angles and of directions: means, variances and standard deviations."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from gradtape.scipy.stats.common import original
from gradtape.scipy.stats.samples import Axis, keep_reduced_axes, read_sample

# -- angles


def _directions(function: str, samples: Any, high: Any, low: Any, axis: Axis, nan_policy: str) -> tuple[Any, Any, Any]:
    """The mean sine and cosine of angles from `low` to `high`, and their unit."""
    unit = (high - low) / (2 * pi)
    angles = read_sample(function, samples, nan_policy, "samples") / unit
    return np.sin(angles).mean(axis=axis), np.cos(angles).mean(axis=axis), unit


@original.differentiated
def circmean(
    samples: Any,
    high: Any = 2 * pi,
    low: Any = 0,
    axis: Axis = None,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Any:
    """The mean of angles between `low` and `high`."""
    sine, cosine, unit = _directions("circmean", samples, high, low, axis, nan_policy)
    value = np.arctan2(sine, cosine) * unit
    found = value - np.floor((value - low) / (high - low)) * (high - low)
    return keep_reduced_axes(found, samples, axis, keepdims)


def _resultant(sine: Any, cosine: Any) -> Any:
    return np.minimum(np.hypot(sine, cosine), 1)


@original.differentiated
def circvar(
    samples: Any,
    high: Any = 2 * pi,
    low: Any = 0,
    axis: Axis = None,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Any:
    """The variance of angles: 1 minus the length of their mean direction."""
    sine, cosine, _ = _directions("circvar", samples, high, low, axis, nan_policy)
    found = 1 - _resultant(sine, cosine)
    return keep_reduced_axes(found, samples, axis, keepdims)


@original.differentiated
def circstd(
    samples: Any,
    high: Any = 2 * pi,
    low: Any = 0,
    axis: Axis = None,
    nan_policy: str = "propagate",
    *,
    normalize: bool = False,
    keepdims: bool = False,
) -> Any:
    """The standard deviation of angles, from the length of their mean direction."""
    sine, cosine, unit = _directions("circstd", samples, high, low, axis, nan_policy)
    spread = np.sqrt(-2 * np.log(_resultant(sine, cosine)))
    found = spread if normalize else spread * unit
    return keep_reduced_axes(found, samples, axis, keepdims)


class DirectionalStats:
    """The mean direction of vectors, and how long the mean of their directions is."""

    def __init__(self, mean_direction: Any, mean_resultant_length: Any) -> None:
        self.mean_direction = mean_direction
        self.mean_resultant_length = mean_resultant_length

    def __repr__(self) -> str:
        direction, length = self.mean_direction, self.mean_resultant_length
        return f"DirectionalStats(mean_direction={direction}, mean_resultant_length={length})"


@original.differentiated
def directional_stats(samples: Any, *, axis: int = 0, normalize: bool = True) -> DirectionalStats:
    """The mean direction of vectors along the last axis."""
    vectors = read_sample("directional_stats", samples, argument="samples")
    if vectors.ndim < 2:
        raise ValueError(f"samples must at least be two-dimensional. Instead samples has shape: {vectors.shape}")
    vectors = np.moveaxis(vectors, axis, 0)
    if normalize:
        vectors = vectors / np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True))
    mean = vectors.mean(axis=0)
    length = np.sqrt((mean * mean).sum(axis=-1, keepdims=True))
    return DirectionalStats(mean / length, length[..., 0])
