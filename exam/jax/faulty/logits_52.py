# expect: GT509
# cause: the sigmoid of the network goes into a loss that takes log_sigmoid of logits
# wrong: float(value) > 0.4
# cure: return jax.nn.sigmoid(x @ w + b) -> return x @ w + b
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
x = rng.normal(size=(80, 2))
t = (x[:, 0] > x[:, 1]).astype(float)
params = (jnp.zeros(2), jnp.array(0.0))


def predict(params, x):
    w, b = params
    return jax.nn.sigmoid(x @ w + b)  # <- here


def binary_cross_entropy(logits, labels):
    return -jnp.mean(labels * jax.nn.log_sigmoid(logits) + (1 - labels) * jax.nn.log_sigmoid(-logits))  # <- here


step = jax.jit(jax.value_and_grad(lambda p: binary_cross_entropy(predict(p, x), t)))
for _ in range(60):
    value, grads = step(params)
    params = jax.tree.map(lambda p, g: p - 1.0 * g, params, grads)
print(value)
