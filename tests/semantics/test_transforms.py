"""grad, vjp, jvp, Jacobians, Hessians, vmap: functions in, functions out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradtape as gt

Line = Callable[..., str]


class Pair(NamedTuple):
    """A named tuple of two."""

    first: Any
    second: Any


@dataclass
class Layer:
    """A dataclass of parameters."""

    weights: Any
    bias: Any


def cubic(x: Any) -> Any:
    """The sum of the cubes."""
    return np.sum(x**3)


class TestGrad:
    """`grad` and `value_and_grad`."""

    def test_numpy_in_numpy_out(self) -> None:
        """Arrays get arrays, tensors get tensors, numbers get numbers."""
        x = np.array([1.0, 2.0])
        assert type(gt.grad(cubic)(x)) is np.ndarray
        assert type(gt.grad(cubic)(gt.tensor(x))) is gt.Tensor
        assert isinstance(gt.grad(cubic)(2.0), np.floating)
        np.testing.assert_array_equal(gt.grad(cubic)(x), [3.0, 12.0])

    def test_answers_belong_to_the_caller(self) -> None:
        """A gradient that is handed out as an array can be written to."""
        x = np.array([1.0, 2.0])
        gradient = gt.grad(np.sum)(x)
        gradient += 1.0
        np.testing.assert_array_equal(gt.grad(np.sum)(x), [1.0, 1.0])
        first, second = gt.grad(lambda a, b: np.sum(a + b), argnums=(0, 1))(x, x)
        first[0] = 100.0
        np.testing.assert_array_equal(second, [1.0, 1.0])

    def test_argnums(self) -> None:
        """One number gives one gradient, several give a tuple, negative ones count from the end."""

        def f(a: Any, b: Any, c: Any) -> Any:
            return a * b**2 * c**3

        assert gt.grad(f)(2.0, 3.0, 4.0) == 9.0 * 64.0
        assert gt.grad(f, argnums=1)(2.0, 3.0, 4.0) == 2 * 3.0 * 2.0 * 64.0
        both = gt.grad(f, argnums=(2, 0))(2.0, 3.0, 4.0)
        assert both == (2.0 * 9.0 * 3 * 16.0, 9.0 * 64.0)
        assert gt.grad(f, argnums=-1)(2.0, 3.0, 4.0) == both[0]

    def test_keyword_arguments_are_handed_on(self) -> None:
        """What is not differentiated can be given by name."""

        def f(x: Any, *, power: int, scale: float = 1.0) -> Any:
            return scale * np.sum(x**power)

        np.testing.assert_array_equal(gt.grad(f)(np.array([1.0, 2.0]), power=2, scale=10.0), [20.0, 40.0])

    def test_has_aux(self) -> None:
        """Other results come along beside the gradient."""

        def f(x: Any) -> Any:
            squares = x * x
            return np.sum(squares), {"squares": squares, "note": "kept"}

        gradient, aux = gt.grad(f, has_aux=True)(np.array([1.0, 2.0]))
        np.testing.assert_array_equal(gradient, [2.0, 4.0])
        assert aux["note"] == "kept"
        assert [float(v) for v in aux["squares"]] == [1.0, 4.0]
        (value, aux), gradient = gt.value_and_grad(f, has_aux=True)(np.array([1.0, 2.0]))
        assert float(value) == 5.0
        np.testing.assert_array_equal(gradient, [2.0, 4.0])

    @pytest.mark.parametrize(
        "wrap",
        [
            lambda a, b: [a, b],
            lambda a, b: {"a": a, "b": b},
            lambda a, b: Pair(a, b),
            lambda a, b: Layer(a, b),
            lambda a, b: ({"deep": [a]}, b),
        ],
        ids=["list", "dict", "named tuple", "dataclass", "nested"],
    )
    def test_nested_structures(self, wrap: Any) -> None:
        """The gradient has the structure of the argument."""

        def f(parameters: Any) -> Any:
            a, b = gather(parameters)
            return np.sum(a * a) * b

        gradient = gt.grad(f)(wrap(np.array([1.0, 2.0]), 3.0))
        assert type(gradient) is type(wrap(0, 0))
        a, b = gather(gradient)
        np.testing.assert_array_equal(a, [6.0, 12.0])
        assert b == 5.0

    @pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
    def test_one_element_is_a_number(self, shape: tuple[int, ...]) -> None:
        """A function may return one number in any shape."""
        gradient = gt.grad(lambda x: cubic(x).reshape(shape))(np.array([1.0, 2.0]))
        np.testing.assert_array_equal(gradient, [3.0, 12.0])

    def test_value_and_grad(self) -> None:
        """Both from one run of the function."""
        runs = []

        def f(x: Any) -> Any:
            runs.append(1)
            return cubic(x)

        value, gradient = gt.value_and_grad(f)(np.array([1.0, 2.0]))
        assert float(value) == 9.0
        np.testing.assert_array_equal(gradient, [3.0, 12.0])
        assert len(runs) == 1

    def test_unused_argument(self, line: Line) -> None:
        """Zeros in the argument's shape and dtype, and a warning that says which, why and where."""

        def f(x: Any, unused: Any) -> Any:
            return np.sum(x)

        with pytest.warns(gt.GradientWarning) as caught:
            gradient = gt.grad(f, argnums=1)(np.ones(2), np.ones((3, 1), np.float32))  # here
        assert gradient.dtype == np.float32
        np.testing.assert_array_equal(gradient, np.zeros((3, 1)))
        message = str(caught[0].message)
        assert line() in message
        assert "(3, 1)" in message
        assert "the value does not depend on" in message

    def test_constant_function(self) -> None:
        """A function that returns a plain number has a gradient of zeros, with the warning."""
        with pytest.warns(gt.GradientWarning):
            np.testing.assert_array_equal(gt.grad(lambda x: 3.0)(np.ones(2)), [0.0, 0.0])

    def test_gradients_of_gradients(self) -> None:
        """To any depth."""

        def derivative(order: int) -> Any:
            return (lambda x: np.sin(2 * x) * np.exp(x)) if order == 0 else gt.grad(derivative(order - 1))

        for order in range(1, 5):
            expected = ((1 + 2j) ** order * np.exp((1 + 2j) * 0.7)).imag
            np.testing.assert_allclose(derivative(order)(0.7), expected, rtol=1e-12)

    def test_perturbations_are_not_confused(self) -> None:
        """d/dx (x * d/dy (x + y)) is 1: the inner derivative does not see the outer's."""
        outer = gt.grad(lambda x: x * gt.grad(lambda y: x + y)(1.0))
        assert outer(5.0) == 1.0
        same = gt.grad(lambda x: x * gt.grad(lambda y: x * y)(x))
        assert same(5.0) == 10.0

    def test_inside_a_tape(self) -> None:
        """A gradient that is taken inside a tape is recorded there."""
        x = gt.Variable([1.0, 2.0])
        with gt.GradientTape() as tape:
            y = np.sum(gt.grad(cubic)(x))
        np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [6.0, 12.0])

    def test_inside_backward(self) -> None:
        """And on the graph behind `.backward()`."""
        x = gt.tensor([1.0, 2.0], requires_grad=True)
        np.sum(gt.grad(cubic)(x)).backward()
        np.testing.assert_array_equal(x.grad.numpy(), [6.0, 12.0])

    def test_keeps_name_and_docstring(self) -> None:
        """The new function can be recognised."""
        assert gt.grad(cubic).__name__ == "cubic"
        assert gt.grad(cubic).__doc__ == "The sum of the cubes."

    def test_exception_in_the_function(self) -> None:
        """What the function raises comes through as it is."""

        def fail(x: Any) -> Any:
            raise KeyError("inside")

        with pytest.raises(KeyError, match="inside"):
            gt.grad(fail)(1.0)


def gather(parameters: Any) -> tuple[Any, Any]:
    """The two leaves of any of the structures above."""
    if isinstance(parameters, dict):
        return parameters["a"], parameters["b"]
    if isinstance(parameters, Layer):
        return parameters.weights, parameters.bias
    first, second = parameters
    return (first["deep"][0] if isinstance(first, dict) else first), second


class TestProducts:
    """vjp, jvp, linearize, hvp."""

    def test_vjp(self) -> None:
        """The value, and a pull-back that can be called again."""
        matrix = np.arange(6.0).reshape(2, 3)
        value, pull_back = gt.vjp(lambda x: matrix @ x, np.array([1.0, 2.0, 3.0]))
        np.testing.assert_array_equal(value, matrix @ [1.0, 2.0, 3.0])
        for seed in ([1.0, 0.0], [0.0, 1.0], [2.0, -3.0]):
            np.testing.assert_array_equal(pull_back(np.array(seed))[0], np.array(seed) @ matrix)

    def test_vjp_of_structures(self) -> None:
        """Structures in, structures out; arguments that are not used get zeros."""
        value, pull_back = gt.vjp(
            lambda p, q, unused: {"sum": p["a"] + q, "product": p["a"] * q}, {"a": 2.0}, 3.0, np.ones(2)
        )
        assert {key: float(v) for key, v in value.items()} == {"sum": 5.0, "product": 6.0}
        for_p, for_q, for_unused = pull_back({"sum": 1.0, "product": 10.0})
        assert float(for_p["a"]) == 31.0
        assert float(for_q) == 21.0
        np.testing.assert_array_equal(for_unused, [0.0, 0.0])

    def test_vjp_with_aux(self) -> None:
        """`has_aux` hands other results through."""
        value, pull_back, aux = gt.vjp(lambda x: (x * x, "aux"), 3.0, has_aux=True)
        assert float(value) == 9.0
        assert aux == "aux"
        assert float(pull_back(1.0)[0]) == 6.0

    def test_jvp(self) -> None:
        """Value and directional derivative."""
        value, tangent = gt.jvp(lambda x, y: np.sin(x) * y, (1.0, 2.0), (10.0, 100.0))
        assert float(value) == pytest.approx(np.sin(1.0) * 2.0)
        assert float(tangent) == pytest.approx(np.cos(1.0) * 2.0 * 10.0 + np.sin(1.0) * 100.0)

    def test_jvp_and_vjp_agree(self) -> None:
        """v . (J u) is the same from both sides."""
        generator = np.random.default_rng(1)
        x, u, v = generator.normal(size=(3, 4))

        def f(x: Any) -> Any:
            return np.tanh(np.outer(x, x)).sum(axis=0) * x

        forward = gt.jvp(f, (x,), (u,))[1]
        backward = gt.vjp(f, x)[1](v)[0]
        np.testing.assert_allclose(v @ forward, backward @ u, rtol=1e-12)

    def test_linearize(self) -> None:
        """The function runs once; its derivative is linear and can be called often."""
        runs = []

        def f(x: Any) -> Any:
            runs.append(1)
            return np.exp(x)

        value, push = gt.linearize(f, np.array([0.0, 1.0]))
        np.testing.assert_allclose(value, np.exp([0.0, 1.0]))
        one, other = push(np.array([1.0, 0.0])), push(np.array([0.0, 1.0]))
        np.testing.assert_allclose(push(np.array([2.0, 3.0])), 2 * one + 3 * other)
        assert len(runs) == 1

    def test_hvp(self) -> None:
        """The Hessian times a vector."""
        x, v = np.array([1.0, 2.0]), np.array([3.0, -1.0])
        np.testing.assert_allclose(gt.hvp(cubic, x, v), gt.hessian(cubic)(x) @ v)


class TestJacobians:
    """jacobian, jacfwd, jacrev, hessian."""

    @pytest.mark.parametrize("transform", [gt.jacobian, gt.jacfwd, gt.jacrev])
    def test_shape_is_output_then_input(self, transform: Any) -> None:
        """Both modes give the same blocks."""
        x = np.arange(1.0, 7.0).reshape(2, 3)
        jacobian = transform(lambda x: (x * x).sum(axis=1)[:, None] * np.ones(4))(x)
        assert jacobian.shape == (2, 4, 2, 3)
        expected = np.einsum("ik,kl->ikl", np.eye(2), 2 * x)[:, None] * np.ones((1, 4, 1, 1))
        np.testing.assert_allclose(jacobian, expected)

    @pytest.mark.parametrize("transform", [gt.jacobian, gt.jacfwd, gt.jacrev])
    def test_structures(self, transform: Any) -> None:
        """Structures of outputs hold structures of inputs."""
        answer = transform(lambda p: {"y": p["a"] * p["b"]}, 0)({"a": np.array([1.0, 2.0]), "b": 3.0})
        np.testing.assert_allclose(answer["y"]["a"], np.diag([3.0, 3.0]))
        np.testing.assert_allclose(answer["y"]["b"], [1.0, 2.0])

    def test_argnums(self) -> None:
        """Several arguments give a tuple of blocks."""
        first, second = gt.jacobian(np.outer, argnums=(0, 1))(np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0]))
        assert first.shape == (2, 3, 2)
        assert second.shape == (2, 3, 3)

    def test_rows_and_columns_are_batched(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Neither mode runs a rule once for each row or column."""
        calls = {"reverse": 0, "forward": 0}
        for name in calls:
            rule = getattr(gt.tanh, name)

            def counted(*arguments: Any, _rule: Any = rule, _name: str = name) -> Any:
                calls[_name] += 1
                return _rule(*arguments)

            monkeypatch.setattr(gt.tanh, name, counted)
        x = np.linspace(-1.0, 1.0, 50)
        np.testing.assert_allclose(gt.jacrev(np.tanh)(x), np.diag(1 - np.tanh(x) ** 2))
        np.testing.assert_allclose(gt.jacfwd(np.tanh)(x), np.diag(1 - np.tanh(x) ** 2))
        assert calls == {"reverse": 1, "forward": 1}

    def test_hessian(self) -> None:
        """Shape input then input, symmetric, exact for a quadratic form."""
        matrix = np.array([[2.0, 1.0], [1.0, 5.0]])
        np.testing.assert_allclose(gt.hessian(lambda x: 0.5 * x @ matrix @ x)(np.array([1.0, 2.0])), matrix)

    def test_jacobian_of_a_gradient(self) -> None:
        """Transforms compose: all ways to a Hessian agree."""
        x = np.array([0.3, 0.7, 1.1])

        def f(x: Any) -> Any:
            return np.sum(np.sin(x[:-1] * x[1:]))

        expected = gt.hessian(f)(x)
        for outer in (gt.jacobian, gt.jacfwd, gt.jacrev):
            np.testing.assert_allclose(outer(gt.grad(f))(x), expected, atol=1e-12)
            np.testing.assert_allclose(outer(gt.jacfwd(f))(x), expected, atol=1e-12)


class TestVmap:
    """A function of one example, for all of them."""

    def test_in_axes_and_out_axes(self) -> None:
        """The examples run along the axes that are said."""
        x, w = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(4, 3)
        np.testing.assert_array_equal(gt.vmap(np.dot, in_axes=(1, None))(x, np.array([1.0, 2.0])), x.T @ [1.0, 2.0])
        along = gt.vmap(lambda v: w @ v, in_axes=0, out_axes=1)(x)
        np.testing.assert_array_equal(along, w @ x.T)

    def test_structures_of_axes(self) -> None:
        """`in_axes` may be a structure like the argument."""
        parameters = {"a": np.arange(3.0), "b": 10.0}
        answer = gt.vmap(lambda p: p["a"] * p["b"], in_axes=({"a": 0, "b": None},))(parameters)
        np.testing.assert_array_equal(answer, [0.0, 10.0, 20.0])

    def test_nested(self) -> None:
        """vmap of vmap runs over two axes."""
        x, y = np.arange(3.0), np.arange(4.0)
        outer = gt.vmap(gt.vmap(lambda a, b: a * 10 + b, in_axes=(None, 0)), in_axes=(0, None))(x, y)
        np.testing.assert_array_equal(outer, x[:, None] * 10 + y)

    def test_per_example_gradients(self) -> None:
        """vmap of grad, and grad of vmap."""
        x = np.arange(1.0, 7.0).reshape(3, 2)
        np.testing.assert_array_equal(gt.vmap(gt.grad(cubic))(x), 3 * x**2)
        np.testing.assert_array_equal(gt.grad(lambda x: np.sum(gt.vmap(cubic)(x)))(x), 3 * x**2)

    def test_with_jacobians_and_jvp(self) -> None:
        """vmap composes with the other transforms."""
        x = np.arange(1.0, 7.0).reshape(3, 2)
        jacobians = gt.vmap(gt.jacobian(lambda v: v**2))(x)
        np.testing.assert_allclose(jacobians, np.einsum("bi,ij->bij", 2 * x, np.eye(2)))
        tangents = gt.vmap(lambda v: gt.jvp(np.sin, (v,), (np.ones(2),))[1])(x)
        np.testing.assert_allclose(tangents, np.cos(x))

    def test_inside_a_tape(self) -> None:
        """What vmap computes is recorded."""
        x = gt.Variable(np.arange(1.0, 7.0).reshape(3, 2))
        with gt.GradientTape() as tape:
            y = gt.vmap(lambda v: np.sum(np.sin(v)))(x).sum()
        np.testing.assert_allclose(tape.gradient(y, x).numpy(), np.cos(x.numpy()))


class TestCheckpointAndStop:
    """Recomputing, and holding back."""

    def test_checkpoint_has_the_same_gradient(self) -> None:
        """A checkpointed function is run again for its gradient, which is the same."""
        runs = []

        def block(x: Any) -> Any:
            runs.append(1)
            return np.tanh(np.sin(x) * x)

        x = np.array([0.5, 1.5])
        plain = gt.grad(lambda x: np.sum(np.tanh(np.sin(x) * x)))(x)
        checkpointed = gt.grad(lambda x: np.sum(gt.checkpoint(block)(x)))(x)
        np.testing.assert_allclose(checkpointed, plain, rtol=1e-14)
        assert len(runs) == 2

    def test_stop_gradient(self) -> None:
        """The value passes, the gradient does not."""
        gradient = gt.grad(lambda x: np.sum(x * gt.stop_gradient(x)))(np.array([1.0, 2.0]))
        np.testing.assert_array_equal(gradient, [1.0, 2.0])

    def test_stop_gradient_in_forward_mode(self) -> None:
        """Forward mode stops at the same place."""
        tangent = gt.jvp(lambda x: x * gt.stop_gradient(x), (3.0,), (1.0,))[1]
        assert float(tangent) == 3.0
