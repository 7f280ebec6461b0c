# expect: GT404 or GT201 or GT209
# cause: the prediction is an argmax turned into a float: its derivative is zero
# wrong: not np.any(g)
# cure: jnp.argmax(scores, axis=1).astype(float) -> (jax.nn.softmax(scores, axis=1) @ jnp.arange(3.0))
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(2)
X = rng.normal(size=(25, 4))
grade = rng.integers(0, 3, size=25).astype(float)
W = jnp.asarray(rng.normal(size=(4, 3)))


def predict(W):
    scores = X @ W
    return jnp.argmax(scores, axis=1).astype(float)  # <- here


def mean_absolute_error(W):
    return jnp.mean(jnp.abs(predict(W) - grade))


g = jax.grad(mean_absolute_error)(W)  # <- asked
print(g)
