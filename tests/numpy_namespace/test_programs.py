"""The programs of `programs.py`: values as NumPy's, gradients as finite differences, in every way to take them."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gradtape as gt
from tests.numpy_namespace.programs import PROGRAMS


def finite_differences(function: Any, x: Any) -> Any:
    """The gradient by central differences, computed without any tensor."""
    steps = numpy.eye(len(x)) * 1e-6
    return numpy.array([(function(x + step) - function(x - step)) / 2e-6 for step in steps])


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_of_programs(name: str) -> None:
    """Reverse and forward mode, `.backward()` and tapes give what finite differences of NumPy's numbers give."""
    function, x = PROGRAMS[name]
    expected = finite_differences(function, numpy.asarray(x))
    at_kink = name == "guarded_square_root_and_division"
    if at_kink:  # at 0 the difference is one of a root, which has no derivative there
        expected[0] = 1.0
    value, gradient = gt.value_and_grad(function)(x)
    assert type(gradient) is numpy.ndarray
    numpy.testing.assert_allclose(value, function(x), rtol=1e-13)
    numpy.testing.assert_allclose(gradient, expected, rtol=2e-6, atol=1e-7)
    pushed = [gt.jvp(function, (x,), (unit,))[1] for unit in numpy.eye(len(x))]
    numpy.testing.assert_allclose(pushed, gradient, rtol=1e-10, atol=1e-12)
    leaf = gt.tensor(x, requires_grad=True)
    function(leaf).backward()
    numpy.testing.assert_allclose(leaf.grad.numpy(), gradient, rtol=1e-12)
    with gt.GradientTape() as tape:
        watched = tape.watch(gt.tensor(x))
        result = function(watched)
    numpy.testing.assert_allclose(tape.gradient(result, watched).numpy(), gradient, rtol=1e-12)


COMPILED = (
    *("heat_equation_with_boundary", "copy_of_an_array_of_the_module", "rows_columns_and_masks", "rotation_matrix"),
    *("right_hand_side_of_an_equation", "branches_on_values", "guarded_square_root_and_division"),
)
"""Some of each family: compiling takes most of the time of these tests."""


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_programs(name: str) -> None:
    """Compiled, the programs give the same, without a warning that they were not compiled."""
    function, x = PROGRAMS[name]
    compiled = gt.jit(gt.value_and_grad(function))
    for point in (x, x * 1.001):
        value, gradient = gt.value_and_grad(function)(point)
        compiled_value, compiled_gradient = compiled(point)
        numpy.testing.assert_allclose(compiled_value, value, rtol=1e-12)
        numpy.testing.assert_allclose(compiled_gradient, gradient, rtol=1e-9, atol=1e-12)
