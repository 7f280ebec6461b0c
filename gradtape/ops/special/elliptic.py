"""Elliptic integrals and functions, through Carlson's symmetric integrals.

All derivatives of Carlson's R are integrals of (t + x)^-a (t + y)^-b (t + z)^-c (t + w)^-d from 0 up. They are computed
so, by the trapezoidal rule in log t, which converges geometrically; nothing cancels.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import elementwise
from gradtape.ops.special.rows import function_row, in_precision, results_row, samples_of

POSITIVE = (0.5, 3.0)
FALL = 40.0
"""The integrals end where the integrand is exp(-40) of what it is in the middle."""

Powers = tuple[float, float, float, float]


def _carlson_kernel(x: Any, y: Any, z: Any, w: Any, powers: Powers) -> Any:
    given = [np.asarray(v) for v, power in zip((x, y, z, w), powers, strict=True) if power]
    exponents = [power for power in powers if power]
    if any(v.dtype.kind != "c" and np.any(v < 0) for v in given):
        raise TypeError("the derivatives of Carlson's integrals are there for arguments that are not negative")
    places = np.broadcast_arrays(x, y, z, w, *given)[4:]
    sizes = np.stack([np.abs(place).astype(float) for place in places])
    zero = sizes == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        rising: Any = 1 - sum(np.where(zero[m], power, 0) for m, power in enumerate(exponents))
        lowest = np.log(np.min(np.where(zero, np.inf, sizes), axis=0)) - FALL / np.where(rising > 0, rising, 1)
        highest = np.log(np.max(sizes, axis=0)) + FALL / (sum(exponents) - 1)
        turned = max((float(np.max(np.abs(np.angle(place)), initial=0.0)) for place in places), default=0.0)
        step = 0.5 * max(1 - turned / pi, 0.05)
        count = int(np.ceil(np.max(np.where(np.isfinite(highest - lowest), highest - lowest, 1), initial=1.0) / step))
        width = (highest - lowest) / count
        total: Any = np.zeros(rising.shape)
        for node in range(count + 1):
            t = np.exp(lowest + node * width)
            term = t * width
            for place, power in zip(places, exponents, strict=True):
                term = term * (t + place) ** -power
            total = total + term
    return in_precision(np.where(rising > 0, total, np.inf), x, y, z, w)


def _raised(powers: Powers, index: int) -> Any:
    raised = list(powers)
    raised[index] += 1
    return tuple(raised)


def _carlson_slope(index: int) -> Any:
    def slope(x: Any, y: Any, z: Any, w: Any, powers: Powers) -> Any:
        if not powers[index]:
            return 0 * x
        return -powers[index] * carlson(x, y, z, w, powers=_raised(powers, index))

    return slope


carlson: Op = elementwise(
    _carlson_kernel,
    *(_carlson_slope(index) for index in range(4)),
    name="Carlson's integral",
    names=("x", "y", "z", "w"),
    samples=lambda draw: [
        (tuple(draw.between(POSITIVE, shape) for shape in shapes), {"powers": powers})
        for shapes, powers in (
            (((2, 1), (2,), (), ()), (0.5, 0.5, 1.5, 1.0)),
            (((), (), (), (2,)), (0.5, 1.5, 1.5, 1.0)),
        )
    ],
    doc="The integral of the product of (t + x)^-a, ... from 0 up. Derivatives: -a times that of the next power.",
)


def _with_powers(*powers: float) -> Any:
    """Carlson's integral of as many arguments as there are powers."""
    filled = (*powers, 0.0, 0.0, 0.0)[:4]
    return lambda *arguments: carlson(*(*arguments, 1.0, 1.0, 1.0)[:4], powers=filled)


# -- Carlson's functions

elliprc = function_row(
    "elliprc",
    lambda x, y: -0.25 * _with_powers(1.5, 1.0)(x, y),
    lambda x, y: -0.5 * _with_powers(0.5, 2.0)(x, y),
    domain=[POSITIVE, POSITIVE],
    doc=(
        "Carlson's R_C, half the integral of (t + x)^(-1/2) / (t + y) from 0 up",
        "integrals of the same kind",
        "elliprc(1.0, 2.0) -> 0.78539816, -0.10730092, -0.14269908",
    ),
)
elliprd: Op = function_row(
    "elliprd",
    lambda x, y, z: -0.75 * _with_powers(1.5, 0.5, 1.5)(x, y, z),
    lambda x, y, z: -0.75 * _with_powers(0.5, 1.5, 1.5)(x, y, z),
    lambda x, y, z: -2.25 * _with_powers(0.5, 0.5, 2.5)(x, y, z),
    domain=[POSITIVE, POSITIVE, POSITIVE],
    doc=(
        "Carlson's R_D, 3/2 times the integral of ((t + x) (t + y) (t + z)^3)^(-1/2) from 0 up",
        "integrals of the same kind",
        "elliprd(1.0, 2.0, 3.0) -> 0.29046028, -0.06716298, -0.04235605, -0.09460512",
    ),
)
elliprf: Op = function_row(
    "elliprf",
    lambda x, y, z: elliprd(y, z, x) * (-1 / 6),
    lambda x, y, z: elliprd(x, z, y) * (-1 / 6),
    lambda x, y, z: elliprd(x, y, z) * (-1 / 6),
    domain=[POSITIVE, POSITIVE, POSITIVE],
    doc=(
        "Carlson's R_F, half the integral of ((t + x) (t + y) (t + z))^(-1/2) from 0 up",
        "-elliprd(y, z, x) / 6, and the same of y and z",
        "elliprf(1.0, 2.0, 3.0) -> 0.72694594, -0.09318537, -0.06252873, -0.04841005",
    ),
)


def _in_one(x: Any, y: Any, z: Any) -> Any:
    """d/dx of R_G"""
    moved = np.where(x == 0, 1, x)
    return 0.25 * (elliprf(x, y, z) - np.where(x == 0, 0, x) * elliprd(y, z, moved) / 3)


elliprg = function_row(
    "elliprg",
    lambda x, y, z: _in_one(x, y, z),
    lambda x, y, z: _in_one(y, x, z),
    lambda x, y, z: _in_one(z, x, y),
    domain=[POSITIVE, POSITIVE, POSITIVE],
    doc=(
        "Carlson's R_G, the mean of sqrt(x a^2 + y b^2 + z c^2) over the unit sphere, halved",
        "(elliprf(x, y, z) - x elliprd(y, z, x) / 3) / 4, and the same of y and z",
        "elliprg(1.0, 2.0, 3.0) -> 1.4018471, 0.1351438, 0.11920776, 0.10912141",
    ),
)
elliprj = function_row(
    "elliprj",
    lambda x, y, z, p: -0.75 * carlson(x, y, z, p, powers=(1.5, 0.5, 0.5, 1.0)),
    lambda x, y, z, p: -0.75 * carlson(x, y, z, p, powers=(0.5, 1.5, 0.5, 1.0)),
    lambda x, y, z, p: -0.75 * carlson(x, y, z, p, powers=(0.5, 0.5, 1.5, 1.0)),
    lambda x, y, z, p: -1.5 * carlson(x, y, z, p, powers=(0.5, 0.5, 0.5, 2.0)),
    names=("x", "y", "z", "p"),
    samples=samples_of(POSITIVE, POSITIVE, POSITIVE, POSITIVE),
    doc=(
        "Carlson's R_J, 3/2 times the integral of ((t + x) (t + y) (t + z))^(-1/2) / (t + p) from 0 up",
        "integrals of the same kind",
        "elliprj(1.0, 2.0, 3.0, 4.0) -> 0.2398481, -0.05321069, -0.03383107, -0.02530609, -0.04074526",
    ),
)

# -- Legendre's complete integrals: K(m) = R_F(0, 1 - m, 1), and E' = (E - K) / (2 m) = -R_D(0, 1 - m, 1) / 6

ellipk = function_row(
    "ellipk",
    lambda m: elliprd(0.0, 1.0, 1 - m) / 6,
    names=("m",),
    domain=[(-2.0, 0.8)],
    doc=(
        "The complete elliptic integral of the first kind, K(m)",
        "(E(m) / (1 - m) - K(m)) / (2 m), as elliprd(0, 1, 1 - m) / 6",
        "ellipk(0.5) -> 1.85407468, 0.84721308",
    ),
)
ellipkm1 = function_row(
    "ellipkm1",
    lambda p: elliprd(0.0, 1.0, p) * (-1 / 6),
    names=("p",),
    domain=[(0.2, 2.0)],
    doc=("ellipk(1 - p), exact for small p", "-elliprd(0, 1, p) / 6", "ellipkm1(0.5) -> 1.85407468, -0.84721308"),
)
ellipe = function_row(
    "ellipe",
    lambda m: elliprd(0.0, 1 - m, 1.0) * (-1 / 6),
    names=("m",),
    domain=[(-2.0, 0.8)],
    doc=(
        "The complete elliptic integral of the second kind, E(m)",
        "(E(m) - K(m)) / (2 m), as -elliprd(0, 1 - m, 1) / 6",
        "ellipe(0.5) -> 1.35064388, -0.5034308",
    ),
)

# -- the incomplete ones: with s = sin(phi) and c = cos(phi), F = s R_F(c^2, 1 - m s^2, 1) from -pi / 2 to pi / 2, and
#    F(phi + k pi) = F(phi) + 2 k K


def _turns(phi: Any, m: Any) -> tuple[Any, Any, Any, Any, Any]:
    """k, s, c^2, 1 - m s^2, and an m for the complete integral, which may be 1 only where k is 0."""
    k = np.round(phi / pi)
    rest = phi - k * pi
    s, c = np.sin(rest), np.cos(rest)
    return k, s, c * c, 1 - m * s * s, np.where(k == 0, 0, m)


def _first_in_parameter(phi: Any, m: Any) -> Any:
    k, s, square, rest, whole = _turns(phi, m)
    return (s**3 * elliprd(square, 1.0, rest) + 2 * k * elliprd(0.0, 1.0, 1 - whole)) / 6


def _second_in_parameter(phi: Any, m: Any) -> Any:
    k, s, square, rest, whole = _turns(phi, m)
    return (s**3 * elliprd(square, rest, 1.0) + 2 * k * elliprd(0.0, 1 - whole, 1.0)) * (-1 / 6)


ellipkinc = function_row(
    "ellipkinc",
    lambda phi, m: (1 - m * np.sin(phi) ** 2) ** -0.5,
    _first_in_parameter,
    names=("phi", "m"),
    samples=samples_of((0.2, 5.0), (-2.0, 0.8)),
    doc=(
        "The incomplete elliptic integral of the first kind, of (1 - m sin(t)^2)^(-1/2) from 0 to phi",
        "(1 - m sin(phi)^2)^(-1/2), and in m sin(phi)^3 elliprd(cos(phi)^2, 1, 1 - m sin(phi)^2) / 6",
        "ellipkinc(1.0, 0.5) -> 1.08321677, 1.24421686, 0.2057614",
    ),
)
ellipeinc = function_row(
    "ellipeinc",
    lambda phi, m: np.sqrt(1 - m * np.sin(phi) ** 2),
    _second_in_parameter,
    names=("phi", "m"),
    samples=samples_of((0.2, 5.0), (-2.0, 0.8)),
    doc=(
        "The incomplete elliptic integral of the second kind, of (1 - m sin(t)^2)^(1/2) from 0 to phi",
        "(1 - m sin(phi)^2)^(1/2), and in m -sin(phi)^3 elliprd(cos(phi)^2, 1 - m sin(phi)^2, 1) / 6",
        "ellipeinc(1.0, 0.5) -> 0.92732988, 0.80371842, -0.15588689",
    ),
)

# -- Jacobi's functions: u = F(phi, m), so that dphi/du = dn and dphi/dm = -dn dF/dm


def _in_modulus(m: Any, out: Any) -> tuple[Any, Any, Any, Any]:
    sn, cn, dn, phi = out
    moved = -dn * _first_in_parameter(phi, m)
    return cn * moved, -sn * moved, -sn * (0.5 * sn + m * cn * moved) / dn, moved


ellipj = results_row(
    "ellipj",
    lambda m, out: (out[1] * out[2], -out[0] * out[2], -m * out[0] * out[1], out[2]),
    _in_modulus,
    names=("u", "m"),
    samples=samples_of((0.2, 5.0), (0.2, 0.8)),
    doc=(
        "Jacobi's elliptic functions sn, cn, dn, and the amplitude",
        "cn dn, -sn dn, -m sn cn and dn in u; in m by those of ellipkinc",
        "ellipj(1.0, 0.5) -> 0.80300182, 0.59597657, 0.823161, 0.93231508",
    ),
)

# -- the mean of Gauss: pi / (2 R_F(0, a^2, b^2)), from a and b relative to their sum


def _mean_slope(a: Any, b: Any, out: Any) -> Any:
    total = a + b
    mean, first, second = out / total, a / total, b / total
    return (2 / (3 * pi)) * mean * mean * first * elliprd(0.0, second * second, first * first)


agm = function_row(
    "agm",
    lambda a, b, out: _mean_slope(a, b, out),
    lambda a, b, out: _mean_slope(b, a, out),
    names=("a", "b"),
    domain=[POSITIVE, POSITIVE],
    doc=(
        "The arithmetic-geometric mean",
        "2 a / (3 pi) agm(a, b)^2 elliprd(0, b^2, a^2), and the same of b",
        "agm(1.0, 2.0) -> 1.45679103, 0.60520924, 0.4257909",
    ),
)
