# expect: GT404 or GT201 or GT209 or GT207
# cause: the actions are sampled integers, which do not depend on the logits in a differentiable way
# wrong: not np.any(g)
# cure: rewards[jax.random.categorical(key, logits, shape=(64,))] -> rewards[jax.random.categorical(key, logits, shape=(64,))] * jax.nn.log_softmax(logits)[jax.random.categorical(key, logits, shape=(64,))]
import jax
import jax.numpy as jnp
import numpy as np

rewards = jnp.array([0.1, 1.0, 0.3])


def objective(logits, key):
    return -jnp.mean(rewards[jax.random.categorical(key, logits, shape=(64,))])  # <- here


logits = jnp.zeros(3)
for seed in range(3):
    g = jax.grad(objective)(logits, jax.random.key(seed))  # <- asked
    logits = logits - 0.5 * g
