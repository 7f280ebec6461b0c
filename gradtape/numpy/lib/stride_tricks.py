"""`numpy.lib.stride_tricks` with gradients.

>>> import gradtape as gt
>>> import gradtape.numpy as np
>>> gt.grad(lambda x: np.sum(np.lib.stride_tricks.sliding_window_view(x, 2)))(gt.tensor([1.0, 2.0, 3.0]))
Tensor([1., 2., 1.])
"""

from typing import Any

import numpy.lib.stride_tricks

from gradtape.errors import OperandError, ShapeError
from gradtape.extend import Tensor, messages
from gradtape.numpy.wrapping import as_array, module_functions, same_signature, wrap
from gradtape.ops.indexing import example_memory
from gradtape.ops.insertion import elements_view

_original = numpy.lib.stride_tricks.as_strided
_wrapped = wrap(_original)


@same_signature(_original)
def as_strided(x: Any, shape: Any = None, strides: Any = None, subok: Any = False, writeable: Any = True) -> Any:
    value = as_array(x)
    if not isinstance(value, Tensor):
        return _wrapped(x, shape, strides, subok, writeable)
    shown = example_memory(value)
    if not shown.flags.c_contiguous:
        raise messages.refused_argument(
            OperandError,
            f"as_strided: a tensor of shape {value.shape} whose elements lie apart or in another order in memory.",
            "as_strided of the array that it was taken of, or of np.ascontiguousarray(x)",
        )
    lengths = value.shape if shape is None else tuple(numpy.atleast_1d(shape).tolist())
    steps = shown.strides if strides is None else tuple(numpy.atleast_1d(strides).tolist())
    places: Any = numpy.zeros(lengths, int)
    for step, index in zip(steps, numpy.indices(lengths, sparse=True), strict=True):
        places = places + step // value.dtype.itemsize * index
    if places.size and not 0 <= places.min() <= places.max() < value.size:
        raise messages.refused_argument(
            ShapeError,
            f"as_strided: shape {lengths} with strides {steps} reads outside of an array of shape {value.shape}.",
            "steps that stay inside of the array",
        )
    return elements_view(value, places, writeable)


__getattr__, __dir__ = module_functions(numpy.lib.stride_tricks, globals())
