import jax
import jax.numpy as jnp

penalty = 1.0


def loss(x, penalty):
    return penalty * jnp.sum(x**2)


gradient = jax.jit(jax.grad(loss))
x = jnp.array(1.0)
for penalty in (1.0, 2.0, 4.0):
    g = gradient(x, penalty)
assert abs(float(g) - 8.0) < 1e-4
