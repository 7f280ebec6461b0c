# expect: GT512 or GT513
# cause: the gradient is added, so that the loss grows
# wrong: float(loss(w)) > first
# cure: w = w + 0.02 * g -> w = w - 0.02 * g
import jax
import jax.numpy as jnp

x = jax.random.normal(jax.random.key(2), (40, 3))
y = x @ jnp.array([0.5, -1.0, 2.0])


@jax.jit
def loss(w):
    return jnp.mean((x @ w - y) ** 2)


w = jnp.zeros(3)
first = float(loss(w))
for _ in range(8):
    g = jax.grad(loss)(w)  # <- asked
    w = w + 0.02 * g  # <- here
