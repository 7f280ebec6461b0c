import jax
import jax.numpy as jnp
import numpy as np

x = jax.random.normal(jax.random.key(0), (20, 5))
w = jax.random.normal(jax.random.key(1), (5, 6)).at[:, 2].set(0.0)


def decorrelate(w):
    hidden = jnp.tanh(x @ w)
    spread = jnp.sqrt(jnp.var(hidden, axis=0) + 1e-6)
    return jnp.mean(jax.nn.relu(1.0 - spread)) + 1e-3 * jnp.sum(w**2)


g = jax.jit(jax.grad(decorrelate))(w)
assert not (not np.all(np.isfinite(g)))
