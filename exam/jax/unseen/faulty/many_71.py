# expect: GT307
# cause: the loss keeps one value for each example; filter_grad needs one number
# wrong: raises TypeError
# cure: return optax.l2_loss(predicted, y) -> return optax.l2_loss(predicted, y).mean()
import equinox as eqx
import jax
import optax

key_model, key_data = jax.random.split(jax.random.PRNGKey(2))
model = eqx.nn.Linear(4, "scalar", key=key_model)
x = jax.random.normal(key_data, (12, 4))
y = x[:, 0]


def loss(model, x, y):
    predicted = jax.vmap(model)(x)
    return optax.l2_loss(predicted, y)  # <- here


gradients = eqx.filter_grad(loss)(model, x, y)  # <- here
