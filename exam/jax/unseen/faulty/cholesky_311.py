# expect: GT401
# cause: two inputs are the same, so the kernel matrix is singular and its Cholesky factor is NaN
# wrong: not bool(np.isfinite(g))
# cure: cholesky(kernel(length)) -> cholesky(kernel(length) + 1e-3 * jnp.eye(5))
import jax
import jax.numpy as jnp
import jax.scipy.linalg
import numpy as np

inputs = jnp.array([0.0, 1.0, 1.0, 2.0, 3.0])
outputs = jnp.array([0.1, 0.8, 0.9, 0.9, 0.2])


def kernel(length):
    return jnp.exp(-0.5 * (inputs[:, None] - inputs) ** 2 / length**2) - 1e-4 * jnp.eye(5)


def negative_log_likelihood(length):
    factor = jnp.linalg.cholesky(kernel(length))  # <- here
    whitened = jax.scipy.linalg.solve_triangular(factor, outputs, lower=True)
    return 0.5 * jnp.sum(whitened**2) + jnp.sum(jnp.log(jnp.diag(factor)))


g = jax.grad(negative_log_likelihood)(1.0)  # <- asked
