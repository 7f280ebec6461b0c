import jax
import jax.numpy as jnp


class Model:
    def __init__(self, power):
        self.power = power

    def loss(self, w):
        return jnp.sum(w**self.power)


model = Model(2)
g = jax.grad(model.loss)(jnp.ones(3))
assert g.shape == (3,)
