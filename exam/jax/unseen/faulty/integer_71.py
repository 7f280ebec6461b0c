# expect: GT310 or GT207
# cause: jnp.arange without a point makes integers, which have no gradient
# wrong: raises TypeError
# cure: jnp.arange(1, 5) -> jnp.arange(1.0, 5.0)
import jax
import jax.numpy as jnp

stiffness = jnp.arange(1, 5)  # <- here
displacement = jnp.linspace(0.1, 0.4, 4)


def energy(stiffness):
    return 0.5 * jnp.sum(stiffness * displacement**2)


value, sensitivity = jax.value_and_grad(energy)(stiffness)  # <- here
print(sensitivity)
