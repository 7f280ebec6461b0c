"""LayerNorm and a residual connection; a TrainState keeps parameters and optimiser together."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.LayerNorm()(x)
        return nn.Dense(1)(x + nn.Dense(x.shape[-1])(nn.gelu(y)))


x = jax.random.normal(jax.random.PRNGKey(0), (16, 6))
y = jnp.mean(x, axis=-1, keepdims=True)
model = Block()
state = TrainState.create(apply_fn=model.apply, params=model.init(jax.random.PRNGKey(1), x), tx=optax.adam(1e-2))


@jax.jit
def step(state):
    value, grads = jax.value_and_grad(lambda p: jnp.mean((state.apply_fn(p, x) - y) ** 2))(state.params)
    return state.apply_gradients(grads=grads), value


values = []
for _ in range(6):
    state, value = step(state)
    values.append(float(value))
assert values[-1] < values[0]
