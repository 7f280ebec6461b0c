"""Which classes, modules and objects belong to libraries: these are not surveyed, or only by the names in the code."""

from __future__ import annotations

import functools
import sys
import types
import weakref
from collections import deque
from threading import local
from typing import Any

import numpy as np

from gradtape.core.location import is_library, is_own_file, is_own_module
from gradtape.core.tensor import Tensor
from gradtape.jit.guards.holders import BOUND, COPIED, NAMED_ONLY, is_of_library

_OPAQUE = ("numpy", "scipy", "gradtape.core", "gradtape.ops", "gradtape.explain", "gradtape.numpy_dispatch.protocols")
_KERNEL = ("gradtape.core", "gradtape.ops", "gradtape.explain", "gradtape.numpy_dispatch.protocols")
_CONSTANT_MODULES = ("numpy", "scipy", "math", "cmath", "builtins", "typing", "collections", "__future__")
_TOOLS = ("pytest", "_pytest", "coverage", "hypothesis")
_CONTAINERS = (list, tuple, dict, deque, types.MethodType, functools.partial, weakref.ref, *BOUND)


def is_opaque(value: Any) -> bool:
    """Whether the content of a value is not surveyed: objects of the kernel, and globals of libraries."""
    if isinstance(value, types.FunctionType):
        return _is_within(value.__module__, (*_OPAQUE, *_TOOLS))
    module = type(value).__module__
    if _is_within(module, _KERNEL) or _is_stand_in(type(value)) or getattr(type(value), "is_opaque_to_jit", False):
        return True
    is_plain = not isinstance(value, _CONTAINERS) and not is_own_module(str(module))
    return is_plain and is_library_class(type(value)) and is_of_library(value)


def may_be_copied(value: Any) -> bool:
    """Whether a copy of an object may hold traced tensors. Not for libraries, whose code would receive them."""
    kind = type(value)
    if isinstance(value, types.FunctionType):  # `functools.singledispatch` caches what it has called
        return value.__code__.co_filename != functools.__file__
    if hasattr(kind, "traced_function"):
        return True
    if isinstance(value, weakref.ref):
        return kind is weakref.ref
    if isinstance(value, _CONTAINERS):
        return True
    if isinstance(value, local | BaseException | np.ndarray):
        return False
    if (
        isinstance(value, set | frozenset)
        or kind in COPIED
        or kind.__module__ == "argparse"
        or is_own_module(kind.__module__)
    ):
        return True
    return not is_library_class(kind) and not is_installed(kind)


def is_heap_object(item: Any) -> bool:
    """Whether `__class__` of an object can be assigned."""
    return not is_library_class(type(item)) and not issubclass(type(item), Tensor)


def is_named_only(value: Any) -> bool:
    """Whether only the attributes of an object are compared that the code mentions."""
    return isinstance(getattr(value, "__dict__", None), dict) and _is_within(type(value).__module__, NAMED_ONLY)


def is_data(value: Any) -> bool:
    """Whether a global of a library is a value: all else is the library's own code."""
    return not isinstance(value, types.ModuleType | types.FunctionType | types.BuiltinFunctionType | type)


def _is_within(module: Any, names: tuple[str, ...]) -> bool:
    return any(module == name or str(module).startswith(f"{name}.") for name in names)


def is_library_class(kind: type) -> bool:
    """Whether a class is of a library (see `is_library`), or a stand-in of gradtape's for one of a library."""
    module = sys.modules.get(kind.__module__)
    return _is_stand_in(kind) if module is None else is_library_module(module)


def _is_stand_in(kind: type) -> bool:
    """Whether a class is one of gradtape's that goes by the name of another library's module."""
    if kind.__module__ in sys.modules:
        return False
    functions = (member for base in kind.__mro__ for member in vars(base).values())
    first = next((function for function in functions if isinstance(function, types.FunctionType)), None)
    return first is not None and is_own_file(first.__code__.co_filename)


def is_installed(kind: type) -> bool:
    """Whether a class is of a package that was installed, and is not the user's own code."""
    return "-packages" in str(getattr(sys.modules.get(kind.__module__), "__file__", None))


@functools.cache
def _is_library_path(path: str) -> bool:
    return is_library(path)


def is_library_module(module: types.ModuleType) -> bool:
    """Whether a module is of a library (see `is_library`), or built into Python."""
    path = getattr(module, "__file__", None)
    if path is not None:
        return _is_library_path(path)
    spec = getattr(module, "__spec__", None)
    return module.__name__ in sys.builtin_module_names or getattr(spec, "origin", None) in ("built-in", "frozen")


def is_constant_module(module: types.ModuleType) -> bool:
    """Whether a module is of functions and constants only, which are taken to stay as they are."""
    name = module.__name__
    if _is_within(name, _TOOLS):
        return True
    return is_library_module(module) and (_is_within(name, _CONSTANT_MODULES) or is_own_module(name))
