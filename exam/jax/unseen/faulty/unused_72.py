# expect: GT201 or GT404 because GT202
# cause: apply is called with the variables of the module, not with the params that are differentiated
# wrong: not any(np.any(g) for g in jax.tree.leaves(grads))
# cure: model.apply(variables, batch) -> model.apply(params, batch)
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

batch = jnp.asarray(np.random.default_rng(0).normal(size=(10, 4)))
labels = jnp.asarray([0, 1] * 5)
model = nn.Dense(2)
variables = model.init(jax.random.PRNGKey(0), batch)
tx = optax.sgd(0.1)
state = tx.init(variables)


def cross_entropy(params):
    logits = model.apply(variables, batch)  # <- here
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


for _ in range(3):
    grads = jax.grad(cross_entropy)(variables)  # <- asked
    updates, state = tx.update(grads, state)
    variables = optax.apply_updates(variables, updates)
