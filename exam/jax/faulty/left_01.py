# expect: GT210 or GT312
# cause: float() wants the number of a tracer, which has none
# wrong: raises ConcretizationTypeError
# cure: float(jnp.sum(jnp.abs(w))) -> jnp.sum(jnp.abs(w))
import jax
import jax.numpy as jnp


def l1_penalty(w, strength=0.01):
    return strength * float(jnp.sum(jnp.abs(w)))  # <- here


def objective(w, x, y):
    fit = jnp.mean((x @ w - y) ** 2)
    return fit + l1_penalty(w)  # <- asked


x = jnp.arange(12.0).reshape(4, 3) / 10
y = jnp.array([0.1, 0.5, -0.2, 0.3])
w = jnp.array([0.1, -0.2, 0.3])
g = jax.grad(objective)(w, x, y)  # <- asked
