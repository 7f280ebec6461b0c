"""`torch.nn.Parameter`: a tensor that a module trains, and buffers that it keeps."""

from __future__ import annotations

from typing import Any

from gradtape.extend import Tensor as Value
from gradtape.extend import concrete
from gradtape_standins.torch.tensor import Tensor, wrap

__all__ = ["Buffer", "Parameter", "UninitializedParameter"]


class Parameter(Tensor):
    """A tensor that a module trains.

    >>> from gradtape_standins import torch
    >>> torch.nn.Parameter(torch.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    _original = "torch.nn.parameter.Parameter"

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        given = Tensor() if data is None else data
        value = given._value
        self._held = Value(concrete(value))
        self._inference = given._inference
        if given._mirror is not None:
            self._mirror, self._linked = given._mirror, True
        if requires_grad:
            self.requires_grad_()

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"

    def __deepcopy__(self, memo: Any) -> Parameter:
        copied = Parameter(wrap(Value(self._numbers.copy())), self.requires_grad)
        memo[id(self)] = copied
        return copied


class UninitializedParameter(Parameter):
    """A parameter whose shape is not known yet."""

    def __repr__(self) -> str:
        return "<UninitializedParameter>"


class Buffer(Tensor):
    """A tensor that a module keeps and does not train."""

    def __init__(self, data: Tensor, *, persistent: bool = True) -> None:
        self._held = Value(data._numbers)
        self.persistent = persistent
