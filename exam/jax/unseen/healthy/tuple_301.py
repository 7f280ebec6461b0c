import jax
import jax.numpy as jnp

heights = jnp.linspace(1.0, 2.0, 25)
weights = 40.0 * heights - 5.0
params = {"slope": jnp.array(1.0), "bias": jnp.array(0.0)}


def loss(params, heights, weights):
    return jnp.mean((params["slope"] * heights + params["bias"] - weights) ** 2)


gradient = jax.grad(loss, argnums=0)
for _ in range(5):
    g = gradient(params, heights, weights)
    params = jax.tree.map(lambda p, d: p - 0.05 * d, params, g)
assert bool(params["bias"] != 0.0)
