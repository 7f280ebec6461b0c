"""`torch.nn.utils.parametrizations`: weights with a norm of their own, with spectral norm 1, and orthogonal ones."""

from __future__ import annotations

from typing import Any

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.torch import linalg
from gradtape_standins.torch.methods import FUNCTIONS
from gradtape_standins.torch.nn import functional
from gradtape_standins.torch.nn.module import Module
from gradtape_standins.torch.nn.utils.parametrize import register_parametrization
from gradtape_standins.torch.random import randn

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def norm_except(tensor: Any, dim: int | None) -> Any:
    """The length over all axes but one (over all, for None or -1), with axes of length 1 in their place."""
    if dim is None or dim == -1:
        return FUNCTIONS["norm"](tensor)
    others = tuple(axis for axis in range(tensor.ndim) if axis != dim)
    return linalg.vector_norm(tensor, dim=others, keepdim=True)


def scaled(length: Any, direction: Any, dim: int | None) -> Any:
    """A tensor of a direction that has a length."""
    return direction * (length / norm_except(direction, dim))


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return scaled(weight_g, weight_v, self.dim)

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        return norm_except(weight, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int = 0) -> Any:
    """Have a weight be a direction and a length, which are trained apart."""
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


def _along(vector: Any, eps: float) -> Any:
    return functional.normalize(vector, dim=0, eps=eps)


class PowerIteration:
    """Singular vectors of a matrix by multiplying again and again."""

    @staticmethod
    def step(matrix: Any, u: Any, v: Any, count: int, eps: float) -> tuple[Any, Any]:
        """The vectors, `count` multiplications on."""
        with gt.no_grad():
            for _ in range(count):
                u = _along(FUNCTIONS["mv"](matrix, v), eps)
                v = _along(FUNCTIONS["mv"](matrix.t(), u), eps)
        return u, v

    @staticmethod
    def norm(matrix: Any, u: Any, v: Any) -> Any:
        """The largest singular value, by its vectors."""
        return FUNCTIONS["dot"](u, FUNCTIONS["mv"](matrix, v))


def as_matrix(weight: Any, dim: int) -> Any:
    """A weight with the axis `dim` along the rows."""
    return FUNCTIONS["movedim"](weight, dim, 0).flatten(1) if weight.ndim > 1 else weight.reshape(1, -1)


class _SpectralNorm(Module):
    _u: Any
    _v: Any

    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        self.dim, self.n_power_iterations, self.eps = dim, n_power_iterations, eps
        matrix = as_matrix(weight.detach(), dim)
        u, v = _along(randn(matrix.shape[0]), eps), _along(randn(matrix.shape[1]), eps)
        u, v = PowerIteration.step(matrix, u.to(weight.dtype), v.to(weight.dtype), 15, eps)
        self.register_buffer("_u", u)
        self.register_buffer("_v", v)

    def forward(self, weight: Any) -> Any:
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._u, self._v = PowerIteration.step(matrix.detach(), self._u, self._v, self.n_power_iterations, self.eps)
        return weight / PowerIteration.norm(matrix, self._u.clone(), self._v.clone())

    def right_inverse(self, value: Any) -> Any:
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Have a weight be divided by its largest singular value."""
    along = (1 if type(module).__name__.startswith("ConvTranspose") else 0) if dim is None else dim
    rule = _SpectralNorm(getattr(module, name), n_power_iterations, along, eps)
    return register_parametrization(module, name, rule)


class _Orthogonal(Module):
    """The exponential of a skew-symmetric matrix, times an orthogonal one to begin with."""

    def __init__(self, weight: Any) -> None:
        super().__init__()
        self.is_wide = weight.shape[-2] < weight.shape[-1]
        tall = weight.detach().mT if self.is_wide else weight.detach()
        self.register_buffer("base", linalg.qr(tall, mode="complete")[0])

    def forward(self, X: Any) -> Any:
        tall = X.mT if self.is_wide else X
        rows, columns = tall.shape[-2:]
        lower = FUNCTIONS["tril"](functional.pad(tall, (0, rows - columns)), -1)
        turned = FUNCTIONS["matmul"](self.base, linalg.matrix_exp(lower - lower.mT))[..., :columns]
        return turned.mT if self.is_wide else turned

    def right_inverse(self, Q: Any) -> Any:
        return Q * 0


def orthogonal(module: Any, name: str = "weight", orthogonal_map: str | None = None, **_: Any) -> Any:
    """Have a weight be orthogonal (or have orthogonal rows or columns): by the matrix exponential."""
    if orthogonal_map not in (None, "matrix_exp"):
        raise NotImplementedError(f"orthogonal: orthogonal_map={orthogonal_map!r}; the stand-in has 'matrix_exp'")
    weight = getattr(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    return register_parametrization(module, name, _Orthogonal(weight))


__getattr__ = missing(__name__)
