"""The programs of benchmarks/programs, eager and compiled, at their small sizes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradtape as gt


def _load_package() -> ModuleType:
    path = Path(__file__).parents[1] / "benchmarks" / "programs" / "__init__.py"
    spec = importlib.util.spec_from_file_location("programs", path)
    assert spec is not None
    assert spec.loader is not None
    package = sys.modules["programs"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    return package


programs = _load_package()


def gradient_step(name: str, form: str) -> tuple[Any, list[Any]]:
    """The function that gives value and gradients of a program, and how to make its arguments."""
    module = programs.load(name)
    step = gt.value_and_grad(getattr(module, form), argnums=module.ARGUMENTS)
    return step, programs.arguments(module, module.SMALL)


@pytest.mark.parametrize("name", programs.NAMES)
def test_program_has_its_value_and_gradient(name: str) -> None:
    """A program's value is NumPy's and its gradient that of differences, eager and compiled."""
    step, inputs = gradient_step(name, "program")
    assert programs.wrong_gradient(name, "program", *step(*inputs)) == ""
    compiled = gt.jit(step)
    compiled(*inputs)
    assert programs.wrong_gradient(name, "program", *compiled(*inputs)) == ""
    assert compiled.stats.uncompiled == 0


CONCATENATED = [name for name in programs.NAMES if hasattr(programs.load(name), "concatenated")]


@pytest.mark.parametrize("name", CONCATENATED)
def test_concatenated_form_is_the_same_function(name: str) -> None:
    """A program with writes has the value and the gradient of the same mathematics without them."""
    step, inputs = gradient_step(name, "program")
    other, same = gradient_step(name, "concatenated")
    value, gradients = step(*inputs)
    wanted, slopes = other(*same)
    np.testing.assert_allclose(value, wanted, rtol=1e-10)
    for found, slope in zip(gradients, slopes, strict=True):
        np.testing.assert_allclose(found, slope, rtol=1e-9, atol=1e-11)
