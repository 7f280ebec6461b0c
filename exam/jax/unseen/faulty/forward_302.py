# expect: GT313 or GT314
# cause: hessian goes forward over reverse, and a function with a custom_vjp has no forward rule
# wrong: raises TypeError
# cure: jax.hessian(objective) -> jax.jacrev(jax.jacrev(objective))
import jax
import jax.numpy as jnp


@jax.custom_vjp
def softplus(x):
    return jnp.logaddexp(x, 0.0)


def softplus_forward(x):
    return softplus(x), x  # <- asked


def softplus_backward(x, g):
    return (g * jax.nn.sigmoid(x),)


softplus.defvjp(softplus_forward, softplus_backward)


def objective(x):
    return jnp.sum(softplus(x) ** 2)  # <- here


h = jax.hessian(objective)(jnp.array([0.2, -1.0, 2.0]))  # <- here
