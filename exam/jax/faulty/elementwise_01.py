# expect: GT110
# cause: the bias has 10 elements, for a layer with 16 outputs
# wrong: raises ValueError
# cure: jnp.zeros(10) -> jnp.zeros(16)
import jax
import jax.numpy as jnp

key = jax.random.PRNGKey(0)


def init(key):
    k1, k2 = jax.random.split(key)
    return {
        "W1": jax.random.normal(k1, (8, 16)),
        "b1": jnp.zeros(10),  # <- here
        "W2": jax.random.normal(k2, (16, 10)),
    }


def predict(p, x):
    hidden = jax.nn.relu(jnp.dot(x, p["W1"]) + p["b1"])  # <- here
    return jnp.dot(hidden, p["W2"])


x = jax.random.normal(key, (5, 8))
grads = jax.grad(lambda p: jnp.sum(predict(p, x) ** 2))(init(key))  # <- asked
