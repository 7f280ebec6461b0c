"""filter_value_and_grad with aux, and a model with integers and strings among its fields."""

import equinox as eqx
import jax
import jax.numpy as jnp


class Polynomial(eqx.Module):
    coefficients: jax.Array
    degree: int
    name: str

    def __call__(self, x):
        return sum(self.coefficients[k] * x**k for k in range(self.degree + 1))


model = Polynomial(jnp.zeros(4), 3, "cubic")
x = jnp.linspace(-1.0, 1.0, 30)
y = x**3 - x


@eqx.filter_jit
def step(model):
    def loss(model):
        error = model(x) - y
        return jnp.mean(error**2), jnp.max(jnp.abs(error))

    (value, worst), grads = eqx.filter_value_and_grad(loss, has_aux=True)(model)
    return eqx.apply_updates(model, jax.tree_util.tree_map(lambda g: -0.5 * g, grads)), value, worst


values = []
for _ in range(5):
    model, value, worst = step(model)
    values.append(float(value))
assert values[-1] < values[0]
