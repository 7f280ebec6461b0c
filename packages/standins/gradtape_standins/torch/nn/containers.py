"""Modules of modules: Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from gradtape_standins.torch.nn.module import Module
from gradtape_standins.torch.nn.parameter import Parameter
from gradtape_standins.torch.tensor import Tensor


class _Listed(Module):
    """Modules by number."""

    def _name(self, index: Any) -> str:
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
            return self._of(dict(list(self._modules.items())[index]))
        return self._modules[self._name(index)]

    def _of(self, modules: dict[str, Any]) -> Any:
        """A container of this kind with some of the modules."""
        return type(self)(list(modules.values()))

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name(index), module)

    def __delitem__(self, index: Any) -> None:
        names = list(self._modules)[index] if isinstance(index, slice) else [self._name(index)]
        for name in names:
            del self._modules[name]
        self._number(list(self._modules.values()))

    def _number(self, modules: list[Any]) -> None:
        """Have these modules, under their numbers."""
        self._modules.clear()
        self._modules.update({str(place): module for place, module in enumerate(modules)})

    def append(self, module: Module) -> Any:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Add modules at the end."""
        for module in _iterable(self, "extend", modules):
            self.append(module)
        return self

    def pop(self, key: Any) -> Any:
        """Take a module out (or those of a slice); it is returned."""
        taken = self[key]
        del self[key]
        return taken


def _iterable(container: Module, name: str, given: Any, what: str = "an iterable") -> Any:
    """What was given to a method that takes several things; one that cannot be gone through is refused."""
    if not isinstance(given, Iterable) or isinstance(given, Tensor):
        raise TypeError(
            f"{type(container).__name__}.{name} should be called with {what}, but got {type(given).__name__}"
        )
    return given


class Sequential(_Listed):
    """Modules one after the other: each is called with what the one before returned."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for place, module in enumerate(args):
                self.add_module(str(place), module)

    def _of(self, modules: dict[str, Any]) -> Any:
        return type(self)(OrderedDict(modules))

    def forward(self, input: Any) -> Any:
        """The modules applied one after the other."""
        for module in self:
            input = module(input)
        return input

    def insert(self, index: int, module: Module) -> Sequential:
        """Put a module in front of another."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}, and it is a {type(module).__name__}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}; there are {len(self)} modules")
        rest = list(self._modules.values())
        rest.insert(index, module)
        self._number(rest)
        return self

    def __add__(self, other: Any) -> Sequential:
        return Sequential(*self, *self._addend(other))

    def __iadd__(self, other: Any) -> Sequential:
        self.extend(list(self._addend(other)))
        return self

    def _addend(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given.\n"
                "  fix: nn.Sequential(*modules), or extend(modules)"
            )
        return other

    def __mul__(self, times: int) -> Sequential:
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")
        return Sequential(*[module for _ in range(times) for module in self])

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Sequential:
        self._number(list(self * times))
        return self


class DataParallel(Module):
    """A module that PyTorch would spread over several devices; there is one here."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module itself: there is one device."""
        return self.module(*inputs, **kwargs)


class ModuleList(_Listed):
    """Modules in a list."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(() if modules is None else modules)

    def insert(self, index: int, module: Module) -> None:
        """Put a module in front of another."""
        rest = list(self._modules.values())
        rest.insert(index, module)
        if not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._number(rest)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *_iterable(self, "__add__", other)])

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        self.extend(list(_iterable(self, "__iadd__", modules)))
        return self

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
        self.update({} if modules is None else modules)

    def update(self, modules: Any) -> None:
        """Add modules, or replace those of the same names."""
        for name, module in _pairs(self, modules):
            self.add_module(name, module)

    def pop(self, key: str) -> Any:
        """Take a module out; it is returned."""
        taken = self[key]
        del self[key]
        return taken

    def clear(self) -> None:
        """Have no modules any more."""
        self._modules.clear()

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


def _pairs(container: Module, given: Any) -> list[tuple[str, Any]]:
    """Names and what they stand for, from a mapping or from pairs."""
    if hasattr(given, "items"):
        return list(given.items())
    found = []
    for place, pair in enumerate(_iterable(container, "update", given, "an iterable of key/value pairs")):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{type(container).__name__} update sequence element #{place} should be Iterable; is "
                f"{type(pair).__name__}"
            )
        parts = list(pair)
        if len(parts) != 2:
            raise ValueError(
                f"{type(container).__name__} update sequence element #{place} has length {len(parts)}; 2 is required"
            )
        found.append((parts[0], parts[1]))
    return found


class ParameterList(Module):
    """Parameters in a list. Tensors become parameters; what is no tensor is kept as it is."""

    def __init__(self, values: Any = None) -> None:
        super().__init__()
        self._size = 0
        self.extend(() if values is None else values)

    def append(self, value: Any) -> ParameterList:
        """Add a parameter at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add parameters at the end."""
        for value in list(_iterable(self, "extend", values)):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def _name(self, index: Any) -> str:
        place = operator.index(index)
        if not -self._size <= place < self._size:
            raise IndexError(f"index {place} is out of range: there are {self._size} parameters")
        return str(place % self._size)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[place] for place in range(self._size)])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)([self[place] for place in range(self._size)[index]])
        return getattr(self, self._name(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._name(index), _as_parameter(value))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refused: a list computes nothing."""
        raise RuntimeError("ParameterList should not be called.\n  fix: for parameter in parameters")

    def extra_repr(self) -> str:
        """A line for each parameter, with its number, type and size."""
        return "\n".join(_described(str(place), value, True) for place, value in enumerate(self))


class ParameterDict(Module):
    """Parameters in a dictionary. Tensors become parameters; what is no tensor is kept as it is."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        self.update({} if parameters is None else parameters)

    def _name(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(
                f"Index given to ParameterDict cannot be used as a key: it is a {type(key).__name__}, and not a string"
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._name(key))

    def __setitem__(self, key: str, value: Any) -> None:
        name, held = self._name(key), _as_parameter(value)
        if isinstance(held, Parameter):
            if name in self._keys:
                setattr(self, name, held)
            else:
                self.register_parameter(name, held)
        else:
            setattr(self, name, held)
        self._keys[name] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._name(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __call__(self, input: Any) -> Any:
        """Refused: a dictionary computes nothing."""
        raise RuntimeError("ParameterDict should not be called.\n  fix: parameters[name]")

    def __or__(self, other: Any) -> ParameterDict:
        return self.copy()._joined(other)

    def __ror__(self, other: Any) -> ParameterDict:
        return ParameterDict(dict(other))._joined(self)

    def __ior__(self, other: Any) -> ParameterDict:
        return self._joined(other)

    def _joined(self, other: Any) -> ParameterDict:
        self.update(other)
        return self

    def update(self, parameters: Any) -> None:
        """Add parameters, or replace those of the same names."""
        for name, value in _pairs(self, parameters):
            self[name] = value

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._keys.keys()

    def values(self) -> Iterable[Any]:
        """The parameters."""
        return [self[key] for key in self._keys]

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and parameters."""
        return [(key, self[key]) for key in self._keys]

    def get(self, key: str, default: Any = None) -> Any:
        """The parameter of a name, or `default` if there is none."""
        return self[key] if key in self._keys else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The parameter of a name, which is `default` from now on if there was none."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """Take a parameter out; it is returned."""
        taken = self[key]
        del self[key]
        return taken

    def popitem(self) -> tuple[str, Any]:
        """Take the last parameter out; its name and itself are returned."""
        key, _ = self._keys.popitem()
        taken = self[key]
        delattr(self, key)
        return key, taken

    def clear(self) -> None:
        """Have no parameters any more."""
        for key in list(self._keys):
            del self[key]

    def copy(self) -> ParameterDict:
        """Another dictionary with the same parameters."""
        return ParameterDict(dict(self.items()))

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A dictionary with one value for each of several names."""
        return ParameterDict(dict.fromkeys(keys, default))

    def extra_repr(self) -> str:
        """A line for each parameter, with its name, type and size."""
        return "\n".join(_described(name, value, False) for name, value in self.items())


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _described(name: str, value: Any, listed: bool) -> str:
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    size = "x".join(str(n) for n in value.shape)
    kind = f"torch.{value.dtype.name}" if listed else value.type()
    return f"  ({name}): Parameter containing: [{kind} of size {size}]"
