# expect: GT512 or GT513 or GT205 or GT202
# cause: the caller keeps the loss of the step and throws the new state away
# wrong: np.array_equal(start, state.params["params"]["kernel"])
# cure: _, loss = step(state) -> state, loss = step(state)
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax.training.train_state import TrainState

net = nn.Dense(1)
x = jax.random.normal(jax.random.key(0), (20, 3))
y = jnp.sum(x, axis=1, keepdims=True)
state = TrainState.create(apply_fn=net.apply, params=net.init(jax.random.key(1), x), tx=optax.sgd(0.1))
start = state.params["params"]["kernel"]


@jax.jit
def step(state):
    def loss(params):
        return jnp.mean((state.apply_fn(params, x) - y) ** 2)

    value, grads = jax.value_and_grad(loss)(state.params)
    return state.apply_gradients(grads=grads), value


for _ in range(5):
    _, loss = step(state)  # <- here
