# expect: GT302 or GT304 or GT306
# cause: the rule returns the cotangent of the matrix for the vector and that of the vector for the matrix
# wrong: raises Exception
# cure: return jnp.outer(g, v), A.T @ g -> return A.T @ g, jnp.outer(g, v)
import jax
import jax.numpy as jnp


@jax.custom_vjp
def apply(v, A):
    return A @ v


def forward(v, A):
    return apply(v, A), (v, A)


def backward(residuals, g):
    v, A = residuals
    return jnp.outer(g, v), A.T @ g  # <- here


apply.defvjp(forward, backward)
A = jax.random.normal(jax.random.key(0), (5, 3))
g = jax.grad(lambda v: jnp.sum(apply(v, A) ** 2))(jnp.ones(3))  # <- asked
