# expect: GT111
# cause: the encoder has 6 outputs, and the decoder's weights were made for 5
# wrong: raises TypeError
# cure: "encode": init(keys[0], (9, 6)) -> "encode": init(keys[0], (9, 5))
import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.PRNGKey(0), 3)
init = jax.nn.initializers.glorot_normal()
weights = {"encode": init(keys[0], (9, 6)), "decode": init(keys[1], (5, 2))}  # <- here
images = jax.random.normal(keys[2], (20, 9))


class Autoencoder:
    def __call__(self, weights, x):
        hidden = jax.nn.elu(jnp.matmul(x, weights["encode"]))
        return jnp.matmul(hidden, weights["decode"])  # <- here


def objective(weights):
    return jnp.abs(Autoencoder()(weights, images)).mean()


print(jax.grad(objective)(weights)["decode"])
