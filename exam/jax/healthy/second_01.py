"""A Hessian and a Newton step."""

import jax
import jax.numpy as jnp
import numpy as np


def rosenbrock(p):
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


p = jnp.array([-1.2, 1.0])
for _ in range(12):
    p = p - jnp.linalg.solve(jax.hessian(rosenbrock)(p), jax.grad(rosenbrock)(p))
assert np.allclose(p, 1.0, atol=1e-3)
