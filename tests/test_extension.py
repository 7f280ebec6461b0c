"""Compiled modules of SciPy's without the packages around them."""

from __future__ import annotations

import subprocess
import sys
import types
from typing import Any

import pytest
import scipy.linalg.cython_blas
import scipy.special

from gradtape import extension

ALONE = """
import sys
import numpy as np
import gradtape as gt
from gradtape.extension import compiled_module

gradient = gt.grad(lambda x: np.sum(gt.sigmoid(x)))(np.zeros(2))
assert gradient.tolist() == [0.25, 0.25]
assert not any(name.startswith("scipy.special") for name in sys.modules)
capsule = compiled_module("scipy.linalg.cython_blas").__pyx_capi__["dgemm"]
assert "scipy.linalg" not in sys.modules
import scipy.linalg.cython_blas
import scipy.special
from gradtape.extension import special_function
assert scipy.special.expit is special_function("expit")
assert repr(scipy.linalg.cython_blas.__pyx_capi__["dgemm"]) == repr(capsule)
assert gt.grad(lambda x: np.sum(scipy.special.expit(x)))(np.zeros(2)).tolist() == [0.25, 0.25]
"""


def test_packages_are_not_imported_and_work_afterwards() -> None:
    """A function of SciPy's is had without its package, which has the same one when it is imported after all."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", ALONE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_functions_are_those_of_the_package() -> None:
    """Whatever is loaded already is used, functions that are written in Python included."""
    for name in ("expit", "erf", "gammaln", "zeta", "factorial"):
        assert extension.special_function(name) is getattr(scipy.special, name)
    assert extension.compiled_module("scipy.linalg.cython_blas") is scipy.linalg.cython_blas


def test_what_is_not_found_alone_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a module cannot be loaded by itself, its package is imported."""

    def failing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(extension, "_alone", failing)
    monkeypatch.setattr(extension, "sys", types.SimpleNamespace(modules={}))  # as if nothing had been loaded
    assert extension.compiled_module("scipy.linalg.cython_blas") is scipy.linalg.cython_blas
    with pytest.raises(ImportError):
        extension.compiled_module("scipy.no_such_package.no_such_module")
