# expect: GT404 or GT201 or GT209
# cause: the parameters are rounded to 8 bits without a straight-through estimator
# wrong: not np.any(grads["w"])
# cure: return jnp.round(w / scale) * scale -> return w + jax.lax.stop_gradient(jnp.round(w / scale) * scale - w)
import jax
import jax.numpy as jnp
import numpy as np

x = jax.random.normal(jax.random.key(0), (32, 6))
y = x @ jnp.arange(6.0)
params = {"w": 0.5 * jax.random.normal(jax.random.key(1), (6,)), "b": jnp.zeros(())}


def fake_quantise(w, bits=8):
    scale = jnp.max(jnp.abs(jax.lax.stop_gradient(w))) / 2 ** (bits - 1)
    return jnp.round(w / scale) * scale  # <- here


@jax.jit
def loss(params):
    return jnp.mean((x @ fake_quantise(params["w"]) + params["b"] - y) ** 2)


grads = jax.grad(loss)(params)  # <- asked
