# expect: GT111 or GT110
# cause: the weights are stored as (outputs, inputs), and multiplied from the right without a transpose
# wrong: raises TypeError
# cure: x @ w -> x @ w.T
import jax
import jax.numpy as jnp

layers = [jnp.ones((8, 5)), jnp.ones((1, 8))]
data = jnp.ones((10, 5))


def forward(layers, x):
    for w in layers:
        x = jnp.tanh(x @ w)  # <- here
    return x


g = jax.grad(lambda p: forward(p, data).mean())(layers)  # <- asked
