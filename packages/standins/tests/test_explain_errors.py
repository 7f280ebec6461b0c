"""Errors and warnings of the stand-ins are findings too: each has a code, the user's line and a fix."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape_standins import tensorflow as tf
from gradtape_standins import torch
from gradtape_standins.explain_errors import explain


def raised(program: Callable[[], Any]) -> Exception:
    """The error that a program ends with."""
    try:
        program()
    except Exception as error:  # whatever class the library has for it
        return error
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(
    ("program", "code"),
    [
        (lambda: tf.matmul(tf.ones([4]), tf.ones([4, 2])), "GT111"),
        (lambda: tf.matmul(tf.ones([4, 4]), tf.constant(np.ones((4, 2)))), "GT314"),
        (
            lambda: tf.keras.losses.SparseCategoricalCrossentropy()(np.eye(3, dtype="float32"), tf.ones([3, 3])),
            "GT118",
        ),
        (lambda: tf.keras.Sequential([]).fit(np.ones(3), np.ones(3)), "GT314"),
        (lambda: torch.nn.functional.linear(1.0, torch.ones(2, 2)), "GT314"),
    ],
)
def test_an_error_of_a_stand_in_has_a_code_and_the_users_line(program: Callable[[], Any], code: str) -> None:
    """What the stand-in raises by itself is explained where it surfaces, at the line of this file."""
    error = raised(program)
    found = explain(error)
    assert found is not None
    assert found.code == code
    assert found.main is not None
    assert "program()" not in found.main.source
    assert found.main.place.startswith("test_explain_errors.py:")
    assert error.problem is found  # type: ignore[attr-defined]


def _assertion() -> None:
    tf.debugging.assert_equal(tf.constant(1), tf.constant(2), message="counts differ")


@pytest.mark.parametrize("program", [lambda: {}["key"], lambda: int("x"), _assertion])
def test_an_error_of_the_users_own_is_left_alone(program: Callable[[], Any]) -> None:
    """Errors of Python's, and assertions of the program itself, are nobody's mistake about gradients."""
    assert explain(raised(program)) is None


def test_a_tape_of_tensorflows_without_parentheses() -> None:
    """`with tf.GradientTape as tape` says that the parentheses are missing."""
    with pytest.raises(TypeError, match="GT315"), tf.GradientTape:  # type: ignore[attr-defined]
        raise AssertionError("the block is never entered")


def test_a_vector_for_a_matrix_is_told_what_fits() -> None:
    """The fix for a vector before a matrix is a row, not the product of a matrix and a vector."""
    fixes = explain(raised(lambda: tf.matmul(tf.ones([4]), tf.ones([4, 2])))).fixes  # type: ignore[union-attr]
    assert "tf.newaxis" in fixes[0]
    assert "matvec" not in fixes[0]


def test_a_rule_of_tensorflows_is_blamed_at_its_own_line() -> None:
    """A custom gradient that returns too few, or the wrong shape, is shown at the user's `return`."""

    @tf.custom_gradient
    def product(a: Any, b: Any) -> Any:
        def grad(upstream: Any) -> Any:
            return upstream * b

        return a * b, grad

    @tf.custom_gradient
    def summed(x: Any) -> Any:
        def grad(upstream: Any) -> Any:
            return tf.reduce_sum(upstream)

        return tf.identity(x), grad

    v = tf.Variable([1.0, 2.0])
    for function, code, line in (
        (lambda: product(v, v), "GT304", "upstream * b"),
        (lambda: summed(v), "GT302", "tf.reduce_sum(upstream)"),
    ):
        with tf.GradientTape() as tape:
            y = function()
        with pytest.raises(ValueError, match=code) as caught:
            tape.gradient(y, v)
        found = caught.value.problem  # type: ignore[attr-defined]
        assert (found.code, found.main.text) == (code, line)


def test_warnings_of_pytorchs_are_findings() -> None:
    """A loss of two shapes and the `.grad` of no leaf are told to those who listen, in PyTorch's class for others."""
    found: list[Any] = []
    w = torch.ones(3, requires_grad=True)
    scaled = w * 2.0
    with gt.explain.listening(found.append), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.nn.functional.mse_loss(scaled, torch.ones(3, 1)).backward()
        assert scaled.grad is None
        assert w.grad is not None
    assert [problem.code for problem in found] == ["GT101", "GT201"]
    assert [warning.category.__name__ for warning in caught] == ["UserWarning", "UserWarning"]
    assert str(caught[0].message).startswith("Using a target size")


def test_a_loss_of_equal_shapes_is_quiet() -> None:
    """Near miss: nothing is said about a loss of one shape, or about the gradient of a leaf."""
    found: list[Any] = []
    w = torch.ones(3, requires_grad=True)
    with gt.explain.listening(found.append):
        torch.nn.functional.mse_loss(w, torch.ones(3)).backward()
        assert w.grad is not None
    assert found == []


def test_variables_without_a_gradient_are_named(caplog: pytest.LogCaptureFixture) -> None:
    """Keras logs that there is no gradient; those who listen hear of which layer it is, and at which line."""
    used, unused = tf.keras.layers.Dense(1, name="used"), tf.keras.layers.Dense(1, name="unused")
    x = tf.ones([2, 2])
    used(x), unused(x)
    variables = used.trainable_variables + unused.trainable_variables
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(used(x))
    gradients = tape.gradient(loss, variables)
    found: list[Any] = []
    tf.get_logger().propagate = True
    with gt.explain.listening(found.append), caplog.at_level(logging.WARNING, "tensorflow"):
        tf.keras.optimizers.SGD(0.1).apply_gradients(zip(gradients, variables, strict=True))
    tf.get_logger().propagate = False
    assert [problem.code for problem in found] == ["GT201"]
    assert "unused/kernel, unused/bias" in found[0].title
    assert " used/" not in found[0].title
