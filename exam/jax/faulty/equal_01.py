# expect: GT514
# cause: all weights start at the same constant, so the hidden units stay equal
# wrong: np.allclose(params["W1"], params["W1"][:, :1])
# cure: jnp.full((3, 6), 0.1) -> 0.1 * jax.random.normal(jax.random.PRNGKey(0), (3, 6))
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(4)
x = rng.normal(size=(40, 3))
y = np.sin(x[:, :1])
params = {"W1": jnp.full((3, 6), 0.1), "W2": jnp.full((6, 1), 0.1)}  # <- here


def loss(params):
    return jnp.mean((jnp.tanh(x @ params["W1"]) @ params["W2"] - y) ** 2)


for _ in range(10):
    grads = jax.grad(loss)(params)  # <- asked
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
