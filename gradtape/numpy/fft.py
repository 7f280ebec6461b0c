"""`numpy.fft` with gradients: NumPy's functions, which find gradtape by themselves, also for lists of tensors.

>>> import gradtape as gt
>>> import gradtape.numpy as np
>>> gt.grad(lambda t: np.abs(np.fft.fft([t, 1.0])[0]))(gt.tensor(3.0))
Tensor(1.)
"""

import numpy.fft

from gradtape.numpy.wrapping import module_functions

__getattr__, __dir__ = module_functions(numpy.fft, globals())
