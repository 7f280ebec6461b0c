"""Compiled modules of SciPy's by themselves: the packages around them take 0.2 s to import, and these 2 ms."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gradtape.forking import fork_safe

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

_lock = fork_safe(threading.Lock())


def compiled_module(name: str) -> Any:
    """SciPy's compiled module of that name: without its package, unless somebody has loaded that already.

    What it holds are the same objects that the package offers when it is imported later.

    >>> from gradtape.extension import compiled_module
    >>> gemm = compiled_module("scipy.linalg.cython_blas").__pyx_capi__["dgemm"]
    >>> import scipy.linalg.cython_blas
    >>> scipy.linalg.cython_blas.__pyx_capi__["dgemm"] is gemm
    True
    """
    package, _, _ = name.rpartition(".")
    if package not in sys.modules:
        try:
            with _lock:
                return _alone(name)
        except (ImportError, OSError):
            pass  # the package may know what was missing
    return importlib.import_module(name)


@cache
def special_function(name: str) -> Any:
    """`scipy.special`'s function of that name.

    >>> from gradtape.extension import special_function
    >>> float(special_function("expit")(0.0))
    0.5
    """
    try:
        found = getattr(compiled_module("scipy.special._special_ufuncs"), name, None)
    except ImportError:  # an older SciPy, that has them elsewhere
        found = None
    return getattr(importlib.import_module("scipy.special"), name) if found is None else found


class _LoadedModules:
    """A finder and loader that gives a package, imported later, the modules that were loaded without it.

    A module with multi-phase initialisation (of SciPy 1.18, `_special_ufuncs`) makes new objects each time it is
    loaded: `scipy.special.expit` would be another ufunc than the one that has a gradient rule here.
    """

    def __init__(self) -> None:
        self.modules: dict[str, ModuleType] = {}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        module = self.modules.get(fullname)
        if module is None or module.__spec__ is None:
            return None
        loader: Any = self
        return type(module.__spec__)(fullname, loader, origin=module.__spec__.origin, loader_state=module.__spec__)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.modules.pop(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """It has been executed; only its own spec, which the import has replaced, is put back."""
        module.__spec__ = getattr(module.__spec__, "loader_state", None)


_loaded = _LoadedModules()


def _alone(name: str) -> Any:
    import importlib.machinery
    import importlib.util

    if name in _loaded.modules:
        return _loaded.modules[name]
    top, *packages, last = name.split(".")
    found = importlib.util.find_spec(top)  # which does not run it
    if found is None or found.origin is None:
        raise ImportError(name)
    folder = os.path.join(os.path.dirname(found.origin), *packages)
    paths = [os.path.join(folder, last + ending) for ending in importlib.machinery.EXTENSION_SUFFIXES]
    path = next((path for path in paths if os.path.exists(path)), None)
    spec = None if path is None else importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if name.rpartition(".")[0] in sys.modules:  # another thread has begun to import the package meanwhile
        return importlib.import_module(name)
    sys.modules.pop(name, None)  # so that the package, imported later, keeps it the usual way
    _loaded.modules[name] = module
    if _loaded not in sys.meta_path:
        sys.meta_path.insert(0, _loaded)
    return module
