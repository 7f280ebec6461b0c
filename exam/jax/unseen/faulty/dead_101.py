# expect: GT404 or GT509 or GT501
# cause: the softmax of one score is 1 for every example, so that the gradient is zero
# wrong: not np.any(np.asarray(g["w"]))
# cure: jax.nn.softmax(x @ p["w"]) -> jax.nn.sigmoid(x @ p["w"])
import jax
import jax.numpy as jnp

x = jax.random.normal(jax.random.key(0), (30, 4))
y = (x[:, :1] > 0).astype(jnp.float32)
params = {"w": jnp.ones((4, 1)) * 0.1}


def loss(p):
    probability = jax.nn.softmax(x @ p["w"])  # <- here
    return jnp.mean((probability - y) ** 2)


for _ in range(3):
    g = jax.grad(loss)(params)  # <- asked
    params = {"w": params["w"] - 0.1 * g["w"]}
