# expect: GT103
# cause: the row sums of the square transition matrix are divided by along the columns
# wrong: not np.allclose(transition(logits).sum(axis=1), 1.0)
# cure: rates.sum(axis=1) -> rates.sum(axis=1, keepdims=True)
import jax
import jax.numpy as jnp
import numpy as np

logits = jnp.asarray(np.random.default_rng(0).normal(size=(4, 4)))
observed = [0, 1, 1, 3, 2, 0, 1]


def transition(logits):
    rates = jnp.exp(logits)
    return rates / rates.sum(axis=1)  # <- here


def log_likelihood(logits):
    P = transition(logits)
    return sum(jnp.log(P[i, j]) for i, j in zip(observed[:-1], observed[1:]))


for _ in range(3):
    logits = logits + 0.1 * jax.grad(log_likelihood)(logits)
