"""Distributions of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt
from gradtape import stats
from gradtape_standins.torch import linalg, methods
from gradtape_standins.torch.distributions import constraints
from gradtape_standins.torch.distributions.distribution import Centred, ExponentialFamily, computed

_F = methods.FUNCTIONS


class Dirichlet(ExponentialFamily):
    """Proportions that sum to 1."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}  # noqa: RUF012
    support: Any = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if not concentration.ndim:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    def _expandable(self) -> dict[str, int]:
        return {"concentration": 1}

    @property
    def mean(self) -> Any:
        """The mean proportions."""
        return computed(stats.dirichlet.mean, self.concentration, label="DivBackward0")

    @property
    def variance(self) -> Any:
        """The variances of the proportions."""
        return computed(stats.dirichlet.var, self.concentration, label="DivBackward0")

    @property
    def mode(self) -> Any:
        """The likeliest proportions."""
        above = (self.concentration - 1).clamp(min=0.0)
        return above / _F["sum"](above, -1, True)

    def entropy(self) -> Any:
        """The mean of minus the logarithm of the density."""
        return computed(stats.dirichlet.entropy, self.concentration)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return computed(stats.dirichlet.logpdf, value, self.concentration)

    def _drawn(self, shape: tuple[int, ...], rng: Any) -> Any:
        return gt.random.dirichlet(rng, self.concentration._value, shape[:-1])


class MultivariateNormal(Centred):
    """The normal distribution of vectors, by a covariance, a precision, or the lower triangular factor of one."""

    arg_constraints = {  # noqa: RUF012
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support: Any = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        held = {name: matrix for name, matrix in given.items() if matrix is not None}
        if len(held) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        if not loc.ndim:
            raise ValueError("loc must be at least one-dimensional.")
        ((name, matrix),) = held.items()
        if matrix.ndim < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        batch = np.broadcast_shapes(tuple(matrix.shape[:-2]), tuple(loc.shape[:-1]))
        self.loc = loc.expand((*batch, loc.shape[-1]))
        self.__dict__[name] = matrix.expand((*batch, *matrix.shape[-2:]))
        super().__init__(batch, loc.shape[-1:], validate_args)

    def __getattr__(self, name: str) -> Any:
        held = self.__dict__
        if name == "scale_tril":
            made = linalg.cholesky(self.covariance_matrix)
        elif name == "covariance_matrix" and "scale_tril" in held:
            made = _F["matmul"](held["scale_tril"], _F["transpose"](held["scale_tril"], -1, -2))
        elif name == "covariance_matrix" and "precision_matrix" in held:
            made = linalg.inv(held["precision_matrix"])
        elif name == "precision_matrix":
            made = linalg.inv(self.covariance_matrix)
        else:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        held[name] = made
        return made

    def _expandable(self) -> dict[str, int]:
        return {"loc": 1, "covariance_matrix": 2, "precision_matrix": 2, "scale_tril": 2}

    @property
    def variance(self) -> Any:
        """The diagonal of the covariance."""
        return _F["diagonal"](self.covariance_matrix, dim1=-2, dim2=-1)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return computed(stats.multivariate_normal.logpdf, value, self.loc, self.covariance_matrix)

    def entropy(self) -> Any:
        """The mean of minus the logarithm of the density."""
        return computed(stats.multivariate_normal.entropy, self.loc, self.covariance_matrix, label="AddBackward0")

    def _drawn(self, shape: tuple[int, ...], rng: Any) -> Any:
        return gt.random.multivariate_normal(rng, self.loc._value, size=shape[:-1], cholesky=self.scale_tril._value)
