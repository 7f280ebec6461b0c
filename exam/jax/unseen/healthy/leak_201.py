import jax
import jax.numpy as jnp

losses = []


@jax.jit
def loss(w):
    value = jnp.sum(w**2)
    return value


w = jnp.arange(3.0)
for _ in range(3):
    w = w - 0.1 * jax.grad(loss)(w)
mean = loss(w)
print(float(mean))
assert mean > 0
