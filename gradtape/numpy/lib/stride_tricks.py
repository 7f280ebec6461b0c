"""`numpy.lib.stride_tricks` with gradients.

>>> import gradtape as gt
>>> import gradtape.numpy as np
>>> gt.grad(lambda x: np.sum(np.lib.stride_tricks.sliding_window_view(x, 2)))(gt.tensor([1.0, 2.0, 3.0]))
Tensor([1., 2., 1.])
"""

from typing import Any

import numpy.lib.stride_tricks

from gradtape.extend import Tensor
from gradtape.numpy.wrapping import as_array, module_functions, same_signature, wrap

_places = numpy.lib.stride_tricks.as_strided
_wrapped = wrap(_places)


@same_signature(_places)
def as_strided(x: Any, shape: Any = None, strides: Any = None, subok: Any = False, writeable: Any = True) -> Any:
    value = as_array(x)
    if not isinstance(value, Tensor):
        return _wrapped(x, shape, strides, subok, writeable)
    # the same steps through an array of the places of the elements, which has as many bytes for each
    places = numpy.arange(value.size).reshape(value.shape)
    if strides is None:
        steps: Any = places.strides
    else:
        steps = [step // value.dtype.itemsize * places.itemsize for step in strides]
    picked = _places(places, value.shape if shape is None else shape, steps)
    return value.reshape(-1)[numpy.array(picked)]


__getattr__, __dir__ = module_functions(numpy.lib.stride_tricks, globals())
