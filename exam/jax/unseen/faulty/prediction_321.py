# expect: GT404 or GT201 or GT202 or GT208
# cause: the second network's output is overwritten before it is used, so its parameters get no gradient
# says: gain
# wrong: not np.any(g["gain"])
# cure: output = jnp.tanh(features @ params["w"])  # <- here -> output = output + jnp.tanh(features @ params["w"])
import jax
import jax.numpy as jnp
import numpy as np

features = jax.random.normal(jax.random.key(0), (20, 3))
wanted = features[:, 0]
params = {"gain": jnp.ones(3), "w": 0.1 * jnp.ones(3)}


def loss(params):
    output = jnp.sin(features @ params["gain"])  # <- here
    output = jnp.tanh(features @ params["w"])  # <- here
    return jnp.mean((output - wanted) ** 2)


for _ in range(4):
    g = jax.grad(loss)(params)  # <- asked
    params = jax.tree.map(lambda p, d: p - 0.1 * d, params, g)
