# expect: GT512 or GT513 or GT404 or GT201 or GT202 or GT314 or GT310
# cause: the filter keeps the functions of the model, so that nothing is left to differentiate
# wrong: len(jax.tree.leaves(grads)) == 0
# cure: eqx.partition(model, callable) -> eqx.partition(model, eqx.is_inexact_array)
import equinox as eqx
import jax
import jax.numpy as jnp

model = eqx.nn.MLP(2, 1, 4, 1, key=jax.random.key(0))
x = jax.random.normal(jax.random.key(1), (10, 2))
trained, fixed = eqx.partition(model, callable)  # <- here


def loss(trained):
    return jnp.mean(jax.vmap(eqx.combine(trained, fixed))(x) ** 2)


grads = eqx.filter_grad(loss)(trained)  # <- here
