import jax
import jax.numpy as jnp

features = jax.random.normal(jax.random.key(0), (30, 5))
labels = jax.random.randint(jax.random.key(1), (30,), 0, 4)


def log_probabilities(params):
    logits = features @ params
    return logits - jax.nn.logsumexp(logits, axis=1, keepdims=True)


def loss(params):
    return -jnp.mean(log_probabilities(params)[jnp.arange(30), labels])


params = 0.1 * jax.random.normal(jax.random.key(2), (5, 4))
for _ in range(3):
    g = jax.grad(loss)(params)
    params = params - 0.1 * g
assert bool(abs(jnp.exp(log_probabilities(params)).sum() - 30.0) < 1e-3)
