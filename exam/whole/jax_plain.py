"""Plain JAX: jit of value_and_grad, a recurrent network by scan, per-example gradients by vmap, remat, custom_vjp."""

from functools import partial

import jax
import jax.numpy as jnp
from jax_measure import finish
from measure import Steps


@jax.custom_vjp
def clip_backward(x):
    return x


clip_backward.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -0.1, 0.1),))


def predict(parameters, sequence):
    def cell(state, x):
        state = jnp.tanh(x @ parameters["input"] + state @ parameters["state"] + parameters["bias"])
        return state, state

    state, _ = jax.lax.scan(jax.checkpoint(cell), jnp.zeros(16), sequence)
    return clip_backward(state) @ parameters["output"]


def loss_of(parameters, sequences, targets):
    return jnp.mean((jax.vmap(predict, (None, 0))(parameters, sequences) - targets) ** 2)


@jax.jit
def update(parameters, sequences, targets):
    loss, gradients = jax.value_and_grad(loss_of)(parameters, sequences, targets)
    return jax.tree_util.tree_map(lambda p, g: p - 0.05 * g, parameters, gradients), loss


@partial(jax.jit, static_argnames="most")
def private_update(parameters, sequences, targets, most=1.0):
    each = jax.vmap(jax.grad(lambda p, s, t: loss_of(p, s[None], t[None])), (None, 0, 0))(
        parameters, sequences, targets
    )
    squares = sum(jnp.sum(g**2, axis=range(1, g.ndim)) for g in jax.tree_util.tree_leaves(each))
    scale = jnp.minimum(1.0, most / jnp.sqrt(squares + 1e-12))
    mean = jax.tree_util.tree_map(lambda g: jnp.tensordot(scale, g, 1) / len(scale), each)
    return jax.tree_util.tree_map(lambda p, g: p - 0.05 * g, parameters, mean)


keys = jax.random.split(jax.random.key(0), 6)
parameters = {
    "input": 0.5 * jax.random.normal(keys[0], (3, 16)),
    "state": 0.2 * jax.random.normal(keys[1], (16, 16)),
    "bias": jnp.zeros(16),
    "output": 0.3 * jax.random.normal(keys[2], (16, 1)),
}
sequences = jax.random.normal(keys[3], (32, 10, 3))
targets = sequences.sum((1, 2))[:, None] / 5
steps = Steps()
for step in range(60):
    with steps:
        parameters, loss = update(parameters, sequences, targets)
        parameters = jax.block_until_ready(private_update(parameters, sequences, targets))
    if step % 20 == 0:
        print(f"step {step}: loss {loss:.6f}")
for _ in range(2):
    gradients = jax.grad(loss_of)(parameters, sequences, targets)
    parameters = {name: p - 0.05 * gradients[name] for name, p in parameters.items()}
turn = jax.jacrev(jax.grad(lambda b: loss_of({**parameters, "bias": b}, sequences[:2], targets[:2])))
print(turn(parameters["bias"]).shape)
print(jax.jvp(lambda x: jnp.sum(jnp.sin(x) ** 2), (parameters["bias"],), (jnp.ones(16),))[1].shape)
finish(steps, parameters)
