# expect: GT210 or GT312
# cause: np.maximum.accumulate wants the numbers of a tracer, which has none
# wrong: raises TracerArrayConversionError
# cure: np.maximum.accumulate(steps) -> jax.lax.cummax(steps)
import jax
import jax.numpy as jnp
import numpy as np


def drift_penalty(steps):
    path = np.maximum.accumulate(steps)  # <- here
    return jnp.sum(jnp.square(path[-3:]))


steps = jnp.asarray([0.1, -0.2, 0.3, 0.1])
print(jax.grad(drift_penalty)(steps))
