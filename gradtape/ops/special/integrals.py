"""Integrals of elementary functions, and inverses of such: exponential, sine and cosine integrals, the dilogarithm.

Their derivatives are what stands under the integral sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import elementwise
from gradtape.core.tensor import plain
from gradtape.numpy_dispatch.protocols import BY_NAME
from gradtape.ops.elementwise import sinc
from gradtape.ops.special.declare import scipy_ufunc
from gradtape.ops.special.entropy import exprel
from gradtape.ops.special.hypergeometric import log1p_quotient
from gradtape.ops.special.rows import fixed, function_row, in_precision, refuse_complex, results_row, samples_of

# -- E_n' = -E_(n-1). SciPy has n from 0 up; E_(-m) = m! gammaincc(m + 1, x) / x^(m + 1)


def _expn_kernel(n: Any, x: Any) -> Any:
    refuse_complex(x)
    degree, z = np.broadcast_arrays(np.asarray(n), np.asarray(x, float))
    below = np.where(degree < 0, -degree, 0)
    found = scipy_ufunc("expn")(np.where(degree < 0, 0, degree), z)
    with np.errstate(divide="ignore", invalid="ignore"):
        rising = scipy_ufunc("gammaincc")(below + 1.0, z) * scipy_ufunc("gamma")(below + 1.0) / z ** (below + 1.0)
    return in_precision(np.where(degree < 0, rising, found), n, x)


exponential_integral: Op = elementwise(
    _expn_kernel,
    fixed("expn", "n", "which is a whole number"),
    lambda n, x: -exponential_integral(n - 1, x),
    name="exponential integral",
    names=("n", "x"),
    samples=samples_of([0, -1, -2], (0.5, 3.0)),
    doc="expn(n, x), also for negative n. Derivative: minus that of n - 1.",
)
expn = function_row(
    "expn",
    fixed("expn", "n", "which is a whole number"),
    lambda n, x: -exponential_integral(n - 1, x),
    names=("n", "x"),
    samples=samples_of([2, 1, 0], (0.5, 3.0)),
    doc=(
        "The integral of exp(-x t) / t^n from t = 1 up, for a constant integer n",
        "-expn(n - 1, x)",
        "expn(2, 0.5) -> 0.32664386, -0.55977359",
    ),
)

# -- sine and cosine integrals, plain and hyperbolic


def _sinhc(x: Any) -> Any:
    """sinh(x) / x, and 1 at 0; for complex numbers sin(i x) / (i x)"""
    return sinc(x * (1j / np.pi)) if x.dtype.kind == "c" else 0.5 * (exprel(x) + exprel(-x))


sici = results_row(
    "sici",
    lambda x: (sinc(x * (1 / np.pi)), np.cos(x) / x),
    domain=[(0.5, 4.0)],
    doc=(
        "The sine integral, of sin(t) / t from 0 to x, and the cosine integral, gamma + log(x) + of (cos(t) - 1) / t",
        "sin(x) / x and cos(x) / x",
        "sici(0.5) -> 0.49310742, -0.17778408",
    ),
)
shichi = results_row(
    "shichi",
    lambda x: (_sinhc(x), np.cosh(x) / x),
    domain=[(0.5, 4.0)],
    doc=(
        "The hyperbolic sine and cosine integrals",
        "sinh(x) / x and cosh(x) / x",
        "shichi(0.5) -> 0.50699675, -0.05277684",
    ),
)

# -- the dilogarithm, and solutions of w + log w = x and of w exp w = x

spence = function_row(
    "spence",
    lambda x: -log1p_quotient(x - 1),
    domain=[(0.5, 3.0)],
    doc=(
        "The dilogarithm: the integral of log(t) / (1 - t) from 1 to x",
        "log(x) / (1 - x)",
        "spence(2.0) -> -0.82246703, -0.69314718",
    ),
)
wrightomega = function_row(
    "wrightomega",
    lambda out: out / (1 + out),
    doc=(
        "Wright's omega function: the w with w + log(w) = x",
        "w / (1 + w)",
        "wrightomega(0.5) -> 0.76624861, 0.43382829",
    ),
)


def _lambertw_kernel(z: Any, k: Any, tol: float) -> Any:
    return in_precision(scipy_ufunc("_lambertw")(z, np.asarray(k, dtype="long"), tol), z)


_lambertw = elementwise(
    _lambertw_kernel,
    lambda out: np.exp(-out) / (1 + out),
    fixed("lambertw", "k", "which names a branch"),
    name="lambertw",
    names=("z", "k"),
    samples=lambda draw: [
        ((draw.between((0.5, 3.0), (2, 2)), 0), {"tol": 1e-8}),
        ((draw.between((0.5, 3.0), (2, 1)), np.array([0, 1])), {"tol": 1e-8}),
        ((draw.between((-0.3, -0.1), ()), -1), {"tol": 1e-8}),
    ],
)


def lambertw(z: Any, k: Any = 0, tol: float = 1e-8) -> Any:
    """Lambert's W: the w with w exp(w) = z, on the branch k; complex. Derivative: exp(-w) / (1 + w).

    >>> import gradtape as gt
    >>> gt.value_and_grad(lambda z: gt.special.lambertw(z).real)(gt.tensor(1.0))
    (Tensor(0.56714329), Tensor(0.36189626))
    """
    return _lambertw(z, k, tol=plain(tol))


BY_NAME["scipy.special._lambertw"] = lambertw
