"""Modules of modules: Sequential, ModuleList, ModuleDict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gradtape.errors import OperandError
from gradtape.extend import argument_error
from gradtape.nn.module import Module


def _checked(kind: str, module: Any) -> Module:
    if isinstance(module, Module):
        return module
    what, fix = f"a {type(module).__name__}", "gt.nn.Lambda(f) around a function"
    if isinstance(module, type):
        what, fix = f"the class {module.__name__}", f"{module.__name__}(...), with brackets"
    elif isinstance(module, list | tuple):
        fix = f"{kind}(*modules), with a star" if kind == "Sequential" else "one list of modules, not several"
    raise argument_error(OperandError, f"{kind}: {what} is given; modules are accepted.", fix)


def _checked_name(kind: str, name: Any) -> str:
    """`name`, if a module can be an attribute of that name."""
    if isinstance(name, str) and name and "." not in name and name not in dir(Module()):
        return name
    raise argument_error(
        OperandError,
        f"{kind}: a module cannot be called {name!r}.",
        "a text without dots that is no attribute of gt.nn.Module",
    )


class _Listed(Module, ABC):
    """Modules under the names "0", "1", ..."""

    def _names(self) -> list[str]:
        return [name for name, _ in self.named_children()]

    def __len__(self) -> int:
        return len(self._names())

    def __iter__(self) -> Iterator[Module]:
        return self.children()

    def __getitem__(self, index: Any) -> Any:
        names = self._names()
        if isinstance(index, slice):
            return type(self)._of([getattr(self, name) for name in names[index]])
        try:
            return getattr(self, names[index])
        except IndexError:
            raise IndexError(f"{type(self).__name__} has {len(names)} modules, and no number {index}") from None

    def __setitem__(self, index: int, module: Module) -> None:
        vars(self)[self._names()[index]] = _checked(type(self).__name__, module)

    @classmethod
    @abstractmethod
    def _of(cls, modules: list[Module]) -> Any:
        """A container of the same kind with other modules."""

    def append(self, module: Module) -> Any:
        """Add a module at the end; returns the container."""
        vars(self)[str(len(self))] = _checked(type(self).__name__, module)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Add modules at the end; returns the container."""
        if not isinstance(modules, Iterable):
            raise argument_error(
                OperandError,
                f"{type(self).__name__}: a {type(modules).__name__} is given; a list of modules is accepted.",
                "[make() for _ in range(number)], each with numbers of its own",
            )
        for module in modules:
            self.append(module)
        return self


class Sequential(_Listed):
    """One module after the other; given as arguments, or as one dictionary with names.

    >>> import numpy as np, gradtape as gt
    >>> model = gt.nn.Sequential(gt.nn.Dense(2, 8), gt.nn.Tanh(), gt.nn.Dense(8, 1))
    >>> model.initialise(np.random.default_rng(0))(np.ones((3, 2), np.float32)).shape
    (3, 1)
    >>> model
    Sequential(
      (0): Dense(2, 8)
      (1): Tanh()
      (2): Dense(8, 1)
    )
    """

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            for name, module in modules[0].items():
                vars(self)[_checked_name("Sequential", name)] = _checked("Sequential", module)
        else:
            self.extend([_checked("Sequential", module) for module in modules])

    @classmethod
    def _of(cls, modules: list[Module]) -> Any:
        return cls(*modules)

    def forward(self, x: Any) -> Any:
        """The modules applied one after the other."""
        for module in self:
            x = module(x)
        return x


class ModuleList(_Listed):
    """A list of modules, to be called as `forward` sees fit.

    >>> import numpy as np, gradtape as gt
    >>> layers = gt.nn.ModuleList([gt.nn.Dense(2, 2, rng=np.random.default_rng(0)) for _ in range(3)])
    >>> len(layers), len(layers.parameters())
    (3, 6)
    """

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        self.extend(modules)

    @classmethod
    def _of(cls, modules: list[Module]) -> Any:
        return cls(modules)


class ModuleDict(Module):
    """Modules by name.

    >>> import numpy as np, gradtape as gt
    >>> heads = gt.nn.ModuleDict({"value": gt.nn.Dense(2, 1), "policy": gt.nn.Dense(2, 3)})
    >>> list(heads), heads["policy"]
    (['value', 'policy'], Dense(2, 3))
    """

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        if not isinstance(modules, Mapping | None):
            raise argument_error(
                OperandError,
                f"ModuleDict: a {type(modules).__name__} is given; a dictionary of modules is accepted.",
                'ModuleDict({"name": module}), or a ModuleList for those without names',
            )
        for name, module in (modules or {}).items():
            self[name] = module

    def __setitem__(self, name: str, module: Module) -> None:
        vars(self)[_checked_name("ModuleDict", name)] = _checked("ModuleDict", module)

    def __getitem__(self, name: str) -> Module:
        found = vars(self).get(name)
        if not isinstance(found, Module):
            raise KeyError(f"{name!r}; there are {', '.join(map(repr, self)) or 'none'}")
        return found

    def __len__(self) -> int:
        return len(list(self.named_children()))

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.named_children())

    def __contains__(self, name: object) -> bool:
        return isinstance(vars(self).get(str(name)), Module)

    def keys(self) -> list[str]:
        """The names."""
        return list(self)

    def values(self) -> list[Module]:
        """The modules."""
        return list(self.children())

    def items(self) -> list[tuple[str, Module]]:
        """Names and modules."""
        return list(self.named_children())
