"""Compiled modules of SciPy's by themselves: the packages around them take 0.2 s to import, and these 2 ms."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from functools import cache
from typing import Any

from gradtape.forking import fork_safe

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


def _alone(name: str) -> Any:
    import importlib.machinery
    import importlib.util

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
    sys.modules.pop(name, None)  # so that the package, imported later, finds and keeps it the usual way
    return module
