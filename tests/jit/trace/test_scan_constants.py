"""Bodies of `gt.scan` in `jit` that read tensors which are constants of the program, and need a gradient.

The argument of a compiled gradient that is a Python number is one, and so is an array that the compiled function makes
or closes over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
import gradtape.numpy as gnp

ROWS = np.random.default_rng(3).normal(size=(20, 3)) * 0.3


def scan(step: Callable[[Any, Any], Any], first: Any = None) -> Any:
    """The sum of the last carry."""
    start = np.zeros(3) if first is None else first
    return np.sum(gt.scan(lambda h, row: (step(h, row), None), start, ROWS)[0])


def read(w: Any) -> Any:
    return scan(lambda h, row: np.tanh(w * h + row))


def compute(w: Any) -> Any:
    return scan(lambda h, row: np.tanh(np.exp(w) * w * h + row))


def compute_before(w: Any) -> Any:
    v = np.exp(w)
    return scan(lambda h, row: np.tanh(v * h + row * v))


def nest(w: Any) -> Any:
    def inner(h: Any, row: Any) -> Any:
        return gt.scan(lambda k, _: (np.tanh(np.sin(w) * k + row), None), h, length=4)[0]

    return scan(inner)


def differentiate_inside(w: Any) -> Any:
    return scan(lambda h, row: gt.grad(lambda k: np.sum(np.sin(np.exp(w) * k) * row))(h) + row)


def switch_off(w: Any) -> Any:
    def step(h: Any, row: Any) -> Any:
        with gt.no_grad():
            v = np.exp(w)
        return np.tanh(v * h + w * row)

    return scan(step)


def map_over(w: Any) -> Any:
    return scan(lambda h, row: gt.vmap(lambda k, r: np.tanh(np.exp(w) * k + r))(h, row))


def checkpoint(w: Any) -> Any:
    return scan(gt.checkpoint(lambda h, row: np.tanh(np.exp(w) * h + row)))


def start_from_buffer(w: Any) -> Any:
    return np.sum(gt.scan(lambda h, _: (np.tanh(w * h + 0.1), None), gnp.ones(3) * 0.5, length=20)[0])


def carry_only(w: Any) -> Any:
    return gt.scan(lambda h, _: (np.tanh(h * h + 0.1), h), w, length=20)[0]


FUNCTIONS = [read, compute, compute_before, nest, differentiate_inside, switch_off, map_over, checkpoint]
FUNCTIONS += [start_from_buffer, carry_only]
TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "grad": gt.grad,
    "jacfwd": gt.jacfwd,
    "grad of grad": lambda f: gt.grad(gt.grad(f)),
    "jacfwd of grad": lambda f: gt.jacfwd(gt.grad(f)),
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_python_number(function: Callable[[Any], Any], transform: Callable[[Any], Any]) -> None:
    """The compiled derivative is the eager one, whether the argument is a number or an array."""
    derivative = transform(function)
    expected = derivative(0.7)
    compiled = gt.jit(derivative)
    for argument in (0.7, np.array(0.7)):
        np.testing.assert_allclose(compiled(argument), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("computes", [False, True])
def test_result_of_a_step_that_is_mapped_over_outside(computes: bool) -> None:
    """A step that returns what only the `vmap` around the loop maps over returns each example's."""

    def total(w: Any) -> Any:
        v = np.cos(w)
        kept, ys = gt.scan(lambda h, row: (h * row, v * 2.0 if computes else v), np.ones(3), ROWS)
        return np.sum(ys * ys) + np.sum(kept) * w

    for function in (total, gt.grad(total)):
        batch = np.array([0.3, 0.7])
        np.testing.assert_allclose(gt.jit(gt.vmap(function))(batch), [function(w) for w in batch], rtol=1e-9)


def test_array_of_the_closure() -> None:
    """The gradient with respect to an array that the compiled function closes over."""
    weights = np.array([0.3, -0.5, 0.8])

    def slope(scale: Any) -> Any:
        return gt.grad(lambda w: scale * compute(w) + read(np.sin(w)))(weights)

    np.testing.assert_allclose(gt.jit(slope)(2.0), slope(2.0), rtol=1e-9)
    np.testing.assert_allclose(gt.jit(slope)(np.array(2.0)), slope(2.0), rtol=1e-9)


def test_tape_and_backward_inside() -> None:
    """The same with `GradientTape.watch` and with `.backward()`, inside of the compiled function."""

    def by_tape(scale: Any) -> Any:
        w = gt.tensor(0.7)
        with gt.GradientTape() as tape:
            tape.watch(w)
            y = scale * compute(w)
        return tape.gradient(y, w)

    def by_backward(scale: Any) -> Any:
        w = gt.tensor(0.7, requires_grad=True)
        (scale * compute(w)).backward()
        return w.grad

    expected = 2.0 * gt.grad(compute)(0.7)
    for function in (by_tape, by_backward):
        for scale in (2.0, np.array(2.0)):
            np.testing.assert_allclose(gt.jit(function)(scale), expected, rtol=1e-9)


def test_tape_around_the_compiled_function() -> None:
    """A tensor of a tape around the compiled function, which its scan reads, has its gradient."""
    w = gt.tensor(0.7)
    with gt.GradientTape() as tape:
        tape.watch(w)
        y = gt.jit(lambda scale: scale * compute(w))(np.array(2.0))
    np.testing.assert_allclose(tape.gradient(y, w), 2.0 * gt.grad(compute)(0.7), rtol=1e-9)
