# expect: GT314
# cause: argnums=2 is past the last positional argument of the call
# wrong: raises TypeError
# cure: argnums=2 -> argnums=1
import jax
import jax.numpy as jnp

signal = jnp.sin(jnp.linspace(0.0, 6.0, 50))


def roughness(signal, weight):
    return weight * jnp.sum((signal[1:] - signal[:-1]) ** 2)


g = jax.grad(roughness, argnums=2)(signal, 0.5)  # <- here
