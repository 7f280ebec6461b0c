# expect: GT404
# cause: the bias of -30 keeps every relu at zero
# wrong: not np.any(grads.weight)
# cure: jnp.full(8, -30.0) -> jnp.zeros(8)
import equinox as eqx
import jax
import jax.numpy as jnp


class Gate(eqx.Module):
    weight: jax.Array
    bias: jax.Array
    readout: jax.Array

    def __call__(self, x):
        return jax.nn.relu(self.weight @ x + self.bias) @ self.readout  # <- here


k1, k2, k3 = jax.random.split(jax.random.PRNGKey(5), 3)
gate = Gate(jax.random.normal(k1, (8, 4)), jnp.full(8, -30.0), jax.random.normal(k2, (8,)))  # <- here
x = jax.random.normal(k3, (16, 4))
y = x[:, 1]


@eqx.filter_grad
def loss(gate):
    return jnp.mean((jax.vmap(gate)(x) - y) ** 2)


grads = loss(gate)  # <- asked
