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
