import flax.linen as nn
import jax
import jax.numpy as jnp


class Regressor(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(jnp.tanh(nn.Dense(8)(x)))


model = Regressor()
x = jnp.linspace(-1.0, 1.0, 32).reshape(16, 2)
y = jnp.sum(x**2, axis=1, keepdims=True)
params = model.init(jax.random.key(1), x)


@jax.jit
def loss(params):
    return jnp.mean((model.apply(params, x) - y) ** 2)


g = jax.grad(loss)(params)
assert bool(jnp.any(g["params"]["Dense_0"]["kernel"]))
