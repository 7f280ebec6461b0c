"""gradtape: a gradient tape for NumPy code that keeps shapes honest and explains itself.

>>> import numpy as np, gradtape as gt
>>> x = gt.Variable([[1.0, 2.0], [3.0, 4.0]])
>>> with gt.GradientTape() as tape:
...     loss = np.sum(np.tanh(x).reshape(4) ** 2)
>>> tape.gradient(loss, x).shape
(2, 2)
"""

import importlib
from typing import Any as _Any

from gradtape import ops, protocols
from gradtape.checking import GradcheckError, GradcheckReport, gradcheck
from gradtape.config import config
from gradtape.core.backward import enable_grad, gradients, no_grad
from gradtape.core.forward import ForwardAccumulator
from gradtape.core.tape import GradientTape
from gradtape.core.tensor import Tensor, Variable, tensor
from gradtape.custom import checkpoint, custom_gradient, custom_jvp, custom_vjp
from gradtape.errors import (
    AxisError,
    DetachError,
    DtypeError,
    GradientWarning,
    GradTapeError,
    IndexingError,
    LinearAlgebraError,
    MutationError,
    OperandError,
    RuleError,
    ShapeError,
    StructureError,
    TapeError,
    UnsupportedError,
    UntrackedError,
)
from gradtape.jacobians import hessian, hvp, jacfwd, jacobian, jacrev
from gradtape.ops import *  # noqa: F403  (the operations are listed in gradtape.ops.__all__)
from gradtape.sparse import PatternError, sparse_hessian, sparse_jacobian
from gradtape.transforms import grad, jvp, linearize, value_and_grad, vjp
from gradtape.vectorize import vmap

__version__ = "0.1.0"


_CHAPTERS = {"fft": "gradtape.ops.fft", "linalg": "gradtape.linalg", "special": "gradtape.ops.special"}


_LATE = ("choosing", "histograms", "numerical", "polynomials", "searching", "sorting", "statistics")


def __getattr__(name: str) -> _Any:
    """`gt.fft`, `gt.linalg`, `gt.special` and the functions of the chapters in `_LATE`, imported when first used."""
    if not name.startswith("_"):
        protocols.open_chapters()
        if name in _CHAPTERS:
            return importlib.import_module(_CHAPTERS[name])
        for chapter in _LATE:
            module = importlib.import_module(f"gradtape.ops.{chapter}")
            if name in module.__all__:
                return getattr(module, name)
    raise AttributeError(f"gradtape has no name {name!r}; all names are in gradtape.__all__")


__all__ = [
    "AxisError",
    "DetachError",
    "DtypeError",
    "ForwardAccumulator",
    "GradTapeError",
    "GradcheckError",
    "GradcheckReport",
    "GradientTape",
    "GradientWarning",
    "IndexingError",
    "LinearAlgebraError",
    "MutationError",
    "OperandError",
    "PatternError",
    "RuleError",
    "ShapeError",
    "StructureError",
    "TapeError",
    "Tensor",
    "UnsupportedError",
    "UntrackedError",
    "Variable",
    "checkpoint",
    "config",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradients",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linearize",
    "no_grad",
    "sparse_hessian",
    "sparse_jacobian",
    "tensor",
    "value_and_grad",
    "vjp",
    "vmap",
]
__all__ += ops.__all__
