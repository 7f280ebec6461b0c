# expect: GT401
# cause: the variance of a constant column is zero, and its standard deviation divides
# wrong: not np.isfinite(value)
# cure: / X.std(axis=0) -> / (X.std(axis=0) + 1e-6)
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
table = rng.normal(size=(30, 3))
table[:, 1] = 0.0  # nobody answered this question
y = table[:, 0]


def standardise(X):
    X = jnp.asarray(X)
    return (X - X.mean(axis=0)) / X.std(axis=0)  # <- here


def loss(w):
    return jnp.mean((standardise(table) @ w - y) ** 2)


value, g = jax.value_and_grad(loss)(jnp.zeros(3))  # <- asked
print(value, g)
