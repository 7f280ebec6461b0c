"""Hypergeometric functions: the derivative by the argument is the function of parameters one higher.

Wright's function has the same rule. By the parameters there is no formula: those derivatives are numerical, with twelve
digits or so. Of hyperu SciPy's own values have but eight digits near x = 10, and these derivatives five.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import elementwise
from gradtape.ops.special.declare import scipy_ufunc
from gradtape.ops.special.parameter_derivative import by_parameter, room_to_end, room_to_poles
from gradtape.ops.special.rows import function_row, in_precision, samples_of, samples_of_both

hyp0f1: Op = function_row(
    "hyp0f1",
    lambda v, z: by_parameter(lambda v: hyp0f1(v, z), v, room_to_poles(v)),
    lambda v, z: hyp0f1(v + 1, z) / v,
    names=("v", "z"),
    samples=samples_of_both(samples_of((0.6, 3.0), (-3.0, 3.0)), samples_of([2, 3], (-3.0, 3.0))),
    doc=(
        "The confluent limit function 0F1(v; z)",
        "by v, numerically; by z, hyp0f1(v + 1, z) / v",
        "hyp0f1(2.0, 0.5) -> 1.27172346, -0.14332989, 0.58871895",
    ),
)
hyp1f1: Op = function_row(
    "hyp1f1",
    lambda a, b, x: by_parameter(lambda a: hyp1f1(a, b, x), a),
    lambda a, b, x: by_parameter(lambda b: hyp1f1(a, b, x), b, room_to_poles(b)),
    lambda a, b, x: hyp1f1(a + 1, b + 1, x) * (a / b),
    names=("a", "b", "x"),
    samples=samples_of_both(samples_of([1, 2], [3, 2], (-3.0, 3.0)), samples_of((0.5, 2.5), (0.6, 3.0), (-3.0, 3.0))),
    doc=(
        "Kummer's confluent hypergeometric function 1F1(a; b; x)",
        "by a and b, numerically; by x, a / b hyp1f1(a + 1, b + 1, x)",
        "hyp1f1(1.0, 3.0, 0.5) -> 1.18977017, 0.20212813, -0.06951976, 0.4306895",
    ),
)
hyp2f1: Op = function_row(
    "hyp2f1",
    lambda a, b, c, z: by_parameter(lambda a: hyp2f1(a, b, c, z), a),
    lambda a, b, c, z: by_parameter(lambda b: hyp2f1(a, b, c, z), b),
    lambda a, b, c, z: by_parameter(lambda c: hyp2f1(a, b, c, z), c, room_to_poles(c)),
    lambda a, b, c, z: hyp2f1(a + 1, b + 1, c + 1, z) * (a * b / c),
    names=("a", "b", "c", "z"),
    samples=samples_of_both(
        samples_of([1, 2], [3, 1], [2, 4], (-0.8, 0.6)), samples_of((0.5, 2.5), (-1.5, 2.0), (0.6, 4.0), (-0.8, 0.6))
    ),
    doc=(
        "Gauss' hypergeometric function 2F1(a, b; c; z)",
        "by a, b and c, numerically; by z, a b / c hyp2f1(a + 1, b + 1, c + 1, z)",
        "hyp2f1(1.0, 2.0, 3.0, 0.5) -> 1.54517744, 0.69440078, 0.37663461, -0.2619701, 1.81929022",
    ),
)
hyperu: Op = function_row(
    "hyperu",
    lambda a, b, x: by_parameter(lambda a: hyperu(a, b, x), a),
    lambda a, b, x: by_parameter(lambda b: hyperu(a, b, x), b),
    lambda a, b, x: -a * hyperu(a + 1, b + 1, x),
    names=("a", "b", "x"),
    samples=samples_of_both(samples_of([1, 2], [3, 2], (0.5, 3.0)), samples_of((0.5, 2.5), (0.5, 2.5), (0.5, 3.0))),
    doc=(
        "Tricomi's confluent hypergeometric function U(a, b, x)",
        "by a and b, numerically; by x, -a hyperu(a + 1, b + 1, x)",
        "hyperu(1.0, 3.0, 0.5) -> 6., 0.46724055, 7.69164253, -20.",
    ),
)
# near a = 0 they change within a: as beside a pole
wright_bessel: Op = function_row(
    "wright_bessel",
    lambda a, b, x: by_parameter(lambda a: wright_bessel(a, b, x), a, a),
    lambda a, b, x: by_parameter(lambda b: wright_bessel(a, b, x), b, room_to_end(b)),
    lambda a, b, x: wright_bessel(a, a + b, x),
    names=("a", "b", "x"),
    samples=samples_of_both(samples_of([1, 2], [2, 1], (0.5, 3.0)), samples_of((0.3, 2.0), (0.5, 2.5), (0.5, 3.0))),
    doc=(
        "Wright's generalised Bessel function, the sum of x^k / (k! gamma(a k + b)), for a, b >= 0",
        "by a and b, numerically; by x, wright_bessel(a, a + b, x)",
        "wright_bessel(1.0, 2.0, 0.5) -> 1.27172346, -0.28710804, -0.68099464, 0.58871895",
    ),
)
log_wright_bessel: Op = function_row(
    "log_wright_bessel",
    lambda a, b, x: by_parameter(lambda a: log_wright_bessel(a, b, x), a, a),
    lambda a, b, x: by_parameter(lambda b: log_wright_bessel(a, b, x), b, room_to_end(b)),
    lambda a, b, x, out: np.exp(log_wright_bessel(a, a + b, x) - out),
    names=("a", "b", "x"),
    samples=samples_of_both(samples_of([1, 2], [2, 1], (0.5, 3.0)), samples_of((0.3, 2.0), (0.5, 2.5), (0.5, 3.0))),
    doc=(
        "The logarithm of wright_bessel",
        "by a and b, numerically; by x, wright_bessel(a, a + b, x) / wright_bessel(a, b, x)",
        "log_wright_bessel(1.0, 2.0, 0.5) -> 0.24037303, -0.22576295, -0.53548957, 0.46293001",
    ),
)


# -- log(1 + x) / x is 2F1(1, 1; 2; -x). Its derivatives: (-1)^n n! times the integral of t^n / (1 + x t)^(n + 1) from
#    0 to 1, which is the series sum_k (-x)^k (k + n)! / (k! (k + n + 1)) near 0 and by parts elsewhere


def _log1p_quotient(x: Any, order: int) -> Any:
    z = np.asarray(x, complex if np.iscomplexobj(x) else float)
    near = np.abs(z) < 0.25
    small, large = np.where(near, z, 0), np.where(near, 1, z)
    series, factor = np.zeros_like(z), np.full_like(z, np.prod(np.arange(1.0, order + 1)))
    for k in range(40):
        series = series + factor / (k + order + 1)
        factor = factor * -small * (k + order + 1) / (k + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        # n! / (1 + x)^n is x times minus the next plus (n + 1) times this, from (x f)' = 1 / (1 + x) and so on
        found = np.where(large == -1, np.inf, scipy_ufunc("log1p")(large) / large)
        power = 1 / (1 + large)
        for n in range(1, order + 1):
            found = (power - n * found) / large
            power = -n * power / (1 + large)
    return in_precision(np.where(near, (-1) ** order * series, found), x)


log1p_quotient_derivative: Op = elementwise(
    _log1p_quotient,
    lambda x, order: log1p_quotient_derivative(x, order=order + 1),
    name="derivative of log1p(x) / x",
    samples=lambda draw: [
        ((draw.between((-0.7, 3.0), (2, 3)),), {"order": 0}),
        ((draw.between((-0.2, 0.2), (3,)),), {"order": 1}),
        ((draw.between((-0.7, 3.0), ()),), {"order": 2}),
    ],
    doc="A derivative of log(1 + x) / x, of the given order. Derivative: the next one.",
)


def log1p_quotient(x: Any) -> Any:
    """log(1 + x) / x, and 1 at 0."""
    return log1p_quotient_derivative(x, order=0)
