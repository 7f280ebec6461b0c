# expect: GT310 or GT207
# cause: grad is asked at the integer 3
# wrong: raises TypeError
# cure: df(3) -> df(3.0)
import jax
import jax.numpy as jnp


def f(x):
    return x**3 + jnp.sin(x)


df = jax.grad(f)
slope = df(3)  # <- here
print(slope)
