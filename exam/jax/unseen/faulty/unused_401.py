# expect: GT201 or GT404 or GT513 because GT202
# cause: the loop over the layers stops before the last hidden one, so that its parameters are never used
# wrong: not np.any(grads["layers"][1]["w"])
# cure: for layer in params["layers"][:-1]: -> for layer in params["layers"]:
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
    for layer in params["layers"][:-1]:  # <- here
        x = jax.nn.silu(x @ layer["w"] + layer["b"])
    return x @ params["head"]  # <- here


def loss(params):
    return jnp.mean((predict(params, x) - y) ** 2)


grads = jax.grad(loss)(params)  # <- here
