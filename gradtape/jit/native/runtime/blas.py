"""Addresses of BLAS and LAPACK functions, from the capsules that SciPy exports for Cython."""

from __future__ import annotations

import ctypes
from typing import Any

from gradtape.extension import compiled_module
from gradtape.jit.native.runtime.llvm import once

_BLAS, _LAPACK = "scipy.linalg.cython_blas", "scipy.linalg.cython_lapack"
FUNCTIONS = ("dgemm", "sgemm", "dgemv", "sgemv", "dtrmm", "strmm", "dtrsm", "strsm")
FACTORISATIONS = ("dgetrf", "sgetrf", "dgetrs", "sgetrs", "dpotrf", "spotrf", "dtrtrs", "strtrs")


@once
def addresses() -> dict[str, int]:
    """Name -> address of the BLAS functions; empty if the BLAS of SciPy does not use C's int for integers.

    >>> from gradtape.jit.native.runtime.blas import FUNCTIONS, addresses
    >>> sorted(addresses()) in ([], sorted(FUNCTIONS))
    True
    """
    return _find_addresses(_BLAS, FUNCTIONS)


@once
def factorisations() -> dict[str, int]:
    """Name -> address of the LAPACK functions, likewise.

    >>> from gradtape.jit.native.runtime.blas import FACTORISATIONS, factorisations
    >>> sorted(factorisations()) in ([], sorted(FACTORISATIONS))
    True
    """
    return _find_addresses(_LAPACK, FACTORISATIONS)


def _find_addresses(module: str, names: tuple[str, ...]) -> dict[str, int]:
    capsules: dict[str, Any] = compiled_module(module).__pyx_capi__
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    found = {}
    for name in names:
        signature = get_name(capsules[name])
        if not signature.startswith((b"void (char *, ", b"void (int *, ")) or b"int *, " not in signature:
            return {}
        found[name] = int(get_pointer(capsules[name], signature))
    return found
