# expect: GT514
# cause: both layers are made with ones for weights, so that all hidden units are alike
# wrong: np.allclose(params["params"]["Dense_0"]["kernel"], params["params"]["Dense_0"]["kernel"][:, :1])
# cure: nn.Dense(5, kernel_init=nn.initializers.ones) -> nn.Dense(5)
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

x = jnp.asarray(np.random.default_rng(0).normal(size=(20, 3)))
y = jnp.sin(x[:, :1])


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        hidden = nn.tanh(nn.Dense(5, kernel_init=nn.initializers.ones)(x))  # <- here
        return nn.Dense(1, kernel_init=nn.initializers.ones)(hidden)


net = Net()
params = net.init(jax.random.PRNGKey(0), x)  # <- here
for _ in range(3):
    grads = jax.grad(lambda p: jnp.mean((net.apply(p, x) - y) ** 2))(params)  # <- asked
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
