# expect: GT501
# cause: the attention weights are normalised over the queries
# wrong: not np.allclose(weights(params, tokens).sum(axis=-1), 1.0, atol=1e-4)
# cure: axis=1) -> axis=2)
import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.PRNGKey(0), 4)
params = {name: 0.5 * jax.random.normal(k, (8, 8)) for name, k in zip("qkv", keys)}
tokens = jax.random.normal(keys[3], (2, 6, 8))


def weights(params, tokens):
    q, k = tokens @ params["q"], tokens @ params["k"]
    scores = jnp.einsum("bid,bjd->bij", q, k) / jnp.sqrt(8.0)
    return jax.nn.softmax(scores, axis=1)  # <- here


def loss(params):
    mixed = jnp.einsum("bij,bjd->bid", weights(params, tokens), tokens @ params["v"])  # <- asked
    return jnp.mean((mixed - tokens) ** 2)


grads = jax.jit(jax.grad(loss))(params)
