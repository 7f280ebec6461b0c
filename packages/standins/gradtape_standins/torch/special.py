"""`torch.special`: special functions."""

from __future__ import annotations

from typing import Any

import gradtape as gt
from gradtape_standins.missing_names import missing
from gradtape_standins.torch.arithmetic import FUNCTIONS
from gradtape_standins.torch.reductions import logsumexp as logsumexp
from gradtape_standins.torch.wrapping import floating, function, promoted

_SAME = {
    "erf": "erf",
    "erfc": "erfc",
    "erfinv": "erfinv",
    "exp2": "exp2",
    "expm1": "expm1",
    "log1p": "log1p",
    "expit": "sigmoid",
    "gammaln": "lgamma",
    "digamma": "digamma",
    "psi": "digamma",
    "i0": "i0",
    "logit": "logit",
    "sinc": "sinc",
    "softmax": "softmax",
    "log_softmax": "log_softmax",
    "xlogy": "xlogy",
    "round": "round",
}
globals().update({name: FUNCTIONS[known] for name, known in _SAME.items()})

_OF_ONE = {
    "bessel_j0": ("j0", "SpecialBesselJ0"),
    "bessel_j1": ("j1", "SpecialBesselJ1"),
    "bessel_y0": ("y0", "SpecialBesselY0"),
    "bessel_y1": ("y1", "SpecialBesselY1"),
    "entr": ("entr", "SpecialEntr"),
    "erfcx": ("erfcx", "SpecialErfcx"),
    "i0e": ("i0e", "SpecialI0E"),
    "i1": ("i1", "SpecialI1"),
    "i1e": ("i1e", "SpecialI1E"),
    "log_ndtr": ("log_ndtr", "SpecialLogNdtr"),
    "ndtr": ("ndtr", "SpecialNdtr"),
    "ndtri": ("ndtri", "SpecialNdtri"),
}


def _of_one(name: str, known: str, label: str) -> Any:
    def special(input: Any) -> Any:
        return getattr(gt.special, known)(floating(input))

    special.__name__, special.__doc__ = name, f"`{name}` of each element."
    return function(label)(special)


globals().update({name: _of_one(name, *rest) for name, rest in _OF_ONE.items()})


@function("SpecialXlog1Py")
def xlog1py(input: Any, other: Any) -> Any:
    """input * log(1 + other), 0 where input is 0."""
    return gt.special.xlog1py(*promoted(input, other, floating=True))


@function("SpecialZeta")
def zeta(input: Any, other: Any) -> Any:
    """Hurwitz's zeta function."""
    return gt.special.zeta(*promoted(input, other, floating=True))


@function("Polygamma")
def polygamma(n: int, input: Any) -> Any:
    """The n-th derivative of the digamma function."""
    return gt.special.polygamma(n, floating(input))


@function("Mvlgamma")
def multigammaln(input: Any, p: int) -> Any:
    """The logarithm of the multivariate gamma function."""
    return gt.special.multigammaln(floating(input), p)


@function("Igamma")
def gammainc(input: Any, other: Any) -> Any:
    """The lower incomplete gamma function."""
    return gt.special.gammainc(*promoted(input, other, floating=True))


@function("Igammac")
def gammaincc(input: Any, other: Any) -> Any:
    """The upper incomplete gamma function."""
    return gt.special.gammaincc(*promoted(input, other, floating=True))


__getattr__ = missing(__name__)
