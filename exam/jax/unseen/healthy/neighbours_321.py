import jax
import jax.numpy as jnp

positions = jnp.array([0.0, 1.0, 2.5, 3.0])
neighbours = jnp.array([[1, 4], [0, 2], [1, 3], [2, 4]])  # 4 stands for no neighbour


def energy(positions):
    apart = positions[neighbours] - positions[:, None]
    pairs = (jnp.abs(apart) - 1.0) ** 2
    return jnp.sum(jnp.where(neighbours < 4, pairs, 0.0))


for _ in range(5):
    g = jax.grad(energy)(positions)
    positions = positions - 0.05 * g
assert jnp.isfinite(positions).all()
