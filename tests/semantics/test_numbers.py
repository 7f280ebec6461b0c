"""Numbers: what NumPy gives as a number is immutable, and `+=` makes another one; an array without axes is written to.

The sum of an array, an element and a product of numbers are numbers. Other names of a number, in lists and attributes,
keep the old one.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

import gradtape as gt
import gradtape.numpy as np

X = numpy.array([1.5, 2.0, 0.7])
PROGRAMS: list[Callable[[Any], Any]] = []


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Add a program to the list."""
    PROGRAMS.append(function)
    return function


@program
def a_sum_and_another_name(x: Any) -> Any:
    total = x.sum()
    old = total
    total *= 2
    return total * old


@program
def running_totals(x: Any) -> Any:
    total, history = x[0] * 0.0, []
    for value in x:
        total += value
        history.append(total)
    return sum(history)


@program
def totals_of_python(x: Any) -> Any:
    total, history = 0, []
    for value in x:
        total += value * value
        history.append(total)
    return sum(history)


@program
def items_of_a_list(x: Any) -> Any:
    one = list(x)
    other = list(one)
    one[0] += x[1]
    return one[0] * other[0] + x[0]


@program
def arguments_of_a_function(x: Any) -> Any:
    def halved(value: Any) -> Any:
        value /= 2
        return value

    largest = x.max()
    return halved(largest) * largest


@program
def attributes_and_entries(x: Any) -> Any:
    held, entries = SimpleNamespace(total=x.sum()), {"first": x[0]}
    total, first = held.total, entries["first"]
    held.total += x[0]
    entries["first"] -= x[1]
    return held.total * total + entries["first"] * first


@program
def norms_and_powers(x: Any) -> Any:
    norm = np.linalg.norm(x)
    kept = norm
    norm **= 2
    return norm + kept


@program
def an_element_that_is_overwritten(x: Any) -> Any:
    x = x * 1.0
    before = x[1]
    x[1] = 5.0
    x[0] += before
    return before * x[1] + x[0] * before


@program
def a_number_and_an_array(x: Any) -> Any:
    total = x.sum()
    kept = total
    total += np.ones(3)
    return total.sum() * kept


@program
def an_array_without_axes(x: Any) -> Any:
    total = np.zeros(())
    same = total
    total += x[0]
    total += x[1]
    return same * total


@program
def an_array_of_a_number(x: Any) -> Any:
    made, given = np.array(x[0]), np.asarray(x[1])
    same, other = made, given
    made *= 3
    made += 1
    given *= x[2]
    return same * made + other * given


@program
def a_view_without_axes(x: Any) -> Any:
    x = x * 1.0
    view = x[0, ...]
    view *= 2.0
    return x[0] * x[1]


WAYS: dict[str, Callable[[Any], Any]] = {
    "eager": lambda step: step(X),
    "compiled": lambda step: gt.jit(step)(X),
    "batch": lambda step: [part[0] for part in gt.vmap(step)(X[None])],
    "compiled batch": lambda step: [part[0] for part in gt.jit(gt.vmap(step))(X[None])],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_values_and_gradients_are_those_of_numpy(function: Any, way: str) -> None:
    """The value that the program has without a tape, and the gradient of its differences."""
    value, gradient = WAYS[way](gt.value_and_grad(function))
    steps = 1e-6 * numpy.eye(3)
    numpy.testing.assert_allclose(value, function(X))
    differences = [(function(X + step) - function(X - step)) / 2e-6 for step in steps]
    numpy.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-6)


def test_leaves_and_variables_are_arrays() -> None:
    """What was made as a tensor without axes is written to in place."""
    x = gt.tensor(2.0)
    same = x
    x += 1.0
    assert same is x
    assert float(x) == 3.0
