# expect: GT404 or GT209
# cause: the logarithm of the deviation starts above the upper end of the clip, whose slope is zero there
# says: log_std
# wrong: not np.any(g["log_std"])
# cure: "log_std": jnp.array(5.0) -> "log_std": jnp.array(1.0)
import jax
import jax.numpy as jnp
import numpy as np

data = jax.random.normal(jax.random.key(3), (50,)) * 0.3 + 1.0
params = {"mean": jnp.array(0.0), "log_std": jnp.array(5.0)}  # <- here


def negative_log_likelihood(params):
    log_std = jnp.clip(params["log_std"], -5.0, 2.0)  # <- here
    scaled = (data - params["mean"]) / jnp.exp(log_std)
    return jnp.mean(0.5 * scaled**2 + log_std)


for _ in range(4):
    g = jax.jit(jax.grad(negative_log_likelihood))(params)  # <- asked
    params = jax.tree.map(lambda p, d: p - 0.1 * d, params, g)
