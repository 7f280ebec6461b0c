"""`scipy.special`: SciPy's functions with derivatives, also when SciPy's own ufuncs are called on tensors.

`gamma`, `errorfunctions`, `incomplete`, `bessel` and `entropy` are the chapters. SciPy is imported when a function is
first called. What SciPy implements in Python (`polygamma`, `multigammaln`, `logsumexp`, `softmax`, `log_softmax`) turns
its arguments into arrays, so that those are for tensors only from here.

The other chapters, listed in `gradtape.chapters`, are imported when one of their functions is first used. What is left
of `scipy.special` is there too: `passed_through` has it, with the reason why it has no derivative.
"""

import importlib
from typing import Any

from gradtape.chapters import SPECIAL_CHAPTERS
from gradtape.numpy_dispatch.protocols import BY_NAME
from gradtape.ops.elementwise import cbrt, exp2, expm1, log1p, sinc
from gradtape.ops.special.bessel import (
    i0,
    i0e,
    i1,
    i1e,
    iv,
    ive,
    j0,
    j1,
    jn,
    jv,
    k0,
    k0e,
    k1,
    k1e,
    kn,
    kv,
    kve,
    y0,
    y1,
    yn,
    yv,
)
from gradtape.ops.special.entropy import (
    cosm1,
    entr,
    exp1,
    exp10,
    expi,
    expit,
    exprel,
    kl_div,
    log_expit,
    log_softmax,
    logit,
    logsumexp,
    rel_entr,
    softmax,
    xlog1py,
    xlogy,
)
from gradtape.ops.special.errorfunctions import (
    erf,
    erfc,
    erfcinv,
    erfcx,
    erfi,
    erfinv,
    log_ndtr,
    ndtr,
    ndtri,
)
from gradtape.ops.special.gamma import (
    beta,
    betaln,
    digamma,
    gamma,
    gammaln,
    gammasgn,
    loggamma,
    multigammaln,
    poch,
    polygamma,
    psi,
    rgamma,
    zeta,
)
from gradtape.ops.special.incomplete import (
    betainc,
    betaincc,
    betainccinv,
    betaincinv,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
)

BY_NAME.update({f"scipy.special.{op.name}": op for op in (cbrt, exp2, expm1, log1p)})
BY_NAME["scipy.special.expit"] = expit

__all__ = [
    "beta",
    "betainc",
    "betaincc",
    "betainccinv",
    "betaincinv",
    "betaln",
    "cbrt",
    "cosm1",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfi",
    "erfinv",
    "exp1",
    "exp2",
    "exp10",
    "expi",
    "expit",
    "expm1",
    "exprel",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "gammaln",
    "gammasgn",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "iv",
    "ive",
    "j0",
    "j1",
    "jn",
    "jv",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "kl_div",
    "kn",
    "kv",
    "kve",
    "log1p",
    "log_expit",
    "log_ndtr",
    "log_softmax",
    "loggamma",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "poch",
    "polygamma",
    "psi",
    "rel_entr",
    "rgamma",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
    "y0",
    "y1",
    "yn",
    "yv",
    "zeta",
]
_CHAPTER_OF = {name: chapter for chapter, names in SPECIAL_CHAPTERS.items() for name in names.split()}
__all__ += [*sorted(_CHAPTER_OF), "ndtri_exp"]


def __getattr__(name: str) -> Any:
    if name in _CHAPTER_OF:
        found = getattr(importlib.import_module(f"{__name__}.{_CHAPTER_OF[name]}"), name)
    elif name == "ndtri_exp":
        found = importlib.import_module("gradtape.ops.distributions").ndtri_exp
    elif name.startswith("_"):
        raise AttributeError(f"gradtape.special has no name {name!r}")
    else:
        found = importlib.import_module(f"{__name__}.passed_through").passed_through(name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    scipys = importlib.import_module(f"{__name__}.passed_through").scipy_names()
    return sorted({*globals(), *__all__, *scipys})
