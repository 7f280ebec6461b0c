# expect: GT311
# cause: the function computes the loss and does not return it
# wrong: raises TypeError
# cure: value = jnp.sum(residual**2)  # <- here -> return jnp.sum(residual**2)
import jax
import jax.numpy as jnp

times = jnp.linspace(0.0, 4.0, 20)
counts = 5.0 * jnp.exp(-0.7 * times)


def loss(params):
    residual = params["a"] * jnp.exp(-params["k"] * times) - counts
    value = jnp.sum(residual**2)  # <- here


params = {"a": jnp.array(1.0), "k": jnp.array(0.1)}
g = jax.grad(loss)(params)  # <- asked
