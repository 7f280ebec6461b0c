"""Dawson's integral, Faddeeva's function w, Voigt's profile, Owen's T, and the Fresnel integrals that are made of w.

Faddeeva's w(z) = exp(-z^2) erfc(-i z) has w' = -2 z w + 2 i / sqrt(pi) and w^(n+1) = -2 z w^(n) - 2 n w^(n-1), which
cancels for large z. There all derivatives come from the expansion w sqrt(pi) = i / z sum_k (2k-1)!! / (2 z^2)^k, term
by term; in the lower half plane from w(z) = 2 exp(-z^2) - w(-z).
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import elementwise
from gradtape.ops.special.declare import scipy_ufunc
from gradtape.ops.special.errorfunctions import NORMAL_PEAK, erf
from gradtape.ops.special.rows import (
    function_row,
    in_precision,
    precise_kernel,
    refuse_complex,
    results_row,
    samples_of,
)

FAR = 7.0
"""From here the expansion has all digits."""

TERMS = 32


def _expansion(z: Any, scale: Any, order: int) -> Any:
    """The derivative of i / (pi z) sum_k (2k-1)!! (scale / 2 z^2)^k, in the upper half plane."""
    total, term = np.zeros_like(z), 1j / (pi * z ** (order + 1)) * (-1) ** order
    for k in range(TERMS):
        total = total + term * np.prod(np.arange(2 * k + 1, 2 * k + 1 + order, dtype=float))
        term = term * ((2 * k + 1) * scale / (2 * z * z))
    return total


def _gaussian(z: Any, order: int) -> Any:
    """The derivative of exp(-z^2): that times the Hermite polynomial."""
    before, here = np.zeros_like(z), np.ones_like(z)
    for n in range(order):
        before, here = here, -2 * z * here - 2 * n * before
    return here * np.exp(-z * z)


def _profile(z: Any, scale: Any, order: int) -> Any:
    """The derivative of w(z / sqrt(scale)) / sqrt(pi scale) with respect to z, also for a scale of 0."""
    z, scale = np.broadcast_arrays(np.asarray(z, complex), np.asarray(scale, float))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        far = np.abs(z) > FAR * np.sqrt(scale)
        below = z.imag < 0
        outer = np.where(far, np.where(below, -z, z), 1)
        spread = np.where(far, scale, 0)
        found = _expansion(outer, spread, order) * np.where(below, (-1.0) ** (order + 1), 1)
        root = np.sqrt(np.where(scale == 0, 1, scale))
        point = np.where(far & ((z.imag > 0) | (scale == 0)), 0, z / root)
        bell = _gaussian(point, order) * np.where(below, 2, np.where(z.imag == 0, 1, 0)) * (scale != 0)
        found = found + np.where(bell == 0, 0, bell / (sqrt(pi) * root ** (order + 1)))
        inner = np.where(far, 0, z / root)
        before, here = np.zeros_like(inner), scipy_ufunc("wofz")(inner)
        for n in range(order):
            before, here = here, -2 * inner * here + (2j / sqrt(pi) if n == 0 else -2 * n * before)
        return np.where(far, found, here / (sqrt(pi) * root ** (order + 1)))


# -- w and Dawson's integral, D = i sqrt(pi) / 2 (exp(-z^2) - w(z)) with D' = 1 - 2 z D


def _wofz_derivative(x: Any, order: int) -> Any:
    return in_precision(sqrt(pi) * _profile(x, 1.0, order), x)


wofz_derivative: Op = elementwise(
    _wofz_derivative,
    lambda x, order: wofz_derivative(x, order=order + 1),
    name="derivative of wofz",
    samples=lambda draw: [
        ((draw(3),), {"order": 1}),
        ((draw(2, 2) + 1j * draw(2, 2),), {"order": 2}),
        ((draw.between((8.0, 20.0), (2,)) * np.exp(1j * draw.between((0.2, 2.9), (2,))),), {"order": 1}),
        ((draw.between((8.0, 20.0), ()),), {"order": 1}),
    ],
    doc="A derivative of wofz, of the given order. Derivative: the next one.",
)
wofz = elementwise(
    precise_kernel("wofz"),
    lambda x: wofz_derivative(x, order=1),
    name="wofz",
    answers=["scipy.special.wofz"],
    doc="""Faddeeva's function exp(-z^2) erfc(-i z), which is complex. Derivative: 2 i / sqrt(pi) - 2 z wofz(z).

    >>> import gradtape as gt
    >>> gt.special.wofz(gt.tensor(0.5))
    Tensor(0.77880078+0.47892517j, dtype=complex128)
    """,
)


def _dawsn_derivative(x: Any, order: int) -> Any:
    z = np.asarray(x, complex)
    far = np.abs(z) > FAR
    outer, inner = np.where(far, z, 2 * FAR), np.where(far, 0, z)
    bell = np.where(outer.imag == 0, 0, _gaussian(np.where(outer.imag == 0, 0, outer), order))
    bell = bell + np.where(outer.imag == 0, _gaussian(outer, order), 0)
    found = 0.5j * sqrt(pi) * (bell - sqrt(pi) * _profile(outer, 1.0, order))
    before, here = np.zeros_like(z), scipy_ufunc("dawsn")(inner)
    for n in range(order):
        before, here = here, -2 * inner * here + (1 if n == 0 else -2 * n * before)
    found = np.where(far, found, here)
    return in_precision(found if np.iscomplexobj(x) else found.real, x)


dawsn_derivative: Op = elementwise(
    _dawsn_derivative,
    lambda x, order: dawsn_derivative(x, order=order + 1),
    name="derivative of dawsn",
    samples=lambda draw: [
        ((draw(3),), {"order": 1}),
        ((draw(2, 2),), {"order": 2}),
        ((draw.between((8.0, 20.0), (2,)),), {"order": 1}),
    ],
    doc="A derivative of dawsn, of the given order. Derivative: the next one.",
)
dawsn = function_row(
    "dawsn",
    lambda x: dawsn_derivative(x, order=1),
    doc=(
        "Dawson's integral, exp(-x^2) times the integral of exp(t^2) from 0 to x",
        "1 - 2 x dawsn(x)",
        "dawsn(0.5) -> 0.42443638, 0.57556362",
    ),
)

# -- Voigt's profile: the real part of f(x + i gamma), with f'' = 1 / sigma df/dsigma


def _voigt_derivative(x: Any, sigma: Any, gamma: Any, i: int, j: int) -> Any:
    refuse_complex(x, sigma, gamma)
    point = np.asarray(x, float) + 1j * np.asarray(gamma, float)
    found = 1j**j * _profile(point, 2 * np.square(np.asarray(sigma, float)), i + j)
    return in_precision(found.real, x, sigma, gamma)


voigt_derivative: Op = elementwise(
    _voigt_derivative,
    lambda x, sigma, gamma, i, j: voigt_derivative(x, sigma, gamma, i=i + 1, j=j),
    lambda x, sigma, gamma, i, j: sigma * voigt_derivative(x, sigma, gamma, i=i + 2, j=j),
    lambda x, sigma, gamma, i, j: voigt_derivative(x, sigma, gamma, i=i, j=j + 1),
    name="derivative of voigt_profile",
    names=("x", "sigma", "gamma"),
    samples=lambda draw: [
        ((draw(2, 1), draw.between((0.5, 2.0), (2,)), draw.between((0.5, 2.0), ())), {"i": 1, "j": 0}),
        ((draw(2), draw.between((0.5, 2.0), (2,)), draw.between((0.5, 2.0), (2,))), {"i": 0, "j": 1}),
        ((draw(), draw.between((0.05, 0.1), ()), draw.between((1.0, 2.0), ())), {"i": 1, "j": 1}),
    ],
    doc="A derivative of voigt_profile: i times by x, j by gamma. Derivatives: the next ones; by sigma, two more.",
)
voigt_profile = function_row(
    "voigt_profile",
    lambda x, sigma, gamma: voigt_derivative(x, sigma, gamma, i=1, j=0),
    lambda x, sigma, gamma: sigma * voigt_derivative(x, sigma, gamma, i=2, j=0),
    lambda x, sigma, gamma: voigt_derivative(x, sigma, gamma, i=0, j=1),
    names=("x", "sigma", "gamma"),
    samples=samples_of((0.3, 2.0), (0.5, 2.0), (0.5, 2.0)),
    doc=(
        "Voigt's profile, the convolution of a normal density and a Lorentzian: the real part of wofz",
        "those of wofz; by sigma, sigma times the second by x",
        "voigt_profile(1.0, 2.0, 0.5) -> 0.14910623, -0.0304131, -0.04754349, -0.04721229",
    ),
)

# -- Owen's T: the integral of exp(-h^2 (1 + t^2) / 2) / (2 pi (1 + t^2)) from 0 to a

owens_t = function_row(
    "owens_t",
    lambda h, a: -0.5 * NORMAL_PEAK * np.exp(-0.5 * h * h) * erf(a * h * sqrt(0.5)),
    lambda h, a: np.exp(-0.5 * h * h * (1 + a * a)) / (2 * pi * (1 + a * a)),
    names=("h", "a"),
    doc=(
        "Owen's T function: the probability that X > h and 0 < Y < a X of independent normal X and Y",
        "-exp(-h^2 / 2) erf(a h / sqrt(2)) / sqrt(8 pi), and exp(-h^2 (1 + a^2) / 2) / (2 pi (1 + a^2))",
        "owens_t(1.0, 0.5) -> 0.04306469, -0.04632831, 0.0681516",
    ),
)

# -- Fresnel's integrals

fresnel = results_row(
    "fresnel",
    lambda z: (np.sin(0.5 * pi * z * z), np.cos(0.5 * pi * z * z)),
    names=("z",),
    domain=[(-2.0, 2.0)],
    doc=(
        "Fresnel's integrals S and C: those of sin(pi t^2 / 2) and of cos(pi t^2 / 2) from 0 to z",
        "sin(pi z^2 / 2) and cos(pi z^2 / 2)",
        "fresnel(0.5) -> 0.06473243, 0.49234423",
    ),
)


def _modified(name: str, sign: int, doc: tuple[str, str, str]) -> Op:
    """F, the integral of exp(+-i t^2) from x up, and K = w(c x) / 2, c = +-exp(+-i pi / 4)."""
    turn = complex(sign, 1) * sqrt(0.5)
    return results_row(
        name,
        lambda x: (-np.exp(sign * 1j * x * x), 0.5 * turn * wofz_derivative(turn * x, order=1)),
        names=("x",),
        real=True,
        domain=[(0.1, 2.0)],
        doc=doc,
    )


modfresnelp = _modified(
    "modfresnelp",
    1,
    (
        "The modified Fresnel integrals: F of exp(i t^2) from x up, and F exp(-i (x^2 + pi / 4)) / sqrt(pi)",
        "-exp(i x^2), and that of wofz",
        "modfresnelp(0.5) -> 0.12977304+0.58517604j, 0.32130474+0.10546613j",
    ),
)
modfresnelm = _modified(
    "modfresnelm",
    -1,
    (
        "The modified Fresnel integrals: F of exp(-i t^2) from x up, and F exp(i (x^2 + pi / 4)) / sqrt(pi)",
        "-exp(-i x^2), and that of wofz",
        "modfresnelm(0.5) -> 0.12977304-0.58517604j, 0.32130474-0.10546613j",
    ),
)
