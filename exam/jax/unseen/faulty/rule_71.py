# expect: GT320
# cause: the rule of the log-cosh returns tanh squared
# wrong: not np.allclose(g, np.tanh(np.linspace(-2, 2, 9)), atol=1e-4)
# cure: return (g * jnp.tanh(x) ** 2,) -> return (g * jnp.tanh(x),)
import jax
import jax.numpy as jnp


@jax.custom_vjp
def log_cosh(x):
    return jnp.log(jnp.cosh(x))


def log_cosh_fwd(x):
    return log_cosh(x), x


def log_cosh_bwd(x, g):
    return (g * jnp.tanh(x) ** 2,)  # <- here


log_cosh.defvjp(log_cosh_fwd, log_cosh_bwd)
g = jax.jit(jax.grad(lambda r: log_cosh(r).sum()))(jnp.linspace(-2.0, 2.0, 9))  # <- asked
