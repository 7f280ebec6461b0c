# expect: GT307
# cause: optax gives one loss for each example, and the mean was forgotten
# wrong: raises TypeError
# cure: return optax.softmax_cross_entropy_with_integer_labels(logits, labels)  # <- here -> return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
import jax
import jax.numpy as jnp
import optax
from flax import linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(10)(x))
        return nn.Dense(4)(x)


net = Net()
x = jax.random.normal(jax.random.key(3), (12, 6))
labels = jnp.arange(12) % 4
params = net.init(jax.random.key(4), x)


def loss_fn(params, x, labels):
    logits = net.apply(params, x)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels)  # <- here


loss, grads = jax.value_and_grad(loss_fn)(params, x, labels)  # <- here
