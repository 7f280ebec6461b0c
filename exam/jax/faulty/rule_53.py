# expect: GT304
# cause: the rule of a function of two arguments returns one cotangent
# wrong: raises TypeError
# cure: return (g * b,) -> return (g * b, g * a)
import jax
import jax.numpy as jnp


@jax.custom_vjp
def multiply(a, b):
    return a * b


def multiply_fwd(a, b):
    return a * b, (a, b)


def multiply_bwd(saved, g):
    a, b = saved
    return (g * b,)  # <- here


multiply.defvjp(multiply_fwd, multiply_bwd)
da, db = jax.grad(lambda a, b: jnp.sum(multiply(a, b)), argnums=(0, 1))(jnp.ones(3), jnp.arange(3.0))  # <- asked
