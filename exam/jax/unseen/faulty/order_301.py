# expect: GT314 or GT110 or GT111 or GT101 or GT306
# cause: grad is by the first argument, which is the data: the gradient has the shape of the data
# wrong: raises TypeError
# cure: jax.grad(loss) -> jax.grad(loss, argnums=1)
import jax
import jax.numpy as jnp

x = jax.random.normal(jax.random.key(0), (24, 4))
y = x @ jnp.arange(4.0)


def loss(x, w, y):
    return jnp.mean((x @ w - y) ** 2)  # <- asked


gradient = jax.grad(loss)  # <- here
w = jnp.zeros(4)
for _ in range(3):
    g = gradient(x, w, y)  # <- asked
    w = w - 0.1 * g  # <- here
