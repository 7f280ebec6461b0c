"""nnx with its optimiser and a compiled step."""

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

rng = np.random.default_rng(0)
x = jnp.asarray(rng.normal(size=(24, 3)), jnp.float32)
y = jnp.asarray(np.sin(np.asarray(x).sum(axis=1, keepdims=True)), jnp.float32)


class Net(nnx.Module):
    def __init__(self, rngs):
        self.inner = nnx.Linear(3, 16, rngs=rngs)
        self.outer = nnx.Linear(16, 1, rngs=rngs)

    def __call__(self, x):
        return self.outer(nnx.relu(self.inner(x)))


model = Net(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)


@nnx.jit
def train_step(model, optimizer, x, y):
    loss, grads = nnx.value_and_grad(lambda model: jnp.mean((model(x) - y) ** 2))(model)
    optimizer.update(model, grads)
    return loss


losses = [float(train_step(model, optimizer, x, y)) for _ in range(10)]
assert losses[-1] < losses[0]
