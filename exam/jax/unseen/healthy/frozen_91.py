"""Only the head is trained: grad by the first argument, the body is the second."""

import jax
import jax.numpy as jnp

body = {"w": jax.random.normal(jax.random.PRNGKey(0), (4, 6))}
head = {"w": jax.random.normal(jax.random.PRNGKey(1), (6, 1)) * 0.1, "b": jnp.zeros(1)}
x = jax.random.normal(jax.random.PRNGKey(2), (20, 4))
y = x[:, :1]


def loss(head, body):
    return jnp.mean((jnp.tanh(x @ body["w"]) @ head["w"] + head["b"] - y) ** 2)


for _ in range(4):
    grads = jax.grad(loss)(head, body)
    head = jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, head, grads)
assert float(loss(head, body)) < 2.0
