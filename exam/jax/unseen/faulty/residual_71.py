# expect: GT102
# cause: the last layer has one unit, and each example has three targets
# wrong: net.apply(params, angles).shape != torque.shape
# cure: nn.Dense(1) -> nn.Dense(3)
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(5)
angles = jnp.asarray(rng.uniform(-1, 1, size=(25, 4)))
torque = jnp.asarray(rng.normal(size=(25, 3)))
net = nn.Sequential([nn.Dense(10), nn.tanh, nn.Dense(1)])  # <- here
params = net.init(jax.random.PRNGKey(1), angles)


def loss(params):
    error = net.apply(params, angles) - torque  # <- here
    return (error**2).mean()


for _ in range(3):
    value, grads = jax.value_and_grad(loss)(params)
    params = jax.tree.map(lambda p, g: p - 0.05 * g, params, grads)
