"""Updates of arrays whose results are used, and a mask of minus infinity that leaves every row something."""

import jax
import jax.numpy as jnp

mask = jnp.arange(4)[None, :] < jnp.array([4, 2, 1])[:, None]
x = jnp.linspace(-1.0, 1.0, 60).reshape(3, 4, 5)


def loss(w, edge):
    scores = jnp.where(mask, x @ w, -jnp.inf)
    weights = jax.nn.softmax(scores, axis=1)
    u = jnp.zeros(5).at[0].set(edge)
    assert u.at[1].add(1.0).shape == (5,)
    return jnp.mean(jnp.einsum("bt,btf->bf", weights, x) ** 2) + jnp.sum(u**2)


value, (g, slope) = jax.value_and_grad(loss, argnums=(0, 1))(jnp.ones(5), 0.5)
assert jnp.isfinite(value)
assert jnp.isfinite(g).all()
assert slope == 1.0
