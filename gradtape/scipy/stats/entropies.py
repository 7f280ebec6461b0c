"""Entropies of samples and of probabilities, and distances between samples."""

from __future__ import annotations

from math import floor, log, sqrt
from typing import Any

import numpy as np

from gradtape.extend import Tensor
from gradtape.ops.special.entropy import entr, rel_entr
from gradtape.scipy.stats.common import as_array, original
from gradtape.scipy.stats.samples import read_sample

# -- entropies


@original.differentiated
def entropy(
    pk: Any,
    qk: Any = None,
    base: float | None = None,
    axis: int = 0,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The entropy of probabilities, or relative to others; both are divided by their sums first.

    >>> import gradtape as gt
    >>> from gradtape.scipy import stats
    >>> gt.grad(stats.entropy)(gt.tensor([1.0, 3.0]))
    Tensor([ 0.2059898 , -0.06866327])
    """
    shares = read_sample("entropy", pk, nan_policy, "pk")
    shares = shares / shares.sum(axis=axis, keepdims=True)
    if qk is None:
        terms = entr(shares)
    else:
        other = read_sample("entropy", qk, nan_policy, "qk")
        terms = rel_entr(shares, other / other.sum(axis=axis, keepdims=True))
    total = terms.sum(axis=axis, keepdims=keepdims)
    return total if base is None else total / _log(base)


def _log(base: Any) -> Any:
    return np.log(base) if isinstance(base, Tensor) else log(base)


def _vasicek(ordered: Any, m: int) -> Any:
    """The distances between numbers that are 2 m places apart, with the ends repeated."""
    first, last = ordered[..., :1], ordered[..., -1:]
    padded = np.concatenate([first] * m + [ordered] + [last] * m, axis=-1)
    return padded[..., 2 * m :] - padded[..., : -2 * m]


def _vasicek_entropy(ordered: Any, m: int) -> Any:
    return np.log(ordered.shape[-1] / (2 * m) * _vasicek(ordered, m)).mean(-1)


def _van_es_entropy(ordered: Any, m: int) -> Any:
    n = ordered.shape[-1]
    apart = ordered[..., m:] - ordered[..., :-m]
    return np.log((n + 1) / m * apart).sum(-1) / (n - m) + (1 / np.arange(m, n + 1)).sum() + log(m) - log(n + 1)


def _ebrahimi_entropy(ordered: Any, m: int) -> Any:
    n = ordered.shape[-1]
    i = np.arange(1, n + 1.0)
    widths = np.where(i <= m, 1 + (i - 1) / m, np.where(i >= n - m + 1, 1 + (n - i) / m, 2.0))
    return np.log(n * _vasicek(ordered, m) / (widths * m)).mean(-1)


def _correa_entropy(ordered: Any, m: int) -> Any:
    n = ordered.shape[-1]
    first, last = ordered[..., :1], ordered[..., -1:]
    padded = np.concatenate([first] * m + [ordered] + [last] * m, axis=-1)
    j = np.arange(-m, m + 1)
    windows = np.stack([padded[..., m + k : m + k + n] for k in j], axis=-1)
    apart = windows - windows.mean(-1, keepdims=True)
    return -np.log((apart * j).sum(-1) / (n * (apart * apart).sum(-1))).mean(-1)


@original.differentiated
def differential_entropy(
    values: Any,
    *,
    window_length: int | None = None,
    base: float | None = None,
    axis: int = 0,
    method: str = "auto",
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """An estimate of the entropy of a continuous distribution, from the distances between ordered numbers."""
    sample = np.moveaxis(read_sample("differential_entropy", values, nan_policy, "values"), axis, -1)
    n = sample.shape[-1]
    m = floor(sqrt(n) + 0.5) if window_length is None else window_length
    if not 2 <= 2 * m < n:
        raise ValueError(f"Window length ({m}) must be positive and less than half the sample size ({n}).")
    methods = {
        "vasicek": _vasicek_entropy,
        "van es": _van_es_entropy,
        "correa": _correa_entropy,
        "ebrahimi": _ebrahimi_entropy,
    }
    chosen = ("van es" if n <= 10 else "ebrahimi" if n <= 1000 else "vasicek") if method == "auto" else method.lower()
    if chosen not in methods:
        raise ValueError(f"`method` must be one of {{'auto', {str(list(methods))[1:-1]}}}")
    found = methods[chosen](np.sort(sample, axis=-1), m)
    found = found if base is None else found / _log(base)
    return np.expand_dims(found, axis) if keepdims else found


# -- distances between samples


def _cumulative(values: Any, weights: Any, points: Any) -> Any:
    """The share of a sample up to each of some points."""
    if weights is None:
        return np.searchsorted(np.sort(values), points, side="right") / values.shape[0]
    order = np.argsort(values)
    weights = as_array(weights)
    shares = np.concatenate([np.zeros(1), np.cumsum(weights[order])])
    return shares[np.searchsorted(values[order], points, side="right")] / weights.sum()


def _cumulative_distance(name: str, p: int, u: Any, v: Any, u_weights: Any, v_weights: Any) -> Any:
    """The integral of |U - V|^p, where U and V are the shares below a point."""
    u, v = (read_sample(name, values, argument=f"{letter}_values").reshape(-1) for letter, values in zip("uv", (u, v)))
    points = np.sort(np.concatenate([u, v]))
    apart = _cumulative(u, u_weights, points[:-1]) - _cumulative(v, v_weights, points[:-1])
    return (np.abs(apart) ** p * (points[1:] - points[:-1])).sum()


@original.differentiated
def wasserstein_distance(u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None) -> Any:
    """The work that it takes to move one sample of numbers onto another.

    >>> import gradtape as gt
    >>> from gradtape.scipy import stats
    >>> gt.grad(stats.wasserstein_distance)(gt.tensor([0.0, 1.0, 3.0]), [5.0, 6.0, 8.0])
    Tensor([-0.33333333, -0.33333333, -0.33333333])
    """
    return _cumulative_distance("wasserstein_distance", 1, u_values, v_values, u_weights, v_weights)


@original.differentiated
def energy_distance(u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None) -> Any:
    """The energy distance between two samples of numbers."""
    return np.sqrt(2 * _cumulative_distance("energy_distance", 2, u_values, v_values, u_weights, v_weights))
