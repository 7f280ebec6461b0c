import jax
import jax.numpy as jnp
from jax.scipy.optimize import minimize

anchor = jnp.array([1.0, -2.0])


def inner(x, penalty):
    return jnp.sum((x - anchor) ** 2) + penalty * jnp.sum(x**2)


def validation_loss(penalty):
    best = jnp.linalg.solve((1.0 + penalty) * jnp.eye(2), anchor)
    return jnp.sum((best - 0.9 * anchor) ** 2)


g = jax.grad(validation_loss)(0.5)
assert bool(jnp.isfinite(g))
