# expect: GT101
# cause: the values of the critic are (20, 1) and the returns (20,), so that the advantages are (20, 20)
# wrong: advantages.shape != (20,)
# cure: return nn.Dense(1)(x) -> return nn.Dense(1)(x)[:, 0]
import jax
import jax.numpy as jnp
from flax import linen as nn


class Critic(nn.Module):
    @nn.compact
    def __call__(self, state):
        x = nn.tanh(nn.Dense(12)(state))
        return nn.Dense(1)(x)


critic = Critic()
states = jax.random.normal(jax.random.key(0), (20, 4))
returns = jnp.cumsum(jax.random.uniform(jax.random.key(1), (20,)))[::-1]
params = critic.init(jax.random.key(2), states)


def loss(params):
    advantages = returns - critic.apply(params, states)  # <- here
    return 0.5 * jnp.mean(advantages**2), advantages


(value, advantages), grads = jax.value_and_grad(loss, has_aux=True)(params)
