"""gradtape: a gradient tape for NumPy code that keeps shapes honest and explains itself.

>>> import numpy as np, gradtape as gt
>>> x = gt.Variable([[1.0, 2.0], [3.0, 4.0]])
>>> with gt.GradientTape() as tape:
...     loss = np.sum(np.tanh(x).reshape(4) ** 2)
>>> tape.gradient(loss, x).shape
(2, 2)
"""

import importlib
import typing as _typing
from typing import Any as _Any

from gradtape import chapters as _chapters
from gradtape import ops
from gradtape.config import config
from gradtape.core.backward import enable_grad, gradients, no_grad
from gradtape.core.forward import ForwardAccumulator
from gradtape.core.malloc import keep_freed_memory as _keep_freed_memory
from gradtape.core.tape import GradientTape
from gradtape.core.tensor import Tensor, Variable, tensor
from gradtape.errors import (
    AxisError,
    BroadcastWarning,
    DetachError,
    DtypeError,
    GradientWarning,
    GradTapeError,
    IndexingError,
    LinearAlgebraError,
    MutationError,
    NumericsError,
    NumericsWarning,
    OperandError,
    RuleError,
    ShapeError,
    StructureError,
    TapeError,
    UnsupportedError,
    UntrackedError,
)
from gradtape.numpy_dispatch import import_hook as _import_hook
from gradtape.numpy_dispatch import protocols
from gradtape.ops import *  # noqa: F403  (the operations are listed in gradtape.ops.__all__)
from gradtape.transforms.gradients import grad, jvp, linearize, value_and_grad, vjp
from gradtape.transforms.jacobians import hessian, hvp, jacfwd, jacobian, jacrev
from gradtape.transforms.vmap import vmap
from gradtape.version import __version__ as __version__

if _typing.TYPE_CHECKING:
    from gradtape.checking import GradcheckError, GradcheckReport, gradcheck
    from gradtape.transforms.custom import custom_gradient, custom_jvp, custom_vjp
    from gradtape.transforms.custom.checkpoint import checkpoint
    from gradtape.transforms.sparse import PatternError, sparse_hessian, sparse_jacobian

_keep_freed_memory()


def __getattr__(name: str) -> _Any:
    """The namespaces and functions listed in `gradtape.chapters`, imported when first used."""
    if name in _chapters.NAMESPACES:
        protocols.open_chapters()
        return importlib.import_module(_chapters.NAMESPACES[name])
    if name in _chapters.MODULE_OF:
        globals()[name] = value = getattr(importlib.import_module(_chapters.MODULE_OF[name]), name)
        return value
    raise AttributeError(f"gradtape has no name {name!r}; all names are in gradtape.__all__")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_chapters.NAMESPACES})


__all__ = [
    "AxisError",
    "BroadcastWarning",
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
    "NumericsError",
    "NumericsWarning",
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
__all__ += [name for name in _chapters.MODULE_OF if name not in __all__]
_import_hook.install_import_hook()
