import jax
import jax.numpy as jnp
import optax

x = jnp.linspace(-1.0, 1.0, 40).reshape(20, 2)
y = x @ jnp.array([1.0, -2.0])
params = {"w": jnp.zeros(2)}
start = params["w"]
optimiser = optax.sgd(0.1)
state = optimiser.init(params)


def loss(params):
    return jnp.mean((x @ params["w"] - y) ** 2)


for _ in range(12):
    grads = jax.grad(loss)(params)
    updates, state = optimiser.update(grads, state)
    params = optax.apply_updates(params, updates)
assert not bool((params["w"] == start).all())
