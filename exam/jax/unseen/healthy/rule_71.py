"""A custom_jvp for a stable log1pexp, and a gradient that is clipped on its way back by custom_vjp."""

import jax
import jax.numpy as jnp


@jax.custom_jvp
def log1pexp(x):
    return jnp.log1p(jnp.exp(x))


@log1pexp.defjvp
def log1pexp_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return log1pexp(x), t * jax.nn.sigmoid(x)


@jax.custom_vjp
def clipped(x):
    return x


clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -0.1, 0.1),))
value, g = jax.value_and_grad(lambda x: jnp.sum(log1pexp(clipped(x))))(jnp.array([-1.0, 0.0, 3.0]))
assert jnp.all(jnp.abs(g) <= 0.1)
