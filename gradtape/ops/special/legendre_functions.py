"""Legendre functions, plain and associated, and spherical harmonics. Of lpmv the degree is continuous.

SciPy's functions give the first two derivatives too; the third and all others follow from the differential equation.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import elementwise
from gradtape.errors import OperandError
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.special.orthogonal_polynomials import gegenbauer_derivative
from gradtape.ops.special.parameter_derivative import by_parameter
from gradtape.ops.special.rows import fixed, function_row, in_precision, refuse_complex, samples_of, samples_of_both

WHOLE = "which is a whole number"


def _scipys(name: str) -> Any:
    """SciPy's function, which is several ufuncs in one."""
    return getattr(importlib.import_module("scipy.special"), name)


# -- P_v^m of real x: (1 - x^2) P' = (v + m) P_(v-1) - v x P_v; at the ends the limit, for m = 0 and m = 2;
#    at -1 there is one for whole v only


def _lpmv_slope(m: Any, v: Any, x: Any, out: Any) -> Any:
    end = np.abs(x) == 1
    inside = np.where(end, 0, x)
    between = ((v + m) * lpmv(m, v - 1, inside) - v * inside * out) / (1 - inside * inside)
    power = np.where(x < 0, -np.cos(np.pi * v), 1)
    zeroth = 0.5 * v * (v + 1) * power
    second = -0.25 * (v - 1) * v * (v + 1) * (v + 2) * power
    first = np.where(m == 1, np.inf, 0.0) * np.sign(power)
    at_end = np.where(m == 0, zeroth, np.where(m == 2, second, first)).astype(x.dtype)
    return np.where(end, np.where((x < 0) & (v != np.round(v)), np.nan, at_end), between)


lpmv: Op = function_row(
    "lpmv",
    fixed("lpmv", "m", WHOLE),
    lambda m, v, x: by_parameter(lambda v: lpmv(m, v, x), v),
    _lpmv_slope,
    names=("m", "v", "x"),
    samples=samples_of_both(samples_of([1, 0], (0.5, 3.0), (-0.9, 0.9)), samples_of([1, 0], [2, 3], (-0.9, 0.9))),
    doc=(
        "The associated Legendre function of order m and degree v, for -1 <= x <= 1",
        "by v, numerically; by x, ((v + m) lpmv(m, v - 1, x) - v x lpmv(m, v, x)) / (1 - x^2)",
        "lpmv(1, 2.0, 0.5) -> -1.29903811, 0.22937241, -1.73205081",
    ),
)


# -- legendre_p, assoc_legendre_p and sph_legendre_p, of which SciPy has two derivatives


legendre_derivative: Op = elementwise(
    lambda n, z: in_precision(_scipys("legendre_p")(n, z)[0], n, z),
    fixed("legendre_p", "n", WHOLE),
    lambda n, z: gegenbauer_derivative(n - 1, 1.5, z, order=0),
    name="legendre_p",
    names=("n", "z"),
    samples=samples_of([3, 2, 0], (-0.9, 0.9)),
)


def _associated_kernel(n: Any, m: Any, z: Any, order: int, norm: bool, branch_cut: int) -> Any:
    refuse_complex(z)
    found = _scipys("assoc_legendre_p")(n, m, z, branch_cut=branch_cut, norm=norm, diff_n=order)
    return in_precision(found[order], n, m, z)


def _associated_slope(n: Any, m: Any, z: Any, order: int, norm: bool, branch_cut: int) -> Any:
    def at(order: int) -> Any:
        return associated_legendre(n, m, z, order=order, norm=norm, branch_cut=branch_cut)

    if order < 2:
        return at(order + 1)
    rest = 1 - z * z
    return (4 * z * at(2) - (n * (n + 1) - 2 - m * m / rest) * at(1) + 2 * m * m * z / rest**2 * at(0)) / rest


associated_legendre: Op = elementwise(
    _associated_kernel,
    fixed("assoc_legendre_p", "n", WHOLE),
    fixed("assoc_legendre_p", "m", WHOLE),
    _associated_slope,
    name="assoc_legendre_p",
    names=("n", "m", "z"),
    samples=lambda draw: [
        ((3, 1, draw.between((-0.9, 0.9), (3,))), {"order": 0, "norm": False, "branch_cut": 2}),
        ((np.array([3, 2]), 2, draw.between((-0.9, 0.9), (2,))), {"order": 1, "norm": True, "branch_cut": 2}),
        ((3, np.array([-1, 2]), draw.between((-0.9, 0.9), (2,))), {"order": 2, "norm": False, "branch_cut": 2}),
    ],
)


def _spherical_kernel(n: Any, m: Any, theta: Any, order: int) -> Any:
    refuse_complex(theta)
    return in_precision(_scipys("sph_legendre_p")(n, m, theta, diff_n=order)[order], n, m, theta)


def _spherical_slope(n: Any, m: Any, theta: Any, order: int) -> Any:
    def at(order: int) -> Any:
        return spherical_legendre(n, m, theta, order=order)

    if order < 2:
        return at(order + 1)
    s, c = np.sin(theta), np.cos(theta)  # y'' + cot y' + (n (n + 1) - m^2 / sin^2) y = 0, differentiated
    weight = n * (n + 1) - (m * m + 1) / (s * s)
    return -c / s * at(2) - weight * at(1) - 2 * m * m * c / s**3 * at(0)


spherical_legendre: Op = elementwise(
    _spherical_kernel,
    fixed("sph_legendre_p", "n", WHOLE),
    fixed("sph_legendre_p", "m", WHOLE),
    _spherical_slope,
    name="sph_legendre_p",
    names=("n", "m", "theta"),
    samples=lambda draw: [
        ((3, 1, draw.between((0.2, 2.9), (3,))), {"order": 0}),
        ((np.array([3, 2]), 2, draw.between((0.2, 2.9), (2,))), {"order": 1}),
        ((3, np.array([-1, 2]), draw.between((0.2, 2.9), (2,))), {"order": 2}),
    ],
)


def _orders(name: str, diff_n: int) -> range:
    if diff_n not in (0, 1, 2):
        raise argument_error(OperandError, f"{name}: diff_n={diff_n!r}.", "diff_n is 0, 1 or 2")
    return range(diff_n + 1)


def legendre_p(n: Any, z: Any, *, diff_n: int = 0) -> Any:
    """The Legendre polynomial of degree n, with as many of its derivatives as `diff_n` says in front.

    >>> import gradtape as gt
    >>> gt.value_and_grad(lambda z: gt.special.legendre_p(3, z)[0])(gt.tensor(0.5))
    (Tensor(-0.4375), Tensor(0.375))
    """
    values: list[Any] = [legendre_derivative, _first_derivative, _second_derivative]
    z = as_value(z)
    return np.stack([values[order](n, z) for order in _orders("legendre_p", diff_n)])


def _first_derivative(n: Any, z: Any) -> Any:
    return gegenbauer_derivative(n - 1, 1.5, z, order=0)


def _second_derivative(n: Any, z: Any) -> Any:
    return 3 * gegenbauer_derivative(n - 2, 2.5, z, order=0)


def legendre_p_all(n: int, z: Any, *, diff_n: int = 0) -> Any:
    """legendre_p of all degrees up to n: of shape (diff_n + 1, n + 1, ...).

    >>> import gradtape as gt
    >>> gt.special.legendre_p_all(2, gt.tensor(0.5))
    Tensor([[ 1.   ,  0.5  , -0.125]])
    """
    z = as_value(z)
    return legendre_p(np.arange(n + 1).reshape(-1, *(1,) * z.ndim), z, diff_n=diff_n)


def assoc_legendre_p(n: Any, m: Any, z: Any, *, branch_cut: int = 2, norm: bool = False, diff_n: int = 0) -> Any:
    """The associated Legendre function of degree n and order m, with as many derivatives as `diff_n` says in front.

    >>> import gradtape as gt
    >>> gt.value_and_grad(lambda z: gt.special.assoc_legendre_p(2, 1, z)[0])(gt.tensor(0.5))
    (Tensor(-1.29903811), Tensor(-1.73205081))
    """
    orders = _orders("assoc_legendre_p", diff_n)
    z = as_value(z)
    return np.stack([associated_legendre(n, m, z, order=order, norm=norm, branch_cut=branch_cut) for order in orders])


def _all_orders(n: int, m: int, ndim: int) -> tuple[Any, Any]:
    """The degrees 0, ..., n along one axis, the orders 0, ..., m, -m, ..., -1 along another."""
    orders = np.concatenate([np.arange(abs(m) + 1), np.arange(-abs(m), 0)])
    return np.arange(n + 1).reshape(-1, 1, *(1,) * ndim), orders.reshape(-1, *(1,) * ndim)


def assoc_legendre_p_all(n: int, m: int, z: Any, *, branch_cut: int = 2, norm: bool = False, diff_n: int = 0) -> Any:
    """assoc_legendre_p of all degrees up to n and orders up to m: of shape (diff_n + 1, n + 1, 2 m + 1, ...).

    >>> import gradtape as gt
    >>> gt.special.assoc_legendre_p_all(1, 1, gt.tensor(0.5))
    Tensor([[[ 1.       ,  0.       ,  0.       ],
             [ 0.5      , -0.8660254,  0.4330127]]])
    """
    z = as_value(z)
    return assoc_legendre_p(*_all_orders(n, m, z.ndim), z, branch_cut=branch_cut, norm=norm, diff_n=diff_n)


def sph_legendre_p(n: Any, m: Any, theta: Any, *, diff_n: int = 0) -> Any:
    """The spherical Legendre function of degree n and order m at a polar angle, with derivatives in front.

    >>> import gradtape as gt
    >>> gt.value_and_grad(lambda t: gt.special.sph_legendre_p(2, 1, t)[0])(gt.tensor(0.5))
    (Tensor(-0.32503853), Tensor(-0.41740968))
    """
    theta = as_value(theta)
    return np.stack([spherical_legendre(n, m, theta, order=order) for order in _orders("sph_legendre_p", diff_n)])


def sph_legendre_p_all(n: int, m: int, theta: Any, *, diff_n: int = 0) -> Any:
    """sph_legendre_p of all degrees up to n and orders up to m: of shape (diff_n + 1, n + 1, 2 m + 1, ...).

    >>> import gradtape as gt
    >>> gt.special.sph_legendre_p_all(1, 1, gt.tensor(0.5))
    Tensor([[[ 0.28209479,  0.        ,  0.        ],
             [ 0.42878904, -0.16563872,  0.16563872]]])
    """
    theta = as_value(theta)
    return sph_legendre_p(*_all_orders(n, m, theta.ndim), theta, diff_n=diff_n)


def sph_harm_y(n: Any, m: Any, theta: Any, phi: Any, *, diff_n: int = 0) -> Any:
    """The spherical harmonic of degree n and order m at a polar angle theta and an azimuth phi; complex.

    With diff_n=1 also its gradient by theta and phi, along a last axis, and with diff_n=2 its Hessian along two more.

    >>> import gradtape as gt
    >>> gt.grad(lambda t: gt.special.sph_harm_y(2, 1, t, 0.3).real)(gt.tensor(0.5))
    Tensor(-0.3987667)
    """
    orders = _orders("sph_harm_y", diff_n)
    theta, phi = as_value(theta), as_value(phi)
    turn = np.exp(1j * m * phi)
    along = [spherical_legendre(n, m, theta, order=order) * turn for order in orders]
    if diff_n == 0:
        return along[0]
    turned = 1j * m
    gradient = np.stack([along[1], turned * along[0]], axis=-1)
    if diff_n == 1:
        return along[0], gradient
    mixed = turned * along[1]
    rows = [np.stack([along[2], mixed], axis=-1), np.stack([mixed, turned * turned * along[0]], axis=-1)]
    return along[0], gradient, np.stack(rows, axis=-2)


def sph_harm_y_all(n: int, m: int, theta: Any, phi: Any, *, diff_n: int = 0) -> Any:
    """sph_harm_y of all degrees up to n and orders up to m: of shape (n + 1, 2 m + 1, ...).

    >>> import gradtape as gt
    >>> gt.special.sph_harm_y_all(1, 0, gt.tensor(0.5), 0.0).real
    Tensor([[0.28209479],
            [0.42878904]])
    """
    theta, phi = as_value(theta), as_value(phi)
    ndim = max(theta.ndim, phi.ndim)
    return sph_harm_y(*_all_orders(n, m, ndim), theta, phi, diff_n=diff_n)
