# expect: GT306 or GT110 or GT314
# cause: the branches of cond return arrays of different shape
# wrong: raises TypeError
# cure: lambda v: jnp.sum(v) -> lambda v: v
import jax
import jax.numpy as jnp


def loss(x):
    y = jax.lax.cond(jnp.sum(x) > 0, lambda v: v * 2, lambda v: jnp.sum(v), x)  # <- here
    return jnp.sum(y)


g = jax.grad(loss)(jnp.arange(3.0))
