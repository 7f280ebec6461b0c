import jax
import jax.numpy as jnp

weights = jnp.array([0.5, -1.0, 2.0])
clean = jnp.array([0.2, 0.4, -0.1])


def loss(image):
    return jnp.log1p(jnp.exp(-image @ weights))


adversarial = clean
for _ in range(5):
    g = jax.grad(loss)(adversarial)
    adversarial = adversarial + 0.05 * jnp.sign(g)
assert float(loss(adversarial)) > float(loss(clean))
