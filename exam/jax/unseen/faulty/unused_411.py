# expect: GT201 or GT404 or GT513 because GT202
# cause: the second bias is never added
# wrong: not np.any(g["b2"])
# cure: return h @ p["w2"] -> return h @ p["w2"] + p["b2"]
import jax
import jax.numpy as jnp
import numpy as np

x = jax.random.normal(jax.random.key(0), (12, 3))
y = jnp.sum(x, axis=1, keepdims=True) + 4.0
p = {
    "w1": 0.3 * jax.random.normal(jax.random.key(1), (3, 5)),
    "b1": jnp.zeros(5),
    "w2": jnp.ones((5, 1)),
    "b2": jnp.zeros(1),
}


def predict(p, x):
    h = jnp.tanh(x @ p["w1"] + p["b1"])
    return h @ p["w2"]  # <- here


def loss(p):
    return jnp.mean((predict(p, x) - y) ** 2)


g = jax.grad(loss)(p)  # <- here
