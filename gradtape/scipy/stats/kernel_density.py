"""Kernel density estimates with normal kernels, by the data, the weights, the bandwidth and the points."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import OperandError, UnsupportedError
from gradtape.extend import Tensor, argument_error
from gradtape.mirror import holds_tensor, passed_through
from gradtape.ops.decompositions import cholesky
from gradtape.ops.special.entropy import logsumexp
from gradtape.ops.special.errorfunctions import ndtr
from gradtape.ops.triangular import solve_triangular
from gradtape.random.drawing import fixed
from gradtape.scipy.stats.common import as_array, original
from gradtape.stats.tails import LOG_ROOT_2PI


class gaussian_kde:
    """The density of a mixture of normal distributions around the points of a sample.

    `dataset` is a vector, or a matrix with a row for each dimension.

    >>> import gradtape as gt
    >>> from gradtape.scipy import stats
    >>> gt.grad(lambda x: stats.gaussian_kde([0.0, 1.0, 3.0]).logpdf(x).sum())(gt.tensor([0.5]))
    Tensor([0.10585142])
    """

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        self._theirs = None
        if not holds_tensor([dataset, bw_method, weights]):
            self._theirs = original.contents.gaussian_kde(dataset, bw_method, weights)
        data = as_array(dataset)
        self.dataset = data.reshape(1, -1) if data.ndim < 2 else data
        if self.dataset.size <= 1:
            raise ValueError("`dataset` input should have multiple elements.")
        self.d, self.n = self.dataset.shape
        if weights is None:
            self.weights: Any = np.ones(self.n) / self.n
        else:
            given = as_array(weights).reshape(-1)
            if given.shape[0] != self.n:
                raise ValueError("`weights` input should be of length n")
            self.weights = given / given.sum()
        self.neff: Any = 1 / (self.weights * self.weights).sum()
        self.set_bandwidth(bw_method)

    def scotts_factor(self) -> Any:
        """The factor of Scott's rule: neff^(-1 / (d + 4))."""
        return self.neff ** (-1 / (self.d + 4))

    def silverman_factor(self) -> Any:
        """The factor of Silverman's rule: (neff (d + 2) / 4)^(-1 / (d + 4))."""
        return (self.neff * (self.d + 2) / 4) ** (-1 / (self.d + 4))

    def set_bandwidth(self, bw_method: Any = None) -> None:
        """Choose the bandwidth: "scott", "silverman", a number, or a function of the estimate."""
        if bw_method is None or (isinstance(bw_method, str) and bw_method == "scott"):
            self.factor = self.scotts_factor()
        elif isinstance(bw_method, str) and bw_method == "silverman":
            self.factor = self.silverman_factor()
        elif isinstance(bw_method, Tensor) or (np.isscalar(bw_method) and not isinstance(bw_method, str)):
            self.factor = bw_method
        elif callable(bw_method):
            self.factor = bw_method(self)
        else:
            raise ValueError("`bw_method` should be 'scott', 'silverman', a scalar or a callable.")
        if self._theirs is not None and not holds_tensor([self.factor]):
            self._theirs.set_bandwidth(bw_method)
        else:
            self._theirs = None
        apart = self.dataset - (self.dataset * self.weights).sum(1, keepdims=True)
        spread = (apart * self.weights) @ apart.T / (1 - (self.weights * self.weights).sum())
        self.covariance = spread * self.factor**2

    def covariance_factor(self) -> Any:
        """The factor of the bandwidth."""
        return self.factor

    @property
    def inv_cov(self) -> Any:
        """The inverse of the covariance of a kernel."""
        return np.linalg.inv(self.covariance)

    def _points(self, x: Any) -> Any:
        x = as_array(x)
        points = x.reshape(1, 1) if not x.ndim else x[None] if x.ndim == 1 else x
        if points.shape[0] != self.d:
            if points.shape[0] == 1 and points.shape[1] == self.d:
                return points.reshape(self.d, 1)
            raise ValueError(f"points have dimension {points.shape[0]}, dataset has dimension {self.d}")
        return points

    def _log_mixture(self, points: Any, data: Any, weights: Any, covariance: Any) -> Any:
        """The logarithm of the density of a mixture around data, at points."""
        factor = cholesky(covariance)
        white, centers = (solve_triangular(factor, value, lower=True) for value in (points, data))
        apart = white[:, :, None] - centers[:, None, :]
        heights = np.log(np.diagonal(factor)).sum() + points.shape[0] * LOG_ROOT_2PI
        return logsumexp(np.log(weights) - 0.5 * (apart * apart).sum(0), axis=-1) - heights

    def logpdf(self, x: Any) -> Any:
        """The logarithm of the density at points, a row for each dimension."""
        if self._theirs is not None and not holds_tensor([x]):
            return self._theirs.logpdf(x)
        return self._log_mixture(self._points(x), self.dataset, self.weights, self.covariance)

    def evaluate(self, points: Any) -> Any:
        """The density at points."""
        if self._theirs is not None and not holds_tensor([points]):
            return self._theirs.evaluate(points)
        return np.exp(self._log_mixture(self._points(points), self.dataset, self.weights, self.covariance))

    __call__ = evaluate

    def pdf(self, x: Any) -> Any:
        """The density at points."""
        return self.evaluate(x)

    def integrate_box_1d(self, low: Any, high: Any) -> Any:
        """The mass of an estimate of one dimension between two ends."""
        if self._theirs is not None and not holds_tensor([low, high]):
            return self._theirs.integrate_box_1d(low, high)
        if self.d != 1:
            raise ValueError("integrate_box_1d() only handles 1D pdfs")
        width = np.sqrt(self.covariance[0, 0])
        ends = (ndtr((end - self.dataset[0]) / width) for end in (high, low))
        above, below = ends
        return (self.weights * (above - below)).sum()

    def integrate_gaussian(self, mean: Any, cov: Any) -> Any:
        """The integral of the estimate times a normal density."""
        if self._theirs is not None and not holds_tensor([mean, cov]):
            return self._theirs.integrate_gaussian(mean, cov)
        center, spread = as_array(mean).reshape(-1, 1), as_array(cov)
        spread = spread.reshape(1, 1) if spread.ndim < 2 else spread
        if center.shape[0] != self.d or spread.shape != (self.d, self.d):
            raise ValueError(f"mean and cov do not have dimension {self.d}")
        return np.exp(self._log_mixture(center, self.dataset, self.weights, self.covariance + spread))[0]

    def integrate_kde(self, other: Any) -> Any:
        """The integral of the product with another estimate."""
        mine = self._theirs
        if mine is not None and getattr(other, "_theirs", other) is not None:
            return mine.integrate_kde(getattr(other, "_theirs", other))
        if other.d != self.d:
            raise ValueError("KDEs are not the same dimensionality")
        heights = self._log_mixture(other.dataset, self.dataset, self.weights, self.covariance + other.covariance)
        return (other.weights * np.exp(heights)).sum()

    def integrate_box(self, low_bounds: Any, high_bounds: Any, maxpts: Any = None, **named: Any) -> Any:
        """The mass in a box; it has a derivative in one dimension only."""
        if self._theirs is not None:
            reason = "is an integral that SciPy finds by random numbers, without a derivative"
            function = passed_through(self._theirs.integrate_box, "scipy.stats.gaussian_kde.integrate_box", reason)
            return function(low_bounds, high_bounds, maxpts, **named)
        if self.d == 1:
            return self.integrate_box_1d(as_array(low_bounds).reshape(()), as_array(high_bounds).reshape(()))
        raise argument_error(
            UnsupportedError,
            f"stats.gaussian_kde.integrate_box: of {self.d} dimensions it has no derivative in gradtape.",
            "an estimate of one dimension, and integrate_box_1d",
        )

    def marginal(self, dimensions: Any) -> gaussian_kde:
        """The estimate of some of the dimensions."""
        chosen = np.atleast_1d(np.asarray(dimensions))
        if not np.issubdtype(chosen.dtype, np.integer):
            raise ValueError("Elements of `dimensions` must be integers - the indices of the marginal variables.")
        return gaussian_kde(self.dataset[chosen], self.factor, self.weights)

    def resample(self, size: Any = None, seed: Any = None) -> Any:
        """Draws from the estimate: SciPy's, which move with the data and the bandwidth."""
        if self._theirs is not None:
            return self._theirs.resample(size, seed)
        if not isinstance(seed, np.random.Generator | np.random.RandomState):
            raise argument_error(
                OperandError, f"stats.gaussian_kde.resample: seed={seed!r}.", "seed=np.random.default_rng(0)"
            )
        size = int(fixed(self.neff)) if size is None else size
        chosen = seed.choice(self.n, size=size, p=fixed(self.weights))
        noise = cholesky(self.covariance) @ np.asarray(seed.normal(size=(self.d, size)))
        return self.dataset[:, chosen] + noise
