import jax
import jax.numpy as jnp

x = jax.random.uniform(jax.random.key(2), (10, 6))
params = {"enc": 0.2 * jax.random.normal(jax.random.key(0), (6, 4)), "dec": jnp.ones((2, 6)) * 0.1}


def elbo(params, key):
    mean, log_variance = jnp.split(x @ params["enc"], 2, axis=1)
    z = mean + jnp.exp(0.5 * log_variance) * jax.random.normal(key, mean.shape)
    restored = jax.nn.sigmoid(z @ params["dec"])
    kl = -0.5 * jnp.mean(1.0 + log_variance - mean**2 - jnp.exp(log_variance))
    return jnp.mean((restored - x) ** 2) + 0.1 * jnp.minimum(kl, 1.0)


grads = jax.grad(elbo)(params, jax.random.key(3))
assert True
