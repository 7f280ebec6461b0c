# expect: GT101
# cause: the Dense(1) at the end gives (48, 1), and the prices are (48,)
# wrong: abs(float(mse(variables)) - float(jnp.mean((model.apply(variables, rooms).ravel() - price) ** 2))) > 1e-4
# cure: return nn.Dense(1)(x) -> return nn.Dense(1)(x).squeeze(-1)
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(3)
rooms = jnp.asarray(rng.normal(size=(48, 3)), jnp.float32)
price = jnp.asarray(rng.normal(size=48), jnp.float32)


class Regressor(nn.Module):
    width: int = 8

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(self.width)(x))
        return nn.Dense(1)(x)  # <- here


model = Regressor()
variables = model.init(jax.random.PRNGKey(0), rooms)
optimizer = optax.adam(1e-2)
opt_state = optimizer.init(variables)


def mse(variables):
    prediction = model.apply(variables, rooms)
    return jnp.mean((prediction - price) ** 2)  # <- here


@jax.jit
def train_step(variables, opt_state):
    loss, grads = jax.value_and_grad(mse)(variables)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(variables, updates), opt_state, loss


for epoch in range(3):
    variables, opt_state, loss = train_step(variables, opt_state)
print(loss)
