import equinox as eqx
import jax
import jax.numpy as jnp

model = eqx.nn.MLP(2, 1, 4, 1, key=jax.random.key(0))
x = jax.random.normal(jax.random.key(1), (10, 2))
trained, fixed = eqx.partition(model, eqx.is_inexact_array)


def loss(trained):
    return jnp.mean(jax.vmap(eqx.combine(trained, fixed))(x) ** 2)


grads = eqx.filter_grad(loss)(trained)
assert not (len(jax.tree.leaves(grads)) == 0)
