"""The functions that the examples differentiate, compiled."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit import jit

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that loads an example as a module."""
    monkeypatch.syspath_prepend(str(EXAMPLES))

    def load(name: str) -> Any:
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    return load


def assert_agrees(function: Any, *points: tuple[Any, ...]) -> None:
    """Compiled, `function` gives at all points what it gives, from one trace."""
    step = jit(function)
    for point in points:
        actual, expected = step(*point), function(*point)
        for a, b in zip(_arrays(actual), _arrays(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-14)
    assert (step.stats.traces, step.stats.uncompiled) == (1, 0)


def _arrays(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        return [x for part in tree.values() for x in _arrays(part)]
    return [x for part in tree for x in _arrays(part)] if isinstance(tree, list | tuple) else [np.asarray(tree)]


def test_rosenbrock(example: Any) -> None:
    """Value, gradient and Hessian of the function that SciPy minimises."""
    function = example("rosenbrock_scipy").rosenbrock
    points = [(np.linspace(-1, 1, 6),), (np.linspace(0, 2, 6),)]
    assert_agrees(gt.value_and_grad(function), *points)
    assert_agrees(gt.hessian(function), *points)


def test_fit_sine(example: Any) -> None:
    """The loss of the small network and its gradient, with weights in a list of dictionaries."""
    module, rng = example("fit_sine"), np.random.default_rng(0)
    x = rng.uniform(-3, 3, (20, 1))
    points = [(module.initial_weights(rng, 8), x, np.sin(x[:, 0])) for _ in range(2)]
    assert_agrees(gt.value_and_grad(module.loss), *points)


def test_sparse_pde(example: Any) -> None:
    """The residual of the equation and its product with a direction, with static arguments."""
    residual = example("sparse_pde").residual
    rng = np.random.default_rng(0)

    def pushed(u: Any, direction: Any) -> Any:
        return gt.jvp(lambda v: residual(v, 5, 2.0), (u,), (direction,))

    assert_agrees(pushed, *[(rng.normal(size=25), rng.normal(size=25)) for _ in range(2)])
