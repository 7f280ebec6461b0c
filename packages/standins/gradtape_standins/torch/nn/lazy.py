"""Layers that find out the number of their inputs when they are first called."""

from __future__ import annotations

from typing import Any

from gradtape_standins.torch.nn import convolutions, function_layers, layers
from gradtape_standins.torch.nn.module import Module
from gradtape_standins.torch.nn.parameter import Parameter, UninitializedParameter
from gradtape_standins.torch.tensor import Tensor

__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyLinear",
]


class _Lazy(Module):
    """Takes the parameters of the layer that it turns out to be, and its class, at the first call."""

    _becomes: Any
    _axis = 1

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        object.__setattr__(self, "_given", (args, kwargs))
        for name, held in self._becomes(1, *args, **kwargs)._parameters.items():
            self.register_parameter(name, None if held is None else UninitializedParameter())

    def forward(self, input: Any) -> Any:
        args, kwargs = self._given
        made = self._becomes(int(input.shape[self._axis]), *args, **kwargs)
        for name, held in made._parameters.items():
            waiting = self._parameters[name]
            if isinstance(waiting, Parameter) and isinstance(held, Tensor):
                waiting._held = held._held  # the same object, which an optimiser may hold already
                waiting.__class__ = Parameter
                made._parameters[name] = waiting
        made.train(self.training)
        hooks = {name: vars(self)[name] for name in ("_before", "_after", "_backward", "_back")}
        self.__dict__.clear()
        self.__dict__.update({**vars(made), **hooks})
        self.__class__ = self._becomes
        return made.forward(input)

    def extra_repr(self) -> str:
        args, kwargs = self._given
        first, _, rest = self._becomes(1, *args, **kwargs).extra_repr().partition(",")
        return f"{first.rpartition('=')[0]}{'=' if '=' in first else ''}0,{rest}"


def _lazy(becomes: Any, axis: int = 1) -> Any:
    name = f"Lazy{becomes.__name__}"
    doc = f"`{becomes.__name__}`, with the number of inputs that the first call has."
    return type(name, (_Lazy,), {"_becomes": becomes, "_axis": axis, "__doc__": doc, "__module__": __name__})


LazyLinear = _lazy(layers.Linear, -1)
LazyConv1d, LazyConv2d, LazyConv3d = (
    _lazy(kind) for kind in (convolutions.Conv1d, convolutions.Conv2d, convolutions.Conv3d)
)
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = (
    _lazy(kind) for kind in (convolutions.ConvTranspose1d, convolutions.ConvTranspose2d, convolutions.ConvTranspose3d)
)
LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = (
    _lazy(kind) for kind in (function_layers.BatchNorm1d, function_layers.BatchNorm2d, function_layers.BatchNorm3d)
)
