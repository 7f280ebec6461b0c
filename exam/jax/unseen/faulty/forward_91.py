# expect: GT401
# cause: exp overflows in a softmax that is written by hand
# wrong: not np.isfinite(loss)
# cure: jnp.exp(logits) -> jnp.exp(logits - logits.max(axis=1, keepdims=True))
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
x = jnp.asarray(rng.normal(size=(20, 4)) * 100)
labels = jnp.asarray(rng.integers(0, 3, size=20))


def softmax(logits):
    e = jnp.exp(logits)  # <- here
    return e / e.sum(axis=1, keepdims=True)  # <- here


def nll(w):
    return -jnp.mean(jnp.log(softmax(x @ w)[jnp.arange(20), labels] + 1e-9))


loss, g = jax.value_and_grad(nll)(jnp.asarray(rng.normal(size=(4, 3))))  # <- asked
