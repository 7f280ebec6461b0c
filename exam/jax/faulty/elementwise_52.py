# expect: GT110
# cause: the differences of 20 points are 19, and the potential is subtracted at 20 points
# wrong: raises TypeError
# cure: 0.5 * path**2 -> 0.5 * path[1:] ** 2
import jax
import jax.numpy as jnp


def action(path, dt=0.1):
    kinetic = 0.5 * (jnp.diff(path) / dt) ** 2
    potential = 0.5 * path**2  # <- here
    return jnp.sum(kinetic - potential) * dt  # <- here


path = jnp.linspace(0.0, 1.0, 20)
g = jax.grad(action)(path)  # <- asked
