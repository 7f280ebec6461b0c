# descent for one player and ascent for the other
import jax
import jax.numpy as jnp


def game(x, y):
    return jnp.sum(x**2) + x @ y - jnp.sum(y**2)


x, y = jnp.array([1.0, -0.5]), jnp.array([0.3, 0.8])
for _ in range(10):
    gx, gy = jax.grad(game, argnums=(0, 1))(x, y)
    x, y = x - 0.1 * gx, y + 0.1 * gy
assert jnp.all(jnp.isfinite(x))
