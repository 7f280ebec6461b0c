# expect: GT210 or GT312
# cause: int() of a traced number, to cut the sequence
# wrong: raises ConcretizationTypeError
# cure: sequence[: int(keep)] -> jnp.where(jnp.arange(10) < keep, sequence, 0.0)
import jax
import jax.numpy as jnp

sequence = jnp.arange(10.0)


@jax.jit
def truncated_sum(keep, gain):
    return gain * jnp.sum(sequence[: int(keep)])  # <- here


print(jax.grad(truncated_sum, argnums=1)(4.0, 2.0))
