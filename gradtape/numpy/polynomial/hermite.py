"""`numpy.polynomial.hermite` with gradients, by the points and by the coefficients."""

from gradtape.numpy.execute_on_tensors import execute_module

__getattr__, __dir__, __all__ = execute_module("numpy.polynomial.hermite", globals())
