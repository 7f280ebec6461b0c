# expect: GT210 or GT312
# cause: the number of time steps is traced under jit, and a range needs a number
# wrong: raises Exception
# cure: @jax.jit -> @jax.tree_util.Partial
import jax
import jax.numpy as jnp


@jax.jit
def loss(rate, steps):
    x = jnp.array(1.0)
    for _ in range(steps):  # <- here
        x = x - rate * x
    return x**2


g = jax.grad(loss)(0.1, 5)  # <- asked
