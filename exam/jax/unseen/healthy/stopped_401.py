import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(1)
states = jnp.array(rng.normal(size=(25, 4)))
actions = jnp.array(rng.integers(0, 3, 25))
rewards = jnp.array(rng.random(25))
params = {"w": jnp.array(rng.normal(size=(4, 3)) * 0.1), "b": jnp.zeros(3)}


def returns_of(rewards, gamma=0.9):
    def step(total, reward):
        total = reward + gamma * total
        return total, total

    return jax.lax.scan(step, 0.0, rewards, reverse=True)[1]


def objective(params):
    log_policy = jax.nn.log_softmax(states @ params["w"] + params["b"])
    chosen = jnp.take_along_axis(log_policy, actions[:, None], axis=1)[:, 0]
    returns = returns_of(rewards)
    return -jnp.mean(chosen * jax.lax.stop_gradient(returns))


value, grads = jax.value_and_grad(objective)(params)
assert not (not np.any(grads["w"]))
