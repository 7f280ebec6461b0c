# expect: GT402
# cause: x ** p with x = 0 and p below 1 has an infinite slope
# wrong: not np.isfinite(g).all()
# cure: jnp.sum(w**0.5) -> jnp.sum((w + 1e-6) ** 0.5)
import jax
import jax.numpy as jnp

x = jnp.array([[1.0, 0.0, 2.0], [0.5, 1.0, 0.0]])
y = jnp.array([1.0, 0.3])
w = jnp.array([0.4, 0.0, 0.3])


def sparsity(w):
    return jnp.sum(w**0.5)  # <- here


def objective(w):
    return jnp.sum((x @ w - y) ** 2) + 0.1 * sparsity(w)


g = jax.grad(objective)(w)  # <- asked
print(g)
