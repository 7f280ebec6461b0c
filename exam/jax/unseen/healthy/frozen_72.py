"""Only a part of an equinox model is differentiated: the rest is held by partition."""

import equinox as eqx
import jax
import jax.numpy as jnp

model = eqx.nn.MLP(3, 1, 8, 2, key=jax.random.PRNGKey(0))
x = jax.random.normal(jax.random.PRNGKey(1), (16, 3))
spec = jax.tree_util.tree_map(lambda _: False, model)
spec = eqx.tree_at(lambda tree: (tree.layers[-1].weight, tree.layers[-1].bias), spec, replace=(True, True))


@eqx.filter_jit
@eqx.filter_grad
def loss(tuned, fixed):
    whole = eqx.combine(tuned, fixed)
    return jnp.mean((jax.vmap(whole)(x) - 1.0) ** 2)


tuned, fixed = eqx.partition(model, spec)
for _ in range(3):
    grads = loss(tuned, fixed)
    tuned = eqx.apply_updates(tuned, jax.tree_util.tree_map(lambda g: -0.1 * g, grads))
assert grads.layers[0].weight is None
assert jnp.any(grads.layers[-1].weight)
