# expect: GT210
# cause: the largest number is read with float() to scale the loss, while the function is traced
# wrong: raises Exception
# cure: float(jnp.max(jnp.abs(w))) -> jnp.max(jnp.abs(w))
import jax
import jax.numpy as jnp

data = jnp.linspace(0.0, 1.0, 10)


@jax.jit
def penalised(w):
    biggest = float(jnp.max(jnp.abs(w)))  # <- here
    return jnp.sum((data[:, None] * w) ** 2) / biggest


g = jax.grad(penalised)(jnp.array([1.0, -2.0]))  # <- asked
