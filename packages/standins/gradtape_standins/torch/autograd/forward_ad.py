"""`torch.autograd.forward_ad`: dual tensors, which carry a tangent along."""

from __future__ import annotations

from typing import Any, NamedTuple

import gradtape as gt
from gradtape.extend import Tensor as Value
from gradtape.extend import (
    check_differentiable,
    concrete,
    current_recording,
    messages,
    set_tangent,
    use_recording,
)
from gradtape_standins.missing_names import missing
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.tensor import Tensor, wrap

__all__ = ["UnpackedDualTensor", "dual_level", "make_dual", "unpack_dual"]


class UnpackedDualTensor(NamedTuple):
    """A value and its tangent (None if it has none)."""

    primal: Any
    tangent: Any


_levels: list[gt.ForwardAccumulator] = []


class dual_level:
    """Within the block, tangents move along with the values of dual tensors.

    >>> from gradtape_standins import torch
    >>> import gradtape_standins.torch.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(torch.tensor(3.0), torch.tensor(1.0))
    ...     fwAD.unpack_dual(x**2).tangent
    tensor(6.)
    """

    def __enter__(self) -> dual_level:
        if _levels:
            raise RuntimeError("Nested forward mode AD is not supported at the moment")
        accumulator = gt.ForwardAccumulator([], [])
        accumulator.__enter__()
        _levels.append(accumulator)
        return self

    def __exit__(self, *details: Any) -> None:
        _levels.pop().__exit__(*details)


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor with the numbers of `tensor` that carries `tangent` along."""
    if not _levels:
        raise RuntimeError(
            "make_dual: no dual level exists.\n  fix: with torch.autograd.forward_ad.dual_level(): around it"
        )
    with translating():
        value = gt.positive(tensor._value)
        check_differentiable(value.dtype, "make_dual", value.shape)
        if tangent._value.shape != value.shape:
            raise messages.wrong_tangent_shape(tangent._value.shape, value.shape)
        set_tangent(_levels[-1], value, tangent._value)
    dual: Tensor = wrap(value)
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The value of a dual tensor and its tangent."""
    if not _levels:
        return UnpackedDualTensor(tensor, None)
    tangent = _levels[-1].jvp(tensor._value)
    with use_recording(current_recording().without(_levels[-1])):
        primal = wrap(Value(concrete(tensor._value))) if not tensor.requires_grad else tensor
    return UnpackedDualTensor(primal, None if tangent is None else wrap(tangent))


__getattr__ = missing(__name__)
