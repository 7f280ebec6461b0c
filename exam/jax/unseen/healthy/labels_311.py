import jax
import jax.numpy as jnp
import optax

images = jax.random.normal(jax.random.key(0), (16, 9))
labels = jax.nn.one_hot(jnp.arange(16) % 3, 3)


def loss(params):
    logits = images @ params["w"] + params["b"]
    return optax.softmax_cross_entropy(logits, labels).mean()


params = {"w": jnp.zeros((9, 3)), "b": jnp.zeros(3)}
g = jax.grad(loss)(params)
assert bool(jnp.any(g["w"]))
