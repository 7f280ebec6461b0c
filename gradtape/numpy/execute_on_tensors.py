"""Modules of NumPy's that are written in NumPy themselves, executed with this namespace as their `numpy`.

Functions such as `numpy.polynomial.polynomial.polyval` ask whether an argument is a `numpy.ndarray`, and fill arrays
that they make with `numpy.empty`. With `gradtape.numpy` in the place of `numpy`, the same code is right for tensors.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

OURS = ("numpy", "numpy.linalg", "numpy.polynomial")
"""The modules that are replaced where such code imports them."""


def _import_ours(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
    """What `import` calls in such a module."""
    if level == 0 and name in OURS:
        ours = importlib.import_module(f"gradtape.{name}")
        return ours if fromlist else importlib.import_module("gradtape.numpy")
    return builtins.__import__(name, globals, locals, fromlist, level)


def execute_module(
    name: str, namespace: dict[str, Any]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Execute the code of a module of NumPy's for one of ours; `__getattr__`, `__dir__` and `__all__` of that.

    What the code defines is not in the namespace of ours: NumPy's examples are not tests of gradtape.
    """
    spec: Any = importlib.util.find_spec(name)
    importing: Callable[..., Any] = _import_ours
    executed: dict[str, Any] = {"__builtins__": {**vars(builtins), "__import__": importing}}
    for key in ("__name__", "__package__", "__path__", "__spec__"):
        if key in namespace:
            executed[key] = namespace[key]
    exec(spec.loader.get_code(name), executed)

    def get(name: str) -> Any:
        if name in executed and not name.startswith("__"):
            return executed[name]
        raise AttributeError(f"{namespace['__name__']} has no name {name!r}")

    def names() -> list[str]:
        return sorted({*namespace, *(name for name in executed if not name.startswith("_"))})

    return get, names, list(executed.get("__all__", ()))
