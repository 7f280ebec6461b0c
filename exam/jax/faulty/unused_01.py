# expect: GT201 or GT404 because GT202
# cause: the loss uses the global params instead of its argument p, so its gradient is zero
# wrong: not np.any(grads["w"])
# cure: model(params, inputs) -> model(p, inputs)
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(1)
inputs = rng.normal(size=(30, 2))
outputs = inputs[:, 0] * 2 - inputs[:, 1]
params = {"w": jnp.zeros(2), "b": jnp.array(0.0)}


def model(p, x):
    return x @ p["w"] + p["b"]


def loss_fn(p):
    return jnp.mean((model(params, inputs) - outputs) ** 2)  # <- here


for epoch in range(3):
    loss, grads = jax.value_and_grad(loss_fn)(params)  # <- asked
    params = jax.tree.map(lambda v, g: v - 0.1 * g, params, grads)
print(loss)
