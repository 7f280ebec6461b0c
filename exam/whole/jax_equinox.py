# needs: equinox, optax
"""An Equinox network with filtered jit and gradients, frozen layers by `partition`, and optax."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax_measure import finish
from measure import Steps


class Network(eqx.Module):
    layers: list
    norm: eqx.nn.LayerNorm
    dropout: eqx.nn.Dropout
    scale: float = 2.0

    def __init__(self, key):
        keys = jax.random.split(key, 3)
        self.layers = [
            eqx.nn.Linear(6, 16, key=keys[0]),
            eqx.nn.Linear(16, 16, key=keys[1]),
            eqx.nn.Linear(16, 1, key=keys[2]),
        ]
        self.norm, self.dropout = eqx.nn.LayerNorm(16), eqx.nn.Dropout(0.1)

    def __call__(self, x, key):
        x = jax.nn.gelu(self.layers[0](x))
        x = self.dropout(self.norm(x + jax.nn.gelu(self.layers[1](x))), key=key)
        return self.scale * self.layers[2](x)


def loss_of(trained, frozen, x, y, key):
    model = eqx.combine(trained, frozen)
    return jnp.mean((jax.vmap(model)(x, jax.random.split(key, len(x))) - y) ** 2)


@eqx.filter_jit
def train(trained, frozen, state, x, y, key):
    loss, gradients = eqx.filter_value_and_grad(loss_of)(trained, frozen, x, y, key)
    changes, state = rule.update(gradients, state, trained)
    return eqx.apply_updates(trained, changes), state, loss


keys = jax.random.split(jax.random.key(0), 3)
model = Network(keys[0])
wanted = jax.tree_util.tree_map(eqx.is_inexact_array, model)
wanted = eqx.tree_at(lambda m: (m.layers[0].weight, m.layers[0].bias), wanted, replace=(False, False))
trained, frozen = eqx.partition(model, wanted)
rule = optax.sgd(0.01, momentum=0.9)
state = rule.init(trained)
x = jax.random.normal(keys[1], (64, 6))
y = x[:, :1] * x[:, 1:2]
steps = Steps()
for step in range(80):
    with steps:
        trained, state, loss = train(trained, frozen, state, x, y, jax.random.fold_in(keys[2], step))
        loss.block_until_ready()
    if step % 20 == 0:
        print(f"step {step}: loss {loss:.6f}")
finish(steps, eqx.filter(eqx.combine(trained, frozen), eqx.is_array), state)
