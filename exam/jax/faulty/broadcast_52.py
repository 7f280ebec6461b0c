# expect: GT101
# cause: the solution is a column (30, 1), the measurements a vector (30,)
# wrong: residual(theta).shape not in [(30,), (30, 1)]
# cure: features @ theta -> (features @ theta)[:, 0]
import jax
import jax.numpy as jnp
import numpy as np

t = np.linspace(0, 1, 30)
measured = 1 + 2 * t - 3 * t**2
features = np.stack([np.ones(30), t, t**2], axis=1)
theta = jnp.zeros((3, 1))


def residual(theta):
    return features @ theta - measured  # <- here


def chi2(theta):
    return 0.5 * jnp.mean(residual(theta) ** 2)


for _ in range(4):
    theta = theta - 0.3 * jax.grad(chi2)(theta)
print(theta)
