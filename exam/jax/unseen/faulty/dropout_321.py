# expect: GT314
# cause: Dropout draws random numbers, and apply was given no key for it
# wrong: raises Exception
# cure: model.apply({"params": params}, x, train=True) -> model.apply({"params": params}, x, train=True, rngs={"dropout": jax.random.key(3)})
import flax.linen as nn
import jax
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.Dense(16)(x))
        x = nn.Dropout(0.2, deterministic=not train)(x)  # <- here
        return nn.Dense(1)(x)


x = jax.random.normal(jax.random.key(0), (8, 5))
model = Net()
params = model.init(jax.random.key(1), x, train=False)["params"]


def loss(params):
    return jnp.mean((model.apply({"params": params}, x, train=True) - 1.0) ** 2)  # <- here


g = jax.grad(loss)(params)  # <- asked
