# needs: flax, optax
"""A Flax CNN (linen) with batch statistics and dropout and a Flax NNX model, both trained with optax."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import nnx
from flax.training.train_state import TrainState
from jax_measure import finish
from measure import Steps


class CNN(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.Conv(8, (3, 3))(x))
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.avg_pool(x, (2, 2), (2, 2)).reshape((len(x), -1))
        x = nn.Dropout(0.1, deterministic=not train)(nn.relu(nn.Dense(16)(x)))
        return nn.Dense(4)(x)


class State(TrainState):
    batch_stats: dict


@jax.jit
def train(state, images, labels, key):
    def loss_of(params):
        scores, changed = state.apply_fn(
            {"params": params, "batch_stats": state.batch_stats}, images, True, rngs={"dropout": key},
            mutable=["batch_stats"],
        )  # fmt: skip
        return optax.softmax_cross_entropy_with_integer_labels(scores, labels).mean(), changed

    (loss, changed), gradients = jax.value_and_grad(loss_of, has_aux=True)(state.params)
    return state.apply_gradients(grads=gradients, batch_stats=changed["batch_stats"]), loss


class Regression(nnx.Module):
    def __init__(self, rngs):
        self.first, self.second = nnx.Linear(4, 16, rngs=rngs), nnx.Linear(16, 1, rngs=rngs)

    def __call__(self, x):
        return self.second(nnx.tanh(self.first(x)))


@nnx.jit
def fit(model, optimiser, x, y):
    loss, gradients = nnx.value_and_grad(lambda model: jnp.mean((model(x) - y) ** 2))(model)
    optimiser.update(model, gradients)
    return loss


keys = jax.random.split(jax.random.key(0), 4)
images, labels = jax.random.normal(keys[0], (32, 8, 8, 1)), jnp.arange(32) % 4
model = CNN()
variables = model.init(keys[1], images, False)
rule = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(1e-2, 50)))
state = State.create(apply_fn=model.apply, params=variables["params"], tx=rule, batch_stats=variables["batch_stats"])
steps = Steps()
for step in range(50):
    with steps:
        state, loss = jax.block_until_ready(train(state, images, labels, jax.random.fold_in(keys[2], step)))
    if step % 25 == 0:
        print(f"step {step}: loss {loss:.6f}")
regression = Regression(nnx.Rngs(0))
optimiser = nnx.Optimizer(regression, optax.adam(1e-2), wrt=nnx.Param)
x = jax.random.normal(keys[3], (32, 4))
for _ in range(50):
    with steps:
        loss = fit(regression, optimiser, x, x[:, :1]).block_until_ready()
print(f"regression: loss {loss:.6f}")
finish(steps, state.params, state.batch_stats, state.opt_state, nnx.state(regression))
