# expect: GT403 or GT402
# cause: where picks the other branch at 0, but the infinite slope of sqrt is multiplied by zero
# wrong: np.isnan(g).any()
# cure: jnp.sqrt(x) -> jnp.sqrt(jnp.where(x > 0, x, 1.0))
import jax
import jax.numpy as jnp

energies = jnp.array([-1.0, 0.0, 2.0, 5.0])


def density_of_states(x):
    return jnp.where(x > 0, jnp.sqrt(x), 0.0)  # <- here


def filling(mu):
    occupied = jax.nn.sigmoid((mu - energies) / 0.3)
    return jnp.sum(occupied * density_of_states(energies * mu))


g = jax.grad(filling)(1.5)  # <- asked
print(g)
