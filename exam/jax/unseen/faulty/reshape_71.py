# expect: GT114
# cause: two poolings make 28 x 28 into 7 x 7, and the features are flattened as 8 x 8
# wrong: raises TypeError
# cure: (x.shape[0], 8 * 8 * 4) -> (x.shape[0], 7 * 7 * 4)
import flax.linen as nn
import jax
import jax.numpy as jnp


class Digits(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (4, 4):
            x = nn.relu(nn.Conv(width, (3, 3))(x))
            x = nn.max_pool(x, (2, 2), strides=(2, 2))
        x = jnp.reshape(x, (x.shape[0], 8 * 8 * 4))  # <- here
        return nn.Dense(10)(x)


images = jnp.ones((2, 28, 28, 1))
model = Digits()
params = model.init(jax.random.PRNGKey(0), images)
grads = jax.grad(lambda p: model.apply(p, images).mean())(params)
