# expect: GT312 or GT313 or GT314 or GT115
# cause: the length of the window is traced under jit, and a slice needs a number
# wrong: raises IndexError
# cure: @jax.jit\ndef -> def
import jax
import jax.numpy as jnp

series = jnp.linspace(0.0, 1.0, 30)


@jax.jit
def loss(level, n):
    window = series[:n]  # <- here
    return jnp.mean((window - level) ** 2)


g = jax.grad(loss)(0.3, 5)  # <- asked
