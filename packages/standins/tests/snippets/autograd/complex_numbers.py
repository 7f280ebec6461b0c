"""Complex numbers: the gradient is that of the real part minus i times that of the imaginary part."""

import autograd.numpy as np
from autograd import grad, holomorphic_grad


def f(z):
    return np.abs(z) ** 2


z = 1.0 + 2.0j
print(grad(f)(z))
print(holomorphic_grad(lambda z: z**3)(z), 3 * z**2)
print(holomorphic_grad(np.exp)(z), np.exp(z))
x = np.array([1.0, 2.0, 3.0, 4.0])
print(grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2))(x))
print(grad(lambda x: np.sum(np.real(np.fft.ifft(x * np.array([1, 2j, 3, 4j])))))(x))
try:
    grad(lambda z: z**2)(z)
except TypeError:
    print("TypeError")
