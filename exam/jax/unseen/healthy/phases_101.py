"""Two compiled steps, one after the other, each called many times, and a third with another shape at the end."""

import jax
import jax.numpy as jnp

x = jax.random.normal(jax.random.key(0), (30, 4))


@jax.jit
def pretrain(w, x):
    return w - 0.01 * jax.grad(lambda w: jnp.mean((x @ w @ w.T - x) ** 2))(w)


@jax.jit
def tune(w, v, x):
    loss, (gw, gv) = jax.value_and_grad(lambda w, v: jnp.mean((jnp.tanh(x @ w) @ v - 1) ** 2), (0, 1))(w, v)
    return w - 0.1 * gw, v - 0.1 * gv, loss


w, v = 0.3 * jax.random.normal(jax.random.key(1), (4, 2)), jnp.array([[0.3], [-0.2]])
for _ in range(25):
    w = pretrain(w, x)
for _ in range(25):
    w, v, loss = tune(w, v, x)
w, v, loss = tune(w, v, x[:7])
assert jnp.isfinite(loss)
