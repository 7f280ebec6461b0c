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
from gradtape.numpy_dispatch import arrival as _arrival
from gradtape.numpy_dispatch import protocols
from gradtape.ops import *  # noqa: F403  (the operations are listed in gradtape.ops.__all__)
from gradtape.transforms.gradients import grad, jvp, linearize, value_and_grad, vjp
from gradtape.transforms.jacobians import hessian, hvp, jacfwd, jacobian, jacrev
from gradtape.transforms.vmap import vmap

if _typing.TYPE_CHECKING:
    from gradtape.checking import GradcheckError, GradcheckReport, gradcheck
    from gradtape.transforms.custom import custom_gradient, custom_jvp, custom_vjp
    from gradtape.transforms.custom.checkpoint import checkpoint
    from gradtape.transforms.sparse import PatternError, sparse_hessian, sparse_jacobian

__version__ = "0.1.0"

_keep_freed_memory()

_CHAPTERS = {
    "array_api": "gradtape.array_api",
    "bridges": "gradtape.bridges",
    "fft": "gradtape.ops.fft",
    "implicit": "gradtape.transforms.implicit",
    "linalg": "gradtape.linalg",
    "nn": "gradtape.nn",
    "optim": "gradtape.optim",
    "optimize": "gradtape.optimize",
    "quadrature": "gradtape.quadrature",
    "random": "gradtape.random",
    "signal": "gradtape.signal",
    "special": "gradtape.ops.special",
    "stats": "gradtape.stats",
}


_LATE = {
    "creation_from": "array asarray block diagflat fromfunction fromiter geomspace logspace tri",
    "selection": "apply_along_axis apply_over_axes choose compress extract piecewise select trim_zeros vectorize",
    "covariance": "corrcoef cov",
    "insertion": "delete insert resize sliding_window_view",
    "histograms": "bincount histogram histogram2d histogram_bin_edges histogramdd",
    "numerics": "convolve correlate ediff1d fix frexp gradient interp iscomplex isreal ldexp nextafter real_if_close "
    "spacing unwrap",
    "inplace": "copyto fill_diagonal place put put_along_axis putmask",
    "padding": "pad",
    "polynomials": "poly polyadd polyder polydiv polyfit polyint polymul polysub polyval roots vander",
    "introspection": "array_equiv can_cast common_type diag_indices_from einsum_path ix_ may_share_memory "
    "min_scalar_type ravel_multi_index shares_memory tril_indices_from triu_indices_from unravel_index",
    "searching": "argwhere digitize flatnonzero intersect1d isin searchsorted setdiff1d setxor1d union1d unique "
    "unique_all unique_counts unique_inverse unique_values",
    "sorting": "argpartition lexsort nanmedian nanpercentile nanquantile partition sort_complex",
    "nan_reductions": "cumulative_prod cumulative_sum nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin "
    "nanprod nanstd nansum nanvar",
}
"""The names of the chapters that are opened when one of them is first used, to keep the import quick."""

_LATE_NAMES = {name: f"gradtape.ops.{chapter}" for chapter, names in _LATE.items() for name in names.split()}
_LATE_NAMES |= dict.fromkeys(("GradcheckError", "GradcheckReport", "gradcheck"), "gradtape.checking")
_LATE_NAMES |= dict.fromkeys(
    ("checkpoint", "custom_gradient", "custom_jvp", "custom_vjp"), "gradtape.transforms.custom"
)
_LATE_NAMES |= dict.fromkeys(("PatternError", "sparse_hessian", "sparse_jacobian"), "gradtape.transforms.sparse")
_LATE_NAMES["audit_batch"] = "gradtape.explain.queries.audit_batch"
_LATE_NAMES["check_numerics"] = "gradtape.explain.detectors.nonfinite.check"
_LATE_NAMES["expect"] = "gradtape.explain.emit.listeners"
_LATE_NAMES["jit"] = "gradtape.jit"
_LATE_NAMES["EarlyStopping"] = "gradtape.training"
_LATE_NAMES["fit"] = "gradtape.training"
_LATE_NAMES |= dict.fromkeys(("fori_loop", "scan"), "gradtape.loops")
_LATE_NAMES["odeint"] = "gradtape.odes"
_LATE_NAMES["quad"] = "gradtape.quadrature"
_LATE_NAMES |= dict.fromkeys(("from_dlpack", "from_torch", "to_torch"), "gradtape.numpy_dispatch.interchange")


def __getattr__(name: str) -> _Any:
    """The chapters in `_CHAPTERS` and the functions in `_LATE`, imported when first used."""
    if name in _CHAPTERS:
        protocols.open_chapters()
        return importlib.import_module(_CHAPTERS[name])
    if name in _LATE_NAMES:
        globals()[name] = found = getattr(importlib.import_module(_LATE_NAMES[name]), name)
        return found
    raise AttributeError(f"gradtape has no name {name!r}; all names are in gradtape.__all__")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_CHAPTERS})


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
__all__ += [name for name in _LATE_NAMES if name not in __all__]
_arrival.watch()
