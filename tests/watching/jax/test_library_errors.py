"""Errors of JAX, optax, flax and equinox about how they are called: their kind, and the edit that mends the call."""

from __future__ import annotations

from typing import Any

import pytest

jax: Any = pytest.importorskip("jax")
jnp: Any = pytest.importorskip("jax.numpy")
from gradtape.explain.model.problem import Problem  # noqa: E402
from gradtape.watching import watch  # noqa: E402

ANY = (AttributeError, IndexError, RuntimeError, TypeError, ValueError)
X = jnp.linspace(-1.0, 1.0, 24).reshape(8, 3)


def explained(program: Any) -> Problem:
    try:
        with watch("jax", tell=lambda note: None):
            program()
    except Exception as error:  # those of flax have no class in common with others
        found: Problem = error.problem  # type: ignore[attr-defined]
        return found
    raise AssertionError("the program raises an error")


def energy(x: Any) -> Any:
    return jnp.sum(x**2)


def value_for_a_function() -> None:
    jax.grad(energy(X))


def branches_that_are_values() -> None:
    jax.grad(lambda x: jax.lax.cond(x > 0.0, x * 2.0, x))(1.0)


def arrays_for_tuples() -> None:
    jax.jvp(energy, X, X)


def callback_without_a_rule() -> None:
    def twice(x: Any) -> Any:
        return jax.pure_callback(lambda v: v * 2, jax.ShapeDtypeStruct((), jnp.float32), x)

    jax.grad(twice)(jnp.float32(1.0))


def forward_through_a_reverse_rule() -> None:
    @jax.custom_vjp
    def square(x: Any) -> Any:
        return x**2

    square.defvjp(lambda x: (square(x), x), lambda x, g: (2 * x * g,))
    jax.hessian(square)(1.0)


def unhashable_static_argument() -> None:
    jax.jit(lambda x, sizes: jnp.sum(x[: sizes[0]]), static_argnums=1)(X[:, 0], [2])


def too_few_axes() -> None:
    jax.vmap(lambda a, b: a * b, in_axes=(0,))(X, X)


def arithmetic_with_dicts() -> None:
    params = {"w": jnp.ones(3)}
    grads = jax.grad(lambda p: jnp.sum(p["w"] ** 2))(params)
    0.1 * grads


def tracer_in_an_array_of_numpy() -> None:
    import numpy as np

    def path(rate: Any) -> Any:
        states = np.zeros(3)
        states[1] = rate
        return states[1]

    jax.grad(path)(0.5)


def loss_that_is_not_returned() -> None:
    def loss(w: Any) -> None:
        value = jnp.sum(w**2)  # noqa: F841

    jax.grad(loss)(jnp.ones(2))


def complex_loss() -> None:
    jax.grad(lambda x: jnp.sum(jnp.fft.fft(x)))(X[:, 0])


def tangent_of_another_shape() -> None:
    @jax.custom_jvp
    def double(x: Any) -> Any:
        return 2 * x

    double.defjvp(lambda primals, tangents: (double(primals[0]), jnp.sum(tangents[0])))
    jax.grad(lambda x: jnp.sum(double(x)))(jnp.ones(3))


def attribute_of_another_library() -> None:
    jax.grad(lambda x: jnp.sum(x.detach()))(jnp.ones(3))


@pytest.mark.parametrize(
    ("program", "code", "edit"),
    [
        (value_for_a_function, "GT314", "energy"),
        (branches_that_are_values, "GT314", "jax.lax.cond(x > 0.0, lambda: x * 2.0, lambda: x)"),
        (arrays_for_tuples, "GT301", "jax.jvp(energy, (X,), (X,))"),
        (callback_without_a_rule, "GT313", ""),
        (forward_through_a_reverse_rule, "GT313", "jax.jacrev(jax.jacrev(square))"),
        (unhashable_static_argument, "GT314", "(2,)"),
        (too_few_axes, "GT314", ""),
        (arithmetic_with_dicts, "GT306", ""),
        (tracer_in_an_array_of_numpy, "GT210", ""),
        (loss_that_is_not_returned, "GT311", "return jnp.sum(w**2)"),
        (complex_loss, "GT311", ""),
        (tangent_of_another_shape, "GT302", ""),
        (attribute_of_another_library, "GT314", "jax.lax.stop_gradient(x)"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_misuse_is_named_and_mended(program: Any, code: str, edit: str) -> None:
    """The kind of the mistake; where it is an edit, the text that takes the place of the wrong one."""
    found = explained(program)
    assert found.code == code
    assert found.spans[0].file == __file__
    assert not edit or str(found.fixes[0]) == edit


def test_optimiser_that_needs_the_parameters() -> None:
    """The edit names the parameters that the updates are applied to."""
    optax = pytest.importorskip("optax")
    tx = optax.adamw(0.1)
    weights = jnp.ones(3)

    def program() -> None:
        updates, _ = tx.update(jnp.ones(3), tx.init(weights))
        optax.apply_updates(weights, updates)

    found = explained(program)
    assert (found.code, str(found.fixes[0])) == ("GT314", "tx.update(jnp.ones(3), tx.init(weights), weights)")


def test_variables_of_flax() -> None:
    """Variables in one layer too many or too few; statistics that may not change; a key that is missing."""
    nn = pytest.importorskip("flax.linen")
    model, x = nn.Dense(2), jnp.ones((3, 4))
    variables = model.init(jax.random.key(0), x)
    params = variables["params"]
    found = [
        explained(lambda: model.apply({"params": variables}, x)),
        explained(lambda: model.apply(params, x)),
        explained(lambda: nn.Dropout(0.5, deterministic=False).apply({}, x)),
        explained(lambda: nn.BatchNorm(False).apply(nn.BatchNorm(False).init(jax.random.key(0), x), x)),
    ]
    assert [each.code for each in found] == ["GT306", "GT306", "GT314", "GT314"]
    assert [str(each.fixes[0]) for each in found[:2]] == ["variables", '{"params": params}']


def test_batch_for_a_layer_of_equinox() -> None:
    """The edit maps the model over the batch."""
    eqx = pytest.importorskip("equinox")
    layer = eqx.nn.Linear(3, 2, key=jax.random.key(0))
    assert str(explained(lambda: layer(X)).fixes[0]) == "jax.vmap(layer)"


def test_errors_of_the_program_itself_are_left_alone() -> None:
    """What the program raises, and arithmetic of Python with other objects, is not explained."""

    def refuse() -> None:
        raise ValueError("jax.jit is not used here")

    for program in (refuse, lambda: 1 + None):  # type: ignore[operator]
        with pytest.raises(ANY) as raised, watch("jax", tell=lambda note: None):
            program()
        assert not hasattr(raised.value, "problem")
