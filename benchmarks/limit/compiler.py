"""Builds the hand-written C++ anchors with g++ where there is one, and calls them with NumPy arrays."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

SOURCES = Path(__file__).resolve().parent / "anchors"
FLAGS = (
    "-O3",
    "-march=native",
    "-mprefer-vector-width=512",  # as wide as the processor's, if that is less
    "-ffast-math",
    "-Wno-psabi",
    "-fopenmp",
    "-std=c++17",
    "-fPIC",
)
LINK = ("-shared", "-fopenmp")
"""Without -ffast-math: a library that is linked with it makes the whole process round subnormal numbers to zero."""
LIBRARIES = ("-lmvec", "-lm")
# the members of `Routines` in anchors/blas.h, in its order
BLAS = ("dgemm", "sgemm")
LAPACK = ("dgetrf", "dgetrs", "dpotrf", "dlauum", "dpotrs")
BLAS_AFTER = ("dtrmm",)


_IGNORED = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda threads: None)
"""Called in the place of a missing `set_num_threads`."""


def compiler() -> str | None:
    """The path of g++, or of what CXX names; None without one."""
    return shutil.which(os.environ.get("CXX", "g++"))


def missing() -> str:
    """What the anchors need and this machine does not have, as a sentence; "" if nothing is missing."""
    if compiler() is None:
        return "no C++ compiler: install g++ or name one in CXX"
    if not {"avx2", "fma"} <= set(_processor().split()):
        return "the processor has no AVX2, which the hand-written programs are for"
    return ""


def has_anchor(name: str) -> bool:
    """Whether there is a hand-written program for the workload."""
    return (SOURCES / f"{name}.cpp").exists()


def cache_folder() -> Path:
    """Where shared libraries are kept from one run to the next."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gradtape-limit"


def build(name: str, flags: Sequence[str] = FLAGS) -> Path:
    """The shared library of `anchors/<name>.cpp`, built unless the same text was built with the same flags before."""
    if missing():
        raise RuntimeError(missing())
    command = [str(compiler()), *flags]
    if name == "call":
        command += [f"-I{sysconfig.get_paths()['include']}", f"-I{numpy.get_include()}"]
    text = "\n".join(
        [*command, *LINK, _processor(), *(file.read_text() for file in (*SOURCES.glob("*.h"), SOURCES / f"{name}.cpp"))]
    )
    target = cache_folder() / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.so"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_suffix(f".{os.getpid()}")
        compiled = unfinished.with_suffix(f"{unfinished.suffix}.o")
        command += ["-c", str(SOURCES / f"{name}.cpp"), "-o", str(compiled)]
        for each in (command, [command[0], *LINK, str(compiled), "-o", str(unfinished), *LIBRARIES]):
            done = subprocess.run(each, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"{' '.join(each)} failed:\n{done.stderr}")
        compiled.unlink()
        unfinished.replace(target)
    return target


def _processor() -> str:
    """What `-march=native` depends on: the line of flags in /proc/cpuinfo, or nothing."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line for line in lines if line.startswith("flags")), "")


class Anchor:
    """A built anchor: `bound(arrays, positions)` is a function of the arrays that gives value and gradients."""

    def __init__(self, name: str, flags: Sequence[str] = FLAGS) -> None:
        self.library = ctypes.CDLL(str(build(name, flags)))
        self.library.anchor_bytes.restype = ctypes.c_int64
        if hasattr(self.library, "anchor_routines"):
            self.library.anchor_routines(_routines())
        self.call = _load_call(build("call", flags))

    def bound(self, arrays: Sequence[numpy.ndarray], positions: Sequence[int]) -> Callable[..., Any]:
        """The anchor for arrays of these shapes, with gradients by those at `positions`."""
        address = ctypes.cast(self.library.anchor, ctypes.c_void_p).value
        sizes = tuple(extent for array in arrays for extent in array.shape)
        bound: Callable[..., Any] = self.call.bind(address, len(arrays), tuple(positions), sizes)
        return bound

    @property
    def bytes(self) -> int:
        """Working memory, without the results."""
        kept: int = self.library.anchor_bytes()
        return kept


def _load_call(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("call", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _routines() -> Any:
    """The addresses that `anchor_routines` takes."""
    from scipy.linalg import cython_blas, cython_lapack

    found = [_address(cython_blas, name) for name in BLAS]
    found += [_address(cython_lapack, name) for name in LAPACK]
    found += [_address(cython_blas, name) for name in BLAS_AFTER]
    found.append(_thread_setter())
    return (ctypes.c_void_p * len(found))(*found)


def _address(module: Any, name: str) -> int | None:
    capsule = module.__pyx_capi__[name]
    get_name, get_pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address: int | None = get_pointer(capsule, get_name(capsule))
    return address


def _thread_setter() -> int | None:
    """OpenBLAS's function that sets its number of threads, where SciPy carries OpenBLAS; else one that does nothing."""
    import scipy

    folder = Path(scipy.__file__).parent.parent / "scipy.libs"
    for path in folder.glob("*openblas*"):
        library = ctypes.CDLL(str(path))
        for name in ("scipy_openblas_set_num_threads", "openblas_set_num_threads"):
            if hasattr(library, name):
                return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    return ctypes.cast(_IGNORED, ctypes.c_void_p).value
