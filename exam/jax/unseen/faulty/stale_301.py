# expect: GT205 or GT211 or GT312
# cause: the penalty is read from a global when jit traces the loss; the later values are never seen
# wrong: abs(float(g) - 8.0) > 1e-4
# cure: def loss(x): -> def loss(x, penalty):
# cure: gradient(x) -> gradient(x, penalty)
import jax
import jax.numpy as jnp

penalty = 1.0


def loss(x):
    return penalty * jnp.sum(x**2)  # <- here


gradient = jax.jit(jax.grad(loss))  # <- here
x = jnp.array(1.0)
for penalty in (1.0, 2.0, 4.0):
    g = gradient(x)  # <- asked
