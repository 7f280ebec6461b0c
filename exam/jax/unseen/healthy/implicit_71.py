"""Second derivatives: Newton steps, and a Hessian-vector product by jvp of grad."""

import jax
import jax.numpy as jnp
import numpy as np

A = jnp.asarray(np.random.default_rng(0).normal(size=(10, 3)))
t = jnp.asarray((np.random.default_rng(1).random(10) > 0.5).astype(np.float32))


def loss(w):
    z = A @ w
    return jnp.mean(jax.nn.softplus(z) - t * z) + 0.01 * jnp.sum(w**2)


def hvp(w, v):
    return jax.jvp(jax.grad(loss), (w,), (v,))[1]


curvature, slope = jax.jit(jax.hessian(loss)), jax.jit(jax.grad(loss))
w = jnp.zeros(3)
for _ in range(3):
    w = w - jnp.linalg.solve(curvature(w), slope(w))
assert jnp.allclose(hvp(w, jnp.ones(3)), curvature(w) @ jnp.ones(3), atol=1e-4)
assert jnp.linalg.norm(slope(w)) < 1e-2
