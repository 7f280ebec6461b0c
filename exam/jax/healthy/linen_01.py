"""A flax module with setup, a mask over padded positions, and a mean over the rest."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class Tagger(nn.Module):
    def setup(self):
        self.embed = nn.Embed(11, 6)
        self.out = nn.Dense(4)

    def __call__(self, tokens):
        return self.out(self.embed(tokens))


tokens = jnp.array([[1, 4, 5, 0], [2, 3, 0, 0]])
tags = jnp.array([[0, 1, 3, 0], [2, 2, 0, 0]])
mask = (tokens > 0).astype(jnp.float32)
model = Tagger()
params = model.init(jax.random.PRNGKey(0), tokens)


def loss(params):
    logp = jax.nn.log_softmax(model.apply(params, tokens))
    picked = jnp.take_along_axis(logp, tags[..., None], axis=-1)[..., 0]
    return -jnp.sum(picked * mask) / jnp.sum(mask)


first = loss(params)
for _ in range(3):
    grads = jax.jit(jax.grad(loss))(params)
    params = jax.tree.map(lambda p, g: p - 0.5 * g, params, grads)
assert loss(params) < first
