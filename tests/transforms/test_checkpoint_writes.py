"""`checkpoint` of functions that write to their arguments: the same numbers and effects as without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt

X = np.array([0.3, 0.5, 0.7])
TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "value": lambda f: f,
    "grad": gt.grad,
    "jacfwd": gt.jacfwd,
    "grad of grad": lambda f: gt.grad(lambda x: np.sum(gt.grad(f)(x) * x)),
    "vmap of grad": lambda f: lambda x: gt.vmap(gt.grad(f))(np.stack([x, 2 * x])),
}


def overwrite(a: Any, b: Any) -> Any:
    a[0] = b[1] * a[2]
    a[1:] *= b[0]
    return np.sin(a)


def overwrite_by_view(a: Any, b: Any) -> Any:
    part = a[1:]
    part[...] = part[::-1] * b[:2]
    return np.sin(a) * b


@pytest.mark.parametrize("compile", [lambda f: f, gt.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize("function", [overwrite, overwrite_by_view])
def test_writes_to_arguments(
    function: Callable[..., Any], transform: Callable[[Any], Any], compile: Callable[[Any], Any]
) -> None:
    """The caller sees what was written, and its derivative, as it does without `checkpoint`."""

    def loss(call: Callable[..., Any]) -> Callable[[Any], Any]:
        def value(x: Any) -> Any:
            a = x * 0.5
            result = call(a, x)
            return np.sum(result * result) + np.sum(a * x)

        return value

    found = compile(transform(loss(gt.checkpoint(function))))(X)
    np.testing.assert_allclose(found, transform(loss(function))(X), rtol=1e-12)


def test_a_function_that_only_reads_is_run_again() -> None:
    """A function that writes to a copy of its argument keeps no intermediate results: it runs twice for a gradient."""
    runs = []

    @gt.checkpoint
    def read(a: Any) -> Any:
        runs.append(1)
        b = a * 1.0
        b[0] = 2.0
        return np.sin(b) * a

    gt.grad(lambda x: np.sum(read(x * 2.0)))(X)
    assert len(runs) == 2


class Held:
    def __init__(self, value: Any) -> None:
        self.value = value


def keep_in_list(call: Callable[..., Any], x: Any) -> Any:
    kept: list[Any] = [x[0]]

    def function(a: Any) -> Any:
        kept.append(a * kept[-1])
        return a * a

    first = call(function)(x)
    second = call(function)(first)
    return first + second + kept[1] * kept[2] * len(kept)


def keep_in_name(call: Callable[..., Any], x: Any) -> Any:
    total = x[0]

    def function(a: Any) -> Any:
        nonlocal total
        total = total * a[1]
        return a * a

    return call(function)(call(function)(x)) * total


def keep_in_new_attribute(call: Callable[..., Any], x: Any) -> Any:
    held = Held(x)

    def function(a: Any) -> Any:
        held.seen = a * 3.0  # type: ignore[attr-defined]
        return a * a

    return call(function)(x) * held.seen  # type: ignore[attr-defined]


def write_to_buffer(call: Callable[..., Any], x: Any) -> Any:
    buffer = gt.numpy.zeros(3)

    def function(a: Any) -> Any:
        buffer[1:] += a[:2] * 2.0
        return a * a

    return call(function)(call(function)(x)) * buffer


def draw_numbers(call: Callable[..., Any], x: Any) -> Any:
    random, drawn = np.random.default_rng(3), []

    def function(a: Any) -> Any:
        drawn.append(random.normal())
        return a * a

    return call(function)(x) * random.normal() * drawn[0] * len(drawn)


def count_runs(call: Callable[..., Any], x: Any) -> Any:
    counts, numbers = [], iter(range(1, 9))

    def function(a: Any) -> Any:
        counts.append(next(numbers))
        return a * a

    return call(function)(x) * next(numbers) * counts[0]


def append_to_argument(call: Callable[..., Any], x: Any) -> Any:
    given = [x * 1.0]

    def function(items: list[Any]) -> Any:
        items.append(items[0] * 2.0)
        return items[0] * items[0]

    return call(function)(given) * given[1]


def replace_in_argument(call: Callable[..., Any], x: Any) -> Any:
    given = {"a": x * 1.0}

    def function(items: dict[str, Any]) -> Any:
        items["b"], items["a"] = items["a"], items["a"] + 1.0
        return items

    result = call(function)(given)
    result["a"] = result["a"] * given["b"]
    return given["a"]


SIDE_EFFECTS = [
    keep_in_list,
    keep_in_name,
    keep_in_new_attribute,
    write_to_buffer,
    draw_numbers,
    count_runs,
    append_to_argument,
    replace_in_argument,
]


@pytest.mark.parametrize("compile", [lambda f: f, gt.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("transform", [TRANSFORMS[name] for name in ("value", "grad", "jacfwd", "vmap of grad")])
@pytest.mark.parametrize("program", SIDE_EFFECTS)
def test_what_a_function_leaves_behind(
    program: Callable[..., Any], transform: Callable[[Any], Any], compile: Callable[[Any], Any]
) -> None:
    """What a function adds to lists, names, objects, buffers and its arguments is there once, with its derivative."""

    def loss(call: Callable[..., Any]) -> Callable[[Any], Any]:
        return lambda x: np.sum(program(call, x) * x)

    found = compile(transform(loss(gt.checkpoint)))(X)
    np.testing.assert_allclose(found, transform(loss(lambda f: f))(X), rtol=1e-12)
