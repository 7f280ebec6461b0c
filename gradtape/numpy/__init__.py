"""NumPy with gradients: `import gradtape.numpy as np` instead of `import numpy as np`.

Every public name of NumPy is there, with NumPy's signature. Arrays that are made while a gradient may be recorded are
buffers: what is written to them is on the tape. Otherwise they are NumPy's arrays.

>>> import gradtape as gt
>>> import gradtape.numpy as np
>>> def rotate(angle, point):
...     c, s = np.cos(angle), np.sin(angle)
...     return np.array([[c, -s], [s, c]]) @ point
>>> gt.jacobian(rotate)(0.0, [2.0, 1.0])
array([-1.,  2.])
>>> def heat(k):
...     u = np.zeros(5)
...     u[2] = 1.0
...     for _ in range(3):
...         u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
...     return u[2]
>>> float(gt.grad(heat)(0.1).round(3))
-3.0
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy

from gradtape.numpy import callbacks, creation, indexing, scalars
from gradtape.numpy.arrays import ndarray as ndarray
from gradtape.numpy.ufuncs import ufunc as ufunc
from gradtape.numpy.wrapping import take_name

MODULES = {
    name: f"gradtape.numpy.{name}" for name in ("emath", "fft", "lib", "linalg", "polynomial", "random", "testing")
}
"""The modules that take tensors. Each is imported when it is first used; the others are NumPy's own."""

__version__ = numpy.__version__
__array_namespace_info__ = numpy.__array_namespace_info__


def __getattr__(name: str) -> Any:
    """A public name of NumPy's, kept here from then on."""
    if name in MODULES:
        return importlib.import_module(MODULES[name])
    for module in (creation, indexing, callbacks):
        if name in vars(module) and hasattr(numpy, name):
            found = getattr(module, name)
            break
    else:
        found = scalars.NAMES[name] if name in scalars.NAMES else take_name(numpy, "gradtape.numpy", name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    theirs = (name for name in dir(numpy) if not name.startswith("_"))
    return sorted({*theirs, *(name for name in globals() if name.startswith("__"))})


__all__ = [name for name in numpy.__all__ if not name.startswith("_")]
