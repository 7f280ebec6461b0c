# expect: GT306
# cause: argnums=(0,) makes grad return a tuple of one gradient, which does not have the structure of the parameters
# wrong: raises ValueError
# cure: argnums=(0,) -> argnums=0
import jax
import jax.numpy as jnp

heights = jnp.linspace(1.0, 2.0, 25)
weights = 40.0 * heights - 5.0
params = {"slope": jnp.array(1.0), "bias": jnp.array(0.0)}


def loss(params, heights, weights):
    return jnp.mean((params["slope"] * heights + params["bias"] - weights) ** 2)


gradient = jax.grad(loss, argnums=(0,))  # <- here
for _ in range(5):
    g = gradient(params, heights, weights)
    params = jax.tree.map(lambda p, d: p - 0.05 * d, params, g)  # <- here
