"""Slowness is reported, once for each reason: traces again and again, and NumPy kernels in the steps of a loop."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.jit import JitWarning
from gradtape.jit.api import TRACES_AT_MOST
from gradtape.jit.diagnostics.retrace_report import SIGNATURES_AT_MOST, describe_arguments


def warned(calls: list[Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for call in calls:
            call()
    assert all(warning.category is JitWarning for warning in caught)
    return [str(warning.message) for warning in caught]


def test_a_python_number_that_differs_in_each_call() -> None:
    """The argument is named with its values, and the fix is an array; it is said once."""
    step = gt.jit(lambda x, factor: (x * factor).sum())
    (message,) = warned([lambda n=n: step(np.ones(3), float(n)) for n in range(SIGNATURES_AT_MOST + 3)])
    assert "factor was 0.0, 1.0, 2.0, 3.0 and 3 more" in message
    assert "fix: pass np.asarray(factor)" in message
    fixed = gt.jit(lambda x, factor: (x * factor).sum())
    assert not warned([lambda n=n: fixed(np.ones(3), np.asarray(float(n))) for n in range(SIGNATURES_AT_MOST + 3)])
    assert fixed.stats.traces == 1


def test_a_shape_that_differs_in_each_call() -> None:
    """A part of an argument is known by its key."""
    step = gt.jit(lambda batch: batch["x"].sum() + batch["y"])
    calls = [lambda n=n: step({"x": np.ones(n), "y": np.ones(2)}) for n in range(1, SIGNATURES_AT_MOST + 3)]
    (message,) = warned(calls)
    assert "batch['x'] had shapes (1,), (2,), (3,), (4,) and 3 more" in message
    assert "batch['y']" not in message


def test_a_few_shapes_are_not_reported() -> None:
    """Two sizes of a batch, and a few of a test, are usual."""
    step = gt.jit(lambda x: x.sum())
    assert not warned([lambda n=n: step(np.ones(n)) for n in (64, 17, 64, 1, 2, 3, 64)])


def test_a_value_that_it_looks_at() -> None:
    """Traces for the same kind of arguments are reported before the last of them, with the line that looks."""

    def shifted(x: Any) -> Any:
        return x + float(x[0])

    step = gt.jit(shifted)
    (message,) = warned([lambda n=n: step(np.ones(3) * n) for n in range(7)])
    assert "for the same kind of arguments, because a value it looks at was another one each time" in message
    assert f"after {TRACES_AT_MOST} times it is not compiled any more" in message
    assert "return x + float(x[0])" in message


def test_a_kernel_in_each_step_of_a_loop() -> None:
    """A loop whose steps call back to NumPy says which kernel, at which line, and how often."""

    def sorts(x: Any) -> Any:
        for _ in range(100):
            x = np.sort(x * 0.9 + 0.1 * x[::-1])
        return x

    (message,) = warned([lambda: gt.jit(sorts)(np.linspace(0.0, 1.0, 5))])
    assert "calls a NumPy kernel" in message
    assert "in each of the 100 steps of a loop" in message
    assert "x = np.sort(x * 0.9 + 0.1 * x[::-1])" in message

    def grows(x: Any) -> Any:
        return gt.while_loop(lambda v: v.max() < 4.0, lambda v: np.sort(v * 1.3), x)

    (message,) = warned([lambda: gt.jit(grows)(np.linspace(0.1, 1.0, 5))])
    assert "in each step of a loop" in message


def test_native_loops_are_not_reported() -> None:
    """A loop without kernels of NumPy's is healthy, and so is a short one with them."""

    def healthy(x: Any) -> Any:
        for _ in range(100):
            x = np.tanh(x * 0.9 + 0.1 * x[::-1])
        for _ in range(3):
            x = np.sort(x)
        return x

    assert not warned([lambda: gt.jit(healthy)(np.linspace(0.0, 1.0, 5))])


def test_names_of_arguments() -> None:
    """Arguments are described under the names of the parameters, and by their numbers where there are none."""
    found = describe_arguments(lambda a, *rest: a, (np.ones(2), 3, [4.0]), {"k": None})
    assert list(found) == ["a", "argument 1", "argument 2[0]", "k"]
    assert found["a"].shape == "(2,)"
    assert (found["argument 1"].value, found["argument 2[0]"].value) == ("3", "4.0")
