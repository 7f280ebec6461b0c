# TD learning with a frozen copy of the parameters and stop_gradient, and an average of the two
import jax
import jax.numpy as jnp

states, nexts = jax.random.normal(jax.random.key(0), (2, 20, 3))
rewards = jnp.linspace(0.0, 1.0, 20)
params = {"w": jnp.ones((3, 1)) * 0.1, "b": jnp.zeros(1)}
target = params


def value(p, s):
    return (s @ p["w"] + p["b"])[:, 0]


@jax.jit
def loss(p, frozen):
    goal = rewards + 0.9 * value(jax.lax.stop_gradient(frozen), nexts)
    return jnp.mean((goal - value(p, states)) ** 2)


for _ in range(4):
    grads = jax.grad(loss)(params, target)
    params = jax.tree.map(lambda p, g: p - 0.05 * g, params, grads)
    target = jax.tree.map(lambda t, p: 0.9 * t + 0.1 * p, target, params)
assert jnp.all(jnp.isfinite(params["w"]))
