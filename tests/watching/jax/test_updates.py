"""Parameters that no update reaches, and updates that are the gradient itself."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

jax: Any = pytest.importorskip("jax")
jnp: Any = pytest.importorskip("jax.numpy")
import gradtape as gt  # noqa: E402
from gradtape.explain.model.problem import Problem  # noqa: E402
from gradtape.watching import watch  # noqa: E402
from gradtape.watching.jax import updates as judged  # noqa: E402

X = jnp.linspace(-1.0, 1.0, 24).reshape(8, 3)


@pytest.fixture(autouse=True)
def _programs_have_no_word_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADTAPE_WATCH_DEBUG", "1")
    monkeypatch.setattr(judged, "has_word_for_it", lambda location: False)


def train(names: str, is_compiled: bool) -> list[Problem]:
    """What is reported of three steps that update the parameters in `names` only."""
    found: list[Problem] = []
    params = {"w": jnp.ones((3, 1)), "b": jnp.zeros(1)}

    def loss(p: Any) -> Any:
        return jnp.mean((X @ p["w"] + p["b"] - X[:, :1]) ** 2)

    with gt.explain.listening(found.append), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with watch("jax", tell=lambda note: None):
            slope = jax.jit(jax.grad(loss)) if is_compiled else jax.grad(loss)
            for _ in range(3):
                grads = slope(params)
                params = {name: p - 0.1 * grads[name] if name in names else p for name, p in params.items()}
    return found


@pytest.mark.parametrize("is_compiled", [False, True])
def test_a_parameter_with_a_gradient_that_never_changes_is_named_at_the_end(is_compiled: bool) -> None:
    """Of two parameters with gradients one is updated; if both or none are, nothing is said."""
    (found,) = train("w", is_compiled)
    assert found.code == "GT513"
    assert "p['b']" in found.title
    assert train("wb", is_compiled) == train("", is_compiled) == []


def test_gradients_that_a_mask_hands_on_are_no_updates() -> None:
    """Where `optax.masked` does not apply, `apply_updates` adds the gradient; not in a chain that scales all."""
    optax: Any = pytest.importorskip("optax")
    mask = {"w": True, "b": False}
    for tx, codes in (
        (optax.masked(optax.sgd(0.1), mask), ["GT513"]),
        (optax.chain(optax.masked(optax.add_decayed_weights(0.1), mask), optax.sgd(0.1)), []),
    ):
        found: list[Problem] = []
        params = {"w": jnp.ones((3, 1)), "b": jnp.ones(1)}
        with gt.explain.listening(found.append), warnings.catch_warnings(), watch("jax", tell=lambda note: None):
            warnings.simplefilter("ignore")
            grads = jax.grad(lambda p: jnp.mean((X @ p["w"] + p["b"]) ** 2))(params)
            updates, _ = tx.update(grads, tx.init(params), params)
            _ = optax.apply_updates(params, updates)
        assert [problem.code for problem in found] == codes


@pytest.mark.parametrize("keeps", [False, True])
def test_updates_that_are_made_in_every_step_and_not_kept_are_named(keeps: bool) -> None:
    """The state of the optimiser is carried on and the parameters stay as they were: nothing is said if they move."""
    optax: Any = pytest.importorskip("optax")
    found: list[Problem] = []

    def loss(p: Any) -> Any:
        return jnp.mean((X @ p - X[:, 0]) ** 2)

    with gt.explain.listening(found.append), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with watch("jax", tell=lambda note: None):
            params, tx = jnp.zeros(3), optax.adam(0.1)
            state = tx.init(params)
            for _ in range(4):
                updates, state = tx.update(jax.grad(loss)(params), state, params)
                params = optax.apply_updates(params, updates) if keeps else params
    assert [each.code for each in found] == ([] if keeps else ["GT512"])


def test_a_gradient_by_an_argument_without_arrays_is_named() -> None:
    """The wrong part of a model that was split has nothing to differentiate by."""
    found: list[Problem] = []
    with gt.explain.listening(found.append), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with watch("jax", tell=lambda note: None):
            assert jax.grad(lambda p: jnp.sum(X))({"w": None}) == {"w": None}
            jax.grad(lambda p: jnp.sum(X * p["w"]))({"w": 1.0})
    assert [each.code for each in found] == ["GT512"]


def test_rounding_is_named_although_its_scale_is_behind_stop_gradient() -> None:
    """`round(w / scale) * scale` has no gradient because it rounds; behind stop_gradient it is meant to have none."""
    for quantise, codes in (
        (lambda w, scale: jnp.round(w / scale) * scale, ["GT201"]),
        (lambda w, scale: jax.lax.stop_gradient(jnp.round(w / scale)) * scale, []),
    ):
        found: list[Problem] = []

        def loss(p: Any, quantise: Any = quantise) -> Any:
            scale = jnp.max(jnp.abs(jax.lax.stop_gradient(p["w"])))
            return jnp.mean((X @ quantise(p["w"], scale) + p["b"] - 1.0) ** 2)

        with gt.explain.listening(found.append), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with watch("jax", tell=lambda note: None):
                jax.grad(loss)({"w": jnp.array([0.1, 0.4, -0.2]), "b": jnp.zeros(())})
        assert [each.code for each in found if each.code != "GT208"] == codes


def test_a_softmax_before_log_sigmoid_and_gates_over_the_examples_are_named() -> None:
    """Probabilities are no logits; and gates of a mixture sum to 1 for each example, not for each expert."""
    for loss, codes in (
        (lambda w: -jnp.mean(jax.nn.log_sigmoid(jax.nn.softmax(X @ w, axis=1))), ["GT509"]),
        (lambda w: jnp.mean(((jax.nn.softmax(X @ w, axis=0) * (X @ w)).sum(axis=1) - X[:, 0]) ** 2), ["GT501"]),
        (lambda w: jnp.mean(((jax.nn.softmax(X @ w, axis=1) * (X @ w)).sum(axis=1) - X[:, 0]) ** 2), []),
        (lambda w: jnp.mean((jax.nn.softmax(X @ w, axis=0) * (X @ w)).sum(axis=1)), []),
    ):
        found: list[Problem] = []
        with gt.explain.listening(found.append), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with watch("jax", tell=lambda note: None):
                jax.grad(loss)(jnp.array([[0.1, 0.2], [0.3, -0.1], [0.0, 0.5]]))
        assert [each.code for each in found] == codes
