"""Bodies of `gt.scan` in `jit` that write: to what they carry, and to what is outside of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
import gradtape.numpy as gnp

ROWS = np.random.default_rng(4).normal(size=(5, 3)) * 0.4
X = np.array([0.3, -0.5, 0.7])

TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "value": lambda f: f,
    "grad": gt.grad,
    "jacfwd": gt.jacfwd,
    "grad of grad": lambda f: gt.grad(lambda x: np.sum(gt.grad(f)(x) * X)),
    "jacfwd of grad": lambda f: gt.jacfwd(gt.grad(f)),
}


def write_carry(x: Any, loop: Callable[..., Any]) -> Any:
    """The carry is written to, returned as it is, and stacked; so are its rows."""

    def step(h: Any, row: Any) -> Any:
        h[0] = h[1] * row[0] + x[1]
        h[1:] *= x[2]
        row += h
        return h, (h, row, h[1:])

    last, ys = loop(step, x * 0.5, ROWS * x)
    return np.sum(last * last) + sum(np.sum(np.sin(y)) for y in ys)


def exchange_carries(x: Any, loop: Callable[..., Any]) -> Any:
    """Two carries that are one array before a step are written to in turns."""

    def step(pair: Any, row: Any) -> Any:
        a, b = pair
        a[1] += b[0] * row[0]
        b[0] = np.sin(a[1])
        return (b, b), (a, b)

    (a, b), ys = loop(step, (x, x), ROWS)
    return np.sum(a * b) + np.sum(ys[0] * ys[1])


def run_steps(f: Any, carry: Any, xs: Any) -> Any:
    """The steps one after the other, with copies of all that is carried and stacked."""

    def copy(value: Any) -> Any:
        return tuple(copy(part) for part in value) if isinstance(value, tuple) else value * 1.0

    stacks = []
    for row in xs:
        carry, y = f(copy(carry), row * 1.0)
        stacks.append(copy(y))
    return carry, tuple(np.stack(column) for column in zip(*stacks, strict=True))


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize("function", [write_carry, exchange_carries])
def test_writes_to_what_is_carried(function: Callable[..., Any], transform: Callable[[Any], Any]) -> None:
    """A step may write to its carry and its row: neither what was stacked before nor what was given changes."""
    expected = transform(lambda x: function(x, run_steps))(X)
    in_steps = transform(lambda x: function(x, gt.scan))
    compiled = gt.jit(in_steps)
    np.testing.assert_allclose(in_steps(X), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(compiled(X), expected, rtol=1e-9, atol=1e-12)
    assert "loop" in str(compiled.program)


def test_first_carry_and_rows_stay_as_they_are() -> None:
    """What a scan is given is not written to, in eager mode either, also if it has no steps."""

    def step(h: Any, row: Any) -> Any:
        h += row
        row *= 0.0
        return h, None

    for count in (0, 5):
        first, rows = np.ones(3), ROWS[:count].copy()
        gt.scan(step, first, rows)
        gt.scan(step, first, rows, memory=1_000_000)
        np.testing.assert_array_equal(first, 1.0)
        np.testing.assert_array_equal(rows, ROWS[:count])


def test_eager_writes_cost_what_is_written() -> None:
    """An array that only the loop has is handed from step to step, not copied."""
    addresses = set()

    def step(i: Any, h: Any) -> Any:
        addresses.add(h.__array_interface__["data"][0])
        h[i] = i
        return h

    np.testing.assert_array_equal(gt.fori_loop(0, 5, step, np.zeros(5)), np.arange(5.0))
    assert len(addresses) == 1


def write_traced_array(x: Any) -> Any:
    kept = x * 0.5
    rows = kept[::-1]

    def step(c: Any, row: Any) -> Any:
        rows[0] = c[0] * row[0]
        return c * 0.5 + kept, None

    return np.sum(gt.scan(step, x, ROWS)[0] ** 2) + np.sum(kept * kept)


def write_buffer(x: Any) -> Any:
    kept = gnp.zeros(3)

    def step(i: Any, c: Any) -> Any:
        kept[i % 3] = c[0] * x[1] + i
        return c * 0.5 + kept[1]

    return np.sum(gt.fori_loop(0, 5, step, x)) + np.sum(kept * kept)


def count_in_array(x: Any) -> Any:
    count = np.zeros(1)

    def step(c: Any, row: Any) -> Any:
        count[0] += 1.0
        return c * row + count[0], None

    return np.sum(gt.scan(step, x, ROWS)[0] ** 2) * count[0]


def count_in_name(x: Any) -> Any:
    count = 0

    def step(c: Any, row: Any) -> Any:
        nonlocal count
        count += 1
        return (c * row if count % 2 else c + count), None

    return np.sum(gt.scan(step, x, ROWS)[0] ** 2)


def append_to_list(x: Any) -> Any:
    kept: list[Any] = []

    def step(c: Any, row: Any) -> Any:
        kept.append(np.sin(c))
        return kept[0] + c * row, None

    return np.sum(gt.scan(step, x, ROWS)[0] ** 2) + sum(np.sum(value) for value in kept)


def keep_attribute(x: Any) -> Any:
    class Model:
        total: Any = 0.0

    model = Model()

    def step(c: Any, row: Any) -> Any:
        model.total = model.total + np.sum(c)
        return c * row + x, None

    return np.sum(gt.scan(step, x, ROWS)[0] ** 2) + model.total


OUTSIDE = [write_traced_array, write_buffer, count_in_array, count_in_name, append_to_list, keep_attribute]


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize("function", OUTSIDE)
def test_changes_of_what_is_outside(function: Callable[..., Any], transform: Callable[[Any], Any]) -> None:
    """A step that changes what is outside of it is traced as often as there are steps, and the results are right."""
    derivative = transform(function)
    compiled = gt.jit(derivative)
    for x in (X, X * 0.5):
        np.testing.assert_allclose(compiled(x), derivative(x), rtol=1e-9, atol=1e-12)
    assert compiled.stats.uncompiled == 0
