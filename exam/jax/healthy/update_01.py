"""Adam by hand over a tree of parameters, jitted."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
x = rng.normal(size=(64, 3))
y = x @ np.array([[1.0], [-2.0], [0.5]])
params = {"w": jnp.zeros((3, 1)), "b": jnp.zeros(1)}
zeros = jax.tree.map(jnp.zeros_like, params)


def loss(p):
    return jnp.mean((x @ p["w"] + p["b"] - y) ** 2)


@jax.jit
def step(p, m, v, t):
    g = jax.grad(loss)(p)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, v, g)
    p = jax.tree.map(lambda p, m, v: p - 0.1 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8), p, m, v)
    return p, m, v


m, v = zeros, zeros
first = float(loss(params))
for t in range(1, 40):
    params, m, v = step(params, m, v, t)
assert float(loss(params)) < 0.1 * first
