# expect: GT111
# cause: the hidden layer has 32 units and the next weights were made for 64
# wrong: raises TypeError
# cure: sizes = [(8, 32), (64, 1)] -> sizes = [(8, 32), (32, 1)]
import jax
import jax.numpy as jnp

sizes = [(8, 32), (64, 1)]  # <- here
keys = jax.random.split(jax.random.PRNGKey(0), len(sizes))
layers = [jax.random.normal(k, s) / s[0] ** 0.5 for k, s in zip(keys, sizes)]


def forward(layers, x):
    for W in layers[:-1]:
        x = jnp.tanh(x @ W)
    return x @ layers[-1]  # <- here


x = jnp.ones((4, 8))
loss, grads = jax.value_and_grad(lambda p: jnp.mean(forward(p, x) ** 2))(layers)  # <- asked
