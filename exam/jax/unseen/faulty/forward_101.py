# expect: GT401
# cause: the squared distances overflow in half precision
# wrong: not np.isfinite(np.asarray(value))
# cure: .astype(jnp.float16) -> .astype(jnp.float32)
import jax
import jax.numpy as jnp

points = jnp.linspace(-300, 300, 40)


def loss(shift):
    distance = (points - shift).astype(jnp.float16)
    return jnp.sum(distance * distance)  # <- here


value, g = jax.value_and_grad(loss)(1.0)  # <- asked
