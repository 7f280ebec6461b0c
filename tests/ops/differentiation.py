"""What it means that a function of arrays differentiates, for tests of functions that are not rows of the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt

from .cases import assert_close, central_difference, directions, gradient_by_differences, inner, moved, parts

Function = Callable[..., Any]


def in_the_plane(x: Any, seed: int = 11) -> Any:
    """A complex array with the real part `x`."""
    return x + 1j * np.random.default_rng(seed).uniform(-0.5, 0.5, np.shape(x))


def hermitian(x: Any) -> Any:
    """The Hermitian part of a matrix or a stack of them, of arrays and of tensors."""
    turned = np.swapaxes(x, -1, -2)
    return (x + (np.conj(turned) if x.dtype.kind == "c" else turned)) / 2


def assert_values_are_numpys(function: Function, *arrays: Any, tolerance: float = 1e-12) -> None:
    """On tensors `function` gives the shapes, dtypes and numbers that it gives on arrays."""
    expected = [np.asarray(part) for part in parts(function(*arrays))]
    actual = parts(function(*(gt.tensor(x) for x in arrays)))
    for a, b in zip(actual, expected, strict=True):
        assert isinstance(a, gt.Tensor)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a.numpy(), b, rtol=tolerance, atol=tolerance)


def assert_differentiates(function: Function, *point: Any, tolerance: float = 1e-6, step: float = 1e-5) -> None:
    """Both modes agree with finite differences and with each other, twice over, and so does a mapped batch."""

    def several(*values: Any) -> tuple[Any, ...]:
        return tuple(parts(function(*values)))

    weights = tuple(directions([np.asarray(part) for part in several(*point)], 1))
    direction = directions(point, 2)

    def gradient(*values: Any) -> tuple[Any, ...]:
        return tuple(gt.vjp(several, *values)[1](weights))

    gradients = gradient(*point)
    assert [(g.shape, g.dtype) for g in gradients] == [(x.shape, x.dtype) for x in point]
    assert_close(gradients, gradient_by_differences(several, point, weights, step), tolerance)

    tangents = gt.jvp(several, tuple(point), tuple(direction))[1]
    assert_close(tangents, central_difference(several, point, direction, step), tolerance)
    assert inner(weights, tangents) == pytest.approx(inner(gradients, direction), rel=1e-9, abs=1e-9)

    curved = gt.vjp(gradient, *point)[1](tuple(direction))
    assert_close(curved, central_difference(gradient, point, direction, step), 10 * tolerance)
    assert_close(curved, gt.jvp(gradient, tuple(point), tuple(direction))[1], 1e-8)

    there = moved(point, direction, 0.01)
    batch = [np.stack(pair) for pair in zip(point, there, strict=True)]
    assert_close(gt.vmap(several)(*batch), _stacked(several(*point), several(*there)), 1e-10)
    assert_close(gt.vmap(gradient)(*batch), _stacked(gradients, gradient(*there)), 1e-8)


def _stacked(first: Any, second: Any) -> list[Any]:
    return [np.stack(pair) for pair in zip(first, second, strict=True)]
