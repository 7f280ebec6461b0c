# expect: GT313 or GT314 or GT312 or GT211
# cause: the traced loss is kept in a list outside of the function, and used after the trace has ended
# wrong: raises Exception
# cure: losses.append(value)  # <- here\n    return value -> return value
# cure: sum(losses) / len(losses) -> loss(w)
import jax
import jax.numpy as jnp

losses = []


@jax.jit
def loss(w):
    value = jnp.sum(w**2)
    losses.append(value)  # <- here
    return value


w = jnp.arange(3.0)
for _ in range(3):
    w = w - 0.1 * jax.grad(loss)(w)
mean = sum(losses) / len(losses)  # <- here
print(float(mean))
