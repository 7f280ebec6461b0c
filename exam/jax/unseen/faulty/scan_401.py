# expect: GT306 or GT110 or GT314 or GT303
# cause: the carry begins as an integer count and a float position, and the count becomes a float in the first step
# wrong: raises TypeError
# cure: jax.lax.scan(step, (jnp.zeros((), jnp.int32), 1.0, 0.0), None, length=50) -> jax.lax.scan(step, (0.0, 1.0, 0.0), None, length=50)
import jax
import jax.numpy as jnp


def swing(stiffness):
    def step(carry, _):
        time, position, speed = carry
        speed = speed - 0.05 * stiffness * position
        position = position + 0.05 * speed
        return (time + 0.05, position, speed), position

    _, path = jax.lax.scan(step, (jnp.zeros((), jnp.int32), 1.0, 0.0), None, length=50)  # <- here
    return jnp.mean(path**2)


print(jax.grad(swing)(2.0))  # <- asked
