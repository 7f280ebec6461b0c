"""Distributions that are another one in disguise: of a monotone function of the variable, or of both signs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.random.drawing import fixed
from gradtape.stats.family import Continuous
from gradtape.stats.tails import LOG_2, any_of

Function = Callable[..., Any]
SIDES = ("cdf", "sf", "logcdf", "logsf", "ppf", "isf")
OPPOSITE = {"cdf": "sf", "sf": "cdf", "logcdf": "logsf", "logsf": "logcdf", "ppf": "isf", "isf": "ppf"}


def half_line(*shapes: Any) -> tuple[float, float]:
    """The support of what is positive."""
    return 0.0, np.inf


def unit(*shapes: Any) -> tuple[float, float]:
    """The support of what is between 0 and 1."""
    return 0.0, 1.0


def piecewise(condition: Any, where_true: Function, where_false: Function, point: Any, *safe: Any) -> Any:
    """One of two functions of a point, neither evaluated where the other one is wanted: there at a safe point."""
    first, second = safe
    return np.where(
        condition, where_true(np.where(condition, point, first)), where_false(np.where(condition, second, point))
    )


def mapped(
    name: str,
    *shapes: str,
    about: str,
    base: Continuous,
    there: Function,
    back: Function,
    log_slope: Function | None = None,
    parameters: Function = lambda *shapes: shapes,
    is_decreasing: bool = False,
    **details: Any,
) -> Continuous:
    """The distribution of z for which `there(z, *shapes)` has the distribution `base` of `parameters(*shapes)`.

    `back` is the inverse of `there`, and `log_slope` the logarithm of the absolute value of its derivative, unless the
    row has a `logpdf`.
    """

    def side(method: str) -> Function:
        function = base.standard(OPPOSITE[method] if is_decreasing else method)
        if method in ("ppf", "isf"):
            return lambda q, *shapes: back(function(q, *parameters(*shapes)), *shapes)
        return lambda z, *shapes: function(there(z, *shapes), *parameters(*shapes))

    if log_slope is not None:
        density, slope = base.standard("logpdf"), log_slope
        details["logpdf"] = lambda z, *shapes: density(there(z, *shapes), *parameters(*shapes)) + slope(z, *shapes)
    details.update({method: side(method) for method in SIDES})
    return Continuous(name, *shapes, about=about, **details)


def two_sided(name: str, *shapes: str, about: str, base: Continuous, **details: Any) -> Continuous:
    """The distribution of a variable with random sign whose absolute value has the distribution `base`."""
    density, sf, logsf, isf = (base.standard(method) for method in ("logpdf", "sf", "logsf", "isf"))

    def cdf(z: Any, *shapes: Any) -> Any:
        half = 0.5 * sf(np.abs(z), *shapes)
        return np.where(z < 0, half, 1 - half)

    def logcdf(z: Any, *shapes: Any) -> Any:
        half = logsf(np.abs(z), *shapes) - LOG_2
        return np.where(z < 0, half, np.log1p(-np.exp(half)))

    def ppf(q: Any, *shapes: Any) -> Any:
        left, is_middle = q < 0.5, q == 0.5
        size = isf(2 * np.where(is_middle, 0.25, np.where(left, q, 1 - q)), *shapes)
        if not any_of(is_middle):
            return np.where(left, -size, size)
        height = density(np.zeros_like(q), *map(fixed, shapes))  # the tangent, where the density is neither 0 nor inf
        is_plain = np.isfinite(height)
        tangent = np.where(is_plain, 2 * (q - 0.5) * np.exp(-np.where(is_plain, height, 0)), 0)
        return np.where(is_middle, tangent, np.where(left, -size, size))

    return Continuous(
        name,
        *shapes,
        about=about,
        logpdf=lambda z, *shapes: density(np.abs(z), *shapes) - LOG_2,
        cdf=cdf,
        logcdf=logcdf,
        ppf=ppf,
        symmetric=True,
        kinks=lambda *shapes: (0.0,),
        **details,
    )
