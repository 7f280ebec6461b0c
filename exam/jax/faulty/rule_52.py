# expect: GT320
# cause: the backward rule of x * sin(x) has only one term of the product rule
# wrong: not np.allclose(g, np.sin(x) + x * np.cos(x), atol=1e-4)
# cure: (g * x * jnp.cos(x),) -> (g * (jnp.sin(x) + x * jnp.cos(x)),)
import jax
import jax.numpy as jnp
import numpy as np


@jax.custom_vjp
def f(x):
    return x * jnp.sin(x)


def f_fwd(x):
    return f(x), x


def f_bwd(x, g):
    return (g * x * jnp.cos(x),)  # <- here


f.defvjp(f_fwd, f_bwd)
x = jnp.linspace(0.5, 3.0, 6)
g = jax.grad(lambda x: f(x).sum())(x)  # <- asked
print(g)
