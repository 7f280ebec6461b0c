# Newton's method with a Hessian, a line search in Python, and NumPy between the steps
import jax
import jax.numpy as jnp
import numpy as np

t = np.linspace(0.0, 3.0, 25)
y = 1.5 * np.exp(-0.8 * t)


def cost(p):
    return jnp.mean((p[0] * jnp.exp(-p[1] * t) - y) ** 2)


p = np.array([1.0, 1.0], dtype=np.float32)
for _ in range(5):
    g, H = np.asarray(jax.grad(cost)(p)), np.asarray(jax.hessian(cost)(p))
    direction, step = np.linalg.solve(H + 1e-3 * np.eye(2), -g), 1.0
    while cost(p + step * direction) > cost(p) and step > 1e-4:
        step *= 0.5
    p = (p + step * direction).astype(np.float32)
assert np.all(np.isfinite(p))
