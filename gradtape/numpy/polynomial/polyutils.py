"""What the modules of `numpy.polynomial` have in common, for tensors."""

from gradtape.numpy.execute_on_tensors import execute_module

__getattr__, __dir__, __all__ = execute_module("numpy.polynomial.polyutils", globals())
