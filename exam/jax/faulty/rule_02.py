# expect: GT302
# cause: the rule returns the gradient of the scale for each element, (5,), and the scale is a scalar
# wrong: raises ValueError
# cure: return g * scale, g * x -> return g * scale, jnp.sum(g * x)
import jax
import jax.numpy as jnp


@jax.custom_vjp
def scaled(x, scale):
    return x * scale


def scaled_fwd(x, scale):
    return x * scale, (x, scale)


def scaled_bwd(saved, g):
    x, scale = saved
    return g * scale, g * x  # <- here


scaled.defvjp(scaled_fwd, scaled_bwd)

x = jnp.arange(5.0)
dx, ds = jax.grad(lambda x, s: jnp.sum(scaled(x, s) ** 2), argnums=(0, 1))(x, 2.0)  # <- asked
