"""Normalisation: against means and variances written out, running statistics, and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt

from .differentiation import assert_differentiates

F = gt.nn.functional


def random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


def standard(x: Any, axis: Any, eps: float = 1e-5) -> Any:
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + eps)


X, W, B = random(3, 4, 2, 5), random(4, seed=1), random(4, seed=2)
CHANNEL = (slice(None), None, None)

VALUES = {
    "layer_norm": (lambda: F.layer_norm(X, (2, 5)), lambda: standard(X, (2, 3))),
    "layer_norm, affine": (
        lambda: F.layer_norm(X, 5, W[:1].repeat(5), B[:1].repeat(5), eps=0.1),
        lambda: standard(X, 3, 0.1) * W[0] + B[0],
    ),
    "rms_norm": (lambda: F.rms_norm(X, 5, eps=0.1), lambda: X / np.sqrt((X**2).mean(-1, keepdims=True) + 0.1)),
    "group_norm": (
        lambda: F.group_norm(X, 2, W, B),
        lambda: standard(X.reshape(3, 2, -1), 2).reshape(X.shape) * W[CHANNEL] + B[CHANNEL],
    ),
    "instance_norm": (
        lambda: F.instance_norm(X, weight=W, bias=B),
        lambda: standard(X, (2, 3)) * W[CHANNEL] + B[CHANNEL],
    ),
    "batch_norm": (
        lambda: F.batch_norm(X, weight=W, bias=B, training=True),
        lambda: standard(X, (0, 2, 3)) * W[CHANNEL] + B[CHANNEL],
    ),
    "batch_norm, of running statistics": (
        lambda: F.batch_norm(X, B, W**2, bias=W),
        lambda: (X - B[CHANNEL]) / np.sqrt(W[CHANNEL] ** 2 + 1e-5) + W[CHANNEL],
    ),
    "instance_norm, of running statistics": (
        lambda: F.instance_norm(X, B, W**2, use_input_stats=False),
        lambda: (X - B[CHANNEL]) / np.sqrt(W[CHANNEL] ** 2 + 1e-5),
    ),
    "normalize": (lambda: F.normalize(X), lambda: X / np.sqrt((X**2).sum(1, keepdims=True))),
    "normalize, p=1": (lambda: F.normalize(X, 1.0, -1), lambda: X / np.abs(X).sum(-1, keepdims=True)),
}


@pytest.mark.parametrize("name", VALUES)
def test_value_is_written_out(name: str) -> None:
    """The values are those of means, variances and norms taken by NumPy."""
    call, expected = VALUES[name]
    np.testing.assert_allclose(call(), expected(), rtol=1e-12, atol=1e-13)


SMALL, ROW = random(3, 4), random(4, seed=3)
DIFFERENTIATED = {
    "layer_norm": (lambda x, w, b: F.layer_norm(x, 4, w, b, eps=0.1), (SMALL, ROW, ROW + 1)),
    "layer_norm of two axes": (lambda x: F.layer_norm(x, (3, 4), eps=0.1), (SMALL,)),
    "rms_norm": (lambda x, w: F.rms_norm(x, 4, w), (SMALL, ROW)),
    "group_norm": (lambda x, w, b: F.group_norm(x, 2, w, b, eps=0.1), (SMALL, ROW, ROW + 1)),
    "instance_norm": (lambda x: F.instance_norm(x[None], eps=0.1), (SMALL,)),
    "batch_norm": (lambda x, w, b: F.batch_norm(x, weight=w, bias=b, training=True, eps=0.1), (SMALL, ROW, ROW + 1)),
    "batch_norm, eval": (lambda x, w: F.batch_norm(x, np.ones(4), np.ones(4), w), (SMALL, ROW)),
    "normalize": (F.normalize, (SMALL,)),
}


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_normalisation_differentiates(name: str) -> None:
    """Both modes agree with finite differences and with each other, twice over, and so does a mapped batch."""
    function, point = DIFFERENTIATED[name]
    assert_differentiates(function, *point)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=2, max_size=4), st.integers(1, 3))
def test_layer_norm_over_any_last_axes(shape: list[int], count: int) -> None:
    """However many last axes are normalised, each example has mean 0 and a variance of v / (v + eps)."""
    last = tuple(shape[-min(count, len(shape)) :])
    x = random(*shape)
    np.testing.assert_allclose(
        F.layer_norm(x, last, eps=0.5), standard(x, tuple(range(-len(last), 0)), 0.5), rtol=1e-11, atol=1e-12
    )


def test_running_statistics_move_in_place() -> None:
    """The arrays given move by `momentum` towards the mean and the sample variance of the batch."""
    mean, variance = np.full(4, 0.5), np.full(4, 2.0)
    F.batch_norm(X, mean, variance, training=True, momentum=0.25)
    np.testing.assert_allclose(mean, 0.75 * 0.5 + 0.25 * X.mean((0, 2, 3)))
    np.testing.assert_allclose(variance, 0.75 * 2.0 + 0.25 * X.var((0, 2, 3), ddof=1))


def test_running_statistics_move_while_a_tape_records() -> None:
    """Under `grad` the arrays are updated too, stay plain, and have no part in the gradient."""
    mean, variance = np.zeros(4, np.float32), np.ones(4, np.float32)
    x = X.astype(np.float32)
    gradient = gt.grad(lambda x: (F.batch_norm(x, mean, variance, training=True) ** 3).sum())(x)
    plain = gt.grad(lambda x: (F.batch_norm(x, training=True) ** 3).sum())(x)
    np.testing.assert_array_equal(gradient, plain)
    assert mean.dtype == np.float32
    np.testing.assert_allclose(mean, 0.1 * x.mean((0, 2, 3)), rtol=1e-5)


def test_running_statistics_of_instances_are_averaged() -> None:
    """Of instance norm, the statistics of all examples are averaged into one number for each channel."""
    mean, variance = np.zeros(4), np.ones(4)
    F.instance_norm(X, mean, variance, momentum=1.0)
    np.testing.assert_allclose(mean, X.mean((2, 3)).mean(0))
    np.testing.assert_allclose(variance, X.var((2, 3), ddof=1).mean(0))


def test_running_statistics_are_left_alone_when_they_are_used() -> None:
    """Outside of training the arrays are read only."""
    mean, variance = np.zeros(4), np.ones(4)
    F.batch_norm(X, mean, variance)
    assert (mean == 0).all()
    assert (variance == 1).all()


def test_offset_costs_no_digits() -> None:
    """A large common offset is taken off before the variance is, so that it does not drown it."""
    x = random(4, 64)
    np.testing.assert_allclose(F.layer_norm(x + 1e6, 64), F.layer_norm(x, 64), atol=1e-6)


def test_a_constant_has_a_finite_gradient() -> None:
    """Where all elements are equal the result is 0, and eps keeps the gradient finite."""
    x = np.ones((2, 4))
    value, pull_back = gt.vjp(lambda x: F.layer_norm(x, 4), x)
    np.testing.assert_array_equal(value, np.zeros_like(x))
    assert np.isfinite(pull_back(random(2, 4))[0]).all()


def test_a_vector_of_zeros_stays_zero() -> None:
    """normalize of zeros is zeros, with a gradient that is finite."""
    value, pull_back = gt.vjp(F.normalize, np.zeros((1, 3)))
    np.testing.assert_array_equal(value, np.zeros((1, 3)))
    assert np.isfinite(pull_back(np.ones((1, 3)))[0]).all()


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm", "group_norm", "instance_norm", "batch_norm", "normalize"])
def test_single_precision_stays(name: str) -> None:
    """Single precision stays in the value, the gradient and the tangent, with weights in double precision too."""
    calls = {
        "layer_norm": lambda x: F.layer_norm(x, 5, np.ones(5), np.ones(5)),
        "rms_norm": lambda x: F.rms_norm(x, 5, np.ones(5)),
        "group_norm": lambda x: F.group_norm(x, 2, W, B),
        "instance_norm": lambda x: F.instance_norm(x, weight=W),
        "batch_norm": lambda x: F.batch_norm(x, np.zeros(4), np.ones(4), W, B, training=True),
        "normalize": F.normalize,
    }
    x = X.astype(np.float32)
    value, pull_back = gt.vjp(calls[name], x)
    assert value.dtype == pull_back(value)[0].dtype == np.float32
    assert gt.jvp(calls[name], (x,), (x,))[1].dtype == np.float32


REFUSED = {
    "normalized_shape": (lambda: F.layer_norm(X, (4, 5)), gt.ShapeError, r"normalized_shape=\(4, 5\).*\(3, 4, 2, 5\)"),
    "weight": (lambda: F.layer_norm(X, 5, np.ones(4)), gt.ShapeError, r"weight has shape \(4,\); \(5,\) is accepted"),
    "bias": (lambda: F.group_norm(X, 2, bias=np.ones(2)), gt.ShapeError, r"bias has shape \(2,\)"),
    "groups": (lambda: F.group_norm(X, 3), gt.ShapeError, "does not divide the 4 channels"),
    "channels": (lambda: F.batch_norm(np.ones(3), training=True), gt.ShapeError, "examples, channels"),
    "one number": (lambda: F.batch_norm(np.ones((1, 4)), training=True), gt.ShapeError, "1 number a channel"),
    "no statistics": (lambda: F.batch_norm(X), gt.OperandError, "not given"),
    "no instance statistics": (lambda: F.instance_norm(X, use_input_stats=False), gt.OperandError, "not given"),
    "running shape": (
        lambda: F.batch_norm(X, np.zeros(3), np.ones(3)),
        gt.ShapeError,
        r"running_mean has shape \(3,\)",
    ),
    "running list": (
        lambda: F.batch_norm(X, [0.0] * 4, [1.0] * 4, training=True),
        gt.OperandError,
        "running_mean is a list",
    ),
    "one of two": (lambda: F.batch_norm(X, np.zeros(4), training=True), gt.OperandError, "running_var is a NoneType"),
    "vmap": (
        lambda: gt.vmap(lambda x: F.batch_norm(x, np.zeros(2), np.ones(2), training=True))(X),
        gt.OperandError,
        "inside vmap",
    ),
    "complex": (lambda: F.layer_norm(X + 0j, 5), gt.OperandError, "complex128"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_name_what_was_given(case: str) -> None:
    """What does not fit is refused with what was given, what is accepted and a fix."""
    call, kind, words = REFUSED[case]
    with pytest.raises(kind, match=words) as refusal:
        call()
    assert "fix" in str(refusal.value)
