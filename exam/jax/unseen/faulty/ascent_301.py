# expect: GT512 or GT513
# cause: the gradients are added to the parameters, not the updates that the optimiser made of them
# wrong: float(loss(params)) > first
# cure: optax.apply_updates(params, grads) -> optax.apply_updates(params, updates)
import jax
import jax.numpy as jnp
import optax

x = jnp.linspace(0.0, 2.0, 30)
y = 3.0 * x + 1.0
params = {"slope": jnp.array(0.0), "offset": jnp.array(0.0)}
optimiser = optax.sgd(0.05)
state = optimiser.init(params)


def loss(params):
    return jnp.mean((params["slope"] * x + params["offset"] - y) ** 2)


first = float(loss(params))


@jax.jit
def step(params, state):
    grads = jax.grad(loss)(params)
    updates, state = optimiser.update(grads, state)
    return optax.apply_updates(params, grads), state  # <- here


for _ in range(6):
    params, state = step(params, state)  # <- asked
