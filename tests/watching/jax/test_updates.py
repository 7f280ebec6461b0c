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
