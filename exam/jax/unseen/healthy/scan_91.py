"""A pendulum in a scan, whose first angle is fitted."""

import jax
import jax.numpy as jnp


def simulate(angle):
    def step(state, _):
        a, v = state
        v = v - 0.05 * jnp.sin(a)
        a = a + 0.05 * v
        return (a, v), a

    return jax.lax.scan(step, (angle, 0.0), None, length=40)[1]


observed = simulate(1.0)
angle = 0.3
for _ in range(5):
    angle = angle - 0.2 * jax.grad(lambda a: jnp.mean((simulate(a) - observed) ** 2))(angle)
assert abs(float(angle) - 1.0) < 0.7
