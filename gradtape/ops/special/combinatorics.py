"""Binomial coefficients, permutations and factorials of real numbers. The exact integers of SciPy are no tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.tensor import Tensor, is_tracked
from gradtape.errors import OperandError
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.special.declare import scipy_ufunc
from gradtape.ops.special.gamma import digamma, digamma_difference, gamma, poch, rgamma, rgamma_slope
from gradtape.ops.special.rows import function_row, samples_of

# binom(n, k) = gamma(n + 1) / (gamma(k + 1) gamma(n - k + 1)). Where no argument of gamma is a pole, its slopes are
# those of its logarithm; at the poles, where it is 0, those of the reciprocals of gamma.


def _regular(n: Any, k: Any) -> Any:
    return (k > -1) & (n - k > -1) & (n > -1)


def binom_in_total(n: Any, k: Any) -> Any:
    """d/dn of binom(n, k)"""
    regular = _regular(n, k)
    total, part = np.where(regular, n, 1 + 0 * k), np.where(regular, k, 0 * n)
    smooth = binom(total, part) * digamma_difference(total - part + 1, part)
    small, some = np.where(regular, 0.5 + 0 * k, n), np.where(regular, 0 * n, k)
    edge = gamma(small + 1) * rgamma(some + 1) * rgamma_slope(small - some + 1)
    edge = edge + gamma(small + 1) * digamma(small + 1) * rgamma(some + 1) * rgamma(small - some + 1)
    return np.where(regular, smooth, edge)


def binom_in_part(n: Any, k: Any) -> Any:
    """d/dk of binom(n, k)"""
    regular = _regular(n, k)
    total, part = np.where(regular, n, 1 + 0 * k), np.where(regular, k, 0 * n)
    smooth = binom(total, part) * (digamma(total - part + 1) - digamma(part + 1))
    small, some = np.where(regular, 0.5 + 0 * k, n), np.where(regular, 0 * n, k)
    edge = rgamma_slope(some + 1) * rgamma(small - some + 1) - rgamma(some + 1) * rgamma_slope(small - some + 1)
    return np.where(regular, smooth, gamma(small + 1) * edge)


binom = function_row(
    "binom",
    lambda n, k: binom_in_total(n, k),
    lambda n, k: binom_in_part(n, k),
    names=("n", "k"),
    samples=lambda draw: [
        *samples_of((4.0, 6.0), (0.5, 3.0))(draw),
        ((draw.between((1.0, 2.0), (2,)), draw.between((3.2, 3.8), (2,))), {}),
    ],
    doc=(
        "The binomial coefficient gamma(n + 1) / (gamma(k + 1) gamma(n - k + 1))",
        "binom(n, k) times digamma(n + 1) - digamma(n - k + 1), and digamma(n - k + 1) - digamma(k + 1)",
        "binom(5.0, 2.0) -> 10., 4.5, 3.33333333",
    ),
)


def _exact(name: str, exact: bool, *arguments: Any, **keywords: Any) -> Any:
    """SciPy's function of whole numbers, which are no tensors with gradients."""
    if any(isinstance(x, Tensor) and is_tracked(x) for x in arguments):
        raise argument_error(
            OperandError,
            f"special.{name} of a tensor with a gradient, with exact={exact!r} and {keywords!r}.",
            f"{name} is made of whole numbers then; exact=False{_COMPLEX.get(name, '')} gives its continuous form",
        )
    plain = [x.numpy() if isinstance(x, Tensor) else x for x in arguments]
    return scipy_ufunc(name)(*plain, exact=exact, **keywords)


_COMPLEX = {"factorial2": ", extend='complex'", "factorialk": ", extend='complex'"}


def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    """The number of ways to choose k of N things, with `repetition` also more than once: binom of real numbers.

    >>> import gradtape as gt
    >>> gt.value_and_grad(lambda N: gt.special.comb(N, 2))(gt.tensor(5.0))
    (Tensor(10.), Tensor(4.5))
    """
    if exact:
        return _exact("comb", exact, N, k, repetition=repetition)
    if repetition:
        return comb(N + k - 1, k)
    N, k = as_value(N), as_value(k)
    known = (k <= N) & (N >= 0) & (k >= 0)
    return np.where(known, binom(np.where(known, N, 1.0), np.where(known, k, 0.0)), 0.0)


def perm(N: Any, k: Any, exact: bool = False) -> Any:
    """The number of ordered choices of k of N things: poch(N - k + 1, k) of real numbers.

    >>> import gradtape as gt
    >>> gt.value_and_grad(lambda N: gt.special.perm(N, 2))(gt.tensor(5.0))
    (Tensor(20.), Tensor(9.))
    """
    if exact:
        return _exact("perm", exact, N, k)
    N, k = as_value(N), as_value(k)
    known = (k <= N) & (N >= 0) & (k >= 0)
    return np.where(known, poch(np.where(known, N - k + 1, 1.0), np.where(known, k, 0.0)), 0.0)


def factorial(n: Any, exact: bool = False, extend: str = "zero") -> Any:
    """gamma(n + 1): the factorial; 0 for negative n, unless `extend` is "complex".

    >>> import gradtape as gt
    >>> gt.value_and_grad(gt.special.factorial)(gt.tensor(3.0))
    (Tensor(6.), Tensor(7.53670601))
    """
    if exact or not isinstance(n := as_value(n), Tensor):
        return _exact("factorial", exact, n, extend=extend)
    if extend == "complex":
        return gamma(n + 1)
    return np.where(n >= 0, gamma(np.where(n >= 0, n, 0.0) + 1), 0.0)


def factorial2(n: Any, exact: bool = False, extend: str = "zero") -> Any:
    """n (n - 2) (n - 4) ...: the double factorial; of real numbers with extend="complex".

    >>> import gradtape as gt
    >>> gt.value_and_grad(lambda n: gt.special.factorial2(n, extend="complex"))(gt.tensor(3.0))
    (Tensor(3.), Tensor(2.09445573))
    """
    return _step_factorial("factorial2", n, 2, exact, extend)


def factorialk(n: Any, k: int, exact: bool = False, extend: str = "zero") -> Any:
    """n (n - k) (n - 2k) ...: the factorial of steps k; of real numbers with extend="complex".

    >>> import gradtape as gt
    >>> gt.value_and_grad(lambda n: gt.special.factorialk(n, 3, extend="complex"))(gt.tensor(4.0))
    (Tensor(4.), Tensor(2.28877134))
    """
    return _step_factorial("factorialk", n, k, exact, extend)


def _step_factorial(name: str, n: Any, k: int, exact: bool, extend: str) -> Any:
    """k^((n - 1) / k) gamma(n / k + 1) / gamma(1 / k + 1), as SciPy extends it"""
    if exact or extend != "complex" or not isinstance(as_value(n), Tensor):
        return _exact(name, exact, *((n,) if name == "factorial2" else (n, k)), extend=extend)
    scale = float(k) ** ((n - 1) / k) / float(scipy_ufunc("gamma")(1 / k + 1))
    return gamma(n / k + 1) * scale
