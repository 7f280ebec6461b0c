import jax
import jax.numpy as jnp

x = jnp.linspace(-1.0, 1.0, 60).reshape(3, 4, 5)
lengths = jnp.array([4, 2, 0])
mask = jnp.arange(4)[None, :] < lengths[:, None]


def loss(w):
    scores = jnp.where(mask, x @ w, -1e9)
    weights = jnp.exp(scores - scores.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    return jnp.mean(jnp.einsum("bt,btf->bf", weights, x) ** 2)


value, g = jax.value_and_grad(loss)(jnp.ones(5))
assert bool(jnp.isfinite(value))
