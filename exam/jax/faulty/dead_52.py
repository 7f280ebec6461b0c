# expect: GT404
# cause: the scores were multiplied by 1000, and the sigmoid is flat at both ends
# wrong: not np.any(g)
# cure: 1000.0 * (x @ w) -> 1.0 * (x @ w)
import jax
import jax.numpy as jnp

x = jnp.array([[1.0, 2.0], [3.0, 1.0], [-2.0, -1.5], [2.0, 4.0]])
y = jnp.array([0.0, 1.0, 1.0, 0.0])
w = jnp.array([0.5, 0.25])


def brier(w):
    p = jax.nn.sigmoid(1000.0 * (x @ w))  # <- here
    return jnp.mean((p - y) ** 2)


for _ in range(3):
    g = jax.grad(brier)(w)  # <- asked
    w = w - 0.1 * g
print(w)
