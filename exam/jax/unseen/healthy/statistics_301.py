import flax.linen as nn
import jax
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(6)(x)
        x = nn.BatchNorm(use_running_average=False)(x)
        return nn.Dense(1)(nn.relu(x))


model = Net()
variables = model.init(jax.random.key(0), jnp.ones((8, 4)) * jnp.arange(8.0)[:, None])
params, batch_stats = variables["params"], variables["batch_stats"]


def loss(params):
    predictions, changed = model.apply(
        {"params": params, "batch_stats": batch_stats}, jnp.ones((8, 4)), mutable=["batch_stats"]
    )
    return jnp.mean((predictions - 1.0) ** 2), changed


g, changed = jax.grad(loss, has_aux=True)(params)
assert "batch_stats" in changed
