"""lax.cond and while_loop inside a function that is differentiated forward."""

import jax
import jax.numpy as jnp


def root(a):
    def body(carry):
        x, n = carry
        return 0.5 * (x + a / x), n + 1

    return jax.lax.while_loop(lambda c: c[1] < 20, body, (a, 0))[0]


def f(a):
    return jax.lax.cond(a > 1.0, lambda a: a**2, lambda a: 2.0 * a - 1.0, a)


assert jnp.allclose(jax.jacfwd(root)(4.0), 0.25)
assert jnp.allclose(jax.grad(f)(3.0), 6.0)
assert jnp.allclose(jax.grad(f)(0.5), 2.0)
