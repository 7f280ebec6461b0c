"""Addresses of BLAS functions, from the capsules that SciPy offers to compiled code."""

from __future__ import annotations

import ctypes
import importlib
import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from typing import Any

from gradtape.jit.native.compiler import once

_NAME = "scipy.linalg.cython_blas"
FUNCTIONS = ("dgemm", "sgemm", "dgemv", "sgemv")


@once
def addresses() -> dict[str, int]:
    """The address of each function, by its name; none where SciPy's BLAS counts with other integers than C's int.

    >>> from gradtape.jit.native.blas import addresses
    >>> sorted(addresses()) in ([], ["dgemm", "dgemv", "sgemm", "sgemv"])
    True
    """
    capsules: dict[str, Any] = _module().__pyx_capi__
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    found = {}
    for name in FUNCTIONS:
        signature = get_name(capsules[name])
        if not signature.startswith(b"void (char *, ") or b" int *, " not in signature:
            return {}
        found[name] = int(get_pointer(capsules[name], signature))
    return found


def _module() -> Any:
    """SciPy's module of BLAS functions, by itself if nobody has loaded the package around it, which takes 0.2 s."""
    if "scipy.linalg" in sys.modules:
        return importlib.import_module(_NAME)
    try:
        return _alone()
    except (ImportError, OSError, StopIteration):
        return importlib.import_module(_NAME)


def _alone() -> Any:
    import scipy

    folder = Path(scipy.__file__).parent / "linalg"
    endings = tuple(importlib.machinery.EXTENSION_SUFFIXES)
    path = next(str(path) for path in folder.glob("cython_blas*") if path.name.endswith(endings))
    spec = importlib.util.spec_from_file_location(_NAME, path)
    if spec is None or spec.loader is None:
        raise ImportError(_NAME)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules.pop(_NAME, None)  # so that the package, imported later, finds and keeps it the usual way
    return module
