import jax
import jax.numpy as jnp


def final_height(velocity, steps):
    def advance(i, state):
        height, speed = state
        return height + 0.1 * speed, speed - 0.1 * 9.81

    height, _ = jax.lax.fori_loop(0, steps, advance, (0.0, velocity))
    return (height - 3.0) ** 2


slope = jax.jit(jax.grad(final_height), static_argnums=1)
g = slope(5.0, 8)
assert bool(jnp.isfinite(g))
