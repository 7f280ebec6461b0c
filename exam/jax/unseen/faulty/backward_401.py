# expect: GT402 or GT405 or GT403
# cause: the standard deviation of identical activations is the root of zero, whose slope is infinite
# wrong: not np.all(np.isfinite(g))
# cure: jnp.std(hidden, axis=0) -> jnp.sqrt(jnp.var(hidden, axis=0) + 1e-6)
import jax
import jax.numpy as jnp
import numpy as np

x = jax.random.normal(jax.random.key(0), (20, 5))
w = jax.random.normal(jax.random.key(1), (5, 6)).at[:, 2].set(0.0)


def decorrelate(w):
    hidden = jnp.tanh(x @ w)
    spread = jnp.std(hidden, axis=0)  # <- here
    return jnp.mean(jax.nn.relu(1.0 - spread)) + 1e-3 * jnp.sum(w**2)


g = jax.jit(jax.grad(decorrelate))(w)  # <- asked
