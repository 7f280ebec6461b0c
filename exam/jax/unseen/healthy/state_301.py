import jax
import jax.numpy as jnp
import optax

x = jax.random.normal(jax.random.key(0), (64, 3))
y = x @ jnp.array([1.0, 2.0, -1.0])
w = jnp.zeros(3)
optimiser = optax.adam(0.01)
state = optimiser.init(w)


@jax.jit
def loss(w):
    return jnp.mean((x @ w - y) ** 2)


for _ in range(10):
    value, grads = jax.value_and_grad(loss)(w)
    updates, state = optimiser.update(grads, state)
    w = optax.apply_updates(w, updates)
assert int(state[0].count) == 10
