# expect: GT102
# cause: the mean with keepdims makes one prediction, which is compared with every element of the series
# wrong: forecast(0.5).shape != series.shape
# cure: jnp.mean(alpha * series, keepdims=True) -> alpha * series
import jax
import jax.numpy as jnp
import numpy as np

series = jnp.asarray(np.random.default_rng(0).normal(size=40).cumsum())


def forecast(alpha):
    return jnp.mean(alpha * series, keepdims=True)  # <- here


def loss(alpha):
    return jnp.mean((forecast(alpha) - series) ** 2)  # <- here


print(jax.grad(loss)(0.5))
