"""A counter and a name are beside the parameters in the state, and not differentiated."""

import jax
import jax.numpy as jnp

x = jnp.arange(12.0).reshape(4, 3)
state = {"params": {"w": jnp.ones(3)}, "step": 0, "name": "run"}


def loss(p):
    return jnp.mean((x @ p["w"]) ** 2)


for _ in range(12):
    g = jax.grad(loss)(state["params"])
    state = {**state, "params": {"w": state["params"]["w"] - 0.001 * g["w"]}, "step": state["step"] + 1}
assert state["step"] == 12
