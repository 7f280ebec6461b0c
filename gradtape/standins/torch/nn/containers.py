"""Modules of modules: Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from gradtape.standins.torch.nn.module import Module
from gradtape.standins.torch.nn.parameter import Parameter


class _Listed(Module):
    """Modules by number."""

    def _name(self, index: int) -> str:
        place = operator.index(index)
        if not -len(self) <= place < len(self):
            raise IndexError(f"index {place} is out of range: there are {len(self)} modules")
        return list(self._modules)[place]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(*self._as_arguments(list(self._modules.values())[index]))
        return self._modules[self._name(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        self._modules[self._name(index)] = module

    def __delitem__(self, index: int) -> None:
        del self._modules[self._name(index)]
        rest = list(self._modules.values())
        self._modules.clear()
        self._modules.update({str(place): module for place, module in enumerate(rest)})

    def _as_arguments(self, modules: list[Any]) -> list[Any]:
        return [modules]

    def append(self, module: Module) -> Any:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Add modules at the end."""
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Put a module in front of another."""
        rest = list(self._modules.values())
        rest.insert(index, module)
        self._modules.clear()
        self._modules.update({str(place): each for place, each in enumerate(rest)})
        return self


class Sequential(_Listed):
    """Modules one after the other: each is called with what the one before returned."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], (dict, OrderedDict)):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for place, module in enumerate(args):
                self.add_module(str(place), module)

    def _as_arguments(self, modules: list[Any]) -> list[Any]:
        return modules

    def forward(self, input: Any) -> Any:
        for module in self:
            input = module(input)
        return input

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Sequential:
        self.extend(other)
        return self

    def __mul__(self, times: int) -> Sequential:
        return Sequential(*[module for _ in range(times) for module in self])

    def pop(self, key: int) -> Any:
        """Take a module out; it is returned."""
        taken = self[key]
        del self[key]
        return taken


class DataParallel(Module):
    """A module that PyTorch would spread over several devices; there is one here."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


class ModuleList(_Listed):
    """Modules in a list."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def __repr__(self) -> str:
        """Neighbours that print the same are told together: `(0-2): 3 x Linear(...)`."""
        texts = [repr(module) for module in self]
        if not texts:
            return "ModuleList()"
        groups: list[list[int]] = []
        for place, text in enumerate(texts):
            if groups and texts[groups[-1][0]] == text:
                groups[-1].append(place)
            else:
                groups.append([place])
        lines = []
        for group in groups:
            first, last = group[0], group[-1]
            text = texts[first].replace("\n", "\n  ")
            lines.append(f"({first}): {text}" if first == last else f"({first}-{last}): {len(group)} x {text}")
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """Modules in a dictionary."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        self.update(modules or {})

    def update(self, modules: Any) -> None:
        """Add modules, or replace those of the same names."""
        for name, module in modules.items() if hasattr(modules, "items") else modules:
            self.add_module(name, module)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def values(self) -> Iterable[Any]:
        """The modules."""
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and modules."""
        return self._modules.items()


class ParameterList(Module):
    """Parameters in a list."""

    def __init__(self, values: Any = None) -> None:
        super().__init__()
        for value in values or ():
            self.append(value)

    def append(self, value: Any) -> ParameterList:
        """Add a parameter at the end."""
        self.register_parameter(str(len(self)), value if isinstance(value, Parameter) else Parameter(value))
        return self

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())

    def __getitem__(self, index: int) -> Any:
        return list(self._parameters.values())[index]

    def extra_repr(self) -> str:
        return "\n".join(_described(name, value, True) for name, value in self._parameters.items())


class ParameterDict(Module):
    """Parameters in a dictionary."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        for name, value in (parameters or {}).items():
            self[name] = value

    def __getitem__(self, key: str) -> Any:
        return self._parameters[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.register_parameter(key, value if isinstance(value, Parameter) else Parameter(value))

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __contains__(self, key: str) -> bool:
        return key in self._parameters

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._parameters.keys()

    def values(self) -> Iterable[Any]:
        """The parameters."""
        return self._parameters.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and parameters."""
        return self._parameters.items()

    def extra_repr(self) -> str:
        return "\n".join(_described(name, value, False) for name, value in self._parameters.items())


def _described(name: str, value: Any, listed: bool) -> str:
    size = "x".join(str(n) for n in value.shape)
    kind = f"torch.{value.dtype.name}" if listed else value.type()
    return f"  ({name}): Parameter containing: [{kind} of size {size}]"
