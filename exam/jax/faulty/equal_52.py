# expect: GT514
# cause: W1 starts as ones, and all its columns get the same gradient
# wrong: np.allclose(layers[0][0], layers[0][0][:, :1])
# cure: (jnp.ones((2, 5)), -> (jax.random.normal(jax.random.PRNGKey(1), (2, 5)),
import jax
import jax.numpy as jnp
import numpy as np

x = jnp.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
xor = jnp.array([[0.0], [1.0], [1.0], [0.0]])
layers = [
    (jnp.ones((2, 5)), jnp.zeros(5)),  # <- here
    (jnp.ones((5, 1)) / 5, jnp.zeros(1)),
]


def loss(layers):
    (W1, b1), (W2, b2) = layers
    logits = jnp.tanh(x @ W1 + b1) @ W2 + b2
    return jnp.mean(jnp.logaddexp(0.0, logits) - xor * logits)


step = jax.jit(jax.value_and_grad(loss))
for _ in range(30):
    value, grads = step(layers)  # <- asked
    layers = jax.tree.map(lambda p, g: p - 0.5 * g, layers, grads)
print("XOR is not learned:", value)
