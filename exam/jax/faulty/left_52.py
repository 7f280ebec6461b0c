# expect: GT210 or GT312
# cause: an if on a traced value under jit asks for its truth
# wrong: raises ConcretizationTypeError
# cure: if jnp.abs(r) < delta:  # <- here\n        return 0.5 * r**2\n    return -> return jnp.where(jnp.abs(r) < delta, 0.5 * r**2,
# cure: delta * (jnp.abs(r) - 0.5 * delta) -> delta * (jnp.abs(r) - 0.5 * delta))
import jax
import jax.numpy as jnp


def huber(r, delta=1.0):
    if jnp.abs(r) < delta:  # <- here
        return 0.5 * r**2
    return delta * (jnp.abs(r) - 0.5 * delta)


@jax.jit
def slope(r):
    return jax.grad(huber)(r)  # <- asked


print(slope(0.3), slope(3.0))  # <- asked
