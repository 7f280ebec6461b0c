# expect: GT401 or GT402
# cause: a sentence of padding only has a row of minus infinity, and the softmax of it is NaN
# wrong: not bool(jnp.isfinite(value))
# cure: -jnp.inf -> -1e9
import jax
import jax.numpy as jnp

x = jnp.linspace(-1.0, 1.0, 60).reshape(3, 4, 5)
lengths = jnp.array([4, 2, 0])
mask = jnp.arange(4)[None, :] < lengths[:, None]


def loss(w):
    scores = jnp.where(mask, x @ w, -jnp.inf)
    weights = jnp.exp(scores - scores.max(axis=1, keepdims=True))  # <- here
    weights = weights / weights.sum(axis=1, keepdims=True)
    return jnp.mean(jnp.einsum("bt,btf->bf", weights, x) ** 2)


value, g = jax.value_and_grad(loss)(jnp.ones(5))  # <- asked
