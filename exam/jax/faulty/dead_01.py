# expect: GT404
# cause: the inputs are all negative after the wrong normalisation, so every relu is zero
# wrong: not np.any(g)
# cure: (ages - 200.0) / 10.0 -> (ages - 40.0) / 10.0
import jax
import jax.numpy as jnp

ages = jnp.array([[23.0], [35.0], [48.0], [61.0], [19.0]])
income = jnp.array([[1.2], [2.0], [2.9], [2.5], [0.9]])
scaled = (ages - 200.0) / 10.0  # <- here
W1 = jnp.array([[0.5, 0.3, 0.8, 0.2]])
W2 = jnp.ones((4, 1)) * jnp.array([[0.4], [0.1], [0.3], [0.2]])


def loss(W1):
    hidden = jax.nn.relu(scaled @ W1)  # <- here
    return jnp.mean((hidden @ W2 - income) ** 2)


g = jax.grad(loss)(W1)  # <- asked
print(g)
