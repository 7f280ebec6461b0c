"""An equinox model with static fields and None gradients for what is no array."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Net(eqx.Module):
    layers: list
    activation: callable = eqx.field(static=True)
    scale: float

    def __init__(self, key):
        a, b = jax.random.split(key)
        self.layers = [eqx.nn.Linear(2, 8, key=a), eqx.nn.Linear(8, 1, use_bias=False, key=b)]
        self.activation = jax.nn.softplus
        self.scale = 0.5

    def __call__(self, x):
        return self.scale * self.layers[1](self.activation(self.layers[0](x)))


model = Net(jax.random.PRNGKey(0))
x = jax.random.normal(jax.random.PRNGKey(1), (30, 2))
y = jnp.prod(x, axis=1, keepdims=True)
optim = optax.adam(3e-2)
state = optim.init(eqx.filter(model, eqx.is_inexact_array))


@eqx.filter_jit
def step(model, state):
    loss, grads = eqx.filter_value_and_grad(lambda m: jnp.mean((jax.vmap(m)(x) - y) ** 2))(model)
    updates, state = optim.update(grads, state, model)
    return eqx.apply_updates(model, updates), state, loss, grads


losses = []
for _ in range(10):
    model, state, loss, grads = step(model, state)
    losses.append(float(loss))
assert losses[-1] < losses[0]
assert grads.layers[1].bias is None
