# expect: GT101
# cause: nnx.Linear(16, 1) gives a column, and the ratings are a flat array
# wrong: abs(float(loss) - float(jnp.mean((model(features).ravel() - ratings) ** 2))) > 1e-4
# cure: model(x) - y -> model(x)[:, 0] - y
import jax.numpy as jnp
import numpy as np
from flax import nnx

rng = np.random.default_rng(0)
features = jnp.asarray(rng.normal(size=(32, 6)), jnp.float32)
ratings = jnp.asarray(rng.integers(1, 6, size=32), jnp.float32)


class Recommender(nnx.Module):
    def __init__(self, rngs):
        self.inner = nnx.Linear(6, 16, rngs=rngs)
        self.outer = nnx.Linear(16, 1, rngs=rngs)

    def __call__(self, x):
        return self.outer(nnx.tanh(self.inner(x)))  # <- here


model = Recommender(nnx.Rngs(0))


def loss_fn(model, x, y):
    return jnp.mean((model(x) - y) ** 2)  # <- here


loss, grads = nnx.value_and_grad(loss_fn)(model, features, ratings)
print(loss)
