# expect: GT210 or GT312 or GT314
# cause: checkpoint traces the flag too, and an if needs its truth; it is not marked static
# wrong: raises TypeError
# cure: jax.checkpoint(block) -> jax.checkpoint(block, static_argnums=(2,))
import jax
import jax.numpy as jnp


def block(weights, hidden, training):
    if training:  # <- here
        hidden = hidden * 1.1
    return jnp.tanh(hidden @ weights)


remat_block = jax.checkpoint(block)  # <- here


def loss(weights, batch):
    hidden = batch
    for _ in range(3):
        hidden = remat_block(weights, hidden, True)  # <- here
    return jnp.mean(hidden**2)


g = jax.grad(loss)(jnp.eye(4) * 0.5, jnp.ones((6, 4)))  # <- asked
