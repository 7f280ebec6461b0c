# expect: GT313 or GT314
# cause: the number of steps is traced under jit, so fori_loop becomes a while loop, which has no reverse mode
# wrong: raises ValueError
# cure: jax.jit(jax.grad(final_height)) -> jax.jit(jax.grad(final_height), static_argnums=1)
import jax
import jax.numpy as jnp


def final_height(velocity, steps):
    def advance(i, state):
        height, speed = state
        return height + 0.1 * speed, speed - 0.1 * 9.81

    height, _ = jax.lax.fori_loop(0, steps, advance, (0.0, velocity))  # <- here
    return (height - 3.0) ** 2


slope = jax.jit(jax.grad(final_height))  # <- here
g = slope(5.0, 8)  # <- asked
