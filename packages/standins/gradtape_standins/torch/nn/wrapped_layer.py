"""Layers that are gradtape's as a whole: their parameters are here, and the computation is there."""

from __future__ import annotations

from typing import Any

from gradtape import nn as ours
from gradtape_standins.torch.errors import translating
from gradtape_standins.torch.nn.layers import Linear, adopt
from gradtape_standins.torch.nn.module import Module
from gradtape_standins.torch.random import numpy_generator
from gradtape_standins.torch.tensor import unwrap, wrap


class WrappedLayer(Module):
    """A layer whose computation is gradtape's layer, called with the parameters that are here."""

    def _adopt(self, layer: ours.Module, dtype: Any = None) -> None:
        object.__setattr__(self, "_layer", layer)
        for path, inner in layer.named_modules():
            prefix, _, name = path.rpartition(".")
            if path:
                self._at(prefix).add_module(name, _holder(inner, name))
        adopt(self, layer, dtype)

    def _called(self, label: Any, *args: Any, **kwargs: Any) -> Any:
        """What gradtape's layer returns; `label` names the result, or has a name for each of several."""
        given = {name: parameter._value for name, parameter in self.named_parameters()}
        with translating():
            result = ours.functional_call(
                self._layer, given, *unwrap(args), rng=numpy_generator(), training=self.training, **unwrap(kwargs)
            )
        if isinstance(label, tuple):
            return tuple(wrap(part, name) for part, name in zip(result, label, strict=True))
        return wrap(result, label)


def _holder(layer: ours.Module, name: str) -> Module:
    """The module that holds the parameters of a part of a layer."""
    from gradtape_standins.torch.nn import function_layers

    if isinstance(layer, ours.Linear):
        kind = _Projection if name == "out_proj" else Linear
        return kind(layer.in_features, layer.out_features, "bias" in layer._declared)
    if isinstance(layer, ours.LayerNorm):
        return function_layers.LayerNorm(layer.normalized_shape, layer.eps, bias="bias" in layer._declared)
    if isinstance(layer, ours.Dropout):
        return function_layers.Dropout(layer.p)
    held = Module()
    held._kind = type(layer).__name__
    return held


class _Projection(Linear):
    """The last layer of an attention, which PyTorch gives a name of its own."""

    def _get_name(self) -> str:
        return "NonDynamicallyQuantizableLinear"
