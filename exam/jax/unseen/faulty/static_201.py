# expect: GT314 or GT313
# cause: jit takes the object of the model for an array, as it is not marked static
# wrong: raises TypeError
# cure: @jax.jit\n    def -> def
import jax
import jax.numpy as jnp


class Model:
    def __init__(self, power):
        self.power = power

    @jax.jit
    def loss(self, w):  # <- here
        return jnp.sum(w**self.power)


model = Model(2)
g = jax.grad(model.loss)(jnp.ones(3))  # <- here
