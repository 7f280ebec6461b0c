import jax
import jax.numpy as jnp
import numpy as np

keys = jax.random.split(jax.random.key(20), 3)
params = {
    "layers": [{"w": 0.4 * jax.random.normal(k, (5, 5)), "b": jnp.zeros(5)} for k in keys[:2]],
    "head": 0.4 * jax.random.normal(keys[2], (5, 1)),
}
x = jax.random.normal(jax.random.key(21), (30, 5))
y = jnp.max(x, axis=1, keepdims=True)


def predict(params, x):
    for layer in params["layers"]:
        x = jax.nn.silu(x @ layer["w"] + layer["b"])
    return x @ params["head"]


def loss(params):
    return jnp.mean((predict(params, x) - y) ** 2)


grads = jax.grad(loss)(params)
assert not (not np.any(grads["layers"][1]["w"]))
