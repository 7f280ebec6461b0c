# expect: GT314 or GT309 or GT312 or GT313
# cause: BatchNorm writes its running statistics, and batch_stats was not given as mutable
# wrong: raises Exception
# cure: jnp.ones((8, 4)))  # <- here -> jnp.ones((8, 4)), mutable=["batch_stats"])
# cure: predictions = model.apply -> predictions, changed = model.apply
# cure: return jnp.mean((predictions - 1.0) ** 2) -> return jnp.mean((predictions - 1.0) ** 2), changed
# cure: g = jax.grad(loss)(params) -> g, changed = jax.grad(loss, has_aux=True)(params)
import flax.linen as nn
import jax
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(6)(x)
        x = nn.BatchNorm(use_running_average=False)(x)  # <- here
        return nn.Dense(1)(nn.relu(x))


model = Net()
variables = model.init(jax.random.key(0), jnp.ones((8, 4)) * jnp.arange(8.0)[:, None])
params, batch_stats = variables["params"], variables["batch_stats"]


def loss(params):
    predictions = model.apply({"params": params, "batch_stats": batch_stats}, jnp.ones((8, 4)))  # <- here
    return jnp.mean((predictions - 1.0) ** 2)


g = jax.grad(loss)(params)  # <- asked
