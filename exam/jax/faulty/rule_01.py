# expect: GT320
# cause: the backward rule of sigmoid multiplies by s instead of s * (1 - s)
# wrong: not np.allclose(g, jax.grad(lambda x: jnp.sum(jax.nn.sigmoid(x) * 3))(x))
# cure: return (s * g,) -> return (s * (1 - s) * g,)
import jax
import jax.numpy as jnp


@jax.custom_vjp
def my_sigmoid(x):
    return 1 / (1 + jnp.exp(-x))


def my_sigmoid_fwd(x):
    s = my_sigmoid(x)
    return s, s


def my_sigmoid_bwd(s, g):
    return (s * g,)  # <- here


my_sigmoid.defvjp(my_sigmoid_fwd, my_sigmoid_bwd)

x = jnp.linspace(-2.0, 2.0, 7)
g = jax.grad(lambda x: jnp.sum(my_sigmoid(x) * 3))(x)  # <- asked
print(g)
