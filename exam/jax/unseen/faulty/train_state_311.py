# expect: GT512 or GT513 or GT205 or GT202
# cause: apply_gradients returns a new state, and the result is thrown away
# wrong: int(state.step) == 0
# cure: state.apply_gradients(grads=grads)  # <- here -> state = state.apply_gradients(grads=grads)
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state

x = jnp.linspace(-1.0, 1.0, 24).reshape(12, 2)
y = jnp.sin(3.0 * x).sum(axis=1, keepdims=True)
model = nn.Dense(1)
state = train_state.TrainState.create(
    apply_fn=model.apply, params=model.init(jax.random.key(0), x)["params"], tx=optax.sgd(0.1)
)


def loss(params):
    return jnp.mean((state.apply_fn({"params": params}, x) - y) ** 2)


for _ in range(6):
    grads = jax.grad(loss)(state.params)  # <- asked
    state.apply_gradients(grads=grads)  # <- here
