"""The class that `Polynomial`, `Chebyshev` and the others are derived from, for tensors."""

from gradtape.numpy.execute_on_tensors import execute_module

__getattr__, __dir__, __all__ = execute_module("numpy.polynomial._polybase", globals())
