# softmax over rows and columns of one matrix in turn, on purpose
import jax
import jax.numpy as jnp

cost = jax.random.uniform(jax.random.key(6), (7, 7))


def transport(scale):
    log_p = -scale * cost
    for _ in range(10):
        log_p = jax.nn.log_softmax(log_p, axis=0)
        log_p = jax.nn.log_softmax(log_p, axis=1)
    return jnp.sum(jnp.exp(log_p) * cost)


g = jax.grad(transport)(2.0)
assert jnp.isfinite(g)
