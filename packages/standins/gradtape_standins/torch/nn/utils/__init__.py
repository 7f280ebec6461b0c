"""`torch.nn.utils`: gradients within limits, parameters as one vector."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.joining import cat
from gradtape_standins.torch.nn.utils import parametrizations, parametrize, rnn
from gradtape_standins.torch.nn.utils.reweighting import (
    remove_spectral_norm,
    remove_weight_norm,
    spectral_norm,
    weight_norm,
)
from gradtape_standins.torch.tensor import Tensor, wrap

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]


def _gradients(parameters: Any) -> list[Any]:
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [parameter.grad for parameter in given if parameter.grad is not None]


def get_total_norm(tensors: Iterable[Tensor], norm_type: float = 2.0, **_: Any) -> Tensor:
    """The norm of all numbers of several tensors together."""
    norms = [gt.linalg.vector_norm(tensor._value, ord=norm_type) for tensor in tensors]
    total: Tensor = wrap(gt.linalg.vector_norm(gt.stack(norms), ord=norm_type) if norms else gt.tensor(0.0, "float32"))
    return total


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, **_: Any
) -> Tensor:
    """Scale all gradients by one factor so that their norm is at most `max_norm`; returns the norm before."""
    gradients = _gradients(parameters)
    with translating(), gt.no_grad():
        total = get_total_norm(gradients, norm_type)
        if error_if_nonfinite and not math.isfinite(total.item()):
            raise RuntimeError(f"clip_grad_norm_: the total norm is {total.item()}, so the gradients cannot be clipped")
        factor = min(float(max_norm) / (total.item() + 1e-6), 1.0)
        for gradient in gradients:
            gradient.mul_(factor)
    return total


def clip_grad_value_(parameters: Any, clip_value: float, **_: Any) -> None:
    """Limit every number of the gradients to -clip_value and clip_value."""
    with gt.no_grad():
        for gradient in _gradients(parameters):
            gradient.clamp_(-clip_value, clip_value)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters in one vector."""
    joined: Tensor = cat([parameter.reshape(-1) for parameter in parameters])
    return joined


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Write a vector back into the parameters."""
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data.copy_(vec[start : start + count].reshape(*parameter.shape))
        start += count


__getattr__ = missing(__name__)
