"""`numpy.linalg` with gradients: NumPy's functions, which find gradtape by themselves, also for lists of tensors.

>>> import gradtape as gt
>>> import gradtape.numpy as np
>>> gt.grad(lambda t: np.linalg.det([[t, 1.0], [1.0, t]]))(gt.tensor(3.0))
Tensor(6.)
"""

import numpy.linalg

from gradtape.numpy.wrapping import module_functions

__getattr__, __dir__ = module_functions(numpy.linalg, globals())
