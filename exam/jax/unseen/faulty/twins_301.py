# expect: GT514
# cause: both critics are made with the same random key: they are equal, get the same gradient and stay equal
# wrong: bool((params["q1"] == params["q2"]).all())
# cure: make_critic(key), "q2": make_critic(key) -> make_critic(key), "q2": make_critic(jax.random.key(8))
import jax
import jax.numpy as jnp

key = jax.random.key(7)
states = jax.random.normal(jax.random.key(1), (32, 6))
returns = jnp.sum(states, axis=1)


def make_critic(key):
    return 0.3 * jax.random.normal(key, (6,))


params = {"q1": make_critic(key), "q2": make_critic(key)}  # <- here


def loss(params):
    first, second = jnp.tanh(states @ params["q1"]), jnp.tanh(states @ params["q2"])
    return jnp.mean((first - returns) ** 2 + (second - returns) ** 2)


for _ in range(4):
    g = jax.grad(loss)(params)  # <- asked
    params = jax.tree.map(lambda p, d: p - 0.01 * d, params, g)
