# expect: GT302 or GT301
# cause: the rule returns the whole tangent summed, a scalar, and the output has five elements
# wrong: raises TypeError
# cure: jnp.sum(jnp.sign(x) * dx) -> jnp.sign(x) * dx
import jax
import jax.numpy as jnp


@jax.custom_jvp
def modulus(x):
    return jnp.sqrt(x * x)


@modulus.defjvp
def modulus_jvp(primals, tangents):
    (x,), (dx,) = primals, tangents
    return modulus(x), jnp.sum(jnp.sign(x) * dx)  # <- here


def loss(x):
    return jnp.sum(modulus(x) * jnp.arange(5.0))  # <- asked


g = jax.grad(loss)(jnp.array([1.0, -2.0, 3.0, -4.0, 5.0]))  # <- asked
