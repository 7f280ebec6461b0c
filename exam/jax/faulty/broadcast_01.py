# expect: GT101
# cause: predictions (100, 1) minus targets (100,) make (100, 100)
# wrong: float(loss(params, x, y)) > 0.5
# cure: jnp.mean((pred - y) ** 2) -> jnp.mean((pred[:, 0] - y) ** 2)
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
x = rng.normal(size=(100, 3))
y = x @ np.array([1.0, -2.0, 0.5])
params = {"w": jnp.zeros((3, 1)), "b": jnp.zeros(1)}


def loss(params, x, y):
    pred = x @ params["w"] + params["b"]
    return jnp.mean((pred - y) ** 2)  # <- here


grad_fn = jax.grad(loss)
for step in range(60):
    grads = grad_fn(params, x, y)
    params = jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads)
print(loss(params, x, y))
