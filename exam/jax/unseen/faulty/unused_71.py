# expect: GT201 or GT404 because GT202
# cause: the second layer is made in __init__ and never called
# wrong: not np.any(grads.second.weight)
# cure: return self.readout(hidden) -> return self.readout(jax.nn.relu(self.second(hidden)))
import equinox as eqx
import jax
import jax.numpy as jnp


class TwoLayer(eqx.Module):
    first: eqx.nn.Linear
    second: eqx.nn.Linear
    readout: eqx.nn.Linear

    def __init__(self, key):
        a, b, c = jax.random.split(key, 3)
        self.first = eqx.nn.Linear(3, 6, key=a)
        self.second = eqx.nn.Linear(6, 6, key=b)
        self.readout = eqx.nn.Linear(6, 1, key=c)

    def __call__(self, x):
        hidden = jax.nn.relu(self.first(x))
        return self.readout(hidden)  # <- here


model = TwoLayer(jax.random.PRNGKey(0))
x = jax.random.normal(jax.random.PRNGKey(1), (20, 3))
y = x.sum(axis=1, keepdims=True)


def loss(model, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)  # <- here


grads = eqx.filter_grad(loss)(model, x, y)  # <- here
print(grads.readout.weight)
