# expect: GT513
# cause: the optimiser was made for the head, and the body is never updated
# wrong: bool(jnp.all(params["body"]["kernel"] == start))
# cure: params["head"], state = step(params, state) -> params, state = step(params, state)
# cure: tx.init(params["head"]) -> tx.init(params)
# cure: tx.update(grads["head"], state) -> tx.update(grads, state)
# cure: optax.apply_updates(params["head"], updates) -> optax.apply_updates(params, updates)
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

x = jnp.asarray(np.random.default_rng(0).normal(size=(20, 4)))
y = jnp.sin(x[:, :1])
body, head = nn.Dense(6), nn.Dense(1)
k1, k2 = jax.random.split(jax.random.PRNGKey(0))
params = {"body": body.init(k1, x)["params"], "head": head.init(k2, jnp.ones((1, 6)))["params"]}
start = params["body"]["kernel"]
tx = optax.adam(1e-2)
state = tx.init(params["head"])  # <- here


def loss(params):
    hidden = nn.tanh(body.apply({"params": params["body"]}, x))
    return jnp.mean((head.apply({"params": params["head"]}, hidden) - y) ** 2)


@jax.jit
def step(params, state):
    grads = jax.grad(loss)(params)  # <- here
    updates, state = tx.update(grads["head"], state)  # <- here
    return optax.apply_updates(params["head"], updates), state  # <- here


for _ in range(4):
    params["head"], state = step(params, state)  # <- here
