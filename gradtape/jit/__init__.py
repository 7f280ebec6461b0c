"""Compiled functions: trace -> optimise -> schedule -> run; see `gradtape.jit.pipeline`.

>>> import numpy as np, gradtape as gt
>>> from gradtape.jit import jit
>>> jit(gt.grad(lambda x: np.sum(x ** 3)))(np.array([1.0, 2.0]))
array([ 3., 12.])
"""

import inspect as _inspect
import sys as _sys
from types import ModuleType as _ModuleType
from typing import Any as _Any

from gradtape.errors import JitWarning
from gradtape.jit.api import Compiled, jit
from gradtape.jit.inspection import Statistics
from gradtape.jit.ir.program import Program, ProgramError
from gradtape.jit.ir.verify import verify

__all__ = ["Compiled", "JitWarning", "Program", "ProgramError", "Statistics", "jit", "verify"]


class _CallableModule(_ModuleType):
    """This module, called as the function that it is named for.

    Importing it makes `gradtape.jit` the module, and that has to stay what users call.
    """

    def __call__(self, *args: _Any, **kwargs: _Any) -> _Any:
        return jit(*args, **kwargs)

    @property
    def __signature__(self) -> _Any:
        """That of the function, for `inspect.signature`, editors and the reference."""
        return _inspect.signature(jit)


_sys.modules[__name__].__class__ = _CallableModule
__doc__ = jit.__doc__ or ""  # `help(gt.jit)` is about the function, whichever of the two is met first
