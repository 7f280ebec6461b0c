"""BatchNorm: the running statistics are a mutable collection beside the parameters."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

x = jnp.asarray(np.random.default_rng(0).normal(3.0, 2.0, size=(32, 4)), jnp.float32)
y = x[:, :1] * 0.3


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(8)(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        return nn.Dense(1)(nn.relu(x))


net = Net()
variables = net.init(jax.random.PRNGKey(0), x, train=True)
params, stats = variables["params"], variables["batch_stats"]


def loss_fn(params, stats):
    out, updated = net.apply({"params": params, "batch_stats": stats}, x, train=True, mutable=["batch_stats"])
    return jnp.mean((out - y) ** 2), updated["batch_stats"]


values = []
for _ in range(8):
    (value, stats), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, stats)
    params = jax.tree.map(lambda p, g: p - 0.05 * g, params, grads)
    values.append(float(value))
assert values[-1] < values[0]
