# expect: GT118 or GT115 or GT314 or GT110
# cause: the loss takes class numbers, and is given one-hot rows
# wrong: raises Exception
# cure: softmax_cross_entropy_with_integer_labels -> softmax_cross_entropy
import jax
import jax.numpy as jnp
import optax

images = jax.random.normal(jax.random.key(0), (16, 9))
labels = jax.nn.one_hot(jnp.arange(16) % 3, 3)


def loss(params):
    logits = images @ params["w"] + params["b"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()  # <- here


params = {"w": jnp.zeros((9, 3)), "b": jnp.zeros(3)}
g = jax.grad(loss)(params)  # <- asked
