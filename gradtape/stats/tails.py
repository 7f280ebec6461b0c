"""Probabilities on either side of a point, and their logarithms wherever the point is.

A logarithm is taken of the smaller side, or log1p of minus the other one; where a side is too small for a number, from
its integral without that detour (`ops.distributions`, *tails*).
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi
from typing import Any

import numpy as np

from gradtape.core.operation import Lifted
from gradtape.core.tensor import plain
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


def log_side(p: Any, q: Any, far: Callable[[Any], Any]) -> Any:
    """log p, where q = 1 - p; `far(mask)` is log p where the mask says that p is too small to be trusted."""
    is_small = p < q
    is_far = p < np.finfo(p.dtype).tiny ** 0.5
    above = np.log1p(-np.where(is_small, 0.5, q))
    near = np.where(is_small, np.log(np.where(is_small & ~is_far, p, 0.5)), above)
    if not isinstance(is_far, Lifted) and not np.any(plain(is_far)):
        return near
    return np.where(is_far, far(is_far), near)


# -- gamma


def log_gamma_lower(a: Any, x: Any) -> Any:
    """log(gammainc(a, x)), for x > 0. A shape below 1 is taken up: F(a) = F(a + 1) + x^a exp(-x) / gamma(a + 1)."""

    def far(mask: Any) -> Any:
        shape, point = np.where(mask, a, 2), np.where(mask, x, 0.1)
        step = shape < 1
        tail = log_gamma_tail(np.where(step, shape + 1, shape), point, upper=False)
        below = np.where(step, shape, 0.5)
        first = log_gamma_density(below, point) + np.log(point) - np.log(below)
        return np.where(step, np.logaddexp(first, tail), tail)

    return log_side(gammainc(a, x), gammaincc(a, x), far)


def log_gamma_upper(a: Any, x: Any) -> Any:
    """log(gammaincc(a, x)), for x > 0."""
    return log_side(
        gammaincc(a, x),
        gammainc(a, x),
        lambda mask: log_gamma_tail(np.where(mask, a, 1), np.where(mask, x, 5), upper=True),
    )


# -- beta, at odds x / (1 - x), from which both x and 1 - x follow without loss


def beta_sides(a: Any, b: Any, odds: Any) -> tuple[Any, Any]:
    """The probabilities that a beta variable has smaller odds, and that it has larger ones."""
    is_small = odds < 1
    x = np.where(is_small, odds, 1) / (1 + np.where(is_small, odds, 1))
    rest = 1 / (1 + np.where(is_small, 1, odds))
    first, second = np.where(is_small, a, b), np.where(is_small, b, a)
    point = np.where(is_small, x, rest)
    below, above = betainc(first, second, point), betaincc(first, second, point)
    return np.where(is_small, below, above), np.where(is_small, above, below)


def log_beta_lower(a: Any, b: Any, odds: Any) -> Any:
    """The logarithm of the probability that a beta variable has smaller odds; of larger ones, with a and b swapped."""

    def far(mask: Any) -> Any:
        first, second = np.where(mask, a, 2), np.where(mask, b, 2)
        r = np.log(np.where(mask, odds, 0.01))
        step = first < 1
        tail = log_beta_tail(np.where(step, first + 1, first), second, r)
        below = np.where(step, first, 0.5)
        return np.where(step, np.logaddexp(log_beta_mass(below, second, r) - np.log(below), tail), tail)

    return log_side(*beta_sides(a, b, odds), far)


# -- normal


def log_normal_between(a: Any, b: Any) -> Any:
    """log(ndtr(b) - ndtr(a)) for a < b, which may be infinite, computed on the side of 0 where they are."""
    a = np.where(np.isneginf(a), np.minimum(b, 0) - 40, a)
    b = np.where(np.isposinf(b), np.maximum(a, 0) + 40, b)
    turned = a > 0
    low, high = np.where(turned, -b, a), np.where(turned, -a, b)
    one_side = high <= 0
    left, right = np.where(one_side, low, -2), np.where(one_side, high, -1)
    upper = log_ndtr(right)
    same = upper + log1mexp(log_ndtr(left) - upper)
    both = np.log1p(-ndtr(np.where(one_side, -1, low)) - ndtr(-np.where(one_side, 1, high)))
    return np.where(one_side, same, both)
