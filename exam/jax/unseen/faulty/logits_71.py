# expect: GT509
# cause: the model ends in a softmax, and optax's loss takes one again
# wrong: np.allclose(model.apply(params, x).sum(axis=1), 1.0, atol=1e-4)
# cure: return nn.softmax(nn.Dense(3)(x)) -> return nn.Dense(3)(x)
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(0)
x = jnp.asarray(rng.normal(size=(30, 4)), jnp.float32)
labels = jnp.asarray(rng.integers(0, 3, size=30))


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(8)(x))
        return nn.softmax(nn.Dense(3)(x))  # <- here


model = Classifier()
params = model.init(jax.random.PRNGKey(0), x)
tx = optax.sgd(0.5)
state = tx.init(params)


def loss_fn(params):
    logits = model.apply(params, x)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()  # <- here


for _ in range(3):
    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, state = tx.update(grads, state)
    params = optax.apply_updates(params, updates)
