# expect: GT102
# cause: one output is stretched to the four targets of each example
# wrong: model(params, xs).shape != ys.shape
# cure: (16, 1) -> (16, 4)
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
xs = rng.normal(size=(50, 6))
ys = np.stack([xs[:, 0], xs[:, 1], xs[:, 2] ** 2, xs[:, 3]], axis=1)
params = {
    "hidden": jnp.asarray(rng.normal(size=(6, 16)) * 0.3),
    "out": jnp.asarray(rng.normal(size=(16, 1)) * 0.3),  # <- here
}


def model(params, x):
    return jax.nn.relu(x @ params["hidden"]) @ params["out"]


def mse(params, x, y):
    return jnp.mean((model(params, x) - y) ** 2)  # <- here


gradient = jax.jit(jax.grad(mse))
for _ in range(3):
    grads = gradient(params, xs, ys)
    params = jax.tree.map(lambda p, g: p - 0.05 * g, params, grads)
