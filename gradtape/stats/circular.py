"""Continuous distributions of angles."""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np

from gradtape.ops.special.bessel import i0e
from gradtape.ops.special.entropy import cosm1
from gradtape.random.drawing import fixed
from gradtape.stats.family import Continuous

NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)
REACH = 14.0
"""exp(kappa (cos(t - d) - cos(t))) is below exp(-40) from d = REACH / sqrt(kappa) on, for t <= 0."""


def _log_density(z: Any, kappa: Any) -> Any:
    return kappa * cosm1(z) - log(2 * pi) - np.log(i0e(kappa))


def _mass_below(z: Any, kappa: Any) -> Any:
    """The mass between -pi and z, which is from -pi to 0: a Gauss-Legendre sum over where there is some."""
    reach = np.minimum(REACH / np.sqrt(np.maximum(fixed(kappa), 1e-3)), fixed(z) + pi)
    low = np.where(reach < REACH / np.sqrt(np.maximum(fixed(kappa), 1e-3)), -pi, z - reach)
    half = 0.5 * (z - low)
    points = (low + half)[..., None] + half[..., None] * NODES.astype(z.dtype)
    heights = np.exp(_log_density(points, kappa[..., None]))
    return half * (heights * WEIGHTS.astype(z.dtype)).sum(-1)


def _angle_cdf(z: Any, kappa: Any) -> Any:
    """The mass below an angle between -pi and pi; each turn beyond adds 1, as in SciPy."""
    turns = np.round(fixed(z) / (2 * pi))
    angle = z - 2 * pi * turns + 0 * kappa
    kappa = kappa + 0 * angle
    below = _mass_below(-np.abs(angle), kappa)
    return turns + np.where(angle <= 0, below, 1 - below)


def _angle_sf(z: Any, kappa: Any) -> Any:
    return _angle_cdf(-z, kappa)


vonmises = Continuous(
    "vonmises",
    "kappa",
    about="The distribution of von Mises: a density like exp(kappa cos(z)) of angles.",
    valid=lambda kappa: kappa >= 0,
    logpdf=_log_density,
    cdf=_angle_cdf,
    sf=_angle_sf,
)
vonmises_line = Continuous(
    "vonmises_line",
    "kappa",
    about="The distribution of von Mises between -pi and pi.",
    support=lambda kappa: (-pi, pi),
    valid=lambda kappa: kappa > 0,
    logpdf=_log_density,
    cdf=_angle_cdf,
    sf=_angle_sf,
)


def _ratio(c: Any) -> Any:
    return (1 + c) / (1 - c)


wrapcauchy = Continuous(
    "wrapcauchy",
    "c",
    about="Cauchy's distribution wrapped round a circle, from 0 to 2 pi.",
    support=lambda c: (0.0, 2 * pi),
    valid=lambda c: (c > 0) & (c < 1),
    likely=(0.5,),
    logpdf=lambda z, c: np.log1p(-c * c) - log(2 * pi) - np.log((1 - c) ** 2 - 2 * c * cosm1(z)),
    cdf=lambda z, c: np.arctan2(_ratio(c) * np.sin(0.5 * z), np.cos(0.5 * z)) / pi,
    sf=lambda z, c: np.arctan2(_ratio(c) * np.sin(0.5 * z), -np.cos(0.5 * z)) / pi,
    ppf=lambda q, c: 2 * np.arctan2(np.sin(pi * q), _ratio(c) * np.cos(pi * q)),
    isf=lambda q, c: 2 * pi - 2 * np.arctan2(np.sin(pi * q), _ratio(c) * np.cos(pi * q)),
)
