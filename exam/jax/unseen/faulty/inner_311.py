# expect: GT313 or GT314
# cause: the inner minimisation stops when it has converged, a while loop, through which reverse mode cannot go
# wrong: raises ValueError
# cure: minimize(inner, jnp.zeros(2), args=(penalty,), method="BFGS").x -> jnp.linalg.solve((1.0 + penalty) * jnp.eye(2), anchor)
import jax
import jax.numpy as jnp
from jax.scipy.optimize import minimize

anchor = jnp.array([1.0, -2.0])


def inner(x, penalty):
    return jnp.sum((x - anchor) ** 2) + penalty * jnp.sum(x**2)


def validation_loss(penalty):
    best = minimize(inner, jnp.zeros(2), args=(penalty,), method="BFGS").x  # <- here
    return jnp.sum((best - 0.9 * anchor) ** 2)


g = jax.grad(validation_loss)(0.5)  # <- asked
