"""`torch.nn.utils.weight_norm` and `spectral_norm`: a weight that is computed anew before each call of its module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradtape as gt
from gradtape_standins.torch.nn.parameter import Parameter
from gradtape_standins.torch.nn.utils.parametrizations import (
    PowerIteration,
    _SpectralNorm,
    as_matrix,
    norm_except,
    scaled,
)


def _computed(module: Any, name: str, compute: Callable[[], Any]) -> None:
    """Have `module.name` be what `compute` returns, now and before each call."""

    def refresh(module: Any, args: Any) -> None:
        object.__setattr__(module, name, compute())

    refresh(module, ())
    handles = vars(module).setdefault("_recomputed", {})
    handles[name] = module.register_forward_pre_hook(refresh)


def _back(module: Any, name: str, *parts: str) -> Any:
    """Make what was computed a parameter again."""
    if name not in vars(module).get("_recomputed", {}):
        raise ValueError(f"weight_norm or spectral_norm of '{name}' not found in {type(module).__name__}")
    module._recomputed.pop(name).remove()
    value = vars(module).pop(name)
    for part in parts:
        delattr(module, part)
    module.register_parameter(name, Parameter(value.detach()))
    return module


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Have a weight be a direction `weight_v` and a length `weight_g`, which are trained apart."""
    weight = getattr(module, name).detach()
    del module._parameters[name]
    with gt.no_grad():
        length = norm_except(weight, dim)
    module.register_parameter(f"{name}_g", Parameter(length))
    module.register_parameter(f"{name}_v", Parameter(weight))
    _computed(module, name, lambda: scaled(getattr(module, f"{name}_g"), getattr(module, f"{name}_v"), dim))
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight a parameter again."""
    return _back(module, name, f"{name}_g", f"{name}_v")


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Have a weight be `weight_orig`, divided by its largest singular value."""
    along = (1 if type(module).__name__.startswith("ConvTranspose") else 0) if dim is None else dim
    weight = getattr(module, name)
    first = _SpectralNorm(weight, n_power_iterations, along, eps)
    del module._parameters[name]
    module.register_parameter(f"{name}_orig", weight)
    module.register_buffer(f"{name}_u", first._u)
    module.register_buffer(f"{name}_v", first._v)

    def compute() -> Any:
        given = getattr(module, f"{name}_orig")
        matrix = as_matrix(given, along)
        u, v = getattr(module, f"{name}_u"), getattr(module, f"{name}_v")
        if module.training:
            u, v = PowerIteration.step(matrix.detach(), u, v, n_power_iterations, eps)
            setattr(module, f"{name}_u", u)
            setattr(module, f"{name}_v", v)
        return given / PowerIteration.norm(matrix, u, v)

    _computed(module, name, compute)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight a parameter again."""
    return _back(module, name, f"{name}_orig", f"{name}_u", f"{name}_v")
