import jax
import jax.numpy as jnp
import optax

x = jnp.linspace(-1.0, 1.0, 40)
y = 0.5 * x - 0.2
params = {"a": jnp.array(0.1), "b": jnp.array(0.1)}


def loss(params):
    return jnp.mean((params["a"] * x + params["b"] - y) ** 2)


first = float(loss(params))
optimiser = optax.chain(optax.adam(0.05))
state = optimiser.init(params)
for _ in range(20):
    grads = jax.grad(loss)(params)
    updates, state = optimiser.update(grads, state, params)
    params = optax.apply_updates(params, updates)
assert float(loss(params)) < first
