"""`scipy.special` with gradients: the functions of `gradtape.special` under SciPy's name.

Those that are ufuncs in SciPy are called as ufuncs, too: with `out=` and `where=`, and with methods.

>>> import gradtape as gt
>>> import gradtape.numpy as np
>>> from gradtape.scipy import special
>>> def total(x):
...     values = np.zeros(2)
...     special.gamma(x, out=values)
...     return values.sum()
>>> gt.grad(total)(gt.tensor([1.0, 2.0])).round(6)
Tensor([-0.577216,  0.422784])
"""

import functools
import importlib
from typing import Any

import numpy as np

from gradtape.extend import hide_frame
from gradtape.numpy.ufuncs import wrap_ufunc
from gradtape.ops import special as _special


def _as_ufunc(ours: Any, theirs: np.ufunc) -> Any:
    """A function of gradtape's, with the keywords, methods and attributes of SciPy's ufunc."""
    with_keywords, count = wrap_ufunc(theirs, __name__), theirs.nin

    @functools.wraps(with_keywords)
    def function(*args: Any, **kwargs: Any) -> Any:
        return with_keywords(*args, **kwargs) if kwargs or len(args) != count else ours(*args)

    function.__doc__ = ours.__doc__
    return hide_frame(function)


def __getattr__(name: str) -> Any:
    found = getattr(_special, name)
    theirs = None if name.startswith("_") else getattr(importlib.import_module("scipy.special"), name, None)
    if isinstance(theirs, np.ufunc) and not isinstance(found, np.ufunc):
        found = globals()[name] = _as_ufunc(found, theirs)
    return found


def __dir__() -> list[str]:
    return dir(_special)
