import jax
import jax.numpy as jnp


@jax.custom_jvp
def modulus(x):
    return jnp.sqrt(x * x)


@modulus.defjvp
def modulus_jvp(primals, tangents):
    (x,), (dx,) = primals, tangents
    return modulus(x), jnp.sign(x) * dx


def loss(x):
    return jnp.sum(modulus(x) * jnp.arange(5.0))


g = jax.grad(loss)(jnp.array([1.0, -2.0, 3.0, -4.0, 5.0]))
assert g.shape == (5,)
