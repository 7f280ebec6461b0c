"""What a program does with gradients: the state of its optimiser, the direction of its steps, and what it reads."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

# mypy: disable-error-code="untyped-decorator"

jax: Any = pytest.importorskip("jax")
jnp: Any = pytest.importorskip("jax.numpy")
optax: Any = pytest.importorskip("optax")
import gradtape as gt  # noqa: E402
from gradtape.explain.model.problem import Problem  # noqa: E402
from gradtape.watching import watch  # noqa: E402

X = jnp.linspace(-1.0, 1.0, 24).reshape(8, 3)
Y = X @ jnp.array([1.0, -2.0, 0.5])


@pytest.fixture(autouse=True)
def _raise_our_own_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADTAPE_WATCH_DEBUG", "1")


def found_in(program: Callable[[], Any]) -> list[Problem]:
    found: list[Problem] = []
    with gt.explain.listening(found.append), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with watch("jax", tell=lambda note: None):
            program()
    return found


def codes(program: Callable[[], Any]) -> list[str]:
    return [each.code for each in found_in(program)]


def loss(w: Any) -> Any:
    return jnp.mean((X @ w - Y) ** 2)


@pytest.mark.parametrize("compiles", [False, True])
def test_state_that_is_not_carried_on_is_found(compiles: bool) -> None:
    """In plain Python and in a compiled step; not where it is carried, nor for an optimiser without state."""

    def train(tx: Any, carries: bool) -> None:
        def step(w: Any, state: Any) -> Any:
            updates, after = tx.update(jax.grad(loss)(w), state)
            return optax.apply_updates(w, updates), after

        made = jax.jit(step) if compiles else step
        w = jnp.zeros(3)
        state = tx.init(w)
        for _ in range(4):
            w, after = made(w, state)
            state = after if carries else state

    assert codes(lambda: train(optax.adam(0.1), False)) == ["GT512"]
    assert codes(lambda: train(optax.adam(0.1), True)) == []
    assert codes(lambda: train(optax.sgd(0.1), False)) == []


def test_gradients_in_the_place_of_updates_are_found() -> None:
    """`apply_updates(w, grads)`, after an optimiser has made updates of them."""

    def train() -> None:
        tx, w = optax.sgd(0.1), jnp.zeros(3)
        grads = jax.grad(loss)(w)
        updates, _ = tx.update(grads, tx.init(w))
        w = optax.apply_updates(w, grads)
        del updates

    (found,) = found_in(train)
    assert (found.code, str(found.fixes[0])) == ("GT512", "updates")


def test_steps_that_go_uphill_are_found() -> None:
    """A loss that is made larger; not a function that has another name, as one that is to be made larger."""

    def train(function: Any, sign: float) -> None:
        w = jnp.zeros(3)
        for _ in range(4):
            w = w + sign * 0.1 * jax.grad(function)(w)

    def score(w: Any) -> Any:
        return loss(w)

    assert codes(lambda: train(loss, 1.0)) == ["GT512"]
    assert codes(lambda: train(loss, -1.0)) == []
    assert codes(lambda: train(score, 1.0)) == []


scale = 1.0


def test_value_that_a_compiled_function_does_not_read_again() -> None:
    """A global that is bound to another number after the function was traced; not the same number again."""

    def train(values: tuple[float, ...]) -> None:
        global scale
        scale = values[0]
        gradient = jax.jit(jax.grad(lambda x: scale * x**2))
        for value in values:
            scale = value
            gradient(1.0)

    assert codes(lambda: train((1.0, 2.0))) == ["GT205"]
    assert codes(lambda: train((1.0, 1.0))) == []


def test_index_past_the_end_is_found_where_a_gradient_comes_back() -> None:
    """JAX takes the last element; masked elements are left alone."""
    index = jnp.array([0, 3])

    def picked(w: Any, weights: Any) -> Any:
        return jnp.sum(w[index] ** 2 * weights)

    assert codes(lambda: jax.grad(picked)(jnp.arange(1.0, 4.0), jnp.ones(2))) == ["GT115"]
    assert codes(lambda: jax.grad(picked)(jnp.arange(1.0, 4.0), jnp.array([1.0, 0.0]))) == []


def test_parameters_drawn_with_one_key_are_found() -> None:
    """Equal values with equal gradients; not with different gradients."""
    start = jnp.arange(4.0)

    def pair(params: Any, weight: float) -> Any:
        return jnp.sum(jnp.tanh(params["a"])) + weight * jnp.sum(jnp.tanh(params["b"]))

    assert codes(lambda: jax.grad(pair)({"a": start, "b": start}, 1.0)) == ["GT514"]
    assert codes(lambda: jax.grad(pair)({"a": start, "b": start}, 2.0)) == []


def test_step_that_rounding_loses_is_found() -> None:
    """A difference quotient of single precision with a step of 1e-9; not with 1e-2."""

    def slope(w: Any, h: float) -> Any:
        return jnp.mean(((jnp.tanh(w * (X + h)) - jnp.tanh(w * (X - h))) / (2 * h) - 1.0) ** 2)

    assert codes(lambda: jax.grad(slope)(0.7, 1e-9)) == ["GT404"]
    assert codes(lambda: jax.grad(slope)(0.7, 1e-2)) == []


def test_parameter_outside_of_its_own_range_is_found() -> None:
    """A parameter that is clipped and lies outside gets no gradient, though others do."""

    def likelihood(params: Any) -> Any:
        spread = jnp.clip(params["spread"], -1.0, 1.0)
        return jnp.mean((Y - params["mean"]) ** 2 * jnp.exp(spread))

    assert codes(lambda: jax.grad(likelihood)({"spread": 3.0, "mean": 0.0})) == ["GT404"]
    assert codes(lambda: jax.grad(likelihood)({"spread": 0.5, "mean": 0.0})) == []


def test_gradient_that_changes_another_argument_is_found() -> None:
    """`w - 0.1 * grad(f)(x, w)`, by their shapes; the momenta of mechanics have that of the positions."""

    def first(x: Any, w: Any) -> Any:
        return jnp.mean((x @ w) ** 2)

    def wrong() -> None:
        w = jnp.ones(3)
        g = jax.grad(first)(X, w)
        w = w - 0.1 * g

    def mechanics() -> None:
        p = jnp.ones(3)
        g = jax.grad(lambda q, p: jnp.sum(q**2) + jnp.sum(p**2))(jnp.ones(3), p)
        p = p - 0.1 * g

    (found,) = found_in(wrong)
    assert (found.code, str(found.fixes[0])) == ("GT314", "jax.grad(first, argnums=1)")
    assert codes(mechanics) == []


def test_result_that_is_bound_again_before_it_is_used_is_found() -> None:
    """The parameter behind the first value gets no gradient; none is missed where both are used."""

    def network(params: Any, is_kept: bool) -> Any:
        output = jnp.sin(X @ params["first"])
        if is_kept:
            output = output + jnp.tanh(X @ params["second"])
            return jnp.sum(output**2)
        output = jnp.tanh(X @ params["second"])
        return jnp.sum(output**2)

    params = {"first": jnp.ones(3), "second": jnp.full(3, 0.5)}
    assert codes(lambda: jax.grad(network)(params, True)) == []

    def lost(params: Any) -> Any:
        output = jnp.sin(X @ params["first"])
        output = jnp.tanh(X @ params["second"])
        return jnp.sum(output**2)

    (found,) = found_in(lambda: jax.grad(lost)(params))
    assert (found.codes, "first" in found.title) == (("GT201", "GT202"), True)
