# expect: GT509
# cause: the network returns probabilities, and the loss takes their log_softmax again
# wrong: float(value) > 0.5
# cure: return jax.nn.softmax(h @ params["W2"]) -> return h @ params["W2"]
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
y = rng.integers(0, 3, size=90)
x = np.eye(3)[y] * 3 + rng.normal(size=(90, 3)) * 0.3
params = {"W1": jnp.asarray(rng.normal(size=(3, 12))) * 0.5, "W2": jnp.asarray(rng.normal(size=(12, 3))) * 0.5}


def network(params, x):
    h = jnp.tanh(x @ params["W1"])
    return jax.nn.softmax(h @ params["W2"])  # <- here


def cross_entropy(logits, labels):
    return -jnp.mean(jnp.sum(jax.nn.one_hot(labels, 3) * jax.nn.log_softmax(logits), axis=1))  # <- here


@jax.jit
def update(params):
    value, grads = jax.value_and_grad(lambda p: cross_entropy(network(p, x), y))(params)
    return value, jax.tree.map(lambda p, g: p - 1.0 * g, params, grads)


for _ in range(60):
    value, params = update(params)
print(value)
