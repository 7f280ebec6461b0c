# expect: GT509
# cause: optax's sigmoid loss gets class probabilities from a softmax
# wrong: np.allclose(scores.sum(axis=1), 1.0, atol=1e-3)
# cure: return jax.nn.softmax(x @ params["v"] + params["c"]) -> return x @ params["v"] + params["c"]
import jax
import jax.numpy as jnp
import numpy as np
import optax

x = jax.random.normal(jax.random.key(30), (26, 7))
tags = (jax.random.uniform(jax.random.key(31), (26, 4)) < 0.4).astype(jnp.float32)
params = {"u": 0.3 * jax.random.normal(jax.random.key(32), (7, 9)), "v": jnp.ones((9, 4)) * 0.1, "c": jnp.zeros(4)}


def network(params, x):
    x = jax.nn.relu(x @ params["u"])
    return jax.nn.softmax(x @ params["v"] + params["c"])  # <- here


def loss(params):
    scores = network(params, x)
    return optax.sigmoid_binary_cross_entropy(scores, tags).mean(), scores  # <- here


(value, scores), grads = jax.value_and_grad(loss, has_aux=True)(params)  # <- asked
