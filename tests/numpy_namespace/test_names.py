"""The names of `gradtape.numpy`: all of NumPy's, with the same signatures."""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import Any

import numpy
import numpy.lib.stride_tricks
import numpy.polynomial.polyutils
import numpy.testing
import pytest

import gradtape.numpy as np

MODULES = (
    *("numpy", "numpy.linalg", "numpy.fft", "numpy.random", "numpy.testing", "numpy.emath", "numpy.lib"),
    *("numpy.lib.stride_tricks", "numpy.polynomial", "numpy.polynomial.polynomial", "numpy.polynomial.chebyshev"),
    *("numpy.polynomial.hermite", "numpy.polynomial.hermite_e", "numpy.polynomial.laguerre"),
    *("numpy.polynomial.legendre", "numpy.polynomial.polyutils"),
)


def module_of(name: str) -> ModuleType:
    """The module of NumPy's with this name, which may be one of several names."""
    module: Any = numpy
    for part in name.split(".")[1:]:
        module = getattr(module, part)
    return module


def public(module: ModuleType) -> list[str]:
    """The public names of a module."""
    return [name for name in dir(module) if not name.startswith("_")]


def signature(function: Any) -> list[tuple[str, Any]] | None:
    """The names and kinds of the parameters, if the function tells them."""
    try:
        return [(parameter.name, parameter.kind) for parameter in inspect.signature(function).parameters.values()]
    except (ValueError, TypeError):
        return None


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_is_there(name: str) -> None:
    """Each public name of NumPy's module is one of ours: a function for a function, with the same parameters."""
    theirs = module_of(name)
    ours = importlib.import_module(f"gradtape.{name}") if name != "numpy.emath" else np.emath
    assert set(public(theirs)) - set(dir(ours)) == set()
    for each in public(theirs):
        found, original = getattr(ours, each), getattr(theirs, each)
        assert callable(found) is callable(original), each
        if isinstance(original, type):
            assert isinstance(found, type), each
        elif callable(original) and (expected := signature(original)) is not None:
            assert signature(found) == expected, each


def test_unknown_names_are_refused() -> None:
    """A name that NumPy does not have is no name of ours, and the error says so."""
    for module in (np, np.linalg, np.fft, np.random, np.testing, np.lib, np.emath, np.polynomial):
        with pytest.raises(AttributeError):
            module.no_such_name  # noqa: B018
    with pytest.raises(AttributeError, match="neither has numpy"):
        np.trapezoidal  # noqa: B018


def test_what_numpy_lists_is_imported_by_star() -> None:
    """`from gradtape.numpy import *` gives the names that NumPy's gives."""
    assert {name for name in numpy.__all__ if not name.startswith("_")} == set(np.__all__)
    assert all(hasattr(np, name) for name in np.__all__)


def test_modules_are_attributes() -> None:
    """Modules that take tensors are ours, the others are NumPy's."""
    assert np.linalg.__name__ == "gradtape.numpy.linalg"
    assert np.ma is numpy.ma
    assert isinstance(np.sin, np.ufunc)
    assert isinstance(numpy.sin, np.ufunc)
    assert not isinstance(np.sum, np.ufunc)
    assert np.__version__ == numpy.__version__
