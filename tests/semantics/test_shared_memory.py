"""Arrays that come in and go out: writing into one changes nothing that was computed before or is computed later."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt

ONES = np.ones(3)


class TestWhatComesOut:
    """Results belong to the caller."""

    @pytest.mark.parametrize("function", [np.exp, np.tanh, np.sqrt, lambda x: x])
    def test_value_of_a_run_that_lives_on(self, function: Any) -> None:
        """What the derivative needs is not the array that was handed out as the value."""
        expected = gt.jacobian(function)(ONES) @ ONES
        value, pull_back = gt.vjp(function, ONES)
        value[:] = 0.0
        np.testing.assert_array_equal(pull_back(ONES)[0], expected)
        value, push = gt.linearize(function, ONES)
        value[:] = 0.0
        np.testing.assert_array_equal(push(ONES), expected)

    def test_aux(self) -> None:
        """NumPy in, NumPy out: other results too, and the derivative does not stand on them."""

        def function(x: Any) -> Any:
            saved = np.exp(x)
            return saved * 2.0, {"saved": saved, "note": "kept", "number": 3}

        _, pull_back, aux = gt.vjp(function, ONES, has_aux=True)
        assert type(aux["saved"]) is np.ndarray
        assert (aux["note"], aux["number"]) == ("kept", 3)
        aux["saved"][:] = 0.0
        np.testing.assert_array_equal(pull_back(ONES)[0], 2 * np.exp(ONES))
        assert type(gt.jvp(function, (ONES,), (ONES,), has_aux=True)[2]["saved"]) is np.ndarray
        assert isinstance(gt.vjp(function, gt.tensor(ONES), has_aux=True)[2]["saved"], gt.Tensor)

    def test_aux_that_somebody_else_records(self) -> None:
        """Inside another derivative, other results stay on its tape."""

        def outer(x: Any) -> Any:
            _, aux = gt.grad(lambda y: (np.sum(y), x * 3.0), has_aux=True)(ONES)
            return np.sum(aux)

        np.testing.assert_array_equal(gt.grad(outer)(ONES), 3 * ONES)


class TestWhatComesIn:
    """A seed, a tangent or a gradient of the caller's is copied."""

    def test_cotangents(self) -> None:
        """The gradient of an identity is not the cotangent itself."""
        cotangent = np.ones(3)
        (pulled,) = gt.vjp(lambda x: x, ONES)[1](cotangent)
        pulled[0] = 9.0
        np.testing.assert_array_equal(cotangent, ONES)

    @pytest.mark.parametrize("size", [3, 20_000])
    def test_seeds(self, size: int) -> None:
        """A gradient stays what it was when the array that was its seed is written to, of any size."""
        seed, zeros = np.ones(size), np.zeros(size)
        x, t, u = gt.Variable(zeros), gt.tensor(zeros, requires_grad=True), gt.tensor(zeros, requires_grad=True)
        part = gt.tensor(np.zeros(2), requires_grad=True)
        with gt.GradientTape() as tape:
            y = x + 0.0
        gradients = [tape.gradient(y, x, output_gradients=seed)]
        (t + 0.0).backward(seed)
        gradients += [t.grad, *gt.gradients(u.reshape(size, 1), [u], seed.reshape(size, 1))]
        gradients += gt.vjp(lambda x: x + 0.0, gt.tensor(zeros))[1](seed)
        np.concatenate([part, np.ones(size - 2)]).backward(seed)
        seed[0] = 5.0
        for gradient in gradients:
            np.testing.assert_array_equal(gradient.numpy(), np.ones(size))
        np.testing.assert_array_equal(part.grad.numpy(), [1.0, 1.0])

    def test_large_seeds_are_not_written_to(self) -> None:
        """No rule writes its product over a seed that was lent, though it may over other large gradients."""
        seed, x = np.ones(20_000), gt.tensor(np.full(20_000, 0.5), requires_grad=True)
        (np.exp(x) * 3.0).backward(seed)
        np.testing.assert_array_equal(seed, np.ones(20_000))
        seed[0] = 5.0  # and it can be written again

    def test_tangents(self) -> None:
        """So does a tangent."""
        tangent, x = np.ones(3), gt.tensor(np.zeros(3))
        with gt.ForwardAccumulator(x, tangent) as accumulator:
            y = x + 0.0
        tangent[0] = 5.0
        np.testing.assert_array_equal(accumulator.jvp(y).numpy(), ONES)

    def test_grad(self) -> None:
        """And what `.grad` was set to."""
        given, t = np.ones(3), gt.tensor(np.zeros(3), requires_grad=True)
        t.grad = given
        given[0] = 5.0
        np.testing.assert_array_equal(t.grad.numpy(), ONES)
