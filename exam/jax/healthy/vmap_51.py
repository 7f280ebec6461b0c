"""An ensemble by vmap over the parameters: five models at once."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
x = np.linspace(-1, 1, 20)[:, None]
y = np.sin(3 * x)
models = {"a": rng.normal(size=(5, 1, 8)) * 2, "b": rng.normal(size=(5, 8, 1)) * 0.3}


def loss(p):
    return jnp.mean((jnp.tanh(x @ p["a"]) @ p["b"] - y) ** 2)


@jax.jit
def step(models):
    values, grads = jax.vmap(jax.value_and_grad(loss))(models)
    return values, jax.tree.map(lambda p, g: p - 0.1 * g, models, grads)


before, models = step(models)
for _ in range(10):
    after, models = step(models)
assert before.shape == (5,)
assert np.all(after < before)
