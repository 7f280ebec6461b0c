import jax
import jax.numpy as jnp
import numpy as np

key = jax.random.key(12)
x = jax.random.normal(jax.random.key(13), (40, 4))
y = jnp.sin(x[:, :1]) + x[:, 1:2]
params = {
    "hidden": jnp.stack([jax.random.normal(k, (4,)) for k in jax.random.split(key, 6)], axis=1),
    "output": jnp.ones((6, 1)) / 6.0,
}


def loss(params):
    return jnp.mean((jax.nn.softplus(x @ params["hidden"]) @ params["output"] - y) ** 2)


for _ in range(4):
    grads = jax.grad(loss)(params)
    params = jax.tree.map(lambda p, g: p - 0.05 * g, params, grads)
assert not (np.allclose(params["hidden"][:, 0], params["hidden"][:, 1]))
