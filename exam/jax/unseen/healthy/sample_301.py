import jax
import jax.numpy as jnp
import numpy as np

rewards = jnp.array([0.1, 1.0, 0.3])


def objective(logits, key):
    return -jnp.mean(
        rewards[jax.random.categorical(key, logits, shape=(64,))]
        * jax.nn.log_softmax(logits)[jax.random.categorical(key, logits, shape=(64,))]
    )


logits = jnp.zeros(3)
for seed in range(3):
    g = jax.grad(objective)(logits, jax.random.key(seed))
    logits = logits - 0.5 * g
assert bool(jnp.any(g))
