import jax
import jax.numpy as jnp
import optax

x = jax.random.normal(jax.random.key(0), (30, 4))
y = x @ jnp.array([1.0, 0.0, -1.0, 2.0])
params = jnp.zeros(4)
optimiser = optax.adam(0.1)
state = optimiser.init(params)


@jax.jit
def loss(params):
    return jnp.mean((x @ params - y) ** 2)


first = float(loss(params))
for _ in range(6):
    grads = jax.grad(loss)(params)
    tried = []
    for scale in (1.0, 0.5):  # two candidates from the same state, of which the better one is kept
        updates, after = optimiser.update(scale * grads, state, params)
        candidate = optax.apply_updates(params, updates)
        tried.append((float(loss(candidate)), candidate, after))
    _, params, state = min(tried, key=lambda each: each[0])
assert float(loss(params)) < first
