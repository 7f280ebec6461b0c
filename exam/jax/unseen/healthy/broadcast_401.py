import jax
import jax.numpy as jnp
from flax import linen as nn


class Critic(nn.Module):
    @nn.compact
    def __call__(self, state):
        x = nn.tanh(nn.Dense(12)(state))
        return nn.Dense(1)(x)[:, 0]


critic = Critic()
states = jax.random.normal(jax.random.key(0), (20, 4))
returns = jnp.cumsum(jax.random.uniform(jax.random.key(1), (20,)))[::-1]
params = critic.init(jax.random.key(2), states)


def loss(params):
    advantages = returns - critic.apply(params, states)
    return 0.5 * jnp.mean(advantages**2), advantages


(value, advantages), grads = jax.value_and_grad(loss, has_aux=True)(params)
assert not (advantages.shape != (20,))
