"""Functions around Bessel's: Hankel, Kelvin, Struve, spherical ones, derivatives, integrals."""

from __future__ import annotations

from collections.abc import Callable
from math import comb, pi, sqrt
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import elementwise
from gradtape.ops.arguments import as_value
from gradtape.ops.special.bessel import _scaled_expansion, i0, iv, j0, jv, k0, kv, y0, yv
from gradtape.ops.special.declare import scipy_ufunc
from gradtape.ops.special.gamma import rgamma
from gradtape.ops.special.hypergeometric import hyp0f1
from gradtape.ops.special.parameter_derivative import by_parameter
from gradtape.ops.special.rows import (
    fixed,
    function_row,
    in_precision,
    refuse_complex,
    results_row,
    samples_of,
    samples_of_both,
)

POSITIVE = (0.5, 6.0)
ORDERS = [2, 0, 1]
MOVING = (0.3, 3.0)
_SAMPLES = samples_of_both(samples_of(MOVING, POSITIVE), samples_of(ORDERS, POSITIVE))

# -- of real numbers the scaled J and Y are the plain ones; of complex ones they are not analytic

jve: Op = function_row(
    "jve",
    lambda v, z: by_parameter(lambda v: jve(v, z), v),
    lambda v, z: 0.5 * (jve(v - 1, z) - jve(v + 1, z)),
    names=("v", "z"),
    real=True,
    samples=_SAMPLES,
    doc=(
        "jv(v, z) exp(-abs(z.imag)): jv for real z",
        "those of jv, for real z",
        "jve(2.0, 1.5) -> 0.23208767, -0.26541326, 0.24848628",
    ),
)
yve: Op = function_row(
    "yve",
    lambda v, z: by_parameter(lambda v: yve(v, z), v),
    lambda v, z: 0.5 * (yve(v - 1, z) - yve(v + 1, z)),
    names=("v", "z"),
    real=True,
    samples=_SAMPLES,
    doc=(
        "yv(v, z) exp(-abs(z.imag)): yv for real z",
        "those of yv, for real z",
        "yve(2.0, 1.5) -> -0.93219376, -0.5743527, 0.83061639",
    ),
)

# -- Hankel: J + i Y and J - i Y; scaled by exp(-i z) and exp(i z), where the derivatives of order n,
#    (S -+ i)^n with S f(v) = (f(v - 1) - f(v + 1)) / 2, cancel for large z. There they are those of the scaled K,
#    hankel1e(v, z) = 2 / (pi i) exp(-i pi v / 2) kve(v, -i z), from its expansion.


def _hankel(name: str, kind: int) -> Op:
    row: Op = elementwise(
        lambda v, z: in_precision(scipy_ufunc(name)(v, z), v, z),
        lambda v, z: by_parameter(lambda v: row(v, z), v),
        lambda v, z: 0.5 * (row(v - 1, z) - row(v + 1, z)),
        name=name,
        names=("v", "z"),
        answers=[f"scipy.special.{name}"],
        samples=_SAMPLES,
        doc=f"""The Hankel function of kind {kind}. Derivatives: as those of jv.

    >>> import gradtape as gt
    >>> gt.special.{name}(2, gt.tensor(1.5))
    Tensor(0.23208767{"-+"[kind - 1]}0.93219376j, dtype=complex128)
    """,
    )
    return row


hankel1, hankel2 = _hankel("hankel1", 1), _hankel("hankel2", 2)


def _scaled_hankel(v: Any, z: Any, kind: int, order: int) -> Any:
    refuse_complex(v)
    order_of, x = np.asarray(v, float), np.asarray(z, complex)
    sign = 1 if kind == 1 else -1
    with np.errstate(all="ignore"):
        total = np.zeros(np.broadcast_shapes(order_of.shape, x.shape), complex)
        for n in range(order + 1):
            each = (
                comb(n, i) * (-1) ** i * scipy_ufunc(f"hankel{kind}e")(order_of - n + 2 * i, x) for i in range(n + 1)
            )
            total = total + comb(order, n) * (-1j * sign) ** (order - n) * sum(each) / 2**n
        far = (np.abs(x) > 50 + 2 * order_of * order_of) & (x.real > 0)
        turned = np.where(far, x, 100 + 2 * order_of * order_of) * (-1j * sign)
        scale = -2j * sign / pi * np.exp(-0.5j * sign * pi * order_of) * (-1j * sign) ** order
        found = np.where(far, scale * _scaled_expansion(order_of, turned, "kve", order), total)
    return in_precision(found, v, z)


scaled_hankel: Op = elementwise(
    _scaled_hankel,
    lambda v, z, kind, order: by_parameter(lambda v: scaled_hankel(v, z, kind=kind, order=order), v),
    lambda v, z, kind, order: scaled_hankel(v, z, kind=kind, order=order + 1),
    name="derivative of hankel1e or hankel2e",
    names=("v", "z"),
    samples=lambda draw: [
        ((2, draw.between(POSITIVE, (2,))), {"kind": 1, "order": 1}),
        ((draw.between(MOVING, ()), draw.between(POSITIVE, ())), {"kind": 2, "order": 2}),
        ((np.array([0, 1]), draw.between((80.0, 99.0), (2,))), {"kind": 1, "order": 1}),
        ((draw.between(MOVING, (2,)), draw.between((80.0, 99.0), (2,))), {"kind": 2, "order": 1}),
    ],
    doc="A derivative of hankel1e or hankel2e by z, of the given order. Derivatives: by v, numerically; the next one.",
)


def _hankel_scaled(name: str, kind: int) -> Op:
    row: Op = elementwise(
        lambda v, z: in_precision(scipy_ufunc(name)(v, z), v, z),
        lambda v, z: by_parameter(lambda v: row(v, z), v),
        lambda v, z: scaled_hankel(v, z, kind=kind, order=1),
        name=name,
        names=("v", "z"),
        answers=[f"scipy.special.{name}"],
        samples=_SAMPLES,
        doc=f"""hankel{kind}(v, z) exp({"-+"[kind - 1]}i z). Derivatives: by v, numerically; by z, that of the product.

    >>> import gradtape as gt
    >>> gt.special.{name}(2, gt.tensor(1.5))
    Tensor(-0.91344137{"-+"[kind - 1]}0.29744707j, dtype=complex128)
    """,
    )
    return row


hankel1e, hankel2e = _hankel_scaled("hankel1e", 1), _hankel_scaled("hankel2e", 2)


# -- derivatives of a given order n


def _derivative(row: Op, v: Any, z: Any, n: int, towards: float, factor: float) -> Any:
    """(factor / 2)^n times the sum of binomial coefficients times towards^k times the function of order v - n + 2k."""
    each = (comb(n, k) * towards**k * row(v - n + 2 * k, z) for k in range(n + 1))
    return sum(each) * (0.5 * factor) ** n


def _nth(name: str, row: Op, towards: float, factor: float, numbers: str) -> Callable[..., Any]:
    def derivative(v: Any, z: Any, n: int = 1) -> Any:
        return _derivative(row, as_value(v) if not isinstance(v, int | float) else v, z, n, towards, factor)

    derivative.__name__ = name
    shown = f"gt.special.{name}(2, gt.tensor(1.5))"
    derivative.__doc__ = f"""The n-th derivative of {row.name}(v, z) by z, differentiable in v and z.

    >>> import gradtape as gt
    >>> {shown}
    Tensor({numbers})
    """
    return derivative


jvp = _nth("jvp", jv, -1.0, 1.0, "0.24848628")
yvp = _nth("yvp", yv, -1.0, 1.0, "0.83061639")
ivp = _nth("ivp", iv, 1.0, 1.0, "0.53122027")
kvp = _nth("kvp", kv, 1.0, -1.0, "-1.05559575")
h1vp = _nth("h1vp", hankel1, -1.0, 1.0, "0.24848628+0.83061639j, dtype=complex128")
h2vp = _nth("h2vp", hankel2, -1.0, 1.0, "0.24848628-0.83061639j, dtype=complex128")

# -- spherical: (2n + 1) f_n' = n f_(n-1) - (n + 1) f_(n+1) for j and y; with + for i, and -n, - for k


def _spherical(letter: str, below: float, above: float, numbers: str) -> tuple[Op, Callable[..., Any]]:
    name = f"spherical_{letter}n"

    def slope(n: Any, z: Any) -> Any:
        return (below * n * row(n - (n > 0), z) + above * (n + 1) * row(n + 1, z)) / (2 * n + 1)

    row: Op = elementwise(
        lambda n, z: in_precision(scipy_ufunc(name)(n, z), n, z),
        fixed(name, "n", "which is a whole number"),
        slope,
        name=name,
        names=("n", "z"),
        samples=samples_of(ORDERS, POSITIVE),
    )

    def function(n: Any, z: Any, derivative: bool = False) -> Any:
        return slope(n, as_value(z)) if derivative else row(n, z)

    function.__name__ = name
    function.__doc__ = f"""The spherical Bessel function of integer order n, or its derivative, differentiable in z.

    >>> import gradtape as gt
    >>> gt.value_and_grad(lambda z: gt.special.{name}(2, z))(gt.tensor(1.5))
    ({", ".join(f"Tensor({number})" for number in numbers.split(", "))})
    """
    return row, function


_jn, spherical_jn = _spherical("j", 1.0, -1.0, "0.12734928, 0.1414744")
_yn, spherical_yn = _spherical("y", 1.0, -1.0, "-1.34571269, 1.99498997")
_in, spherical_in = _spherical("i", 1.0, 1.0, "0.17566633, 0.27059399")
_kn, spherical_kn = _spherical("k", -1.0, -1.0, "1.01253255, -2.41450069")


def _riccati(row: Op, function: Callable[..., Any], n: Any, x: Any) -> tuple[Any, Any]:
    orders, x = np.arange(int(n) + 1), as_value(x)
    values = row(orders, x)
    return x * values, values + x * function(orders, x, derivative=True)


def riccati_jn(n: int, x: Any) -> tuple[Any, Any]:
    """x j_k(x) for k = 0, ..., n, with the spherical Bessel functions j_k, and their derivatives, differentiable in x.

    >>> import gradtape as gt
    >>> gt.special.riccati_jn(1, gt.tensor(1.5))
    (Tensor([0.99749499, 0.59425946]), Tensor([0.0707372 , 0.60132202]))
    """
    return _riccati(_jn, spherical_jn, n, x)


def riccati_yn(n: int, x: Any) -> tuple[Any, Any]:
    """x y_k(x) for k = 0, ..., n, with the spherical functions y_k, and their derivatives, differentiable in x.

    >>> import gradtape as gt
    >>> gt.special.riccati_yn(1, gt.tensor(1.5))
    (Tensor([-0.0707372 , -1.04465312]), Tensor([0.99749499, 0.62569821]))
    """
    return _riccati(_yn, spherical_yn, n, x)


def lmbda(v: float, x: Any) -> tuple[Any, Any]:
    """Jahnke's and Emde's Lambda functions of the orders v0, v0 + 1, ..., v, 0 <= v0 < 1, and their derivatives in x.

    Lambda_v(x) = gamma(v + 1) (2 / x)^v jv(v, x), which is hyp0f1(v + 1, -x^2 / 4).

    >>> import gradtape as gt
    >>> gt.special.lmbda(1, gt.tensor(1.5))
    (Tensor([0.51182767, 0.74391534]), Tensor([-0.55793651, -0.30945023]))
    """
    orders, x = v - int(v) + np.arange(int(v) + 1), as_value(x)
    argument = -0.25 * x * x
    return hyp0f1(orders + 1, argument), -0.5 * x * hyp0f1(orders + 2, argument) / (orders + 1)


# -- Kelvin: f = ber + i bei and ker + i kei solve f'' + f' / x = i f


def _second(first: Any, other: Any, x: Any, sign: float) -> Any:
    """ber'' = -bei - ber' / x and bei'' = ber - bei' / x; at 0 half of the first term"""
    here = x == 0
    return sign * other * np.where(here, 0.5, 1).astype(x.dtype) - np.where(here, 0, first) / np.where(here, 1, x)


def _kelvin(name: str, slope: Any, doc: tuple[str, str, str]) -> Op:
    bounds = (-2.0, 2.0) if name.startswith("be") else (0.5, 3.0)
    return function_row(name, slope, domain=[bounds], doc=doc)


ber: Op = _kelvin(
    "ber", lambda x: berp(x), ("The Kelvin function ber", "berp(x)", "ber(1.5) -> 0.92107218, -0.21001102")
)
bei: Op = _kelvin(
    "bei", lambda x: beip(x), ("The Kelvin function bei", "beip(x)", "bei(1.5) -> 0.55756006, 0.73025067")
)
ker: Op = _kelvin(
    "ker", lambda x: kerp(x), ("The Kelvin function ker", "kerp(x)", "ker(1.5) -> 0.05293492, -0.2941816")
)
kei: Op = _kelvin(
    "kei", lambda x: keip(x), ("The Kelvin function kei", "keip(x)", "kei(1.5) -> -0.33139556, 0.29560809")
)
berp: Op = _kelvin(
    "berp",
    lambda x, out: _second(out, bei(x), x, -1.0),
    ("The derivative of ber", "-bei(x) - berp(x) / x", "berp(1.5) -> -0.21001102, -0.41755272"),
)
beip: Op = _kelvin(
    "beip",
    lambda x, out: _second(out, ber(x), x, 1.0),
    ("The derivative of bei", "ber(x) - beip(x) / x", "beip(1.5) -> 0.73025067, 0.4342384"),
)
kerp: Op = _kelvin(
    "kerp",
    lambda x, out: _second(out, kei(x), x, -1.0),
    ("The derivative of ker", "-kei(x) - kerp(x) / x", "kerp(1.5) -> -0.2941816, 0.52751663"),
)
keip: Op = _kelvin(
    "keip",
    lambda x, out: _second(out, ker(x), x, 1.0),
    ("The derivative of kei", "ker(x) - keip(x) / x", "keip(1.5) -> 0.29560809, -0.14413714"),
)
kelvin = results_row(
    "kelvin",
    lambda x, out: (out[2], out[3], 1j * out[0] - out[2] / x, 1j * out[1] - out[3] / x),
    domain=[(0.5, 3.0)],
    doc=(
        "The Kelvin functions as complex numbers: ber + i bei, ker + i kei, and the derivatives of both",
        "those of ber, bei, ker, kei",
        "kelvin(1.5) -> 0.92107218+0.55756006j, 0.05293492-0.33139556j, -0.21001102+0.73025067j, "
        "-0.2941816+0.29560809j",
    ),
)

# -- Struve: 2 H_v' = H_(v-1) - H_(v+1) + t and 2 L_v' = L_(v-1) + L_(v+1) + t, t = (x/2)^v / (sqrt(pi) gamma(v + 3/2)).
#    For large x the last two terms of H_v' cancel; there it is H_(v-1) - v / x H_v.


def _struve_term(v: Any, x: Any) -> Any:
    return (0.5 * x) ** v * rgamma(v + 1.5 + 0 * x) / sqrt(pi)


def _struve_slope(v: Any, x: Any, out: Any) -> Any:
    far = np.abs(x) > 4 + 2 * np.abs(v)
    near, large = np.where(far, 1, x), np.where(far, x, 1)
    direct = 0.5 * (struve(v - 1, x) - struve(v + 1, near) + _struve_term(v, near))
    return np.where(far, struve(v - 1, x) - v * out / large, direct)


struve: Op = function_row(
    "struve",
    lambda v, x: by_parameter(lambda v: struve(v, x), v),
    _struve_slope,
    names=("v", "x"),
    samples=samples_of_both(samples_of(MOVING, (0.5, 12.0)), samples_of([2, 0, 1], (0.5, 12.0))),
    doc=(
        "The Struve function",
        "by v, numerically; by x, struve(v - 1, x) - v / x struve(v, x)",
        "struve(2.0, 1.5) -> 0.12863772, -0.1749041, 0.23877151",
    ),
)
modstruve: Op = function_row(
    "modstruve",
    lambda v, x: by_parameter(lambda v: modstruve(v, x), v),
    lambda v, x: 0.5 * (modstruve(v - 1, x) + modstruve(v + 1, x) + _struve_term(v, x)),
    names=("v", "x"),
    samples=_SAMPLES,
    doc=(
        "The modified Struve function",
        "by v, numerically; by x, modstruve(v - 1, x) - v / x modstruve(v, x)",
        "modstruve(2.0, 1.5) -> 0.15937675, -0.22645783, 0.34135458",
    ),
)

# -- integrals


def _distance_over(function: Op, x: Any, sign: float) -> Any:
    """sign (f(x) - 1) / x for f = J_0 or I_0, and near 0 its series sum_k (sign x^2 / 4)^k / k!^2 / x"""
    near = np.abs(x) < 1
    small, large = np.where(near, x, 0), np.where(near, 1, x)
    total, term = 0 * small, 0.25 * small
    for k in range(1, 12):
        total = total + term
        term = term * small * small * (sign * 0.25 / (k + 1) ** 2)
    return np.where(near, total, sign * (function(large) - 1) / large)


itj0y0 = results_row(
    "itj0y0",
    lambda x: (j0(x), y0(x)),
    domain=[(0.5, 4.0)],
    doc=("The integrals of j0 and y0 from 0 to x", "j0(x) and y0(x)", "itj0y0(1.5) -> 1.24144951, -0.51175903"),
)
iti0k0 = results_row(
    "iti0k0",
    lambda x: (i0(x), k0(x)),
    domain=[(0.5, 4.0)],
    doc=("The integrals of i0 and k0 from 0 to x", "i0(x) and k0(x)", "iti0k0(1.5) -> 1.80606937, 1.39458246"),
)
it2j0y0 = results_row(
    "it2j0y0",
    lambda x: (_distance_over(j0, x, -1.0), -y0(x) / x),
    domain=[(0.5, 4.0)],
    doc=(
        "The integrals of (1 - j0(t)) / t from 0 to x, and of y0(t) / t from x up",
        "(1 - j0(x)) / x and -y0(x) / x",
        "it2j0y0(1.5) -> 0.26227724, 0.29769696",
    ),
)
it2i0k0 = results_row(
    "it2i0k0",
    lambda x: (_distance_over(i0, x, 1.0), -k0(x) / x),
    domain=[(0.5, 4.0)],
    doc=(
        "The integrals of (i0(t) - 1) / t from 0 to x, and of k0(t) / t from x up",
        "(i0(x) - 1) / x and -k0(x) / x",
        "it2i0k0(1.5) -> 0.30187149, 0.0823715",
    ),
)
itstruve0 = function_row(
    "itstruve0",
    lambda x: struve(0.0, x),
    domain=[(0.5, 4.0)],
    doc=("The integral of struve(0, t) from 0 to x", "struve(0, x)", "itstruve0(1.5) -> 0.63186313, 0.73672347"),
)
it2struve0 = function_row(
    "it2struve0",
    lambda x: -struve(0.0, x) / x,
    domain=[(0.5, 4.0)],
    doc=(
        "The integral of struve(0, t) / t from x up",
        "-struve(0, x) / x",
        "it2struve0(1.5) -> 0.6912849, -0.49114898",
    ),
)
itmodstruve0 = function_row(
    "itmodstruve0",
    lambda x: modstruve(0.0, x),
    domain=[(0.5, 4.0)],
    doc=(
        "The integral of modstruve(0, t) from 0 to x",
        "modstruve(0, x)",
        "itmodstruve0(1.5) -> 0.81128254, 1.21616251",
    ),
)
besselpoly: Op = function_row(
    "besselpoly",
    lambda a, lmb, nu: besselpoly(a, lmb + 1, nu - 1) - besselpoly(a, lmb + 1, nu + 1),
    lambda a, lmb, nu: by_parameter(lambda lmb: besselpoly(a, lmb, nu), lmb, lmb + nu + 1),
    lambda a, lmb, nu: by_parameter(lambda nu: besselpoly(a, lmb, nu), nu, lmb + nu + 1),
    names=("a", "lmb", "nu"),
    samples=samples_of_both(samples_of((0.5, 2.0), [1, 2], [1, 2]), samples_of((0.5, 2.0), (0.5, 2.0), (0.5, 2.0))),
    doc=(
        "The integral of t^lmb jv(nu, 2 a t) from 0 to 1, for lmb + nu > -1",
        "by lmb and nu, numerically; by a, besselpoly(a, lmb + 1, nu - 1) - besselpoly(a, lmb + 1, nu + 1)",
        "besselpoly(1.5, 1.0, 2.0) -> 0.16699189, 0.10140498, -0.05024905, -0.10452548",
    ),
)
