# expect: GT118 or GT110 or GT115
# cause: the loss wants one-hot labels (24, 4) and is given class numbers (24,)
# wrong: raises ValueError
# cure: optax.softmax_cross_entropy(logits, y) -> optax.softmax_cross_entropy_with_integer_labels(logits, y)
import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(0)
x, y = jnp.asarray(rng.normal(size=(24, 5))), jnp.asarray(rng.integers(0, 4, size=24))


def loss(w):
    logits = x @ w
    return optax.softmax_cross_entropy(logits, y).mean()  # <- here


print(jax.grad(loss)(jnp.zeros((5, 4))))
