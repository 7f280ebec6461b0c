# expect: GT307 or GT311 or GT314
# cause: the mean of the Fourier coefficients is a complex number, and grad needs a real one
# wrong: raises TypeError
# cure: jnp.mean((spectrum - target) ** 2) -> jnp.mean(jnp.abs(spectrum - target) ** 2)
import jax
import jax.numpy as jnp

target = jnp.fft.fft(jnp.sin(jnp.linspace(0.0, 6.28, 16)))


def loss(signal):
    spectrum = jnp.fft.fft(signal)
    return jnp.mean((spectrum - target) ** 2)  # <- here


g = jax.grad(loss)(jnp.linspace(0.0, 1.0, 16))  # <- asked
