# a trace estimate by random signs and a Hessian-vector product
import jax
import jax.numpy as jnp

A = jax.random.normal(jax.random.key(4), (6, 6))


def f(x):
    return jnp.sum(jnp.sin(A @ x) ** 2)


def hvp(x, v):
    return jax.jvp(jax.grad(f), (x,), (v,))[1]


x = jnp.linspace(-1.0, 1.0, 6)
signs = jax.random.rademacher(jax.random.key(5), (50, 6), dtype=jnp.float32)
estimates = jax.vmap(lambda v: v @ hvp(x, v))(signs)
assert jnp.isfinite(estimates.mean())
