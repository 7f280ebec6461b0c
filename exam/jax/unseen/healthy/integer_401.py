import jax
import jax.numpy as jnp

t = jnp.linspace(0.0, 4.0, 40)
observed = 2.0 * jnp.exp(-0.7 * t) + 0.3


def model(parameters, t):
    amplitude, rate, offset = parameters
    return amplitude * jnp.exp(-rate * t) + offset


def cost(parameters):
    return jnp.sum((model(parameters, t) - observed) ** 2)


guess = jnp.array([1.0, 1.0, 0.0])
for _ in range(10):
    guess = guess - 0.005 * jax.grad(cost)(guess)
assert True
