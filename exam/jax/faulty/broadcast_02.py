# expect: GT101
# cause: the network's output (64, 1) meets labels (64,) in the binary cross entropy
# wrong: losses.shape not in ((64,), (64, 1))
# cure: return h @ params[1][0] + params[1][1] -> return (h @ params[1][0] + params[1][1]).squeeze(-1)
import jax
import jax.numpy as jnp

key = jax.random.PRNGKey(1)
k1, k2, k3 = jax.random.split(key, 3)
X = jax.random.normal(k1, (64, 4))
Y = (X[:, 0] > 0).astype(jnp.float32)
params = [
    (jax.random.normal(k2, (4, 8)) * 0.5, jnp.zeros(8)),
    (jax.random.normal(k3, (8, 1)) * 0.5, jnp.zeros(1)),
]


def apply(params, x):
    h = jnp.tanh(x @ params[0][0] + params[0][1])
    return h @ params[1][0] + params[1][1]  # <- here


def bce(logits, labels):
    return jnp.maximum(logits, 0) - logits * labels + jnp.log1p(jnp.exp(-jnp.abs(logits)))  # <- here


def objective(params):
    losses = bce(apply(params, X), Y)
    return losses.mean(), losses


@jax.jit
def update(params):
    (_, losses), grads = jax.value_and_grad(objective, has_aux=True)(params)
    return losses, jax.tree_util.tree_map(lambda p, g: p - 0.5 * g, params, grads)


for _ in range(5):
    losses, params = update(params)
