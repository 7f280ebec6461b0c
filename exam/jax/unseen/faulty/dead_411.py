# expect: GT404 or GT201 or GT209
# cause: the thresholds are compared with the data, and a comparison has no slope
# wrong: not np.any(g["cut"])
# cure: (x > p["cut"]).astype(jnp.float32) -> jax.nn.sigmoid(5.0 * (x - p["cut"]))
import jax
import jax.numpy as jnp
import numpy as np

x = jax.random.normal(jax.random.key(0), (30, 2))
y = jnp.sin(x[:, 0])
p = {"cut": jnp.array([0.1, -0.2]), "w": jnp.array([1.0, -1.0])}


def loss(p):
    features = (x > p["cut"]).astype(jnp.float32)  # <- here
    return jnp.mean((features @ p["w"] - y) ** 2)


g = jax.grad(loss)(p)  # <- asked
