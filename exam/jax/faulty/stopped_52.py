# expect: GT201 or GT404 because GT208
# cause: the encoder's output is stopped, so its weights get a gradient of zero
# wrong: not np.any(grads["encoder"])
# cure: code = jax.lax.stop_gradient(encode(p, x)) -> code = encode(p, x)
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
x = jnp.asarray(rng.normal(size=(20, 6)))
params = {"encoder": jnp.asarray(rng.normal(size=(6, 2))), "decoder": jnp.asarray(rng.normal(size=(2, 6)))}


def encode(p, x):
    return jnp.tanh(x @ p["encoder"])


def reconstruction_error(p):
    code = jax.lax.stop_gradient(encode(p, x))  # <- here
    return jnp.mean((code @ p["decoder"] - x) ** 2)


grads = jax.grad(reconstruction_error)(params)  # <- asked
print(jax.tree.map(jnp.linalg.norm, grads))
