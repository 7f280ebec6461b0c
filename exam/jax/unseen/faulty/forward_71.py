# expect: GT401
# cause: the logarithm of a count that is zero is -inf
# wrong: not np.isfinite(float(value))
# cure: jnp.log(counts) -> jnp.log(counts + 1.0)
import jax
import jax.numpy as jnp
import optax

counts = jnp.array([3.0, 0.0, 5.0, 1.0, 8.0])
temperature = jnp.array([0.1, 0.4, 0.5, 0.7, 0.9])


def poisson_regression(theta):
    slope, offset = theta["slope"], theta["offset"]
    return jnp.mean((jnp.log(counts) - (slope * temperature + offset)) ** 2)  # <- here


solver = optax.adam(0.1)
theta = {"slope": jnp.array(0.0), "offset": jnp.array(0.0)}
state = solver.init(theta)


@jax.jit
def step(theta, state):
    value, grad = jax.value_and_grad(poisson_regression)(theta)
    updates, state = solver.update(grad, state, theta)
    return optax.apply_updates(theta, updates), state, value


for _ in range(2):
    theta, state, value = step(theta, state)
