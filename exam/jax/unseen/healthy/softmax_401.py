import jax
import jax.numpy as jnp
import numpy as np

x = jax.random.normal(jax.random.key(0), (24, 5))
y = jnp.where(x[:, 0] > 0, x[:, 1], -x[:, 2])
keys = jax.random.split(jax.random.key(1), 2)
params = {"gate": 0.3 * jax.random.normal(keys[0], (5, 3)), "experts": 0.3 * jax.random.normal(keys[1], (3, 5))}


def mixture(params, x):
    gates = jax.nn.softmax(x @ params["gate"], axis=1)
    return jnp.sum(gates * (x @ params["experts"].T), axis=1), gates


def loss(params):
    predicted, gates = mixture(params, x)
    return jnp.mean((predicted - y) ** 2), gates


(value, gates), grads = jax.value_and_grad(loss, has_aux=True)(params)
assert not (not np.allclose(gates.sum(axis=1), 1.0, atol=1e-4))
