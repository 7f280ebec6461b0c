"""nnx: the state is split, and the function of it is differentiated as any other."""

import jax
import jax.numpy as jnp
from flax import nnx

model = nnx.Sequential(nnx.Linear(2, 8, rngs=nnx.Rngs(0)), nnx.tanh, nnx.Linear(8, 1, rngs=nnx.Rngs(1)))
graph, state = nnx.split(model)
x = jax.random.normal(jax.random.PRNGKey(0), (12, 2))
y = x[:, :1] * x[:, 1:]


@jax.jit
def loss(state):
    return jnp.mean((nnx.merge(graph, state)(x) - y) ** 2)


first = loss(state)
for _ in range(4):
    state = jax.tree.map(lambda s, g: s - 0.1 * g, state, jax.grad(loss)(state))
assert loss(state) < first
