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
assert scipy.special.expit is special_function("expit") is scipy.special._special_ufuncs.expit
module = scipy.special._special_ufuncs
assert module.__spec__.origin == module.__file__ and module.__spec__.loader is module.__loader__
assert repr(scipy.linalg.cython_blas.__pyx_capi__["dgemm"]) == repr(capsule)
assert gt.grad(lambda x: np.sum(scipy.special.expit(x)))(np.zeros(2)).tolist() == [0.25, 0.25]
"""
ORDERS = {
    "SciPy first": "import scipy.special, gradtape as gt",
    "gradtape first": "import gradtape as gt, scipy.special",
    "gradtape used first": "import numpy, gradtape as gt; gt.sigmoid(gt.tensor(0.0)); import scipy.special",
    "SciPy's module first": "import scipy.special._special_ufuncs, gradtape as gt",
    "gradtape, then SciPy's module": (
        "import gradtape as gt; gt.sigmoid(gt.tensor(0.0)); import scipy.special._special_ufuncs"
    ),
}
DISPATCHES = """
import numpy as np
import pickle
from gradtape.extension import special_function
for name in ("expit", "erf", "gammaln"):
    ufunc = getattr(scipy.special, name)
    assert special_function(name) is ufunc is pickle.loads(pickle.dumps(ufunc))
    slope = gt.grad(lambda x: np.sum(ufunc(x)))(np.full(2, 0.5))
    assert abs(slope[0] - (ufunc(0.5 + 1e-6) - ufunc(0.5 - 1e-6)) / 2e-6) < 1e-8
"""


@pytest.mark.parametrize("order", ORDERS)
def test_ufuncs_of_scipy_dispatch_whatever_is_imported_first(order: str) -> None:
    """scipy.special's functions are the ones that have rules, in whichever order the two are imported and used."""
    program = ORDERS[order] + DISPATCHES
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_module_imported_meanwhile_is_the_one_that_is_used() -> None:
    """Where another thread has imported the module while it was being loaded alone, there is no second one."""
    present = sys.modules["scipy.special._special_ufuncs"]
    assert extension._alone("scipy.special._special_ufuncs") is present
    assert sys.modules["scipy.special._special_ufuncs"] is present


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
