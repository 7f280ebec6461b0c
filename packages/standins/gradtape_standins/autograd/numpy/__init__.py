"""The stand-in for `autograd.numpy`: NumPy, whose functions take traced values.

>>> import gradtape_standins.autograd.numpy as np
>>> np.sum(np.array([1.0, 2.0]))
np.float64(3.0)
"""

import numpy as _np

from gradtape_standins import missing_names
from gradtape_standins.autograd.numpy import (
    fft,
    linalg,
    numpy_boxes,
    numpy_vjps,
    numpy_vspaces,
    numpy_wrapper,
    random,
)

_MORE = ("array_from_args", "concatenate_args", "make_diagonal", "metadata", "numpy_version", "row_stack", "where")
globals().update(
    {
        name: value
        for name, value in vars(numpy_wrapper).items()
        if name in _MORE or (name in vars(_np) and not name.startswith("_"))
    }
)

__version__ = _np.__version__
__all__ = ["fft", "linalg", "numpy_boxes", "numpy_vjps", "numpy_vspaces", "numpy_wrapper", "random"]
__all__ += sorted(
    name for name in {*vars(_np), *_MORE} if name in globals() and name not in __all__ and not name.startswith("_")
)

__getattr__ = missing_names.missing(__name__, submodules=("numpy_jvps",))
