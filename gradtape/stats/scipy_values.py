"""Numbers that SciPy finds by iteration, with the derivatives of what they solve.

A quantile z solves F(z, shapes) = q. Its value is SciPy's; a step of Newton's, z - (F(z) - q) / f(z), changes nothing
there, but its derivative is that of the solution. After two steps, second derivatives are those of the solution too.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.extend import Op, Tensor, apply, batch_elementwise
from gradtape.random.drawing import fixed

Function = Callable[..., Any]


def _scipy_kernel(*values: Any, distribution: str, method: str, first: Any, named: Any) -> Any:
    theirs = getattr(importlib.import_module("scipy.stats"), distribution)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = getattr(theirs, method)(*first, *[np.asarray(value, float) for value in values], **dict(named))
    return np.asarray(found, np.result_type(np.float32, *values) if values else float)


_scipy_method = Op("scipy.stats", _scipy_kernel, batch=batch_elementwise, kind="constant")


def scipy_value(distribution: str, method: str, *values: Any, first: tuple[Any, ...] = (), **named: Any) -> Any:
    """What a method of SciPy's distribution gives for values, as a constant; `first` are arguments in front of them."""
    parameters: dict[str, Any] = {"distribution": distribution, "method": method, "first": first}
    parameters["named"] = tuple(named.items())
    if not values:
        return _scipy_kernel(**parameters)
    return apply(_scipy_method, tuple(fixed(value) for value in values), parameters)


def quantile_like_scipy(
    distribution: str, method: str, cdf: Function, sf: Function, logpdf: Function, typical: Function
) -> Function:
    """`ppf` or `isf` with SciPy's values, for a row that has no formula for it."""

    def function(q: Any, *shapes: Any) -> Any:
        z = scipy_value(distribution, method, q, *shapes)
        if not any(isinstance(value, Tensor) for value in (q, *shapes)):
            return z
        is_known = np.isfinite(z)
        point = np.where(is_known, z, typical(*map(fixed, shapes)))
        below, above = (q, 1 - q) if method == "ppf" else (1 - q, q)
        return np.where(is_known, follow_solution(point, below, shapes, cdf, sf, logpdf, above), z)

    return function


def follow_solution(
    z: Any, below: Any, shapes: Sequence[Any], cdf: Function, sf: Function, logpdf: Function, above: Any = None
) -> Any:
    """The constant z, with the derivatives of the point that has the mass `below` under it.

    They come from the smaller of cdf and sf, so that they are exact in the tails.
    """
    above = 1 - below if above is None else above
    is_lower = fixed(below) < 0.5
    for _ in range(2):
        excess = np.where(is_lower, cdf(z, *shapes) - below, above - sf(z, *shapes))
        step = excess / np.exp(logpdf(z, *shapes))
        z = z - (step - fixed(step))
    return z
