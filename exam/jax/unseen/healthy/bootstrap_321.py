import jax
import jax.numpy as jnp

key = jax.random.key(0)
x = jax.random.normal(jax.random.key(1), (40, 6))
y = jnp.tanh(x.sum(axis=1))
start = 0.3 * jax.random.normal(key, (6,))
members = {"first": start, "second": start}  # equal starts, each with examples of its own


def loss(members):
    first = (jnp.tanh(x[:20] @ members["first"]) - y[:20]) ** 2
    second = (jnp.tanh(x[20:] @ members["second"]) - y[20:]) ** 2
    return jnp.mean(first) + jnp.mean(second)


for _ in range(4):
    g = jax.grad(loss)(members)
    members = jax.tree.map(lambda p, d: p - 0.1 * d, members, g)
assert jnp.any(members["first"] != members["second"])
