"""`scipy.special`: SciPy's functions with derivatives, also when SciPy's own ufuncs are called on tensors.

`gamma`, `errorfunctions`, `incomplete`, `bessel` and `entropy` are the chapters. SciPy is imported when a function is
first called. What SciPy implements in Python (`polygamma`, `multigammaln`, `logsumexp`, `softmax`, `log_softmax`) turns
its arguments into arrays, so that those are for tensors only from here.
"""

from gradtape.ops.elementwise import cbrt, exp2, expm1, log1p, sinc
from gradtape.ops.special.bessel import *
from gradtape.ops.special.bessel import __all__ as _bessel
from gradtape.ops.special.entropy import *
from gradtape.ops.special.entropy import __all__ as _entropy
from gradtape.ops.special.errorfunctions import *
from gradtape.ops.special.errorfunctions import __all__ as _errorfunctions
from gradtape.ops.special.gamma import *
from gradtape.ops.special.gamma import __all__ as _gamma
from gradtape.ops.special.incomplete import *
from gradtape.ops.special.incomplete import __all__ as _incomplete
from gradtape.protocols import BY_NAME

BY_NAME.update(
    {f"scipy.special.{op.name}": op for op in (cbrt, exp2, expm1, log1p)}, **{"scipy.special.expit": expit}
)

__all__ = [
    *_bessel,
    *_entropy,
    *_errorfunctions,
    *_gamma,
    *_incomplete,
    "cbrt",
    "exp2",
    "expm1",
    "log1p",
    "sinc",
]
