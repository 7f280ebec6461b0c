"""`numpy.polynomial` with gradients, by the points and by the coefficients.

>>> import gradtape as gt
>>> import gradtape.numpy as np
>>> gt.grad(lambda c: np.polynomial.Polynomial([1.0, c, c])(2.0))(gt.tensor(3.0))
Tensor(6.)
"""

from gradtape.numpy.execute_on_tensors import execute_module

__getattr__, __dir__, __all__ = execute_module("numpy.polynomial", globals())
