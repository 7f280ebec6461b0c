"""`torch.nn.utils.parametrize`: tensors of a module that are computed from others whenever they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.torch.nn.containers import ModuleDict, ModuleList
from gradtape_standins.torch.nn.module import Module
from gradtape_standins.torch.nn.parameter import Parameter
from gradtape_standins.torch.tensor import Tensor

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "type_before_parametrizations",
]

_kept: list[dict[tuple[int, str], Any]] = []
"""What was computed within blocks of `cached`, the innermost last."""


@contextmanager
def cached() -> Iterator[None]:
    """Within the block, every parametrised tensor is computed once."""
    _kept.append({})
    try:
        yield
    finally:
        _kept.pop()


class ParametrizationList(ModuleList):
    """The functions that make a tensor, one after the other, and the tensor (or tensors) they begin with."""

    def __init__(self, modules: list[Module], original: Tensor) -> None:
        super().__init__(modules)
        self.is_tensor = True
        with gt.no_grad():
            new: Any = original
            for module in reversed(modules):
                if hasattr(module, "right_inverse"):
                    new = module.right_inverse(new)
        if isinstance(new, Tensor):
            self._set("original", new, original)
        else:
            self.is_tensor, self.ntensors = False, len(new)
            for number, part in enumerate(new):
                self._set(f"original{number}", part, original)

    def _set(self, name: str, tensor: Tensor, like: Tensor) -> None:
        if isinstance(like, Parameter):
            self.register_parameter(name, Parameter(tensor.detach(), like.requires_grad))
        else:
            self.register_buffer(name, tensor.detach())

    def right_inverse(self, value: Tensor) -> None:
        """Have the functions make `value`, as far as they can be turned round."""
        with gt.no_grad():
            new: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse.\n"
                        "  fix: a method right_inverse(self, value) that returns what forward makes the value of"
                    )
                new = module.right_inverse(new)
            parts = [new] if self.is_tensor else list(new)
            for name, part in zip(self._names(), parts, strict=True):
                getattr(self, name).data = part.detach()

    def _names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{number}" for number in range(self.ntensors)]

    def forward(self) -> Any:
        """The parametrized value, computed from the original ones."""
        value = [getattr(self, name) for name in self._names()]
        for module in self:
            value = [module(*value)]
        return value[0]


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has computed tensors, or one of that name."""
    held = module._modules.get("parametrizations")
    if not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def type_before_parametrizations(module: Module) -> type:
    """The class of a module without its computed tensors."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def register_parametrization(module: Any, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Any:
    """Have `parametrization` compute a parameter or buffer of a module from then on; returns the module."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        chain = module.parametrizations[tensor_name]
        if hasattr(parametrization, "right_inverse"):
            value = getattr(module, tensor_name).detach()
            chain.append(parametrization)
            chain.right_inverse(value)
        else:
            chain.append(parametrization)
        return module
    if tensor_name in module._parameters:
        original = module._parameters[tensor_name]
    elif tensor_name in module._buffers:
        original = module._buffers[tensor_name]
    else:
        raise ValueError(
            f"Module '{type(module).__name__}' does not have a parameter, a buffer, or a parametrized element with "
            f"name '{tensor_name}'"
        )
    chain = ParametrizationList([parametrization], original)
    if not unsafe:
        _check(chain, parametrization, original)
    if not is_parametrized(module):
        module.__class__ = type(f"Parametrized{type(module).__name__}", (type(module),), {})
        module.parametrizations = ModuleDict()
    module._forget(tensor_name)
    module.parametrizations[tensor_name] = chain
    _inject(type(module), tensor_name)
    return module


def _check(chain: ParametrizationList, parametrization: Module, original: Tensor) -> None:
    with gt.no_grad():
        made = chain()
    if not isinstance(made, Tensor) or made.dtype != original.dtype or made.shape != original.shape:
        what = f"shape {tuple(made.shape)} and {made.dtype}" if isinstance(made, Tensor) else f"a {type(made).__name__}"
        raise ValueError(
            f"Registering a parametrization may not change the shape or the type of the tensor: "
            f"{type(parametrization).__name__} makes {what} of shape {tuple(original.shape)} and {original.dtype}.\n"
            "  fix: unsafe=True says that it is meant"
        )


def _inject(kind: Any, name: str) -> None:
    """Give a class a property that computes the tensor, and takes a value the other way round."""

    def get(self: Any) -> Any:
        if not _kept:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _kept[-1]:
            _kept[-1][key] = self.parametrizations[name]()
        return _kept[-1][key]

    def set_(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(kind, name, property(get, set_))


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make a computed tensor a parameter again: with its numbers, or with those it was computed from."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {type(module).__name__} does not have a parametrization on {tensor_name}")
    chain = module.parametrizations[tensor_name]
    if not leave_parametrized and not chain.is_tensor:
        raise ValueError("Cannot leave unparametrized a tensor that is computed from several")
    first = getattr(chain, chain._names()[0])
    with gt.no_grad():
        value = getattr(module, tensor_name).detach().clone() if leave_parametrized else first
    del module.parametrizations[tensor_name]
    delattr(type(module), tensor_name)
    if not len(module.parametrizations):
        base = type(module).__bases__[0]
        del module.parametrizations
        module.__class__ = base
    if isinstance(first, Parameter):
        module.register_parameter(tensor_name, Parameter(value, first.requires_grad))
    else:
        module.register_buffer(tensor_name, value)
    return module


__getattr__ = missing(__name__)
