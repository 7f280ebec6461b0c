import jax
import jax.numpy as jnp


def swing(stiffness):
    def step(carry, _):
        time, position, speed = carry
        speed = speed - 0.05 * stiffness * position
        position = position + 0.05 * speed
        return (time + 0.05, position, speed), position

    _, path = jax.lax.scan(step, (0.0, 1.0, 0.0), None, length=50)
    return jnp.mean(path**2)


print(jax.grad(swing)(2.0))
assert True
