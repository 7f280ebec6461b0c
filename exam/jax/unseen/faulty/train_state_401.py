# expect: GT512 or GT513 or GT205 or GT202
# cause: the step updates the state and returns the old loss only, so that the new state is lost
# wrong: np.array_equal(state.params["params"]["Dense_0"]["kernel"], start)
# cure: return state, loss  # <- here -> return new_state, loss
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax.training.train_state import TrainState


class Regressor(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.relu(nn.Dense(8)(x)))


model = Regressor()
x = jax.random.normal(jax.random.key(0), (32, 3))
y = jnp.sum(jnp.abs(x), axis=1, keepdims=True)
state = TrainState.create(apply_fn=model.apply, params=model.init(jax.random.key(1), x), tx=optax.adam(0.01))
start = state.params["params"]["Dense_0"]["kernel"]


@jax.jit
def train_step(state, x, y):
    def loss_fn(params):
        return jnp.mean((state.apply_fn(params, x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    new_state = state.apply_gradients(grads=grads)  # <- here
    return state, loss  # <- here


for _ in range(4):
    state, loss = train_step(state, x, y)  # <- asked
