# expect: GT201 or GT404 because GT202
# cause: grad is by the first argument, the data's offset, which the loss does not use
# wrong: not np.any(g)
# cure: jax.grad(loss) -> jax.grad(loss, argnums=1)
import jax
import jax.numpy as jnp

x = jnp.array([0.1, 0.4, 0.9])
y = jnp.array([1.0, 2.0, 4.0])


def loss(offset, slope):  # <- here
    return jnp.mean((slope * x - y) ** 2)  # <- here


g = jax.grad(loss)(0.5, 1.5)  # <- here
print(g)
