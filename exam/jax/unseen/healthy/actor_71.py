"""Actor and critic in one tree; the advantage is a constant for the actor's loss."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
states = jnp.asarray(rng.normal(size=(50, 3)))
actions = jnp.asarray(rng.integers(0, 2, size=50))
returns = jnp.asarray(rng.normal(size=50)) + actions
params = {"actor": jnp.zeros((3, 2)), "critic": jnp.zeros(3)}


def actor_loss(params):
    advantage = jax.lax.stop_gradient(returns - states @ params["critic"])
    logp = jax.nn.log_softmax(states @ params["actor"])
    return -jnp.mean(advantage * logp[jnp.arange(50), actions])


def critic_loss(params):
    return jnp.mean((returns - states @ params["critic"]) ** 2)


for _ in range(4):
    g1, g2 = jax.grad(actor_loss)(params), jax.grad(critic_loss)(params)
    params = {"actor": params["actor"] - 0.5 * g1["actor"], "critic": params["critic"] - 0.1 * g2["critic"]}
assert np.any(params["actor"])
assert np.any(params["critic"])
