"""A GRU of equinox over time with scan, and a loss on the last step."""

import equinox as eqx
import jax
import jax.numpy as jnp


class Counter(eqx.Module):
    cell: eqx.nn.GRUCell
    out: eqx.nn.Linear

    def __init__(self, key):
        a, b = jax.random.split(key)
        self.cell = eqx.nn.GRUCell(1, 6, key=a)
        self.out = eqx.nn.Linear(6, "scalar", key=b)

    def __call__(self, sequence):
        final, _ = jax.lax.scan(lambda h, x: (self.cell(x, h), None), jnp.zeros(6), sequence)
        return self.out(final)


model = Counter(jax.random.PRNGKey(0))
sequences = jax.random.bernoulli(jax.random.PRNGKey(1), 0.5, (20, 7, 1)).astype(float)
counts = sequences.sum(axis=(1, 2))


@eqx.filter_jit
@eqx.filter_value_and_grad
def loss(model):
    return jnp.mean((jax.vmap(model)(sequences) - counts) ** 2)


values = []
for _ in range(6):
    value, grads = loss(model)
    model = eqx.apply_updates(model, jax.tree_util.tree_map(lambda g: -0.02 * g, grads))
    values.append(float(value))
assert values[-1] < values[0]
