"""Probabilities on either side of a point, and their logarithms wherever the point is.

A logarithm is taken of the smaller side, or log1p of minus the other one; where a side is too small for a number, from
its integral without that detour (`ops.distributions`, *tails*).
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi
from typing import Any

import numpy as np

from gradtape.extend import Lifted, plain
from gradtape.ops.distributions import (
    log_beta_mass,
    log_beta_tail,
    log_gamma_density,
    log_gamma_tail,
)
from gradtape.ops.special.errorfunctions import log_ndtr, ndtr
from gradtape.ops.special.incomplete import betainc, betaincc, gammainc, gammaincc

LOG_2 = log(2)
LOG_ROOT_2PI = 0.5 * log(2 * pi)


def log1mexp(x: Any) -> Any:
    """log(1 - exp(x)) for x < 0, exact where x is near 0 and where exp(x) is."""
    near = x > -LOG_2
    return np.where(near, np.log(-np.expm1(np.where(near, x, -1))), np.log1p(-np.exp(np.where(near, -1, x))))


def any_of(mask: Any) -> bool:
    """Whether something is in a mask; inside `vmap` that is not known, and something may be."""
    return isinstance(mask, Lifted) or bool(np.any(plain(mask)))


def vanishes(log_value: Any) -> Any:
    """Whether the exponential of a logarithm is 0, because it is too small for a number."""
    return log_value < np.log(np.finfo(log_value.dtype).smallest_subnormal)


def power_of(log: Callable[..., Any], result: Callable[[Any], Any], limit: float, typical: Callable[..., Any]) -> Any:
    """`result`, a function of exp(log), as a function of the point; the constant `limit` where that exponential is 0.

    There the slope of the logarithm may be infinite, and 0 times that is not a number: a typical point stands in.
    """

    def function(z: Any, *shapes: Any) -> Any:
        value = log(z, *shapes)
        gone = vanishes(value)
        if not any_of(gone):
            return result(value)
        return np.where(gone, limit, result(log(np.where(gone, typical(*shapes), z), *shapes)))

    return function


def log_rise(y: Any) -> Any:
    """log(1 - exp(-u)), where u = exp(y) may be too small or too large for a number."""
    is_low, is_high = y < -5, y > 7
    low = np.where(is_low, y, -5)
    u = np.exp(low)
    series = low - u / 2 + u**2 / 24 - u**4 / 2880
    return np.where(is_low, series, np.where(is_high, 0, log1mexp(-np.exp(np.where(is_low | is_high, 0, y)))))


def log_side(p: Any, q: Any, far: Callable[[Any], Any]) -> Any:
    """log p, where q = 1 - p; `far(mask)` is log p where the mask says that p is too small to be trusted."""
    is_small = p < q
    is_far = p < np.finfo(p.dtype).tiny ** 0.5
    above = np.log1p(-np.where(is_small, 0.5, q))
    near = np.where(is_small, np.log(np.where(is_small & ~is_far, p, 0.5)), above)
    return np.where(is_far, far(is_far), near) if any_of(is_far) else near


# -- gamma


def log_gamma_lower(a: Any, x: Any) -> Any:
    """log(gammainc(a, x)), for x >= 0. A shape below 1 is taken up: F(a) = F(a + 1) + x^a exp(-x) / gamma(a + 1)."""

    def far(mask: Any) -> Any:
        shape, point = np.where(mask, a, 2), np.where(mask & (x > 0), x, 0.1)
        step = shape < 1
        tail = log_gamma_tail(np.where(step, shape + 1, shape), point, upper=False)
        below = np.where(step, shape, 0.5)
        first = log_gamma_density(below, point) + np.log(point) - np.log(below)
        return np.where(x == 0, -np.inf, np.where(step, np.logaddexp(first, tail), tail))

    return log_side(gammainc(a, x), gammaincc(a, x), far)


def log_gamma_upper(a: Any, x: Any) -> Any:
    """log(gammaincc(a, x)), for x > 0."""
    return log_side(
        gammaincc(a, x),
        gammainc(a, x),
        lambda mask: log_gamma_tail(np.where(mask, a, 1), np.where(mask, x, 5), upper=True),
    )


# -- beta, at x or at odds x / (1 - x), from which both x and 1 - x follow without loss


def beta_sides(a: Any, b: Any, odds: Any) -> tuple[Any, Any]:
    """The probabilities that a beta variable has smaller odds, and that it has larger ones."""
    is_small = odds < 1
    x = np.where(is_small, odds, 1) / (1 + np.where(is_small, odds, 1))
    rest = 1 / (1 + np.where(is_small, 1, odds))
    first, second = np.where(is_small, a, b), np.where(is_small, b, a)
    point = np.where(is_small, x, rest)
    below, above = betainc(first, second, point), betaincc(first, second, point)
    return np.where(is_small, below, above), np.where(is_small, above, below)


def log_beta_lower(a: Any, b: Any, odds: Any, log_odds: Any = None) -> Any:
    """The logarithm of the probability that a beta variable has smaller odds.

    `log_odds` for odds that may be too small for a number.
    """

    def far(mask: Any) -> Any:
        return _far_below(a, b, np.log(np.where(mask, odds, 0.01)) if log_odds is None else log_odds, mask)

    return log_side(*beta_sides(a, b, odds), far)


def log_beta_upper(a: Any, b: Any, odds: Any) -> Any:
    """The logarithm of the probability that a beta variable has larger odds."""
    below, above = beta_sides(a, b, odds)
    return log_side(above, below, lambda mask: _far_below(b, a, -np.log(np.where(mask, odds, 100)), mask))


def log_beta_below(a: Any, b: Any, x: Any) -> Any:
    """log(betainc(a, b, x)), from x = 0 to 1."""
    return log_side(betainc(a, b, x), betaincc(a, b, x), lambda mask: _far_below(a, b, _log_odds(x, mask), mask))


def log_beta_above(a: Any, b: Any, x: Any) -> Any:
    """log(betaincc(a, b, x)), from x = 0 to 1."""
    return log_side(betaincc(a, b, x), betainc(a, b, x), lambda mask: _far_below(b, a, _log_odds(1 - x, mask), mask))


def _log_odds(x: Any, mask: Any) -> Any:
    """The logarithm of x / (1 - x) where the mask holds; -inf, as a constant, at 0."""
    point = np.where(mask & (x > 0), x, 0.01)
    return np.where(x > 0, np.log(point) - np.log1p(-point), -np.inf)


def _far_below(a: Any, b: Any, log_odds: Any, mask: Any) -> Any:
    """The logarithm of the probability of smaller odds where the mask says that it is tiny. A shape below 1 goes up."""
    first, second = np.where(mask, a, 2), np.where(mask, b, 2)
    is_none = np.isneginf(log_odds)
    r = np.where(mask & ~is_none, log_odds, -5)
    step = first < 1
    tail = log_beta_tail(np.where(step, first + 1, first), second, r)
    below = np.where(step, first, 0.5)
    stepped = np.logaddexp(log_beta_mass(below, second, r) - np.log(below), tail)
    return np.where(is_none, -np.inf, np.where(step, stepped, tail))


# -- normal


def log_normal_between(a: Any, b: Any) -> Any:
    """log(ndtr(b) - ndtr(a)) for a < b, which may be infinite, computed on the side of 0 where they are.

    Over a narrow stretch w around m it is log(w density(m) (1 + w^2 (m^2 - 1) / 24)), to fourth order.
    """
    turned = a > 0
    low, high = np.where(turned, -b, a), np.where(turned, -a, b)
    is_narrow = (high - low) * np.maximum(1, -low) < 1e-3
    width, middle = np.where(is_narrow, high - low, 1), np.where(is_narrow, 0.5 * (high + low), 0)
    narrow = np.log(width) - 0.5 * middle**2 - LOG_ROOT_2PI + np.log1p(width**2 * (middle**2 - 1) / 24)
    one_side, is_closed = (high <= 0) & ~is_narrow, low > -np.inf
    left, right = np.where(one_side & is_closed, low, -2), np.where(one_side & is_closed, high, -1)
    kept = np.where(is_closed, log1mexp(log_ndtr(left) - log_ndtr(right)), 0)
    same = log_ndtr(np.where(one_side, high, -1)) + kept
    is_wide = ~one_side & ~is_narrow
    both = np.log1p(-ndtr(np.where(is_wide, low, -1)) - ndtr(-np.where(is_wide, high, 1)))
    return np.where(is_narrow, narrow, np.where(one_side, same, both))
