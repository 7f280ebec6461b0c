# expect: GT307
# cause: the loss is a vector with one value for each example; grad needs one number
# wrong: raises TypeError
# cure: return (x @ w - y) ** 2 -> return jnp.mean((x @ w - y) ** 2)
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
x, y = rng.normal(size=(20, 3)), rng.normal(size=20)


def squared_error(w, x, y):
    return (x @ w - y) ** 2  # <- here


w = jnp.zeros(3)
for _ in range(5):
    w = w - 0.1 * jax.grad(squared_error)(w, x, y)  # <- here
