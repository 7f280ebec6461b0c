# expect: GT309 or GT308 or GT211 or GT314
# cause: the parameters were donated to the step, and their old array is read afterwards
# wrong: raises RuntimeError
# cure: jax.jit(step, donate_argnums=0) -> jax.jit(step)
import jax
import jax.numpy as jnp

data = jnp.linspace(-1.0, 1.0, 64)


def step(w):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((jnp.outer(data, w).sum(axis=1) - data) ** 2))(w)


fast_step = jax.jit(step, donate_argnums=0)  # <- here
w = jnp.ones(256)
for _ in range(3):
    new = fast_step(w)
    drift = jnp.abs(new - w).max()  # <- here
    w = new
