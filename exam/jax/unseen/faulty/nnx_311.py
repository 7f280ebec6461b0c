# expect: GT314
# cause: the optimiser's update takes the model and the gradients, and is given the gradients only
# wrong: raises TypeError
# cure: optimiser.update(grads) -> optimiser.update(model, grads)
import jax
import jax.numpy as jnp
import optax
from flax import nnx

x = jnp.linspace(-1.0, 1.0, 20).reshape(10, 2)
y = x[:, :1] - x[:, 1:]
model = nnx.Linear(2, 1, rngs=nnx.Rngs(0))
optimiser = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)


def loss(model):
    return jnp.mean((model(x) - y) ** 2)


for _ in range(3):
    grads = nnx.grad(loss)(model)  # <- asked
    optimiser.update(grads)  # <- here
