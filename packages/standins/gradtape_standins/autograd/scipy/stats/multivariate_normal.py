"""The stand-in for `autograd.scipy.stats.multivariate_normal`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats as _stats

import gradtape as gt
from gradtape.extend import plain
from gradtape_standins import missing_names
from gradtape_standins.autograd.scipy.choosing import either


def _logpdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    if not allow_singular:
        return gt.stats.multivariate_normal.logpdf(x, mean, cov)
    values, vectors = np.linalg.eigh(cov)
    known = plain(values) > 1e6 * np.finfo(float).eps * np.max(np.abs(plain(values)))  # as SciPy tells them apart
    values, whitened = values[known], ((x - mean) @ vectors)[..., known]
    return -0.5 * np.sum(whitened**2 / values + np.log(2 * np.pi * values), axis=-1)


def _pdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    return np.exp(_logpdf(x, mean, cov, allow_singular))


def _entropy(mean: Any = None, cov: Any = 1) -> Any:
    """Half the logarithm of the determinant of 2 pi e times the covariance."""
    return 0.5 * gt.linalg.slogdet(2 * np.pi * np.e * cov)[1]


logpdf = either(_stats.multivariate_normal.logpdf, _logpdf)
pdf = either(_stats.multivariate_normal.pdf, _pdf)
entropy = either(_stats.multivariate_normal.entropy, _entropy)

__getattr__ = missing_names.missing(__name__)
