import jax
import jax.numpy as jnp

target = jnp.fft.fft(jnp.sin(jnp.linspace(0.0, 6.28, 16)))


def loss(signal):
    spectrum = jnp.fft.fft(signal)
    return jnp.mean(jnp.abs(spectrum - target) ** 2)


g = jax.grad(loss)(jnp.linspace(0.0, 1.0, 16))
assert g.dtype == jnp.float32
