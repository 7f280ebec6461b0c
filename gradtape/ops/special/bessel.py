"""Bessel functions of the first and second kind, plain, modified and scaled.

By the order v their derivatives are numerical (`parameter_derivative`). By x they come from the functions of the
neighbouring orders: 2 C_v' = C_(v-1) - C_(v+1) for C = J, Y, 2 I_v' = I_(v-1) + I_(v+1), 2 K_v' = -K_(v-1) - K_(v+1).
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import elementwise
from gradtape.core.typing import Array
from gradtape.ops.special.declare import no_slope, result_dtype, row, scipy_kernel, scipy_ufunc
from gradtape.ops.special.parameter_derivative import by_parameter

POSITIVE = (0.5, 6.0)


def _whole_order_samples(draw: Any) -> list[Any]:
    return [
        ((np.array([0, 1, 2]), draw.between(POSITIVE, (3,))), {}),
        ((np.array([[0], [3]]), draw.between(POSITIVE, (3,))), {}),
        ((2, draw.between(POSITIVE, (2, 3))), {}),
        ((1, draw.between(POSITIVE, ())), {}),
        ((0, draw.between(POSITIVE, (0, 3))), {}),
    ]


def _order_samples(draw: Any) -> list[Any]:
    return [
        ((np.array([0, 1, 2]), draw.between(POSITIVE, (3,))), {}),
        ((draw.between((-0.7, 3.0), (2, 1)), draw.between(POSITIVE, (3,))), {}),
        ((draw.between((0.3, 3.0), (3,)), draw.between(POSITIVE, (2, 3))), {}),
        ((draw.between((0.3, 3.0), ()), draw.between(POSITIVE, ())), {}),
        ((0, draw.between(POSITIVE, (0, 3))), {}),
    ]


def _of_order(name: str, slope: Callable[..., Any], what: str, derivative: str, numbers: str, kernel: Any = None) -> Op:
    """A function of an order v and of x."""
    value, by_order, by_x = numbers.split(", ")
    text = f"""{what}. Derivatives: by the order v, numerically; by x, {derivative}.

    >>> import gradtape as gt
    >>> gt.value_and_grad(gt.special.{name}, (0, 1))(gt.tensor(2.0), gt.tensor(1.0))
    (Tensor({value}), (Tensor({by_order}), Tensor({by_x})))
    """
    own: Op = elementwise(
        kernel or scipy_kernel(name),
        lambda v, x: by_parameter(lambda v: own(v, x), v),
        slope,
        name=name,
        names=("v", "x"),
        answers=[f"scipy.special.{name}"],
        samples=_order_samples,
        doc=text,
    )
    return own


def _of_whole_order(name: str, slope: Callable[..., Any], what: str, derivative: str, numbers: str) -> Op:
    """A function of an integer order, for which SciPy answers in double precision, and of x."""
    text = f"""{what} of integer order. Derivative: {derivative}.

    >>> import gradtape as gt
    >>> gt.value_and_grad(lambda x: gt.special.{name}(2, x))(gt.tensor(1.0))
    ({", ".join(f"Tensor({number})" for number in numbers.split(", "))})
    """
    return elementwise(
        lambda v, x: scipy_ufunc(name)(v, x).astype(result_dtype(v, x)),
        no_slope(name, "the order, which is a whole number", f"{name[0]}v has a derivative by the order"),
        slope,
        name=name,
        names=("v", "x"),
        answers=[f"scipy.special.{name}"],
        samples=_whole_order_samples,
        doc=text,
    )


# -- plain

jv: Op = _of_order(
    "jv",
    lambda v, x: 0.5 * (jv(v - 1, x) - jv(v + 1, x)),
    "The Bessel function of the first kind",
    "(jv(v - 1, x) - jv(v + 1, x)) / 2",
    "0.11490348, -0.18238963, 0.21024362",
)
yv: Op = _of_order(
    "yv",
    lambda v, x: 0.5 * (yv(v - 1, x) - yv(v + 1, x)),
    "The Bessel function of the second kind",
    "(yv(v - 1, x) - yv(v + 1, x)) / 2",
    "-1.65068261, -1.56640169, 2.52015239",
)
yn: Op = _of_whole_order(
    "yn",
    lambda v, x: 0.5 * (yn(v - 1, x) - yn(v + 1, x)),
    "The Bessel function of the second kind",
    "(yn(v - 1, x) - yn(v + 1, x)) / 2",
    "-1.65068261, 2.52015239",
)
jn = jv
j0: Op = row("j0", lambda x: -j1(x), doc=("jv(0, x)", "-j1(x)", "j0(1.0) -> 0.76519769, -0.44005059"))
j1: Op = row(
    "j1",
    lambda x: 0.5 * (j0(x) - jv(2, x)),
    doc=("jv(1, x)", "(j0(x) - jv(2, x)) / 2", "j1(1.0) -> 0.44005059, 0.3251471"),
)
y0: Op = row("y0", lambda x: -y1(x), domain=[POSITIVE], doc=("yv(0, x)", "-y1(x)", "y0(1.0) -> 0.08825696, 0.78121282"))
y1: Op = row(
    "y1",
    lambda x: 0.5 * (y0(x) - yn(2, x)),
    domain=[POSITIVE],
    doc=("yv(1, x)", "(y0(x) - yv(2, x)) / 2", "y1(1.0) -> -0.78121282, 0.86946979"),
)

# -- modified

iv: Op = _of_order(
    "iv",
    lambda v, x: 0.5 * (iv(v - 1, x) + iv(v + 1, x)),
    "The modified Bessel function of the first kind",
    "(iv(v - 1, x) + iv(v + 1, x)) / 2",
    "0.13574767, -0.22302535, 0.29366376",
)
kv: Op = _of_order(
    "kv",
    lambda v, x: -0.5 * (kv(v - 1, x) + kv(v + 1, x)),
    "The modified Bessel function of the second kind",
    "-(kv(v - 1, x) + kv(v + 1, x)) / 2",
    "1.6248389, 2.04586334, -3.85158503",
)
kn: Op = _of_whole_order(
    "kn",
    lambda v, x: -0.5 * (kn(v - 1, x) + kn(v + 1, x)),
    "The modified Bessel function of the second kind",
    "-(kn(v - 1, x) + kn(v + 1, x)) / 2",
    "1.6248389, -3.85158503",
)
i0: Op = row("i0", lambda x: i1(x), answers=[np.i0], doc=("iv(0, x)", "i1(x)", "i0(1.0) -> 1.26606588, 0.5651591"))
i1: Op = row(
    "i1",
    lambda x: 0.5 * (i0(x) + iv(2, x)),
    doc=("iv(1, x)", "(i0(x) + iv(2, x)) / 2", "i1(1.0) -> 0.5651591, 0.70090677"),
)
k0: Op = row(
    "k0", lambda x: -k1(x), domain=[POSITIVE], doc=("kv(0, x)", "-k1(x)", "k0(1.0) -> 0.42102444, -0.60190723")
)
k1: Op = row(
    "k1",
    lambda x: -0.5 * (k0(x) + kn(2, x)),
    domain=[POSITIVE],
    doc=("kv(1, x)", "-(k0(x) + kv(2, x)) / 2", "k1(1.0) -> 0.60190723, -1.02293167"),
)

# -- scaled: exp(-|x|) I_v(x) and exp(x) K_v(x). With S f(v) = (f(v - 1) + f(v + 1)) / 2 the derivatives are
#    (S - sign x)^n ive and (1 - S)^n kve, which cancels for large x. There they are taken from the expansions
#    ive sqrt(2 pi x) = sum (-1)^k a_k / x^k,  kve sqrt(2 x / pi) = sum a_k / x^k,
#    a_k = (4v^2 - 1)(4v^2 - 9) ... (4v^2 - (2k-1)^2) / (k! 8^k), term by term.

TERMS = 18


def _scaled_derivative(v: Array, x: Array, function: str, order: int) -> Any:
    dtype = result_dtype(v, x)
    v, x = np.asarray(v, float), np.asarray(x, float)
    towards = 1.0 if function == "ive" else -1.0
    sign = np.sign(x) if function == "ive" else 1.0
    total = np.zeros(np.broadcast_shapes(v.shape, x.shape))
    for n in range(order + 1):
        shifted = sum(comb(n, i) * scipy_ufunc(function)(v - n + 2 * i, x) for i in range(n + 1)) / 2**n
        total = total + comb(order, n) * towards**n * (-towards * sign) ** (order - n) * shifted
    far = x > 50 + 2 * v * v
    return np.where(far, _scaled_expansion(v, np.where(far, x, 100 + 2 * v * v), function, order), total).astype(dtype)


def _scaled_expansion(v: Array, x: Array, function: str, order: int) -> Any:
    towards = -1.0 if function == "ive" else 1.0
    scale = np.sqrt(0.5 / np.pi) if function == "ive" else np.sqrt(0.5 * np.pi)
    total, coefficient = np.zeros(np.broadcast_shapes(v.shape, x.shape)), np.ones(v.shape)
    for k in range(TERMS):
        falling = np.prod(-0.5 - k - np.arange(order))  # of x^(-1/2 - k), differentiated `order` times
        total = total + coefficient * falling / x**k
        coefficient = coefficient * towards * (4 * v * v - (2 * k + 1) ** 2) / (8 * (k + 1))
    return scale * total / x ** (order + 0.5)


scaled_derivative: Op = elementwise(
    _scaled_derivative,
    lambda v, x, function, order: by_parameter(lambda v: scaled_derivative(v, x, function=function, order=order), v),
    lambda v, x, function, order: scaled_derivative(v, x, function=function, order=order + 1),
    name="derivative of ive or kve",
    names=("v", "x"),
    samples=lambda draw: (
        [
            (arrays, {"function": function, "order": order})
            for (arrays, _), function, order in zip(
                _order_samples(draw), ("ive", "kve", "ive", "kve", "ive"), (1, 2, 2, 1, 1), strict=True
            )
        ]
        + [
            ((2, draw.between((60.0, 90.0), (3,))), {"function": "ive", "order": 1}),
            ((draw.between((0.5, 2.0), (3,)), draw.between((60.0, 90.0), (3,))), {"function": "kve", "order": 1}),
        ]
    ),
    doc="A derivative of ive or kve by x, of the given order. Derivatives: by v, numerically; by x, the next one.",
)
ive = _of_order(
    "ive",
    lambda v, x: scaled_derivative(v, x, function="ive", order=1),
    "exp(-abs(x)) iv(v, x)",
    "(ive(v - 1, x) + ive(v + 1, x)) / 2 - sign(x) ive(v, x)",
    "0.04993878, -0.08204644, 0.05809408",
    scipy_kernel("ive", real=True),
)
kve = _of_order(
    "kve",
    lambda v, x: scaled_derivative(v, x, function="kve", order=1),
    "exp(x) kv(v, x)",
    "kve(v, x) - (kve(v - 1, x) + kve(v + 1, x)) / 2",
    "4.41677005, 5.56123313, -6.05292354",
    scipy_kernel("kve", real=True),
)


def _scaled(name: str, order: int, function: str, numbers: str) -> Op:
    return row(
        name,
        lambda x: scaled_derivative(order, x, function=function, order=1),
        domain=[POSITIVE],
        doc=(f"{function}({order}, x)", f"that of {function}", f"{name}(1.0) -> {numbers}"),
    )


i0e = _scaled("i0e", 0, "ive", "0.46575961, -0.25784919")
i1e = _scaled("i1e", 1, "ive", "0.20791042, 0.04993878")
k0e = _scaled("k0e", 0, "kve", "1.14446308, -0.49169041")
k1e = _scaled("k1e", 1, "kve", "1.63615349, -1.14446308")
