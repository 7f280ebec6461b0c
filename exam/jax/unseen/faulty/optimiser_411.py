# expect: GT512 or GT513 or GT205
# cause: the new parameters get another name, and the old ones are used in every step
# wrong: np.array_equal(params, jnp.zeros(3))
# cure: new_params = optax.apply_updates(params, updates) -> params = optax.apply_updates(params, updates)
import jax
import jax.numpy as jnp
import numpy as np
import optax

x = jax.random.normal(jax.random.key(0), (20, 3))
y = x @ jnp.array([1.0, 2.0, 3.0])
params = jnp.zeros(3)
tx = optax.adam(0.1)
state = tx.init(params)


def loss(params):
    return jnp.mean((x @ params - y) ** 2)


for _ in range(5):
    grads = jax.grad(loss)(params)
    updates, state = tx.update(grads, state)  # <- here
    new_params = optax.apply_updates(params, updates)  # <- here
