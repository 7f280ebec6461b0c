"""Airy's functions, which solve y'' = x y, scaled ones, and their integrals."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.ops.special.bessel import ive, kve, scaled_derivative
from gradtape.ops.special.rows import results_row

airy: Op = results_row(
    "airy",
    lambda z, out: (out[1], z * out[0], out[3], z * out[2]),
    names=("z",),
    domain=[(-2.0, 2.0)],
    doc=(
        "Airy's functions and their derivatives: Ai, Ai', Bi, Bi'",
        "Ai' and z Ai, Bi' and z Bi",
        "airy(0.5) -> 0.23169361, -0.22491053, 0.85427704, 0.54457256",
    ),
)

# Scaled: Ai and Ai' times exp(s), Bi and Bi' times exp(-s), s = 2/3 z^(3/2), for z >= 0; left of 0 Bi and Bi' as they
# are, and no Ai. The slopes Ai' exp(s) + sqrt(z) Ai exp(s) and so on cancel for large z. There they come from
#   Ai = sqrt(z / 3) / pi K_(1/3)(s),  Ai' = -z / (sqrt(3) pi) K_(2/3)(s),
#   Bi = sqrt(z / 3) (I_(-1/3) + I_(1/3))(s),  Bi' = z / sqrt(3) (I_(-2/3) + I_(2/3))(s).


def _scaled_slopes(z: Any, out: Any) -> tuple[Any, Any, Any, Any]:
    large = z > 1
    far, near = np.where(large, z, 2), np.where(large, 0, z)
    root, right = np.sqrt(far), np.sqrt(np.where(near < 0, 0, near))
    point = 2 / 3 * far * root

    def slope(function: str, v: float) -> Any:
        return root * scaled_derivative(v, point, function=function, order=1)

    def both(v: float) -> tuple[Any, Any]:
        return ive(v, point) + ive(-v, point), slope("ive", v) + slope("ive", -v)

    ai, aip, bi, bip = out
    k, dk = kve(1 / 3, point), slope("kve", 1 / 3)
    k2, dk2 = kve(2 / 3, point), slope("kve", 2 / 3)
    (i, di), (i2, di2) = both(1 / 3), both(2 / 3)
    half = 0.5 / root
    return (
        np.where(large, (half * k + root * dk) * (1 / (sqrt(3) * pi)), aip + right * ai),
        np.where(large, (k2 + far * dk2) * (-1 / (sqrt(3) * pi)), near * ai + right * aip),
        np.where(large, (half * i + root * di) * (1 / sqrt(3)), bip - right * bi),
        np.where(large, (i2 + far * di2) * (1 / sqrt(3)), near * bi - right * bip),
    )


airye: Op = results_row(
    "airye",
    _scaled_slopes,
    names=("z",),
    real=True,
    domain=[(0.2, 3.0)],
    doc=(
        "Airy's functions, Ai and Ai' times exp(2/3 z^(3/2)), Bi and Bi' times exp(-2/3 z^(3/2))",
        "Ai' + sqrt(z) Ai, z Ai + sqrt(z) Ai', Bi' - sqrt(z) Bi, z Bi - sqrt(z) Bi'",
        "airye(0.5) -> 0.29327716, -0.28469116, 0.67489241, 0.43022096",
    ),
)


def _under_the_integral(x: Any) -> tuple[Any, Any, Any, Any]:
    (ai, _, bi, _), (left_ai, _, left_bi, _) = airy(x), airy(-x)
    return ai, bi, left_ai, left_bi


itairy = results_row(
    "itairy",
    _under_the_integral,
    domain=[(0.02, 0.2)],  # SciPy's values have ten digits there, and six further out
    doc=(
        "The integrals from 0 to x of Ai(t), Bi(t), Ai(-t), Bi(-t)",
        "Ai(x), Bi(x), Ai(-x), Bi(-x)",
        "itairy(0.5) -> 0.14595331, 0.36533847, 0.20880955, 0.25006275",
    ),
)
