# expect: GT403 or GT402
# cause: x log x is masked by where after it was computed: its gradient at 0 is NaN
# wrong: np.isnan(g).any()
# cure: p * jnp.log(p) -> p * jnp.log(jnp.where(p > 0, p, 1.0))
import jax
import jax.numpy as jnp

counts = jnp.array([5.0, 0.0, 3.0, 2.0])


def entropy(c):
    p = c / jnp.sum(c)
    terms = jnp.where(p > 0, p * jnp.log(p), 0.0)  # <- here
    return -jnp.sum(terms)


g = jax.grad(entropy)(counts)  # <- asked
print(entropy(counts), g)
