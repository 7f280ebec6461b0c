# expect: GT301
# cause: the cotangent has 3 elements and the output of the function 4
# wrong: raises ValueError
# cure: jnp.ones(3) -> jnp.ones(4)
import jax
import jax.numpy as jnp
import numpy as np

A = np.random.default_rng(0).normal(size=(4, 3))


def f(x):
    return jnp.sin(A @ x)


x = jnp.array([0.1, 0.2, 0.3])
y, pullback = jax.vjp(f, x)
(g,) = pullback(jnp.ones(3))  # <- here
print(g)
