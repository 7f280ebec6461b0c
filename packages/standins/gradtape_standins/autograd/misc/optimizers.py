"""Optimisers over nested structures: `sgd`, `rmsprop` and `adam`, with autograd's names and defaults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape_standins import missing_names
from gradtape_standins.autograd.misc.flatten import flatten
from gradtape_standins.autograd.wrap_util import wraps

Function = Callable[..., Any]


def unflatten_optimizer(optimize: Function) -> Function:
    """An optimiser of vectors as one of nested structures."""

    @wraps(optimize)
    def optimise(grad: Function, x0: Any, callback: Function | None = None, *args: Any, **kwargs: Any) -> Any:
        vector, unflatten = flatten(x0)

        def flat_grad(x: Any, i: int) -> Any:
            return flatten(grad(unflatten(x), i))[0]

        def flat_callback(x: Any, i: int, g: Any) -> None:
            if callback is not None:
                callback(unflatten(x), i, unflatten(g))

        return unflatten(optimize(flat_grad, vector, flat_callback, *args, **kwargs))

    return optimise


def _loop(grad: Function, x: Any, callback: Function | None, num_iters: int, step: Function) -> Any:
    for i in range(num_iters):
        g = grad(x, i)
        if callback is not None:
            callback(x, i, g)
        x = x - step(i, g)
    return x


@unflatten_optimizer
def sgd(
    grad: Function,
    x: Any,
    callback: Function | None = None,
    num_iters: int = 200,
    step_size: float = 0.1,
    mass: float = 0.9,
) -> Any:
    """Gradient descent with momentum; `grad(x, i)` is the gradient in step `i`, `callback(x, i, g)` is told of each.

    >>> sgd(lambda x, i: 2 * x, 1.0, num_iters=2, step_size=0.5, mass=0.0)
    np.float64(0.0)
    """
    moving = np.zeros(np.shape(x))

    def step(i: int, g: Any) -> Any:
        nonlocal moving
        moving = mass * moving + (1.0 - mass) * g
        return step_size * moving

    return _loop(grad, x, callback, num_iters, step)


@unflatten_optimizer
def rmsprop(
    grad: Function,
    x: Any,
    callback: Function | None = None,
    num_iters: int = 100,
    step_size: float = 0.1,
    gamma: float = 0.9,
    eps: float = 1e-8,
) -> Any:
    """Gradients divided by the root of a running mean of their squares."""
    squares = np.ones(np.shape(x))

    def step(i: int, g: Any) -> Any:
        nonlocal squares
        squares = gamma * squares + (1 - gamma) * g**2
        return step_size * g / (np.sqrt(squares) + eps)

    return _loop(grad, x, callback, num_iters, step)


@unflatten_optimizer
def adam(
    grad: Function,
    x: Any,
    callback: Function | None = None,
    num_iters: int = 100,
    step_size: float = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
) -> Any:
    """Adam: running means of the gradient and of its square, corrected for their start at zero."""
    mean, square = np.zeros(np.shape(x)), np.zeros(np.shape(x))

    def step(i: int, g: Any) -> Any:
        nonlocal mean, square
        mean = b1 * mean + (1 - b1) * g
        square = b2 * square + (1 - b2) * g**2
        corrected = np.sqrt(square / (1 - b2 ** (i + 1)))
        return step_size * mean / (1 - b1 ** (i + 1)) / (corrected + eps)

    return _loop(grad, x, callback, num_iters, step)


__getattr__ = missing_names.missing(__name__)
