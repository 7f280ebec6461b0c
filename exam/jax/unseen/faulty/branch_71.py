# expect: GT403 or GT402
# cause: the logarithm of the pixels outside is masked after it was computed
# wrong: np.isnan(g).any()
# cure: jnp.where(inside, jnp.log(level - offset), 0.0) -> jnp.where(inside, jnp.log(jnp.where(inside, level - offset, 1.0)), 0.0)
import jax
import jax.numpy as jnp

level = jnp.array([0.2, 0.5, 1.0, 2.0])


def entropy(offset):
    inside = level > offset
    terms = jnp.where(inside, jnp.log(level - offset), 0.0)  # <- here
    return terms.sum()


g = jax.jit(jax.grad(entropy))(jnp.array(0.5))
print(g)
