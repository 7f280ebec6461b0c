"""`numpy.emath` with gradients: functions whose results are complex where the real ones are not defined.

>>> import gradtape as gt
>>> import gradtape.numpy as np
>>> np.emath.sqrt(gt.tensor(-4.0))
Tensor(0.+2.j, dtype=complex128)
"""

import numpy

from gradtape.numpy.wrapping import module_functions

__getattr__, __dir__ = module_functions(numpy.emath, globals())
