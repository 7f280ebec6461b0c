"""Distributions of vectors, whose components are along the last axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import LinearAlgebraError, ShapeError
from gradtape.extend import argument_error
from gradtape.ops.decompositions import cholesky
from gradtape.ops.special.entropy import xlogy
from gradtape.ops.special.gamma import gammaln, psi
from gradtape.ops.triangular import solve_triangular
from gradtape.random.continuous import dirichlet as draw_dirichlet
from gradtape.random.continuous import multivariate_normal as draw_normal
from gradtape.random.drawing import floating, generator
from gradtape.stats.tails import LOG_ROOT_2PI


def squared_lengths(factor: Any, apart: Any) -> Any:
    """The squared lengths of vectors along the last axis, after a division by a lower triangular factor.

    Many vectors and one factor are one solution of a system with many right sides.
    """
    if factor.ndim == 2 and apart.ndim > 1:
        size = apart.shape[-1]
        white = solve_triangular(factor, apart.reshape(-1, size).T, lower=True)
        return (white * white).sum(0).reshape(apart.shape[:-1])
    white = solve_triangular(factor, apart[..., None], lower=True)[..., 0]
    return (white * white).sum(-1)


class MultivariateNormal:
    """The normal distribution of vectors. Arguments: (x, mean=0, cov=1).

    `cov` is a matrix, a vector of variances, or one variance; leading axes of all arguments are a batch. As in SciPy, a
    vector `x` is one point if `mean` or `cov` has several components, else as many numbers.

    >>> import gradtape as gt
    >>> gt.stats.multivariate_normal.logpdf(gt.tensor([1.0, 2.0]), [0.0, 0.0], [[2.0, 0.5], [0.5, 1.0]])
    Tensor(-4.11768496)
    """

    __name__ = "multivariate_normal"

    def _parts(self, x: Any, mean: Any, cov: Any) -> tuple[Any, Any, Any]:
        """`x`, the mean, and the lower triangular factor of the covariance."""
        x, mean, cov = floating(x, 0.0 if mean is None else mean, cov)
        size = next((value.shape[-1] for value in (mean, cov) if value.ndim), 1)
        if not x.ndim or (size == 1 and x.ndim == 1 and x.shape != (1,)):  # numbers, of one component each
            x = x[..., None]
        if cov.ndim < 2:
            cov = cov[..., None] * np.eye(size, dtype=x.dtype)
        if x.shape[-1] != size or cov.shape[-2:] != (size, size):
            raise argument_error(
                ShapeError,
                f"stats.multivariate_normal: x of shape {x.shape}, mean {mean.shape}, cov {cov.shape}.",
                "(..., n), (n,) and (n, n)",
            )
        try:
            return x, mean, cholesky(cov)
        except np.linalg.LinAlgError:
            raise argument_error(
                LinearAlgebraError,
                f"stats.multivariate_normal: cov of shape {cov.shape} is not positive definite.",
                "cov + 1e-9 * np.eye(n)",
            ) from None

    def logpdf(self, x: Any, mean: Any = None, cov: Any = 1.0) -> Any:
        """The logarithm of the density at `x`."""
        x, mean, factor = self._parts(x, mean, cov)
        heights = np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(-1)
        return -0.5 * squared_lengths(factor, x - mean) - heights - x.shape[-1] * LOG_ROOT_2PI

    def pdf(self, x: Any, mean: Any = None, cov: Any = 1.0) -> Any:
        """The density at `x`."""
        return np.exp(self.logpdf(x, mean, cov))

    def rvs(self, mean: Any, cov: Any, size: Any = None, random_state: Any = None) -> Any:
        """Draws, from the generator `random_state`: those of `gt.random`, with their derivatives."""
        rng = generator(random_state, "stats.multivariate_normal.rvs", "random_state")
        return draw_normal(rng, mean, cov, size)

    def entropy(self, mean: Any = None, cov: Any = 1.0) -> Any:
        """The mean of minus the logarithm of the density."""
        _, _, factor = self._parts(0.0 if mean is None else mean, mean, cov)
        heights = np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(-1)
        return heights + factor.shape[-1] * (LOG_ROOT_2PI + 0.5)


class Dirichlet:
    """The distribution of proportions with the concentrations alpha. Arguments: (x, alpha).

    The density is a formula in each component, so that there is a gradient in each; that they sum to 1 is up to you.

    >>> import gradtape as gt
    >>> gt.stats.dirichlet.logpdf(gt.tensor([0.2, 0.3, 0.5]), [1.0, 2.0, 3.0])
    Tensor(1.5040774)
    """

    __name__ = "dirichlet"

    def logpdf(self, x: Any, alpha: Any) -> Any:
        """The logarithm of the density at `x`; -inf where a component is negative, with a gradient of 0."""
        x, alpha = floating(x, alpha)
        if not x.ndim or x.shape[-1:] != alpha.shape[-1:]:
            raise argument_error(
                ShapeError,
                f"stats.dirichlet: x of shape {x.shape} and alpha of shape {alpha.shape}.",
                "as many proportions as concentrations along the last axis",
            )
        with np.errstate(all="ignore"):
            inside = ((x >= 0) & (x <= 1)).all(-1)
            point = np.where(inside[..., None], x, 0.5)
            valid = (alpha > 0).all(-1)
            shapes = np.where(valid[..., None], alpha, 1)
            value = xlogy(shapes - 1, point).sum(-1) + gammaln(shapes.sum(-1)) - gammaln(shapes).sum(-1)
            return np.where(valid, np.where(inside, value, -np.inf), np.nan).astype(x.dtype)

    def pdf(self, x: Any, alpha: Any) -> Any:
        """The density at `x`."""
        with np.errstate(all="ignore"):
            return np.exp(self.logpdf(x, alpha))

    def rvs(self, alpha: Any, size: Any = None, random_state: Any = None) -> Any:
        """Draws, from the generator `random_state`: those of `gt.random`, with their derivatives."""
        return draw_dirichlet(generator(random_state, "stats.dirichlet.rvs", "random_state"), alpha, size)

    def mean(self, alpha: Any) -> Any:
        """The mean proportions."""
        (alpha,) = floating(alpha)
        return alpha / alpha.sum(-1, keepdims=True)

    def var(self, alpha: Any) -> Any:
        """The variances of the proportions."""
        (alpha,) = floating(alpha)
        share = self.mean(alpha)
        return share * (1 - share) / (alpha.sum(-1, keepdims=True) + 1)

    def entropy(self, alpha: Any) -> Any:
        """The mean of minus the logarithm of the density."""
        (alpha,) = floating(alpha)
        total = alpha.sum(-1)
        heights = gammaln(alpha).sum(-1) - gammaln(total) + (total - alpha.shape[-1]) * psi(total)
        return heights - ((alpha - 1) * psi(alpha)).sum(-1)


multivariate_normal = MultivariateNormal()
dirichlet = Dirichlet()
