import jax
import jax.numpy as jnp
import numpy as np
import optax

x = jax.random.normal(jax.random.key(7), (30, 3))
y = x @ jnp.array([1.0, -1.0, 2.0]) + 0.5
params = {"w": jnp.zeros(3), "b": jnp.zeros(())}
start = params["w"]
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.05))
state = tx.init(params)


@jax.jit
def loss_and_grads(params):
    def loss(params):
        return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)

    return jax.value_and_grad(loss)(params)


history = []
for epoch in range(6):
    loss, grads = loss_and_grads(params)
    updates, state = tx.update(grads, state, params)
    params = optax.apply_updates(params, updates)
    history.append(float(loss))
assert not (np.array_equal(params["w"], start))
