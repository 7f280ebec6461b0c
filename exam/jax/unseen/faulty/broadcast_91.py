# expect: GT101
# cause: the last layer gives (40, 1), the labels are (40,)
# wrong: error(params).shape not in ((40,), (40, 1))
# cure: network(params, X) - Y -> network(params, X)[:, 0] - Y
import jax
import jax.numpy as jnp

k1, k2, k3 = jax.random.split(jax.random.PRNGKey(0), 3)
X = jax.random.normal(k1, (40, 3))
Y = jnp.sin(X.sum(axis=1))
params = {"w1": jax.random.normal(k2, (3, 8)), "w2": jax.random.normal(k3, (8, 1))}


def network(params, x):
    return jnp.tanh(x @ params["w1"]) @ params["w2"]


def error(params):
    return network(params, X) - Y  # <- here


@jax.jit
def step(params):
    grads = jax.grad(lambda p: jnp.mean(error(p) ** 2))(params)
    return {name: params[name] - 0.05 * grads[name] for name in params}


for _ in range(3):
    params = step(params)
