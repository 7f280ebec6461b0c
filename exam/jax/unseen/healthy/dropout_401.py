# flax with dropout, a mutable collection and an integer step in the state
import jax
import jax.numpy as jnp
import optax
from flax import linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.BatchNorm(use_running_average=not train)(nn.Dense(8)(x))
        x = nn.Dropout(0.5, deterministic=not train)(nn.relu(x))
        return nn.Dense(1, kernel_init=nn.initializers.zeros)(x)


net = Net()
x = jax.random.normal(jax.random.key(0), (20, 4))
y = jnp.sum(x, axis=1, keepdims=True)
variables = net.init(jax.random.key(1), x, train=False)
params, stats = variables["params"], variables["batch_stats"]
tx = optax.adamw(0.01)
state = tx.init(params)


def loss(params, stats, key):
    out, new = net.apply(
        {"params": params, "batch_stats": stats}, x, train=True, rngs={"dropout": key}, mutable=["batch_stats"]
    )
    return jnp.mean((out - y) ** 2), new["batch_stats"]


for i in range(4):
    (value, stats), grads = jax.value_and_grad(loss, has_aux=True)(params, stats, jax.random.key(i))
    updates, state = tx.update(grads, state, params)
    params = optax.apply_updates(params, updates)
assert jnp.isfinite(value)
