# expect: GT512 or GT513 or GT205
# cause: the new state of Adam is thrown away, so that every step is a first step
# wrong: int(state[0].count) == 0
# cure: updates, _ = optimiser.update(grads, state) -> updates, state = optimiser.update(grads, state)
import jax
import jax.numpy as jnp
import optax

x = jax.random.normal(jax.random.key(0), (64, 3))
y = x @ jnp.array([1.0, 2.0, -1.0])
w = jnp.zeros(3)
optimiser = optax.adam(0.01)
state = optimiser.init(w)  # <- here


@jax.jit
def loss(w):
    return jnp.mean((x @ w - y) ** 2)


for _ in range(10):
    value, grads = jax.value_and_grad(loss)(w)  # <- asked
    updates, _ = optimiser.update(grads, state)  # <- here
    w = optax.apply_updates(w, updates)
