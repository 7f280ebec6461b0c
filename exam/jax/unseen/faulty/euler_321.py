# expect: GT401 or GT402 or GT506
# cause: the time step is too large for the stiff equation: the state grows until it overflows
# wrong: not bool(np.isfinite(g))
# cure: step = 0.5 -> step = 0.005
import jax
import jax.numpy as jnp
import numpy as np

step = 0.5


def terminal(rate):
    def advance(y, _):
        return y - step * rate * y**3, None  # <- here

    y, _ = jax.lax.scan(advance, jnp.array(2.0), None, length=60)  # <- here
    return y**2


value, g = jax.value_and_grad(terminal)(3.0)  # <- asked
