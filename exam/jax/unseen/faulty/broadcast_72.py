# expect: GT101
# cause: vmap of a model with one output gives (40, 1), and the targets are a vector
# wrong: abs(float(compute_loss(model, times, heights)[0]) - float(jnp.mean((jax.vmap(model)(times).ravel() - heights) ** 2))) > 1e-4
# cure: eqx.nn.MLP(1, 1, 8, 1, key=key) -> eqx.nn.MLP(1, "scalar", 8, 1, key=key)
import equinox as eqx
import jax
import jax.numpy as jnp

key = jax.random.PRNGKey(7)
times = jnp.linspace(0.0, 1.0, 40).reshape(-1, 1)
heights = jnp.sin(6.0 * times).ravel()
model = eqx.nn.MLP(1, 1, 8, 1, key=key)  # <- here


@eqx.filter_value_and_grad
def compute_loss(model, t, h):
    return jnp.mean(jnp.square(jax.vmap(model)(t) - h))  # <- here


@eqx.filter_jit
def make_step(model, t, h):
    loss, grads = compute_loss(model, t, h)
    return loss, eqx.apply_updates(model, jax.tree_util.tree_map(lambda g: -0.1 * g, grads))


for _ in range(3):
    loss, model = make_step(model, times, heights)
print(loss)
