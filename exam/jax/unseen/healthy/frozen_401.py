# optax.multi_transform keeps the embeddings as they are, on purpose
import jax
import jax.numpy as jnp
import optax

params = {"table": jax.random.normal(jax.random.key(0), (10, 4)), "head": jnp.zeros((4, 2))}
labels = {"table": "frozen", "head": "trained"}
tx = optax.multi_transform({"frozen": optax.set_to_zero(), "trained": optax.adam(0.1)}, labels)
state = tx.init(params)
words, classes = jnp.arange(10), jnp.arange(10) % 2


def loss(p):
    logits = p["table"][words] @ p["head"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, classes).mean()


for _ in range(5):
    grads = jax.grad(loss)(params)
    updates, state = tx.update(grads, state, params)
    params = optax.apply_updates(params, updates)
assert jnp.any(params["head"] != 0)
