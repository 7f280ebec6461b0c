# expect: GT402
# cause: at the start the weights equal the anchor, and the norm has no slope at zero
# wrong: any(np.isnan(g).any() for g in jax.tree.leaves(grads))
# cure: jnp.linalg.norm(w - anchor) -> jnp.sqrt(jnp.sum((w - anchor) ** 2) + 1e-12)
import jax
import jax.numpy as jnp
import numpy as np

anchor = jnp.asarray(np.random.default_rng(0).normal(size=(6,)))
design = jnp.asarray(np.random.default_rng(1).normal(size=(18, 6)))
response = design @ jnp.ones(6)


@jax.jit
def objective(w):
    fit = jnp.mean((design @ w - response) ** 2)
    return fit + 0.1 * jnp.linalg.norm(w - anchor)  # <- here


w = anchor
for _ in range(2):
    grads = jax.grad(objective)(w)
    w = w - 0.05 * grads
