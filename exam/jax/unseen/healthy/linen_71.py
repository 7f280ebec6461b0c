"""A flax classifier with dropout and optax, metrics as aux."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(0)
x = jnp.asarray(rng.normal(size=(40, 5)), jnp.float32)
labels = jnp.asarray((np.asarray(x[:, 0]) > 0).astype(int))


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.gelu(nn.Dense(16)(x))
        x = nn.Dropout(0.1, deterministic=not train)(x)
        return nn.Dense(2)(x)


net = Net()
params = net.init(jax.random.PRNGKey(0), x, train=False)
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-2))
state = tx.init(params)


@jax.jit
def step(params, state, key):
    def loss_fn(params):
        logits = net.apply(params, x, train=True, rngs={"dropout": key})
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
        return loss, jnp.mean(logits.argmax(-1) == labels)

    (loss, accuracy), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss, accuracy


losses = []
for key in jax.random.split(jax.random.PRNGKey(1), 12):
    params, state, loss, accuracy = step(params, state, key)
    losses.append(float(loss))
assert losses[-1] < losses[0]
