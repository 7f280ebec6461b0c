import jax
import jax.numpy as jnp
import numpy as np

points = jnp.linspace(1.0, 2.0, 15)
h = 1e-2


def network(w, x):
    return w[0] * jnp.tanh(w[1] * x + w[2])


def residual(w):
    slope = (network(w, points + h) - network(w, points - h)) / (2 * h)
    return jnp.mean((slope - 1.0) ** 2)


w = jnp.array([0.5, 0.8, 0.1])
for _ in range(3):
    g = jax.grad(residual)(w)
    w = w - 0.1 * g
assert bool(jnp.any(g))
