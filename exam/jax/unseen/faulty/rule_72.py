# expect: GT320
# cause: the custom_jvp of the clipped reciprocal has the wrong sign
# wrong: float(slope) > 0
# cure: return out, dx / x**2 -> return out, -dx / x**2
import jax
import jax.numpy as jnp


@jax.custom_jvp
def reciprocal(x):
    return 1.0 / x


@reciprocal.defjvp
def reciprocal_jvp(primals, tangents):
    (x,), (dx,) = primals, tangents
    out = reciprocal(x)
    return out, dx / x**2  # <- here


slope = jax.grad(lambda x: jnp.sum(reciprocal(x * jnp.ones(3))))(2.0)  # <- asked
