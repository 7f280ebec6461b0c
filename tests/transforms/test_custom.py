"""Rules of one's own and checkpoints: every transform meets the rule, what it returns is checked, memory is saved."""

from __future__ import annotations

import functools
import gc
import re
import sys
import tracemalloc
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.graph import Node
from gradtape.transforms.custom import checkpoint, custom_gradient, custom_jvp, custom_vjp
from gradtape.transforms.custom.rules import SingleOperation

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]

X = np.array([0.3, -1.2, 2.0])
LARGE = np.linspace(0.0, 1.0, 10_000)
Y = np.array([0.7, 0.4, -1.5])
SCALE = 3.0  # the rules below are wrong by this factor, so that it shows who was asked for the derivative


def plain(x: Any, y: Any) -> Any:
    """The function of which all the wrapped ones have the values."""
    return np.sin(x) * y


def by_vjp() -> Function:
    """The function with a reverse rule."""

    @custom_vjp
    def function(x: Any, y: Any) -> Any:
        return plain(x, y)

    def fwd(x: Any, y: Any) -> Any:
        return plain(x, y), (x, {"y": y, "label": "some text"})

    def bwd(residuals: Any, g: Any) -> Any:
        x, rest = residuals
        return SCALE * g * np.cos(x) * rest["y"], SCALE * g * np.sin(x)

    function.defvjp(fwd, bwd)
    return function


def by_opaque_vjp() -> Function:
    """The same, with a residual that arrays cannot be taken out of."""
    function = custom_vjp(plain)

    def fwd(x: Any, y: Any) -> Any:
        return plain(x, y), lambda g: (SCALE * g * np.cos(x) * y, SCALE * g * np.sin(x))

    function.defvjp(fwd, lambda residuals, g: residuals(g))
    return function


def by_jvp() -> Function:
    """The function with a forward rule."""
    function = custom_jvp(plain)

    @function.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x, y), (dx, dy) = primals, tangents
        return plain(x, y), SCALE * (np.cos(x) * y * dx + np.sin(x) * dy)

    return function


def by_jvps() -> Function:
    """The function with a forward rule for each argument."""
    function = custom_jvp(plain)
    function.defjvps(
        lambda dx, out, x, y: SCALE * np.cos(x) * y * dx,
        lambda dy, out, x, y: SCALE * np.sin(x) * dy,
    )
    return function


def by_gradient() -> Function:
    """The function that returns its gradient function."""

    @custom_gradient
    def function(x: Any, y: Any) -> Any:
        cosine = np.cos(x)

        def gradient(upstream: Any) -> Any:
            return [SCALE * upstream * cosine * y, SCALE * upstream * np.sin(x)]

        return plain(x, y), gradient

    return function


KINDS = {
    "custom_vjp": (by_vjp, SCALE),
    "custom_vjp, opaque": (by_opaque_vjp, SCALE),
    "custom_jvp": (by_jvp, SCALE),
    "defjvps": (by_jvps, SCALE),
    "custom_gradient": (by_gradient, SCALE),
    "checkpoint": (lambda: checkpoint(plain), 1.0),
}


def total(function: Function) -> Function:
    """The sum of what a function returns."""
    return lambda *args: np.sum(function(*args))


def by_tape(function: Function, x: Any, y: Any) -> Any:
    """The gradient of a function of variables on a tape."""
    a, b = gt.Variable(x), gt.Variable(y)
    with gt.GradientTape() as tape:
        loss = np.sum(function(a * 1.0, b))
    return tape.gradient(loss, [a, b])


def by_nested_tapes(function: Function, x: Any, y: Any) -> Any:
    """A second derivative by two tapes."""
    a, b = gt.Variable(x), gt.Variable(y)
    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            loss = np.sum(function(a, b))
        first = inner.gradient(loss, a)
    return outer.gradient(first, [a, b])


def by_tape_jacobian(function: Function, x: Any, y: Any) -> Any:
    """A Jacobian on a persistent tape, twice."""
    a = gt.Variable(x)
    with gt.GradientTape(persistent=True) as tape:
        out = function(a, y)
    return [tape.jacobian(out, a), tape.jacobian(out, a)]


def by_tape_hessian(function: Function, x: Any, y: Any) -> Any:
    """A Hessian from a tape."""
    a = gt.Variable(x)
    with gt.GradientTape() as tape:
        loss = np.sum(function(a, y))
    return tape.hessian(loss, a)


def by_backward(function: Function, x: Any, y: Any) -> Any:
    """The gradient of leaves by `.backward()`."""
    a, b = gt.tensor(x, requires_grad=True), gt.tensor(y, requires_grad=True)
    np.sum(function(a, b)).backward()
    return [a.grad, b.grad]


def by_backward_twice(function: Function, x: Any, y: Any) -> Any:
    """A second derivative by `create_graph`."""
    a, b = gt.tensor(x, requires_grad=True), gt.tensor(y, requires_grad=True)
    (first,) = gt.gradients(np.sum(function(a, b)), [a], create_graph=True)
    np.sum(first).backward()
    return [a.grad, b.grad]


def by_accumulator(function: Function, x: Any, y: Any) -> Any:
    """A directional derivative, forwards."""
    a, b = gt.tensor(x), gt.tensor(y)
    with gt.ForwardAccumulator([a, b], [y, x]) as accumulator:
        out = function(a, b)
    return accumulator.jvp(out)


def square(a: Any) -> Any:
    """All products of two entries."""
    return np.multiply.outer(a, a)


TRANSFORMS: dict[str, Callable[[Function, Any, Any], Any]] = {
    "grad": lambda f, x, y: gt.grad(total(f), (0, 1))(x, y),
    "value_and_grad": lambda f, x, y: gt.value_and_grad(total(f))(x, y)[1],
    "jacobian": lambda f, x, y: gt.jacobian(f, (0, 1))(x, y),
    "jacrev": lambda f, x, y: gt.jacrev(f)(x, y),
    "jacfwd": lambda f, x, y: gt.jacfwd(f, (0, 1))(x, y),
    "hessian": lambda f, x, y: gt.hessian(total(f))(x, y),
    "jacrev of grad": lambda f, x, y: gt.jacrev(gt.grad(total(f)))(x, y),
    "hvp": lambda f, x, y: gt.hvp(total(f), x, y, y),
    "jvp": lambda f, x, y: gt.jvp(f, (x, y), (y, x))[1],
    "jvp of one": lambda f, x, y: gt.jvp(lambda x: f(x, y), (x,), (y,))[1],
    "jvp of jvp": lambda f, x, y: gt.jvp(lambda x: gt.jvp(lambda x: f(x, y), (x,), (y,))[1], (x,), (y,))[1],
    "grad of jvp": lambda f, x, y: gt.grad(lambda x: np.sum(gt.jvp(lambda x: f(x, y), (x,), (y,))[1]))(x),
    "linearize": lambda f, x, y: gt.linearize(f, x, y)[1](y, x),
    "vjp": lambda f, x, y: gt.vjp(f, x, y)[1](y),
    "vmap of grad": lambda f, x, y: gt.vmap(gt.grad(f, (0, 1)))(x, y),
    "vmap of grad of rows": lambda f, x, y: gt.vmap(gt.grad(total(f)))(square(x), square(y)),
    "vmap of grad, shared": lambda f, x, y: gt.vmap(gt.grad(f), (0, None))(x, y[0]),
    "grad of vmap": lambda f, x, y: gt.grad(lambda x, y: np.sum(gt.vmap(f)(x, y)), (0, 1))(x, y),
    "grad of vmap, shared": lambda f, x, y: gt.grad(lambda x, y: np.sum(gt.vmap(f, (0, None))(x, y)), (0, 1))(x, y[0]),
    "grad of vmap of rows": lambda f, x, y: gt.grad(lambda x: np.sum(gt.vmap(f, (0, None))(x, y)))(square(x)),
    "grad of vmap of vmap": lambda f, x, y: gt.grad(lambda x: np.sum(gt.vmap(gt.vmap(f, (0, None)), (0, 0))(x, y)))(
        square(x)
    ),
    "vmap of vmap of grad": lambda f, x, y: gt.vmap(gt.vmap(gt.grad(f)))(square(x), square(y)),
    "grad of vmap of grad": lambda f, x, y: gt.grad(lambda x: np.sum(gt.vmap(gt.grad(f))(x, y)))(x),
    "vmap of grad of vmap": lambda f, x, y: gt.vmap(gt.grad(lambda x, y: np.sum(gt.vmap(f)(x, y))))(
        square(x), square(y)
    ),
    "vmap of hessian": lambda f, x, y: gt.vmap(gt.hessian(total(f)))(square(x), square(y)),
    "vmap of jvp": lambda f, x, y: gt.vmap(lambda x, y: gt.jvp(f, (x, y), (y, x))[1])(x, y),
    "jvp of vmap": lambda f, x, y: gt.jvp(gt.vmap(f), (x, y), (y, x))[1],
    "jvp of vmap, shared": lambda f, x, y: gt.jvp(gt.vmap(f, (0, None)), (x, y[0]), (y, x[0]))[1],
    "jacfwd of vmap": lambda f, x, y: gt.jacfwd(gt.vmap(f))(x, y),
    "jacrev of vmap": lambda f, x, y: gt.jacrev(gt.vmap(f))(x, y),
    "hessian of vmap": lambda f, x, y: gt.hessian(lambda x: np.sum(gt.vmap(f)(x, y)))(x),
    "tape": by_tape,
    "nested tapes": by_nested_tapes,
    "tape.jacobian": by_tape_jacobian,
    "tape.hessian": by_tape_hessian,
    "backward": by_backward,
    "backward twice": by_backward_twice,
    "accumulator": by_accumulator,
}


def arrays(answer: Any) -> list[Array]:
    """All the arrays of an answer."""
    if isinstance(answer, list | tuple):
        return [array for part in answer for array in arrays(part)]
    return [np.asarray(answer)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("transform", list(TRANSFORMS))
@pytest.mark.parametrize("kind", list(KINDS))
def test_every_transform_uses_the_rule(kind: str, transform: str, dtype: str) -> None:
    """A derivative by any transform, of either order, is the rule's, in the shape and dtype of the real one's."""
    make, scale = KINDS[kind]
    x, y = X.astype(dtype), Y.astype(dtype)
    derive = TRANSFORMS[transform]
    found, real = arrays(derive(make(), x, y)), arrays(derive(plain, x, y))
    assert [(a.shape, a.dtype) for a in found] == [(a.shape, a.dtype) for a in real]
    for mine, theirs in zip(found, real, strict=True):
        np.testing.assert_allclose(mine, scale * theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", list(KINDS))
def test_values_are_the_functions(kind: str) -> None:
    """NumPy in gives NumPy out, tensors give tensors, and the numbers are the plain function's."""
    function = KINDS[kind][0]()
    out = function(X, Y)
    assert type(out) is np.ndarray
    np.testing.assert_array_equal(out, plain(X, Y))
    assert isinstance(function(gt.tensor(X), Y), gt.Tensor)
    np.testing.assert_array_equal(gt.vmap(function)(X, Y), plain(X, Y))
    np.testing.assert_array_equal(gt.value_and_grad(total(function))(X, Y)[0], np.sum(plain(X, Y)))


@pytest.mark.parametrize("kind", list(KINDS))
def test_empty_batches_and_empty_arrays(kind: str) -> None:
    """No examples and no elements give gradients without elements, of the right shape."""
    function = KINDS[kind][0]()
    none = np.zeros((0, 3))
    assert gt.vmap(gt.grad(total(function)))(none, none).shape == (0, 3)
    assert gt.grad(total(function))(none, none).shape == (0, 3)
    assert gt.grad(lambda x: np.sum(gt.vmap(function)(x, none)))(none).shape == (0, 3)


@pytest.mark.parametrize("kind", list(KINDS))
def test_under_no_grad(kind: str) -> None:
    """Nothing is recorded under `no_grad`, and a graph made before can be walked there."""
    make, scale = KINDS[kind]
    function = make()
    a = gt.tensor(X, requires_grad=True)
    loss = np.sum(function(a, Y))
    with gt.no_grad():
        assert not function(a, Y).requires_grad
        loss.backward()
    np.testing.assert_allclose(a.grad.numpy(), scale * np.cos(X) * Y)


def test_names_and_docstrings_are_the_functions() -> None:
    """What is wrapped looks like the function it wraps."""

    def documented(x: Any) -> Any:
        """Its own words."""
        return x

    for wrap in (custom_vjp, custom_jvp, custom_gradient, checkpoint):
        wrapped: Any = wrap(documented)
        assert (wrapped.__name__, wrapped.__doc__, wrapped.__wrapped__) == ("documented", "Its own words.", documented)


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_long_chain_is_walked_and_freed(kind: str) -> None:
    """More calls, one after the other, than Python goes deep, need no recursion."""
    function = KINDS[kind][0]()
    a = gt.tensor(np.array([0.5]), requires_grad=True)
    x = a
    for _ in range(sys.getrecursionlimit() + 200):
        x = function(x, 0.3)
    x.backward(np.ones(1))
    assert a.grad.shape == (1,)
    node = weakref.ref(x._node)
    del x
    assert node() is None


@pytest.mark.parametrize("kind", list(KINDS))
def test_what_was_kept_goes_with_the_walk(kind: str) -> None:
    """After a tape has given its gradient nothing of the graph is left but the node of the target."""
    function = KINDS[kind][0]()
    v = gt.Variable(X)

    def step() -> Any:
        with gt.GradientTape() as tape:
            loss = np.sum(function(function(v, Y), Y))
        tape.gradient(loss, v)
        return loss

    step()
    before = live_nodes()
    losses = [step() for _ in range(5)]
    assert live_nodes() - before == len(losses)


@pytest.mark.parametrize(
    "transform", ["grad", "vmap of grad", "grad of vmap", "vmap of vmap of grad", "hessian", "jvp"]
)
@pytest.mark.parametrize("kind", list(KINDS))
def test_nothing_waits_for_the_garbage_collector(kind: str, transform: str) -> None:
    """When a derivative has been taken, nodes, rules and what they kept are gone by themselves."""
    function = KINDS[kind][0]()
    TRANSFORMS[transform](function, X, Y)
    gc.collect()
    before = live(Node, SingleOperation)
    gc.disable()
    try:
        TRANSFORMS[transform](function, X, Y)
        assert live(Node, SingleOperation) == before
    finally:
        gc.enable()


def live(*kinds: type) -> int:
    """How many objects of these kinds there are in memory."""
    return sum(isinstance(item, kinds) for item in gc.get_objects())


def live_nodes() -> int:
    """How many nodes there are in memory that somebody can reach."""
    gc.collect()
    return live(Node)


# -- structures


class Pair(NamedTuple):
    """A named tuple."""

    left: Any
    right: Any


@dataclass
class State:
    """A dataclass."""

    position: Any
    speed: Any


class TestStructures:
    """Arguments and results are nested as one likes."""

    def test_vjp_of_nested_arguments_and_results(self) -> None:
        """Cotangents come in the structure of the result, and go out in that of the arguments."""
        seen: list[Any] = []

        @custom_vjp
        def function(parameters: Any, pair: Any) -> Any:
            return {"sum": parameters["w"] + pair.left, "rest": [parameters["b"] * pair.right, "text"]}

        def bwd(residuals: Any, g: Any) -> Any:
            seen.append(g)
            parameters, pair = residuals
            doubled = {"b": 2 * g["rest"][0] * pair.right, "w": 2 * g["sum"]}  # the keys in another order
            return doubled, Pair(2 * g["sum"], 2 * g["rest"][0] * parameters["b"])

        function.defvjp(lambda parameters, pair: (function(parameters, pair), (parameters, pair)), bwd)

        def loss(parameters: Any, pair: Any) -> Any:
            out = function(parameters, pair)
            assert out["rest"][1] == "text"
            return np.sum(out["sum"] * X) + np.sum(out["rest"][0])

        parameters, pair = {"w": X, "b": np.array(2.0)}, Pair(Y, np.array(3.0))
        gradient, other = gt.grad(loss, (0, 1))(parameters, pair)
        assert list(gradient) == ["w", "b"]
        np.testing.assert_allclose(gradient["w"], 2 * X)
        np.testing.assert_allclose(gradient["b"], 6.0)
        assert isinstance(other, Pair)
        np.testing.assert_allclose(other.left, 2 * X)
        np.testing.assert_allclose(other.right, 4.0)
        assert list(seen[0]) == ["sum", "rest"]
        assert seen[0]["rest"][1] is None

    def test_jvp_of_nested_arguments_and_results(self) -> None:
        """Tangents come in the structure of the arguments, and go out in that of the result."""

        @custom_jvp
        def function(state: Any) -> Any:
            return State(state.position + state.speed, state.speed)

        @function.defjvp
        def rule(primals: Any, tangents: Any) -> Any:
            (state,), (move,) = primals, tangents
            return function(state), State(2 * move.position + 2 * move.speed, None)

        state = State(X, Y)
        out, move = gt.jvp(function, (state,), (State(np.ones(3), np.ones(3)),))
        np.testing.assert_allclose(out.position, X + Y)
        np.testing.assert_allclose(move.position, 4.0 * np.ones(3))
        np.testing.assert_allclose(move.speed, np.zeros(3))
        gradient = gt.grad(lambda state: np.sum(function(state).position) + np.sum(function(state).speed))(state)
        np.testing.assert_allclose(gradient.position, 2.0 * np.ones(3))
        np.testing.assert_allclose(gradient.speed, 2.0 * np.ones(3))

    def test_none_stands_for_zeros_anywhere(self) -> None:
        """None for an argument, for a branch and for a leaf are zeros; None for all of them is fine."""
        function = custom_vjp(lambda a, b: a["x"] * a["y"] * b[0] * b[1])

        def answer(*cotangents: Any) -> Any:
            function.defvjp(lambda a, b: (function(a, b), None), lambda residuals, g: cotangents)
            return gt.grad(lambda a, b: np.sum(function(a, b)), (0, 1))({"x": X, "y": Y}, (X, Y))

        first, second = answer({"x": None, "y": np.ones(3)}, None)
        np.testing.assert_array_equal(first["x"], np.zeros(3))
        np.testing.assert_array_equal(first["y"], np.ones(3))
        np.testing.assert_array_equal(second[0], np.zeros(3))
        first, second = answer(None, None)
        np.testing.assert_array_equal([*first.values(), *second], np.zeros((4, 3)))

    def test_unused_results_send_zeros(self) -> None:
        """A result that nothing depends on has zeros for its cotangent; an integer result too."""
        seen: list[Any] = []
        function = custom_vjp(lambda x: (x * 2, x * 3, np.argsort(x)))
        function.defvjp(lambda x: (function(x), None), lambda _, g: (seen.append(g), (g[0] * 2 + g[1] * 3,))[1])
        gradient = gt.grad(lambda x: np.sum(function(x)[1]))(X)
        np.testing.assert_array_equal(gradient, 3 * np.ones(3))
        np.testing.assert_array_equal(seen[0][0], np.zeros(3))
        assert seen[0][2].dtype.kind == "i"
        assert not function(gt.tensor(X, requires_grad=True))[2].requires_grad

    def test_what_is_not_an_array_passes_untouched(self) -> None:
        """Strings, None, integers and functions reach the function, the rule and the residuals as they are."""
        marker = object()
        seen: list[Any] = []
        function = custom_vjp(lambda x, how, times, other, thing: x * times)

        def fwd(*args: Any) -> Any:
            seen.append(args[1:])
            return function(*args), args[1:]

        def bwd(residuals: Any, g: Any) -> Any:
            seen.append(residuals)
            return g * residuals[1], None, None, None, None

        function.defvjp(fwd, bwd)
        gradient = gt.grad(lambda x: np.sum(function(x, "text", 3, None, thing=marker)))(X)
        np.testing.assert_array_equal(gradient, 3 * np.ones(3))
        assert seen == [("text", 3, None, marker)] * 2

    def test_integer_arrays_have_no_cotangent(self) -> None:
        """What a rule returns for an integer array is not used, and forwards it has zeros to add."""
        index = np.array([2, 0])
        function = custom_vjp(lambda x, i: x[i])
        function.defvjp(
            lambda x, i: (x[i], (x, i)), lambda r, g: (gt.at(np.zeros(r[0].shape))[r[1]].add(g), np.zeros(7))
        )
        np.testing.assert_array_equal(gt.grad(lambda x: np.sum(function(x, index)))(X), [1.0, 0.0, 1.0])
        forward = custom_jvp(lambda x, i: x[i])
        forward.defjvp(lambda p, t: (p[0][p[1]], t[0][p[1]] + 0.0 * t[1]))
        np.testing.assert_array_equal(gt.grad(lambda x: np.sum(forward(x, index)))(X), [1.0, 0.0, 1.0])
        np.testing.assert_array_equal(gt.jvp(lambda x: forward(x, index), (X,), (X,))[1], X[index])

    def test_numbers_have_numbers_for_tangents(self) -> None:
        """A Python number among the arguments has a zero for its tangent, of its own type."""
        seen: list[Any] = []
        power = custom_jvp(lambda x, n, scale: scale * x**n)

        @power.defjvp
        def rule(primals: Any, tangents: Any) -> Any:
            (x, n, scale), (dx, dn, dscale) = primals, tangents
            seen.append((dn, dscale))
            return power(x, n, scale), scale * n * x ** (n - 1) * dx + dscale * x**n

        np.testing.assert_allclose(gt.grad(lambda x: np.sum(power(x, 3, 2.0)))(X), 6 * X**2)
        assert seen == [(0, 0.0)]
        assert [type(item) for item in seen[0]] == [int, float]

    def test_nondiff_argnums(self) -> None:
        """Such arguments come first in the rules, in the order given, and have no cotangent."""

        def apply(f: Function, x: Any, n: int) -> Any:
            return f(x) * n

        function = custom_vjp(apply, nondiff_argnums=(2, 0))
        function.defvjp(lambda f, x, n: (f(x) * n, x), lambda n, f, x, g: (g * n * 100,))
        np.testing.assert_array_equal(gt.grad(lambda x: np.sum(function(np.sin, x, n=2)))(X), 200 * np.ones(3))
        forward = functools.partial(custom_jvp, nondiff_argnums=(0, -1))(apply)
        forward.defjvp(lambda f, n, primals, tangents: (f(primals[0]) * n, tangents[0] * n * 100))
        np.testing.assert_array_equal(gt.grad(lambda x: np.sum(forward(np.sin, x, 2)))(X), 200 * np.ones(3))
        np.testing.assert_array_equal(gt.vmap(gt.grad(lambda x: function(np.sin, x, 2)))(X), 200 * np.ones(3))
        single = custom_vjp(lambda n, x: x * n, nondiff_argnums=0)
        single.defvjp(lambda n, x: (x * n, None), lambda n, _, g: (g * n,))
        np.testing.assert_array_equal(gt.grad(lambda x: np.sum(single(4, x)))(X), 4 * np.ones(3))

    def test_keywords_and_defaults_are_placed(self) -> None:
        """Keywords are put where the signature has them, and defaults are filled in, so that rules see positions."""

        @custom_vjp
        def function(x: Any, factor: float = 2.0, power: int = 1, *, unused: bool = True) -> Any:
            return factor * x**power

        seen: list[Any] = []

        def fwd(*args: Any) -> Any:
            seen.append(args[1:])
            return function(*args), args

        function.defvjp(fwd, lambda args, g: (g * args[1] * args[2] * args[0] ** (args[2] - 1), None, None))
        np.testing.assert_allclose(gt.grad(lambda x: np.sum(function(x, power=2)))(X), 4 * X)
        assert seen == [(2.0, 2)]

    def test_as_methods(self) -> None:
        """A rule can be given to a method; the object is an argument like any other, without a cotangent."""

        class Layer:
            factor = 3.0

            @functools.partial(custom_vjp, nondiff_argnums=(0,))
            def scaled(self, x: Any) -> Any:
                return self.factor * x

            @custom_gradient
            def graded(self, x: Any) -> Any:
                return self.factor * x, lambda upstream: upstream * self.factor * 10

            @checkpoint
            def recomputed(self, x: Any) -> Any:
                return np.sin(self.factor * x)

        Layer.scaled.defvjp(lambda self, x: (self.factor * x, None), lambda self, _, g: (g * self.factor,))
        layer = Layer()
        np.testing.assert_array_equal(gt.grad(lambda x: np.sum(layer.scaled(x)))(X), 3 * np.ones(3))
        np.testing.assert_array_equal(gt.grad(lambda x: np.sum(layer.graded(x)))(X), 30 * np.ones(3))
        np.testing.assert_allclose(gt.grad(lambda x: np.sum(layer.recomputed(x)))(X), 3 * np.cos(3 * X))

    def test_functions_without_a_signature(self) -> None:
        """NumPy's own functions can have a rule: they take what is passed, by position."""
        function = custom_vjp(np.sin)
        function.defvjp(lambda x: (np.sin(x), x), lambda x, g: (g * 10 * np.cos(x),))
        np.testing.assert_allclose(gt.grad(lambda x: np.sum(function(x)))(X), 10 * np.cos(X))

    def test_complex_numbers(self) -> None:
        """The conjugate convention holds in both directions, through either kind of rule."""
        z = np.array([1.0 + 2.0j, -0.5 + 0.3j])
        reverse = custom_vjp(lambda z: z * z)
        reverse.defvjp(lambda z: (z * z, z), lambda z, g: (g * np.conj(2 * z),))
        forward = custom_jvp(lambda z: z * z)
        forward.defjvp(lambda p, t: (p[0] * p[0], 2 * p[0] * t[0]))
        for function in (reverse, forward, checkpoint(lambda z: z * z)):
            np.testing.assert_allclose(gt.vjp(function, z)[1](z)[0], np.conj(2 * z) * z)
            np.testing.assert_allclose(gt.jvp(function, (z,), (1j * z,))[1], 2j * z * z)


# -- what runs when


class TestRuns:
    """Which function runs, on what, and how often."""

    def counted(self) -> tuple[Function, list[str]]:
        """A function that notes who ran."""
        runs: list[str] = []

        def function(x: Any) -> Any:
            runs.append("f")
            return np.sin(x)

        def fwd(x: Any) -> Any:
            runs.append("fwd")
            return np.sin(x), x

        def bwd(x: Any, g: Any) -> Any:
            runs.append("bwd")
            return (g * np.cos(x),)

        wrapped = custom_vjp(function)
        wrapped.defvjp(fwd, bwd)
        return wrapped, runs

    def test_the_function_itself_runs_where_nothing_is_differentiated(self) -> None:
        """Without a tape, under `no_grad` and in a batch, neither rule runs."""
        function, runs = self.counted()
        function(X)
        function(gt.tensor(X))
        gt.vmap(function)(X)
        assert runs == ["f"] * 3

    def test_each_rule_runs_once(self) -> None:
        """A gradient runs each rule once; so do a batch of gradients, a gradient of a batch, and a Jacobian."""
        function, runs = self.counted()
        gt.grad(lambda x: np.sum(function(x)))(X)
        gt.vmap(gt.grad(function))(X)
        gt.grad(lambda x: np.sum(gt.vmap(function)(x)))(X)
        gt.vmap(gt.vmap(gt.grad(function)))(square(X))
        gt.jacrev(function)(X)
        assert runs == ["fwd", "bwd"] * 5

    def test_rules_get_tensors_with_plain_values(self) -> None:
        """Inside a rule nothing is recorded, so that values can be taken out and given to other libraries."""
        function = custom_vjp(lambda x: np.linalg.norm(np.asarray(x)))

        def fwd(x: Any) -> Any:
            assert isinstance(x, gt.Tensor)
            assert not x.is_tracked
            norm = float(np.linalg.norm(np.asarray(x)))
            return norm, (np.asarray(x), norm)

        def bwd(residuals: Any, g: Any) -> Any:
            assert isinstance(g, gt.Tensor)
            x, norm = residuals
            return (float(g) * x / norm,)

        function.defvjp(fwd, bwd)
        np.testing.assert_allclose(gt.grad(function)(X), X / np.linalg.norm(X))

    def test_a_plain_array_stays_one(self) -> None:
        """An argument that is an array and not a tensor reaches the rules as an array."""
        kinds: list[type] = []
        function = custom_vjp(lambda x, y: x * y)

        def fwd(x: Any, y: Any) -> Any:
            kinds.append(type(y))
            return x * y, (x, y)

        def bwd(residuals: Any, g: Any) -> Any:
            kinds.append(type(residuals[1]))
            return g * residuals[1], None

        function.defvjp(fwd, bwd)
        gt.grad(lambda x: np.sum(function(x, Y)))(X)
        assert kinds == [np.ndarray, np.ndarray]

    def test_a_gradient_is_nobody_elses_memory(self) -> None:
        """A rule may return an array that it keeps: writing into the gradient does not change it."""
        mask = np.ones(3)
        function = custom_vjp(lambda x: x)
        function.defvjp(lambda x: (x, None), lambda _, g: (mask,))
        gradient = gt.grad(lambda x: np.sum(function(x)))(X)
        gradient[:] = 7.0
        np.testing.assert_array_equal(mask, np.ones(3))

    def test_a_result_is_nobody_elses_memory(self) -> None:
        """A function may return an array that it keeps: writing into that does not change the tensor."""
        buffer = np.ones(3)
        function = custom_vjp(lambda x: x)
        function.defvjp(lambda x: (buffer, None), lambda _, g: (g,))
        out = function(gt.tensor(X, requires_grad=True))
        buffer[:] = 7.0
        np.testing.assert_array_equal(out.numpy(), np.ones(3))

    def test_a_residual_cannot_be_changed_unnoticed(self) -> None:
        """An array kept as a residual is locked until the gradient has been taken, and noticed through a view."""
        table = np.arange(3.0)
        function = custom_vjp(lambda x: x * table)
        function.defvjp(lambda x: (x * table, table), lambda kept, g: (g * kept,))
        x = gt.tensor(X, requires_grad=True)
        out = np.sum(function(x))
        with pytest.raises(ValueError, match="read-only"):
            table[0] = 5.0
        out.backward()
        np.testing.assert_array_equal(x.grad.numpy(), np.arange(3.0))
        del out
        table[0] = 5.0
        base = np.arange(6.0)
        view = base[:3]
        viewed = custom_vjp(lambda x: x * view)
        viewed.defvjp(lambda x: (x * view, view), lambda kept, g: (g * kept,))
        out = np.sum(viewed(x))
        base[1] = 100.0
        with pytest.raises(gt.MutationError, match="shape \\(3,\\) was changed"):
            out.backward()

    def test_residuals_go_while_the_walk_goes(self) -> None:
        """What one call kept of a large array is free before the walk comes to the call before it."""
        last: Any = None
        alive: list[bool] = []
        function = custom_vjp(lambda x: x * 2.0)

        def note(kept: Any) -> None:
            nonlocal last
            last = weakref.ref(kept)

        def fwd(x: Any) -> Any:
            kept = np.asarray(x).copy()
            note(kept)
            return x * 2.0, kept

        def bwd(kept: Any, g: Any) -> Any:
            nonlocal last
            last = last
            alive.append(last() is not None)
            return (g * 2.0,)

        function.defvjp(fwd, bwd)
        gt.grad(lambda x: np.sum(function(function(x))))(LARGE)
        v = gt.Variable(LARGE)
        with gt.GradientTape() as tape:
            loss = np.sum(function(function(v)))
        tape.gradient(loss, v)
        assert alive == [True, False] * 2

    def test_errors_of_the_function_are_its_own(self) -> None:
        """An error raised in a function or a rule arrives as it was raised, and leaves clean state."""

        class Mine(ValueError):
            pass

        def broken(x: Any) -> Any:
            raise Mine("not this")

        function = custom_vjp(broken)
        function.defvjp(broken, lambda r, g: (g,))
        forward = custom_jvp(broken)
        forward.defjvp(lambda p, t: (p, t))
        for wrapped in (function, forward, custom_gradient(broken), checkpoint(broken)):
            for transform in (gt.grad, lambda f: gt.vmap(gt.grad(f))):
                with pytest.raises(Mine, match="not this") as caught:
                    transform(wrapped)(X)
                assert type(caught.value) is Mine
                assert caught.value.__cause__ is None
            np.testing.assert_array_equal(gt.grad(lambda x: np.sum(x * x))(X), 2 * X)

    def test_a_nonlinear_rule_goes_back_as_written(self) -> None:
        """Clipping a gradient is not linear: reverse mode clips, and forward mode takes the rule near zero."""
        clipped = custom_vjp(lambda x: x)
        clipped.defvjp(lambda x: (x, None), lambda _, g: (np.clip(g, -1.0, 1.0),))
        np.testing.assert_array_equal(gt.grad(lambda x: np.sum(clipped(x) * 5))(X), np.ones(3))
        np.testing.assert_array_equal(gt.jvp(clipped, (X,), (5 * Y,))[1], 5 * Y)

    def test_second_derivatives_go_through_the_code_of_the_rule(self) -> None:
        """The derivative of a gradient is that of the rule's own code, the residuals' included."""
        function = custom_vjp(lambda x: x)
        function.defvjp(lambda x: (x, x**3), lambda cube, g: (g * cube,))
        np.testing.assert_allclose(gt.grad(lambda x: np.sum(function(x)))(X), X**3)
        np.testing.assert_allclose(gt.hessian(lambda x: np.sum(function(x)))(X), np.diag(3 * X**2))
        np.testing.assert_allclose(gt.vmap(gt.grad(gt.grad(function)))(X), 3 * X**2)
        by_form = custom_gradient(lambda x: (x, lambda upstream: upstream * x**3))
        np.testing.assert_allclose(gt.hessian(lambda x: np.sum(by_form(x)))(X), np.diag(3 * X**2))

    def test_a_rule_may_use_the_function_itself(self) -> None:
        """A rule that calls its own function can be differentiated again and again."""
        function = custom_jvp(np.exp)
        function.defjvps(lambda dx, out, x: dx * out)
        derived = function
        for _ in range(4):
            derived = gt.grad(derived)
            np.testing.assert_allclose(derived(0.5), np.exp(0.5))

    def test_functions_with_rules_in_each_other(self) -> None:
        """A rule may call another function with a rule."""
        inner = by_vjp()
        outer = custom_vjp(lambda x: inner(x, 2.0))
        outer.defvjp(lambda x: (inner(x, 2.0), x), lambda x, g: (g * inner(x, 2.0),))
        np.testing.assert_allclose(gt.grad(lambda x: np.sum(outer(x)))(X), 2 * np.sin(X))
        np.testing.assert_allclose(gt.vmap(gt.grad(gt.grad(outer)))(X), SCALE * 2 * np.cos(X))


# -- what is refused


def line_of(text: str) -> int:
    """The line of this file that has `text` in it."""
    with open(__file__) as source:
        return next(number for number, line in enumerate(source, 1) if text in line and "line_of" not in line)


def wrong_vjp(answer: Callable[[Any], Any], function: Function = lambda x: x * 2.0) -> Function:
    """A function whose rule returns `answer(cotangent)`."""
    wrapped = custom_vjp(function)

    def wrong_rule(residuals: Any, cotangent: Any) -> Any:
        return answer(cotangent)

    wrapped.defvjp(lambda *args: (function(*args), None), wrong_rule)
    return wrapped


class TestRefused:
    """Rules that do not return what they have to, and how the message says it."""

    def test_a_scalar_for_a_matrix(self) -> None:
        """A pre-reduced gradient is refused at the edge, naming rule, argument, both shapes and both lines."""
        function = wrong_vjp(lambda g: (np.sum(g),))
        with pytest.raises(gt.RuleError) as caught:
            gt.grad(lambda x: np.sum(function(x).reshape(25)))(np.ones((5, 5)))
        message = str(caught.value)
        assert (
            "the rule 'wrong_rule' of '<lambda>' returned shape () for argument 0 (x), which has shape (5, 5)"
            in message
        )
        assert f"test_custom.py:{line_of('return answer(cotangent)')}" in message
        assert f"test_custom.py:{line_of('function(x).reshape(25)')}" in message
        assert "never summed or stretched" in message
        assert "fix: return an array of shape (5, 5)" in message

    @pytest.mark.parametrize("shape", [(), (1,), (5,), (1, 5), (5, 1), (1, 1), (1, 5, 5), (25,), (5, 6)])
    def test_no_shape_is_stretched_into_place(self, shape: tuple[int, ...]) -> None:
        """Shapes that broadcast to the argument's, or have as many elements, are refused like any other."""
        function = wrong_vjp(lambda g: (np.ones(shape),))
        with pytest.raises(gt.RuleError, match=re.escape(f"returned shape {shape} for argument 0")):
            gt.grad(lambda x: np.sum(function(x)))(np.ones((5, 5)))
        by_form = custom_gradient(lambda x: (x * 2.0, lambda upstream: np.ones(shape)))
        with pytest.raises(gt.RuleError, match=re.escape(f"returned shape {shape} for argument 0")):
            gt.grad(lambda x: np.sum(by_form(x)))(np.ones((5, 5)))

    @pytest.mark.parametrize("transform", ["grad", "vmap of grad", "grad of vmap", "jvp", "jacobian", "hessian"])
    def test_in_every_transform(self, transform: str) -> None:
        """The wrong shape is found by whichever transform asks first, with the shapes of one example."""
        function = wrong_vjp(lambda g: (np.sum(g),))
        ask = {
            "grad": lambda: gt.grad(lambda x: np.sum(function(x)))(X),
            "vmap of grad": lambda: gt.vmap(gt.grad(lambda x: np.sum(function(x))))(square(X)),
            "grad of vmap": lambda: gt.grad(lambda x: np.sum(gt.vmap(function)(x)))(square(X)),
            "jvp": lambda: gt.jvp(function, (X,), (X,)),
            "jacobian": lambda: gt.jacobian(function)(X),
            "hessian": lambda: gt.hessian(lambda x: np.sum(function(x)))(X),
        }[transform]
        with pytest.raises(gt.RuleError, match=r"returned shape \(\) for argument 0 \(x\), which has shape \(3,\)"):
            ask()

    @pytest.mark.parametrize("given", ["float64", "complex64", "int64", "float16"])
    def test_a_wrong_dtype(self, given: str) -> None:
        """A gradient of another dtype is refused, naming both, with the cast to write."""
        function = wrong_vjp(lambda g: (np.ones(3, given),))
        real = re.escape(".real" if given == "complex64" else "")
        with pytest.raises(
            gt.RuleError, match=rf"dtype {given} for argument 0.*dtype float32(.|\n)*gradient{real}\.astype"
        ):
            gt.grad(lambda x: np.sum(function(x)))(X.astype("float32"))

    def test_python_numbers_are_weak(self) -> None:
        """A Python number is a gradient of a number of any dtype; a complex one only of a complex number."""
        function = wrong_vjp(lambda g: (2.0,))
        gradient = gt.grad(function)(np.float32(3.0))
        assert (gradient, gradient.dtype) == (2.0, np.float32)
        with pytest.raises(gt.RuleError, match="dtype complex128"):
            gt.grad(wrong_vjp(lambda g: (2.0j,)))(3.0)

    @pytest.mark.parametrize(
        ("answer", "told"),
        [
            (lambda g: g, "a Tensor"),
            (lambda g: [g], "a list of 1"),
            (lambda g: (g, g), "a tuple of 2"),
            (lambda g: (), "a tuple of 0"),
            (lambda g: None, "None"),
        ],
    )
    def test_a_wrong_count(self, answer: Any, told: str) -> None:
        """Anything but a tuple with one cotangent for each argument is refused."""
        function = wrong_vjp(answer)
        with pytest.raises(gt.RuleError, match=f"must return a tuple of 1, one cotangent.*returned {told}"):
            gt.grad(lambda x: np.sum(function(x)))(X)

    @pytest.mark.parametrize(
        ("answer", "told"),
        [
            (lambda g: (g,), r"returned a Tensor for argument 0 \(tree\), which is a dict with keys \['w', 'b'\]"),
            (lambda g: ({"w": [g, g]},), r"a dict with keys \['w'\] for argument 0 \(tree\), which is a dict"),
            (lambda g: ({"w": [g], "b": g},), r"a list of 1 for argument 0 \(tree\)\['w'\], which is a list of 2"),
            (lambda g: ({"w": [g, g], "b": [g]},), r"a list of 1 for argument 0 \(tree\)\['b'\], which is an array"),
            (lambda g: ({"w": (g, g), "b": g},), r"a tuple of 2 for argument 0 \(tree\)\['w'\], which is a list of 2"),
            (lambda g: ({"w": [g, g[:2]], "b": g},), r"returned shape \(2,\) for argument 0 \(tree\)\['w'\]\[1\]"),
            (lambda g: ({"w": [g, "text"], "b": g},), r"something of dtype <U4 for argument 0 \(tree\)\['w'\]\[1\]"),
        ],
    )
    def test_a_wrong_structure(self, answer: Any, told: str) -> None:
        """The place in the structure of the argument is named."""
        function = wrong_vjp(answer, lambda tree: tree["w"][0] * tree["w"][1] * tree["b"])
        with pytest.raises(gt.RuleError, match=told):
            gt.grad(lambda tree: np.sum(function(tree)))({"w": [X, X], "b": X})

    def test_no_rule_yet(self) -> None:
        """A function that waits for its rule says so, whoever calls it."""
        with pytest.raises(
            gt.RuleError, match=r"'plain' was called before it had a rule(.|\n)*plain\.defvjp\(fwd, bwd\)"
        ):
            custom_vjp(plain)(X, Y)
        with pytest.raises(gt.RuleError, match=r"'plain' was called before it had a rule(.|\n)*plain\.defjvp\(rule\)"):
            custom_jvp(plain)(X, Y)

    def test_not_a_pair(self) -> None:
        """A rule that has to return a pair is named with what it returned."""
        function = custom_vjp(plain)
        function.defvjp(plain, lambda r, g: (g, g))
        with pytest.raises(gt.RuleError, match=r"rule 'plain' of 'plain' must return a pair, \(result, residuals\)"):
            gt.grad(total(function))(X, Y)
        forward = custom_jvp(plain)
        forward.defjvp(lambda primals, tangents: tangents[0])
        with pytest.raises(gt.RuleError, match=r"must return a pair, \(result, tangent\); it returned a Tensor"):
            gt.grad(total(forward))(X, Y)
        for wrong in (plain, lambda x, y: (x, y)):
            with pytest.raises(gt.RuleError, match=r"must return a pair, \(value, gradient\), the second a function"):
                gt.grad(total(custom_gradient(wrong)))(X, Y)
            with pytest.raises(gt.RuleError, match="the second a function"):
                custom_gradient(wrong)(X, Y)

    @pytest.mark.parametrize(
        ("answer", "told"),
        [
            (
                lambda x, dx: (x * 2, np.sum(dx)),
                r"returned shape \(\) for the tangent of the result, which has shape \(3,\)",
            ),
            (lambda x, dx: (x * 2, dx.astype("float32")), "returned dtype float32 for the tangent of the result"),
            (lambda x, dx: (x * 2, [dx]), "returned a list of 1 as the tangent of the result, which is an array"),
            (
                lambda x, dx: (x[:2], dx),
                r"returned a result of \(2,\) float64; the function itself returns \(3,\) float64",
            ),
            (lambda x, dx: ([x * 2], dx), r"the function itself returns \(3,\) float64"),
            (lambda x, dx: ("text", dx), r"returned a result of a str; the function itself returns \(3,\) float64"),
        ],
    )
    def test_wrong_tangents(self, answer: Any, told: str) -> None:
        """A forward rule is held to the structure, shape and dtype of the result, in both directions."""
        function = custom_jvp(lambda x: x * 2)
        function.defjvp(lambda primals, tangents: answer(primals[0], tangents[0]))
        with pytest.raises(gt.RuleError, match=told):
            gt.grad(lambda x: np.sum(function(x)))(X)
        with pytest.raises(gt.RuleError, match=told):
            gt.jvp(function, (X,), (X,))

    def test_wrong_parts_of_tangents(self) -> None:
        """Rules for each argument are counted, and held to the structure of the result."""
        function = custom_jvp(plain)
        function.defjvps(lambda dx, out, x, y: dx)
        with pytest.raises(gt.RuleError, match="defjvps gave 1 rules to 'plain', which was called with 2 arguments"):
            gt.grad(total(function))(X, Y)
        function.defjvps(lambda dx, out, x, y: [dx], None)
        with pytest.raises(gt.RuleError, match="returned a list of 1 as part of the tangent, which is an array"):
            gt.grad(total(function))(X, Y)
        with pytest.raises(gt.OperandError, match="nondiff_argnums"):
            custom_jvp(plain, nondiff_argnums=(1,)).defjvps(None)

    def test_defjvps_with_nones(self) -> None:
        """An argument without a rule does not move the result; without any rule nothing does."""
        function = custom_jvp(plain)
        function.defjvps(None, lambda dy, out, x, y: dy * np.sin(x))
        np.testing.assert_allclose(gt.jvp(function, (X, Y), (X, Y))[1], Y * np.sin(X))
        function.defjvps(None, None)
        np.testing.assert_array_equal(gt.jvp(function, (X, Y), (X, Y))[1], np.zeros(3))

    def test_rules_that_are_not_functions(self) -> None:
        """What is not a function is refused where it is given."""
        with pytest.raises(gt.OperandError, match="custom_vjp: a function is wanted; got a int"):
            custom_vjp(3)  # type: ignore[arg-type]
        with pytest.raises(gt.OperandError, match="defvjp: two functions are wanted; got None"):
            custom_vjp(plain).defvjp(plain, None)  # type: ignore[arg-type]
        with pytest.raises(gt.OperandError, match="defjvp: a function is wanted"):
            custom_jvp(plain).defjvp("rule")  # type: ignore[arg-type]

    def test_arguments_that_cannot_be_placed(self) -> None:
        """Missing, unknown and keyword-only arguments are told apart, and wrong nondiff_argnums are named."""
        function = by_vjp()
        with pytest.raises(gt.OperandError, match="missing a required argument: 'y'"):
            function(X)
        with pytest.raises(gt.OperandError, match="unexpected keyword argument 'z'"):
            function(X, Y, z=1)

        def named(x: Any, *, flag: bool = False) -> Any:
            return x

        wrapped = custom_gradient(named)
        with pytest.raises(gt.OperandError, match="flag can be passed by keyword only"):
            wrapped(X, flag=True)
        outside = custom_vjp(plain, nondiff_argnums=(2,))
        outside.defvjp(plain, plain)
        with pytest.raises(gt.OperandError, match=r"nondiff_argnums=\(2,\): 'plain' was called with 2 arguments"):
            outside(X, Y)

    def test_keywords_of_functions_without_a_signature(self) -> None:
        """Where there is no signature to place keywords by, the message asks for positions."""

        class Odd:
            __signature__ = "none"

            def __call__(self, x: Any) -> Any:
                return x

        wrapped = custom_vjp(Odd())
        wrapped.defvjp(lambda x: (x * 1, None), lambda _, g: (g[:1],))
        with pytest.raises(gt.OperandError, match="no signature to place x by"):
            wrapped(x=X)
        with pytest.raises(gt.RuleError, match=r"of 'Odd' returned shape \(1,\) for argument 0, which"):
            gt.grad(lambda x: np.sum(wrapped(x)))(X)

    def test_the_line_of_any_kind_of_rule(self) -> None:
        """Partial functions, wrapped ones and objects that can be called are found too."""

        def rule(extra: Any, residuals: Any, g: Any) -> Any:
            return (g[:1],)

        class Called:
            def __call__(self, residuals: Any, g: Any) -> Any:
                return (g[:1],)

        function = custom_vjp(lambda x: x)
        for bwd, text in ((functools.partial(rule, 1), "def rule(extra"), (Called(), "def __call__(self, residuals")):
            function.defvjp(lambda x: (x, None), bwd)
            with pytest.raises(gt.RuleError) as caught:
                gt.grad(lambda x: np.sum(function(x)))(X)
            assert f"test_custom.py:{line_of(text) + 1}" in str(caught.value)  # what it returns
        function.defvjp(lambda x: (x, None), max)
        with pytest.raises(TypeError):
            gt.grad(lambda x: np.sum(function(x)))(X)

    def test_without_locations(self) -> None:
        """With locations switched off the message has no line of the call, and everything else."""
        gt.config.locations = False
        try:
            with pytest.raises(gt.RuleError, match=r"returned shape \(\) for argument 0"):
                gt.grad(lambda x: np.sum(wrong_vjp(lambda g: (np.sum(g),))(x)))(X)
        finally:
            gt.config.locations = True

    def test_the_next_gradient_works(self) -> None:
        """After a refusal nothing is left behind."""
        with pytest.raises(gt.RuleError):
            gt.grad(lambda x: np.sum(wrong_vjp(lambda g: (np.sum(g),))(x)))(X)
        np.testing.assert_array_equal(gt.grad(lambda x: np.sum(x * x))(X), 2 * X)

    def test_the_message_has_no_numbers_of_arrays(self) -> None:
        """Arrays are told by shape and dtype only."""
        with pytest.raises(gt.RuleError) as caught:
            gt.grad(lambda x: np.sum(wrong_vjp(lambda g: (g * 12345.678, g))(x)))(X)
        assert "12345" not in str(caught.value).replace("g * 12345.678", "")


class TestClosedOver:
    """A rule covers the arguments: a tracked tensor that comes in another way does not lose its gradient in silence."""

    def wrapped(self, function: Function) -> list[Function]:
        """The function with each kind of rule."""
        reverse, forward = custom_vjp(function), custom_jvp(function)
        reverse.defvjp(lambda x: (function(x), None), lambda _, g: (g,))
        forward.defjvp(lambda p, t: (function(p[0]), t[0]))
        return [reverse, forward, custom_gradient(lambda x: (function(x), lambda upstream: upstream))]

    def test_a_variable(self) -> None:
        """A variable read inside is an error that says what to do, whether the arguments are tracked or not."""
        w = gt.Variable(Y)
        for function in self.wrapped(lambda x: x * w):
            for x in (gt.Variable(X), X):
                with gt.GradientTape(), pytest.raises(gt.DetachError, match=r"stop_gradient\(tensor\) inside"):
                    function(x)
            np.testing.assert_array_equal(np.asarray(function(X)), X * Y)

    def test_what_is_meant_is_allowed(self) -> None:
        """Through `stop_gradient`, as a variable that is not trainable, or without a tape, reading is fine."""
        w, fixed = gt.Variable(Y), gt.Variable(Y, trainable=False)
        for function in self.wrapped(lambda x: x * gt.stop_gradient(w) * fixed):
            x = gt.Variable(X)
            with gt.GradientTape() as tape:
                loss = np.sum(function(x))
            np.testing.assert_array_equal(tape.gradient(loss, x).numpy(), np.ones(3))

    def test_in_a_batch(self) -> None:
        """A tensor of the same batch, or of a tape inside the batch, is found as well."""

        for which in range(3):

            def loss(x: Any, w: Any, which: int = which) -> Any:
                return self.wrapped(lambda x: x * w)[which](x)

            with pytest.raises(gt.DetachError, match="does not cover"):
                gt.vmap(gt.grad(loss, (0, 1)))(X, Y)
            with pytest.raises(gt.DetachError, match="does not cover"):
                gt.vmap(gt.grad(loss, 1), (0, None))(X, Y[0])
            with pytest.raises(gt.DetachError, match="does not cover"):
                gt.vmap(gt.grad(loss))(X, Y)
            np.testing.assert_allclose(gt.vmap(loss)(X, Y), X * Y)

    def test_a_tracked_argument_of_nondiff_argnums(self) -> None:
        """An argument that was declared to have no derivative, and is tracked, is the same error."""
        function = custom_vjp(lambda x, w: x * w, nondiff_argnums=(1,))
        function.defvjp(lambda x, w: (x * w, None), lambda w, _, g: (g * w,))
        np.testing.assert_array_equal(gt.grad(lambda x: np.sum(function(x, Y)))(X), Y)
        with pytest.raises(gt.DetachError, match="one of nondiff_argnums"):
            gt.grad(lambda w: np.sum(function(X, w)))(Y)


class TestGradientForm:
    """`custom_gradient`: what the gradient function gets and may return."""

    def test_one_argument(self) -> None:
        """The gradient itself, or a list or tuple of it."""
        for wrap in (lambda g: g, lambda g: [g], lambda g: (g,)):
            function = custom_gradient(lambda x, wrap=wrap: (x * 2, lambda upstream: wrap(upstream * 20)))
            np.testing.assert_array_equal(gt.grad(total(function))(X), 20 * np.ones(3))

    def test_one_argument_that_is_a_structure(self) -> None:
        """The structure of the argument, or a list of it."""
        for wrap in (lambda g: g, lambda g: [g]):
            function = custom_gradient(
                lambda pair, wrap=wrap: (pair[0] * pair[1], lambda upstream: wrap([upstream, upstream * 2]))
            )
            first, second = gt.grad(total(function))([X, Y])
            np.testing.assert_array_equal(first, np.ones(3))
            np.testing.assert_array_equal(second, 2 * np.ones(3))

    def test_several_results(self) -> None:
        """There is one upstream gradient for each result, and zeros for those that are not used."""
        seen: list[Any] = []

        def gradient(*upstream: Any) -> Any:
            seen.append(upstream)
            return upstream[0] * 2 + upstream[1] * 3

        function = custom_gradient(lambda x: ((x * 2, x * 3), gradient))
        np.testing.assert_array_equal(gt.grad(lambda x: np.sum(function(x)[1]))(X), 3 * np.ones(3))
        np.testing.assert_array_equal(seen[0][0].numpy(), np.zeros(3))

    def test_arguments_without_arrays_may_be_left_out(self) -> None:
        """A gradient for each argument, or for each that holds arrays."""

        def named(answer: Function) -> Function:
            return custom_gradient(lambda name, x: (x, answer))

        for function in (named(lambda g: g * 10), named(lambda g: [g * 10]), named(lambda g: [None, g * 10])):
            np.testing.assert_array_equal(gt.grad(total(function), 1)("name", X), 10 * np.ones(3))

        def between(answer: Function) -> Function:
            return custom_gradient(lambda x, name, y: (x * y, answer))

        for function in (between(lambda g: [g, g * 2]), between(lambda g: (g, "ignored", g * 2))):
            first, second = gt.grad(total(function), (0, 2))(X, "name", Y)
            np.testing.assert_array_equal([first, second], [np.ones(3), 2 * np.ones(3)])

    def test_none(self) -> None:
        """None is zeros for all arguments."""
        function = custom_gradient(lambda x, y: (x * y, lambda upstream: None))
        first, second = gt.grad(lambda x, y: np.sum(function(x, y)), (0, 1))(X, Y)
        np.testing.assert_array_equal([first, second], np.zeros((2, 3)))

    @pytest.mark.parametrize("answer", [lambda g: g, lambda g: [g], lambda g: [g, g, g], lambda g: {"x": g, "y": g}])
    def test_a_wrong_count(self, answer: Any) -> None:
        """Too few and too many gradients are refused, naming the gradient function."""

        def gradient(upstream: Any) -> Any:
            return answer(upstream)

        function = custom_gradient(lambda x, y: (x * y, gradient))
        with pytest.raises(gt.RuleError, match="rule 'gradient' of '<lambda>' must return one gradient for each of 2"):
            gt.grad(lambda x, y: np.sum(function(x, y)), (0, 1))(X, Y)

    def test_numerically_stable_log1pexp(self) -> None:
        """The textbook case: finite where the plain gradient is not a number."""

        @custom_gradient
        def log1pexp(x: Any) -> Any:
            e = np.exp(x)
            return np.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))

        x = gt.Variable(1000.0)
        with np.errstate(over="ignore"), gt.GradientTape() as tape:
            y = log1pexp(x)
        assert tape.gradient(y, x).item() == 1.0


# -- checkpoint


def deep(x: Any) -> Any:
    """Many operations."""
    for _ in range(50):
        x = np.sin(x) + 0.1
    return x


class TestCheckpoint:
    """What is kept, what runs again, and what flows where."""

    def test_only_the_results_have_nodes(self) -> None:
        """However long the function, a call leaves one node for itself and one for its result."""
        v = gt.Variable(X)
        with gt.GradientTape() as tape:
            start = v * 1.0
            before = live_nodes()
            kept = checkpoint(deep)(start)
            assert live_nodes() - before == 2
            before = live_nodes()
            loose = deep(start)
            assert live_nodes() - before == 100
        np.testing.assert_array_equal(kept.numpy(), loose.numpy())
        assert tape.gradient(kept, v).shape == (3,)

    def test_the_interior_goes_without_the_garbage_collector(self) -> None:
        """Intermediate results are freed when the call returns."""
        seen: list[Any] = []

        def function(x: Any) -> Any:
            y = np.sin(x)
            seen.append(weakref.ref(y._node))
            return np.exp(y)

        gc.disable()
        try:
            out = checkpoint(function)(gt.tensor(X, requires_grad=True))
            assert seen[0]() is None
        finally:
            gc.enable()
        assert out.requires_grad

    def test_peak_memory(self) -> None:
        """Ten segments of ten operations: memory is that of ten results and one segment, not of a hundred results."""
        size = 100_000

        def segment(x: Any) -> Any:
            for _ in range(10):
                x = np.sin(x)
            return x

        def peak(function: Function) -> int:
            x = gt.tensor(np.ones(size), requires_grad=True)
            tracemalloc.start()
            try:
                out = x
                for _ in range(10):
                    out = function(out)
                out.backward(np.ones(size))
                return tracemalloc.get_traced_memory()[1] // (8 * size)
            finally:
                tracemalloc.stop()

        assert peak(segment) >= 100
        assert peak(checkpoint(segment)) <= 30

    def test_runs_again_once_for_each_walk(self) -> None:
        """One more run for a gradient, and one more for a whole Jacobian."""
        runs: list[int] = []

        def function(x: Any) -> Any:
            runs.append(1)
            return np.sin(x) * x

        kept = checkpoint(function)
        gt.grad(lambda x: np.sum(kept(x)))(X)
        assert len(runs) == 2
        runs.clear()
        gt.jacrev(kept)(X)
        assert len(runs) == 2
        runs.clear()
        kept(X)
        kept(gt.tensor(X))
        assert len(runs) == 2

    def test_a_thousand_steps(self) -> None:
        """A loop of a thousand steps in checkpointed segments has the gradient of the plain loop."""

        def steps(x: Any, w: Any, count: int) -> Any:
            for _ in range(count):
                x = x + 0.01 * np.sin(w * x)
            return x

        segment = checkpoint(steps)

        def loose(w: Any) -> Any:
            return np.sum(steps(X, w, 1000))

        def kept(w: Any) -> Any:
            x = X
            for _ in range(40):
                x = segment(x, w, count=25)
            return np.sum(x)

        np.testing.assert_allclose(gt.grad(kept)(1.3), gt.grad(loose)(1.3), rtol=1e-12)

    def test_closed_over_variables(self) -> None:
        """Variables that the function reads get their gradients, and the tape knows that it met them."""
        w, b, unused = gt.Variable(0.5 * np.eye(3)), gt.Variable(Y), gt.Variable(1.0)

        def layer(x: Any) -> Any:
            return np.tanh(x @ w + b)

        answers = []
        for function in (layer, checkpoint(layer)):
            x = gt.tensor(X)
            with gt.GradientTape() as tape:
                tape.watch(x)
                loss = np.sum(function(function(x)) ** 2) + unused
            assert set(tape.watched_variables()) == {w, b, unused}
            answers.append(tape.gradient(loss, [w, b, x]))
        for kept, loose in zip(*answers, strict=True):
            np.testing.assert_allclose(kept.numpy(), loose.numpy())

    def test_closed_over_leaves_of_backward(self) -> None:
        """Tensors that require a gradient get it, as arguments and closed over."""
        w = gt.tensor(Y, requires_grad=True)
        x = gt.tensor(X, requires_grad=True)
        np.sum(checkpoint(lambda x: np.sin(x * w))(x)).backward()
        np.testing.assert_allclose(x.grad.numpy(), np.cos(X * Y) * Y)
        np.testing.assert_allclose(w.grad.numpy(), np.cos(X * Y) * X)

    def test_closed_over_intermediate_tensors(self) -> None:
        """A computed tensor that the function reads passes its gradient on, once, to what it was computed from."""

        def run(wrap: Function) -> list[Any]:
            x = gt.tensor(X, requires_grad=True)
            h = np.sin(x)
            doubled = h * 2
            out = wrap(lambda z: z * h * doubled + x)(np.cos(x))
            np.sum(out * h).backward()
            return [x.grad.numpy()]

        np.testing.assert_allclose(run(checkpoint), run(lambda f: f))

    def test_closed_over_results_of_checkpoints(self) -> None:
        """A tensor read besides the arguments may come from another checkpoint that reads the same variable."""

        def run(wrap: Function) -> Any:
            w = gt.Variable(Y)
            with gt.GradientTape() as tape:
                h = wrap(lambda x: np.sin(x * w))(w * 1.0)
                k = wrap(lambda x: np.cos(x * w) * h)(h)
                loss = np.sum(wrap(lambda z: z * h * w * k)(k))
            return tape.gradient(loss, w).numpy()

        np.testing.assert_allclose(run(checkpoint), run(lambda f: f))

    def test_what_comes_before_does_not_run_again(self) -> None:
        """The walk of a segment stops at what it read: earlier segments run once for the outer walk, and no more."""
        runs: list[int] = []

        def step(*read: Any) -> Function:
            def function(x: Any) -> Any:
                runs.append(1)
                return np.sin(x) + sum(read)

            return checkpoint(function)

        x = gt.tensor(X, requires_grad=True)
        h = [x, np.sin(x)]
        for _ in range(10):
            h.append(step(h[-1], h[-2])(h[-1]))
        np.sum(h[-1]).backward()
        assert len(runs) == 20

    def test_the_same_tensor_by_two_ways(self) -> None:
        """An argument that is also closed over, and given twice, collects all its gradients, of both orders."""
        for wrap in (checkpoint, lambda f: f):
            x = gt.tensor(X, requires_grad=True)
            out = wrap(lambda a, b, c=x: a * np.sin(b) * c)(x, x)
            (first,) = gt.gradients(np.sum(out), [x], create_graph=True)
            np.testing.assert_allclose(first.numpy(), 2 * X * np.sin(X) + X**2 * np.cos(X))
            np.sum(first).backward()
            second = 2 * np.sin(X) + 4 * X * np.cos(X) - X**2 * np.sin(X)
            np.testing.assert_allclose(x.grad.numpy(), second)

    def test_variables_as_arguments(self) -> None:
        """A variable is passed as itself."""
        v = gt.Variable(X, name="v")

        def function(v: Any) -> Any:
            assert v.name == "v"
            return np.sin(v)

        with gt.GradientTape() as tape:
            y = checkpoint(function)(v)
        np.testing.assert_allclose(tape.gradient(y, v).numpy(), np.cos(X))

    def test_variables_made_on_the_first_run(self) -> None:
        """A function that makes its variables when first called gives them gradients."""
        made: dict[str, Any] = {}

        def lazy(x: Any) -> Any:
            if "w" not in made:
                made["w"] = gt.Variable(Y)
            return np.sin(x * made["w"])

        with gt.GradientTape() as tape:
            y = checkpoint(lazy)(X)
        np.testing.assert_allclose(tape.gradient(y, made["w"]).numpy(), np.cos(X * Y) * X)

    def test_persistent_tapes(self) -> None:
        """A persistent tape can be asked again, inside and outside of its block."""
        v = gt.Variable(X)
        with gt.GradientTape(persistent=True) as tape:
            y = checkpoint(lambda x: np.sin(x) * v)(v)
            first = tape.gradient(y, v)
        expected = np.cos(X) * X + np.sin(X)
        for _ in range(2):
            np.testing.assert_allclose(tape.gradient(y, v).numpy(), expected)
        np.testing.assert_allclose(first.numpy(), expected)
        second = tape.gradient(first, v).numpy()
        np.testing.assert_allclose(second, 2 * np.cos(X) - X * np.sin(X))

    def test_third_derivatives(self) -> None:
        """Derivatives of derivatives run the function again as often as needed."""
        function: Function = checkpoint(lambda x: np.sin(x) * x)
        other: Function = lambda x: np.sin(x) * x
        for _ in range(3):
            function, other = gt.grad(function), gt.grad(other)
            np.testing.assert_allclose(function(0.7), other(0.7))

    def test_nested_checkpoints(self) -> None:
        """Checkpoints in checkpoints, that read variables and tensors of all levels, in both orders."""
        w = gt.Variable(Y)

        def run(wrap: Function) -> list[Any]:
            def outer(x: Any) -> Any:
                h = np.cos(x)
                inner = wrap(lambda z: np.sin(z * w) * h)
                return inner(inner(x)) + h

            with gt.GradientTape() as second, gt.GradientTape() as first:
                x = gt.tensor(X)
                second.watch(x)
                first.watch(x)
                loss = np.sum(wrap(outer)(x * 2.0))
            with second:
                gradient = first.gradient(loss, [x, w])
                again = np.sum(gradient[0] * gradient[1])
            return [*gradient, *second.gradient(again, [x, w])]

        for kept, loose in zip(run(checkpoint), run(lambda f: f), strict=True):
            np.testing.assert_allclose(kept.numpy(), loose.numpy(), rtol=1e-10)

    def test_nested_tapes_where_one_sees_more(self) -> None:
        """A tape that watches what the other does not gets its mixed second derivative."""
        w = gt.tensor(Y)
        x = gt.tensor(X)
        with gt.GradientTape() as outer:
            outer.watch(w)
            with gt.GradientTape() as inner:
                inner.watch(x)
                y = np.sum(checkpoint(lambda x: np.sin(x * w))(x))
            gradient = inner.gradient(y, x)
        mixed = outer.gradient(gradient, w).numpy()
        np.testing.assert_allclose(mixed, np.cos(X * Y) - X * Y * np.sin(X * Y))

    def test_a_tape_that_comes_later(self) -> None:
        """The walk can be recorded by a tape that was not there when the function first ran."""
        w, x = gt.tensor(Y), gt.tensor(X)
        with gt.GradientTape(persistent=True) as first:
            first.watch(x)
            y = checkpoint(lambda x: np.sin(x * w))(x)
        with gt.GradientTape() as later:
            seed = later.watch(gt.tensor(np.ones(3)))
            gradient = first.gradient(y, x, output_gradients=seed)
        np.testing.assert_allclose(later.gradient(gradient, seed).numpy(), np.cos(X * Y) * Y)

    def test_structures_and_what_is_not_tracked(self) -> None:
        """Arguments and results are nested as one likes; what does not depend on them stays as it was."""
        constant = gt.tensor(Y)
        text = "text"

        def function(parameters: Any, flag: bool, *, scale: Any) -> Any:
            out = parameters["w"][0] * scale
            return {
                "out": out,
                "again": [out, out * 2],
                "rest": (constant, text, None, flag),
                "same": parameters["w"][0],
            }

        def loss(parameters: Any) -> Any:
            result = checkpoint(function)(parameters, True, scale=Y)
            assert result["rest"] == (constant, text, None, True)
            return np.sum(result["out"]) + np.sum(result["again"][1]) + np.sum(result["same"])

        np.testing.assert_allclose(gt.grad(loss)({"w": [X]})["w"][0], 3 * Y + 1)

    def test_several_results_of_several_arguments(self) -> None:
        """Each pair of result and argument has its own derivative."""
        function = checkpoint(lambda x, y: (x * y, x + 2 * y))
        blocks = gt.jacobian(function, (0, 1))(X, Y)
        np.testing.assert_allclose(blocks[0][0], np.diag(Y))
        np.testing.assert_allclose(blocks[0][1], np.diag(X))
        np.testing.assert_allclose(blocks[1][0], np.eye(3))
        np.testing.assert_allclose(blocks[1][1], 2 * np.eye(3))

    def test_batch_jacobian(self) -> None:
        """Examples are independent through a checkpoint."""
        v = gt.Variable(square(X))
        with gt.GradientTape() as tape:
            y = checkpoint(np.sin)(v)
        expected = np.stack([np.diag(row) for row in np.cos(square(X))])
        np.testing.assert_allclose(tape.batch_jacobian(y, v).numpy(), expected)

    def test_in_a_batch_with_variables_closed_over(self) -> None:
        """Inside `vmap` a function that reads a variable gives it the gradient as well."""
        w = gt.Variable(2.0)

        def run(wrap: Function) -> list[Any]:
            x = gt.Variable(X)
            with gt.GradientTape() as tape:
                loss = np.sum(gt.vmap(wrap(lambda x: np.sin(x * w)))(x))
            return [g.numpy() for g in tape.gradient(loss, [w, x])]

        for kept, loose in zip(run(checkpoint), run(lambda f: f), strict=True):
            np.testing.assert_allclose(kept, loose)

    def test_in_a_batch_without_a_value(self) -> None:
        """Inside `vmap` a function that asks for the value of a tensor is told so, with or without a checkpoint."""
        with pytest.raises(gt.DetachError, match="inside vmap this tensor stands for 3 examples"):
            gt.vmap(gt.grad(checkpoint(lambda x: x * float(x))))(X)

    def test_in_a_batch_with_its_tensors_closed_over(self) -> None:
        """Inside `vmap` a function may read tensors of the batch besides its arguments."""

        def loss(wrap: Function) -> Function:
            return lambda x, y: wrap(lambda z: np.sin(z * x) * y)(x * y)

        for transform in (lambda f: gt.vmap(gt.grad(f, (0, 1))), lambda f: gt.grad(lambda *a: np.sum(gt.vmap(f)(*a)))):
            np.testing.assert_allclose(transform(loss(checkpoint))(X, Y), transform(loss(lambda f: f))(X, Y))

    def test_memory_in_a_batch(self) -> None:
        """Inside `vmap` too, a call of a function of its arguments leaves two nodes, whichever way they are nested."""
        counts: list[int] = []

        def counted(x: Any) -> Any:
            before = live_nodes()
            out = checkpoint(deep)(x)
            counts.append(live_nodes() - before)
            return out

        np.testing.assert_allclose(
            gt.grad(lambda x: np.sum(gt.vmap(counted)(x)))(X), gt.grad(lambda x: np.sum(deep(x)))(X)
        )
        np.testing.assert_allclose(gt.vmap(gt.grad(counted))(X), gt.grad(lambda x: np.sum(deep(x)))(X))
        assert max(counts) <= 3

    @pytest.mark.parametrize("inner", ["grad", "jvp", "hvp", "vmap", "tape", "backward"])
    def test_functions_that_differentiate_inside(self, inner: str) -> None:
        """A function may use tapes, transforms and `.backward()` itself, in both orders and in either run."""
        w = gt.Variable(Y)

        def by_tape(x: Any) -> Any:
            with gt.GradientTape() as tape:
                tape.watch(x)
                y = np.sum(np.sin(x * w))
            return tape.gradient(y, x) * x

        def by_backward(x: Any) -> Any:
            q = gt.tensor(Y, requires_grad=True)
            np.sum(np.sin(q)).backward()
            return np.sin(x) * q.grad * w

        function = {
            "grad": gt.grad(lambda z: np.sum(np.sin(z * w) * z)),
            "jvp": lambda x: gt.jvp(lambda z: np.sin(z * w), (x,), (x,))[1],
            "hvp": lambda x: gt.hvp(lambda z: np.sum(np.sin(z * w) * z), x, x),
            "vmap": lambda x: gt.vmap(lambda a, b: np.sin(a * b))(x, w),
            "tape": by_tape,
            "backward": by_backward,
        }[inner]

        def run(wrap: Function) -> list[Any]:
            x = gt.Variable(X)
            with gt.GradientTape() as outer:
                with gt.GradientTape() as tape:
                    loss = np.sum(wrap(function)(x * 1.0) ** 2)
                first = tape.gradient(loss, [x, w])
                both = np.sum(first[0] * first[1])
            return [*first, *outer.gradient(both, [x, w])]

        for kept, loose in zip(run(checkpoint), run(lambda f: f), strict=True):
            np.testing.assert_allclose(kept.numpy(), loose.numpy(), rtol=1e-10)

    def test_arguments_go_while_the_walk_goes(self) -> None:
        """What one segment kept of a large array is free before the walk comes to the segment before it."""
        second: Any = None
        runs = 0
        alive: list[bool] = []

        def function(x: Any) -> Any:
            nonlocal runs, second
            runs += 1
            second = weakref.ref(x._array) if runs == 2 else second
            if runs == 4:  # the second run of the first call
                alive.append(second() is not None)
            return np.sin(x)

        kept = checkpoint(function)
        gt.grad(lambda x: np.sum(kept(kept(x * 2.0) * 3.0)))(LARGE)
        assert alive == [False]

    def test_freed_graphs_say_so(self) -> None:
        """A second walk over a checkpoint that was freed is the error it is elsewhere."""
        x = gt.tensor(X, requires_grad=True)
        loss = np.sum(checkpoint(np.sin)(x))
        loss.backward()
        with pytest.raises(gt.TapeError, match="freed by an earlier backward"):
            loss.backward()

    def test_retained_graphs(self) -> None:
        """With `retain_graph` the walk can be repeated."""
        x = gt.tensor(X, requires_grad=True)
        loss = np.sum(checkpoint(np.sin)(x))
        loss.backward(retain_graph=True)
        loss.backward()
        np.testing.assert_allclose(x.grad.numpy(), 2 * np.cos(X))

    def test_hooks_inside(self) -> None:
        """A hook on a tensor inside the function runs when the function runs again."""

        def function(x: Any) -> Any:
            y = np.sin(x)
            if y.is_tracked:
                y.register_hook(lambda g: g * 10)
            return y * 2

        np.testing.assert_allclose(gt.grad(lambda x: np.sum(checkpoint(function)(x)))(X), 20 * np.cos(X))

    def test_values_change_only_for_the_caller(self) -> None:
        """Writing into a tensor after it was passed does not change what the second run gets."""
        x = gt.tensor(X, requires_grad=True)
        h = x * 1.0
        out = checkpoint(np.sin)(h)
        h[0] = 100.0
        np.sum(out).backward()
        np.testing.assert_allclose(x.grad.numpy(), np.cos(X))

    def test_arrays_of_the_users_are_guarded(self) -> None:
        """An array that was passed is locked until the gradient has been taken, and not after."""
        data = Y.copy()
        x = gt.tensor(X, requires_grad=True)
        loss = np.sum(checkpoint(lambda x, data: np.sin(x * data))(x, data))
        with pytest.raises(ValueError, match="read-only"):
            data[0] = 7.0
        loss.backward()
        del loss
        data[0] = 7.0
        np.testing.assert_allclose(x.grad.numpy(), np.cos(X * Y) * Y)

    def test_arrays_changed_through_a_view(self) -> None:
        """Where an array cannot be locked, the change is found before the second run."""
        base = np.concatenate([Y, Y])
        x = gt.tensor(X, requires_grad=True)
        loss = np.sum(checkpoint(lambda x, data: np.sin(x * data))(x, base[:3]))
        base[0] = 7.0
        with pytest.raises(gt.MutationError, match="was changed"):
            loss.backward()

    def test_cuts_inside_can_be_explained(self) -> None:
        """A value that left the tape inside a checkpoint is what `why` names."""
        v, w = gt.Variable(X), gt.Variable(Y)
        with gt.GradientTape(persistent=True) as tape:
            y = checkpoint(lambda x: x * gt.stop_gradient(w))(v)
        assert tape.gradient(y, w, unconnected_gradients="none") is None
        assert "stop_gradient" in tape.why(y, w)


class TestRecomputationMatches:
    """The second run has to give what the first gave."""

    def refused(self, function: Function, *args: Any) -> str:
        """The message of the refusal, when the gradient of a checkpoint is taken."""
        kept = checkpoint(function)
        with pytest.raises(gt.RuleError) as caught:
            gt.grad(lambda x: np.sum(kept(x, *args)))(X)
        return str(caught.value)

    def test_random_draws(self) -> None:
        """Random numbers drawn inside are found; the message names function, lines, causes and fix."""
        generator = np.random.default_rng(0)

        def dropout(x: Any) -> Any:
            return x * x * (generator.uniform(size=3) > 0.5)

        message = ""
        for _ in range(10):  # a mask of three may come out the same
            try:
                gt.grad(lambda x: np.sum(checkpoint(dropout)(x)))(X)
            except gt.RuleError as error:
                message = str(error)
        assert "checkpoint ran 'dropout' again for its gradient" in message
        assert f"test_custom.py:{line_of('def dropout(x')}" in message
        assert f"test_custom.py:{line_of('np.sum(checkpoint(dropout)(x))')}" in message
        assert "random numbers drawn inside" in message
        assert "draw random numbers outside and pass them in" in message

    def test_passing_them_in_is_the_fix(self) -> None:
        """The same function with its random numbers as an argument is fine."""
        mask = np.random.default_rng(0).uniform(size=3) > 0.5
        gradient = gt.grad(lambda x: np.sum(checkpoint(lambda x, mask: x * x * mask)(x, mask)))(X)
        np.testing.assert_allclose(gradient, 2 * X * mask)

    def test_one_element_of_many(self) -> None:
        """A single element that differs is found, wherever it is."""
        for place in (0, 777, 99_999):
            runs: list[int] = []

            def function(x: Any, place: int = place, runs: list[int] = runs) -> Any:
                runs.append(1)
                bump = np.zeros(100_000)
                bump[place] = len(runs)
                return x * 1.0 + bump

            with pytest.raises(gt.RuleError, match="has other values"):
                gt.grad(lambda x, function=function: np.sum(checkpoint(function)(x)))(np.ones(100_000))

    def test_loop_variables(self) -> None:
        """A lambda that reads a loop variable has the value of its step when it runs again."""

        def bound(x: Any) -> Any:
            for i in range(3):
                x = checkpoint(lambda x: np.sin(x) * (i + 1))(x)  # noqa: B023
            return np.sum(x)

        def loose(x: Any) -> Any:
            for i in range(3):
                x = np.sin(x) * (i + 1)
            return np.sum(x)

        np.testing.assert_allclose(gt.grad(bound)(X), gt.grad(loose)(X))

    def test_lists_changed_in_between(self) -> None:
        """What is changed in place is as it was at the call."""
        factors = [1.0]

        def loss(x: Any, wrap: Function = checkpoint) -> Any:
            for i in range(3):
                factors[0] = i + 1.0
                x = wrap(lambda x: np.sin(x) * factors[0])(x)
            return np.sum(x)

        np.testing.assert_allclose(gt.grad(loss)(X), gt.grad(lambda x: loss(x, lambda function: function))(X))

    def test_variables_assigned_in_between(self) -> None:
        """A variable that has another value by the time of the walk is found."""
        w = gt.Variable(Y)
        with gt.GradientTape() as tape:
            y = checkpoint(lambda x: np.sin(x * w))(gt.tensor(X))
        w.assign_add(np.ones(3))
        with pytest.raises(gt.RuleError, match="has other values"):
            tape.gradient(y, w)

    def test_other_shapes_dtypes_and_counts(self) -> None:
        """Results of another shape or dtype, more or fewer of them, and untracked ones are told apart."""
        runs: list[int] = []

        def second_time(first: Function, then: Function) -> Function:
            runs.clear()

            def function(x: Any) -> Any:
                runs.append(1)
                return (first if len(runs) == 1 else then)(x)

            return function

        def sine(x: Any) -> Any:
            return np.sin(x)

        assert "result 0 has shape (2,) and dtype float64, and had (3,)" in self.refused(
            second_time(sine, lambda x: np.sin(x)[:2])
        )
        assert "dtype float32, and had (3,) and float64" in self.refused(
            second_time(sine, lambda x: np.sin(x).astype("float32"))
        )
        assert "2 of its results depend on tracked tensors, and 1 did" in self.refused(
            second_time(sine, lambda x: [x * 1.0] * 2)
        )
        assert "0 of its results depend on tracked tensors, and 1 did" in self.refused(
            second_time(sine, lambda x: np.sin(x.detach()))
        )

    def test_other_dependencies(self) -> None:
        """The same values computed from other tensors are found: a gradient would be lost."""
        w = factor = gt.tensor(Y, requires_grad=True)
        x = gt.tensor(X, requires_grad=True)

        def function(x: Any) -> Any:
            nonlocal factor
            used, factor = factor, w.detach()
            return np.sin(x * used)

        loss = np.sum(checkpoint(function)(x))
        with pytest.raises(gt.RuleError, match="depend on other tensors than before"):
            loss.backward()

    def test_in_a_batch(self) -> None:
        """The check holds inside `vmap`, both ways round."""
        generator = np.random.default_rng(0)
        kept = checkpoint(lambda x: np.sin(x) * generator.uniform())
        with pytest.raises(gt.RuleError, match="result 0, of shape \\(3,\\), has other values"):
            gt.vmap(gt.grad(kept))(X)
        with pytest.raises(gt.RuleError, match="has other values"):
            gt.grad(lambda x: np.sum(gt.vmap(kept)(x)))(X)
        counts = np.random.default_rng(1)  # 1, 2
        growing = checkpoint(lambda x: [x * 2] * int(counts.integers(1, 3)))
        with pytest.raises(gt.RuleError, match="it has 2 results, and had 1"):
            gt.vmap(gt.grad(lambda x: growing(x)[0]))(X)

    def test_the_last_digits_may_differ(self) -> None:
        """A second run that rounds otherwise is the same run."""
        runs: list[int] = []

        def function(x: Any) -> Any:
            runs.append(1)
            return np.sin(x) * (1.0 + len(runs) * 1e-14)

        np.testing.assert_allclose(gt.grad(lambda x: np.sum(checkpoint(function)(x)))(X), np.cos(X))

    @pytest.mark.filterwarnings("ignore::gradtape.NumericsWarning")
    @pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
    def test_values_that_are_not_finite(self, special: float) -> None:
        """NaN and infinity are the same the second time, and not the same as a number."""
        x = np.array([1.0, special, 2.0])
        gradient = gt.grad(lambda x: np.sum(checkpoint(lambda x: x * 2.0)(x)))(x)
        np.testing.assert_array_equal(gradient, 2 * np.ones(3))
        for special_run in (1, 2):
            runs: list[int] = []

            def function(x: Any, runs: list[int] = runs, special_run: int = special_run) -> Any:
                runs.append(1)
                return x * 1.0 if len(runs) == special_run else np.where(np.isfinite(x), x, 0.0)

            with pytest.raises(gt.RuleError, match="has other values"):
                gt.grad(total(checkpoint(function)))(x)

    def test_errors_of_the_second_run(self) -> None:
        """An error that only the second run raises has a note that says when it was raised; state stays clean."""
        runs: list[int] = []

        def function(x: Any) -> Any:
            runs.append(1)
            if len(runs) == 2:
                raise KeyError("gone")
            return np.sin(x)

        with pytest.raises(KeyError, match="gone") as caught:
            gt.grad(lambda x: np.sum(checkpoint(function)(x)))(X)
        assert caught.value.__notes__ == ["gradtape: raised when checkpoint ran 'function' again for its gradient"]
        np.testing.assert_array_equal(gt.grad(lambda x: np.sum(x * x))(X), 2 * X)


class TestNeighbours:
    """What rules and checkpoints need of tapes."""

    @pytest.mark.parametrize("kind", [*KINDS, "one operation"])
    def test_a_tape_begins_where_it_watches(self, kind: str) -> None:
        """For an inner tape a tensor that was computed before it is where it begins, whatever made the tensor."""
        function = KINDS[kind][0]() if kind in KINDS else np.multiply
        x = gt.tensor(X)
        with gt.GradientTape() as outer:
            outer.watch(x)
            y = function(x, Y)
            with gt.GradientTape() as inner:
                inner.watch([x, y])
                z = y * x
            gradients = inner.gradient(z, [x, y])
        np.testing.assert_allclose(gradients[0].numpy(), function(X, Y))
        np.testing.assert_allclose(gradients[1].numpy(), X)


class TestVariablesOfCustomGradient:
    """TensorFlow's form: a function that reads variables, and whose gradient takes them."""

    @staticmethod
    def scaled(weight: gt.Variable) -> Any:
        @custom_gradient
        def function(x: Any) -> Any:
            def gradient(upstream: Any, variables: Any = None) -> Any:
                assert len(variables) == 1
                assert variables[0] is weight
                return upstream * weight, [np.sum(upstream * x)]

            return x * weight, gradient

        return function

    def test_gradients(self) -> None:
        """Arguments and variables get what the rule says, whatever the argument is, on every call."""
        weight, x = gt.Variable(3.0), gt.Variable([1.0, 2.0])
        function = self.scaled(weight)
        for _ in range(2):
            with gt.GradientTape() as tape:
                y = function(x) ** 2
            for_x, for_weight = tape.gradient(y, [x, weight])
            np.testing.assert_array_equal(for_x.numpy(), [18.0, 36.0])
            np.testing.assert_array_equal(for_weight.numpy(), 30.0)
            with gt.GradientTape() as tape:
                y = function(np.array([1.0, 2.0]))
            np.testing.assert_array_equal(tape.gradient(y, weight).numpy(), 3.0)

    def test_second_order_and_forwards(self) -> None:
        """The rule can be differentiated again, and pushed forwards."""
        weight, x = gt.Variable(3.0), gt.Variable(2.0)
        function = self.scaled(weight)
        with gt.GradientTape(persistent=True) as outer:
            with gt.GradientTape() as inner:
                y = function(x) ** 2
            for_x, for_weight = inner.gradient(y, [x, weight])
        assert [float(g) for g in outer.gradient(for_x, [x, weight])] == [18.0, 24.0]
        assert [float(g) for g in outer.gradient(for_weight, [x, weight])] == [24.0, 8.0]
        with gt.ForwardAccumulator(weight, 1.0) as accumulator:
            y = function(x)
        assert float(accumulator.jvp(y)) == 2.0

    def test_nothing_recorded(self) -> None:
        """Without a tape, and under `no_grad`, it is the function."""
        weight = gt.Variable(3.0)
        function = self.scaled(weight)
        with gt.GradientTape() as tape:
            y = function(2.0)
        assert float(tape.gradient(y, weight)) == 2.0
        assert float(function(2.0)) == 6.0
        with gt.GradientTape(), gt.no_grad():
            assert not function(gt.Variable(2.0)).is_tracked

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            (lambda upstream: upstream, "must return a pair"),
            (lambda upstream: (upstream, []), "each of 1 variables"),
            (lambda upstream: (upstream, None), "each of 1 variables"),
            (lambda upstream: (upstream, [np.ones(3)]), r"shape \(3,\) for variable 0 \(weight\)"),
            (lambda upstream: (upstream, [np.float32(1.0)]), "dtype float32 for variable 0"),
        ],
    )
    def test_wrong_answers(self, answer: Any, message: str) -> None:
        """A rule that answers for the variables wrongly is blamed."""
        weight = gt.Variable(3.0, name="weight")
        function = custom_gradient(lambda x: (x * weight, lambda upstream, variables: answer(upstream)))
        with gt.GradientTape() as tape:
            y = function(gt.Variable(2.0))
        with pytest.raises(gt.RuleError, match=message):
            tape.gradient(y, weight)

    def test_gradient_that_does_not_take_them(self) -> None:
        """Without the parameter the gradient of the variable would be lost: an error that names it."""
        weight = gt.Variable(3.0)
        function = custom_gradient(lambda x: (x * weight, lambda upstream: upstream * weight))
        for _ in range(2):
            with gt.GradientTape(), pytest.raises(gt.DetachError, match="variables"):
                function(gt.Variable(2.0))

    def test_other_tensors(self) -> None:
        """A tracked tensor that is no variable is still an error, and so is a batch."""
        weight, tensor = gt.Variable(3.0), gt.tensor(1.0, requires_grad=True)
        function = custom_gradient(lambda x: (x * weight * tensor, lambda up, variables: (up, [up])))
        with gt.GradientTape(), pytest.raises(gt.DetachError):
            function(gt.Variable(2.0))
        with gt.GradientTape(), pytest.raises(gt.DetachError):
            gt.vmap(self.scaled(weight))(np.ones(2))
