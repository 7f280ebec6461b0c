import jax
import jax.numpy as jnp


def energy(position, momentum):
    return 0.5 * jnp.sum(momentum**2) + 0.5 * jnp.sum(position**2)


position, momentum = jnp.array([1.0, 0.5]), jnp.array([0.0, 0.3])
start = float(energy(position, momentum))
by_position = jax.grad(energy)
by_momentum = jax.grad(energy, argnums=1)
for _ in range(20):
    force = by_position(position, momentum)
    momentum = momentum - 0.01 * force
    velocity = by_momentum(position, momentum)
    position = position + 0.01 * velocity
assert abs(float(energy(position, momentum)) - start) < 0.01
