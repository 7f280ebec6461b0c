"""Integrals of samples: sums of values and of the distances between their points, differentiated by both."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import OperandError, ShapeError
from gradtape.extend import argument_error, as_value, one_axis
from gradtape.ops import concatenate, cumsum, moveaxis, stack
from gradtape.ops import trapezoid as trapezoid_op
from gradtape.quadrature import simpson as simpson_of
from gradtape.scipy.callbacks import stacked
from gradtape.scipy.integrate.initial_values import original


@original.differentiated
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral along an axis by the trapezoidal rule.

    >>> import gradtape as gt
    >>> from gradtape.scipy.integrate import trapezoid
    >>> trapezoid(gt.tensor([1.0, 3.0, 1.0]))
    Tensor(4.)
    """
    return trapezoid_op(stacked(y), None if x is None else stacked(x), dx, axis)


@original.differentiated
def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral along an axis by Simpson's rule.

    >>> import gradtape as gt
    >>> from gradtape.scipy.integrate import simpson
    >>> simpson(gt.tensor([0.0, 1.0, 4.0]))
    Tensor(2.66666667)
    """
    return simpson_of(stacked(y), None if x is None else stacked(x), dx, axis)


def _steps(y: Any, x: Any, dx: Any, axis: int, name: str) -> tuple[Any, Any, int]:
    """The values with their axis last, the distances between their points, and the axis."""
    values = as_value(stacked(y))
    axis = one_axis(axis, len(values.shape))
    values = moveaxis(values, axis, -1)
    count = values.shape[-1]
    if not count:
        raise argument_error(ShapeError, f"scipy.integrate.{name}: there are no points along the axis.", "a point")
    if x is None:
        return values, stacked(dx) * np.ones(max(count - 1, 0)), axis
    points = as_value(stacked(x))
    if len(points.shape) > 1:
        if len(points.shape) != len(values.shape):
            raise argument_error(
                ShapeError,
                f"scipy.integrate.{name}: x has shape {points.shape}, and y {len(values.shape)} axes.",
                "a vector x, or one of the shape of y",
            )
        points = moveaxis(points, axis, -1)
    if points.shape[-1] != count:
        raise argument_error(
            ShapeError,
            f"scipy.integrate.{name}: there are {points.shape[-1]} points in x, and {count} along the axis of y.",
            "as many points in x as in y",
        )
    return values, points[..., 1:] - points[..., :-1], axis


@original.differentiated
def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None) -> Any:
    """The integrals up to each point by the trapezoidal rule.

    >>> import gradtape as gt
    >>> from gradtape.scipy.integrate import cumulative_trapezoid
    >>> cumulative_trapezoid(gt.tensor([1.0, 3.0, 1.0]), initial=0)
    Tensor([0., 2., 4.])
    """
    values, steps, axis = _steps(y, x, dx, axis, "cumulative_trapezoid")
    sums = cumsum(steps * (values[..., 1:] + values[..., :-1]) / 2.0, axis=-1)
    if initial is not None:
        if not np.isscalar(initial) or initial != 0:
            raise argument_error(
                OperandError, f"scipy.integrate.cumulative_trapezoid: initial={initial!r}.", "initial=0 or None"
            )
        sums = concatenate([np.zeros((*sums.shape[:-1], 1), sums.dtype), sums], axis=-1)
    return moveaxis(sums, -1, axis)


@original.differentiated
def cumulative_simpson(y: Any, *, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None) -> Any:
    """The integrals up to each point by Simpson's rule.

    >>> import gradtape as gt
    >>> from gradtape.scipy.integrate import cumulative_simpson
    >>> cumulative_simpson(gt.tensor([0.0, 1.0, 4.0]), initial=0)
    Tensor([0.        , 0.33333333, 2.66666667])
    """
    values, steps, axis = _steps(y, x, dx, axis, "cumulative_simpson")
    count = values.shape[-1]
    if count < 3:
        sums = cumsum(steps * (values[..., 1:] + values[..., :-1]) / 2.0, axis=-1)
    else:
        steps = steps + np.zeros((*values.shape[:-1], count - 1)) if len(steps.shape) < len(values.shape) else steps
        forwards = _first_interval(values, steps)
        backwards = _first_interval(values[..., ::-1], steps[..., ::-1])[..., ::-1]
        # interval i is the first of the parabola through the points from i on if i is even, else the second of one
        parts = [forwards[..., i] if i % 2 == 0 and i < count - 2 else backwards[..., i - 1] for i in range(count - 1)]
        sums = cumsum(stack(parts, axis=-1), axis=-1)
    if initial is not None:
        start = as_value(stacked(initial))
        start = start + np.zeros((*sums.shape[:-1], 1)) if not start.shape else moveaxis(start, axis, -1)
        sums = concatenate([start, sums + start], axis=-1)
    return moveaxis(sums, -1, axis)


def _first_interval(y: Any, steps: Any) -> Any:
    """The integrals over the first of each two intervals of the parabola through their three points."""
    h, k = steps[..., :-1], steps[..., 1:]
    low, middle, high = y[..., :-2], y[..., 1:-1], y[..., 2:]
    far = h * h / ((h + k) * k)
    return h / 6.0 * ((3.0 - h / (h + k)) * low + (3.0 + far + h / (h + k)) * middle - far * high)


@original.differentiated
def romb(y: Any, dx: Any = 1.0, axis: int = -1, show: bool = False) -> Any:
    """The integral of 2**k + 1 equally spaced samples by Romberg's method.

    >>> import gradtape as gt
    >>> from gradtape.scipy.integrate import romb
    >>> romb(gt.tensor([0.0, 1.0, 16.0, 81.0, 256.0]))
    Tensor(204.8)
    """
    values = as_value(stacked(y))
    values = moveaxis(values, one_axis(axis, len(values.shape)), -1)
    intervals = values.shape[-1] - 1
    levels = intervals.bit_length() - 1
    if intervals < 1 or 1 << levels != intervals:
        raise argument_error(
            ShapeError,
            f"scipy.integrate.romb: {intervals + 1} samples along the axis.",
            "one more than a power of two: 3, 5, 9, 17, ...",
        )
    dx = stacked(dx)
    row: list[Any] = []
    for level in range(levels + 1):
        stride = intervals >> level
        inner = values[..., stride:-1:stride].sum(axis=-1) if stride < intervals else 0.0
        sums = [stride * dx * (0.5 * (values[..., 0] + values[..., -1]) + inner)]
        for order, before in enumerate(row, start=1):
            sums.append(sums[-1] + (sums[-1] - before) / (4.0**order - 1.0))
        row = sums
    if show:
        original.contents.romb(np.asarray(values.numpy()), float(dx), show=True)
    return row[-1]
