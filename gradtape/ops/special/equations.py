"""Solutions of differential equations of the second order, y'' = f: parabolic cylinder, Mathieu, spheroidal functions.

SciPy gives y and y', so that the equation gives all further derivatives by x. By the parameters of the equation the
derivatives are numerical; orders that are whole numbers are constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial, pi
from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import elementwise
from gradtape.errors import OperandError
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.special.parameter_derivative import by_parameter, room_to_end
from gradtape.ops.special.rows import (
    double_kernel,
    fixed,
    function_row,
    in_precision,
    refuse_complex,
    results_row,
    samples_of,
    samples_of_both,
)

WHOLE = "which is a whole number"


def _solution(
    name: str,
    names: str,
    parameters: Sequence[Callable[..., Any]],
    slope: Callable[..., Any],
    samples: Any,
    doc: tuple[str, str],
    example: str,
) -> Op:
    """A row for y and y' of parameters, with their partial derivatives, and of x, the last argument."""
    what, derivative = doc
    text = (f"{what}, and its derivative", derivative, example)
    return results_row(
        name, *parameters, slope, names=names.split(), kernel=double_kernel(name), samples=samples, doc=text
    )


def _both(function: Callable[[Any], Any], p: Any, room: Any = np.inf) -> tuple[Any, Any]:
    """The derivatives of y and y' by a parameter."""
    return by_parameter(lambda p: function(p)[0], p, room), by_parameter(lambda p: function(p)[1], p, room)


# -- parabolic cylinder: D_v'' = (x^2 / 4 - v - 1/2) D_v, and W'' = (a - x^2 / 4) W


def _cylinder_samples(low: float, high: float) -> Any:
    return samples_of_both(samples_of([2, 1, 0], (0.5, 3.0)), samples_of((low, high), (0.5, 3.0)))


pbdv: Op = _solution(
    "pbdv",
    "v x",
    [lambda v, x: _both(lambda v: pbdv(v, x), v)],
    lambda v, x, out: (out[1], (0.25 * x * x - v - 0.5) * out[0]),
    _cylinder_samples(-0.5, 2.5),
    ("The parabolic cylinder function D of order v", "by v, numerically; by x, y' and y'' = (x^2 / 4 - v - 1/2) y"),
    "pbdv(2, 0.5) -> -0.7045598, 1.11555301",
)
pbvv: Op = _solution(
    "pbvv",
    "v x",
    [lambda v, x: _both(lambda v: pbvv(v, x), v)],
    lambda v, x, out: (out[1], (0.25 * x * x - v - 0.5) * out[0]),
    _cylinder_samples(0.3, 0.7),  # near whole orders SciPy's values have fewer digits
    ("The parabolic cylinder function V of order v", "by v, numerically; by x, y' and y'' = (x^2 / 4 - v - 1/2) y"),
    "pbvv(2, 0.5) -> -0.35895737, -0.5641091",
)
pbwa: Op = _solution(
    "pbwa",
    "a x",
    [lambda a, x: _both(lambda a: pbwa(a, x), a, np.sqrt(a * a + 0.25))],  # its poles are at i/2 and -i/2
    lambda a, x, out: (out[1], (a - 0.25 * x * x) * out[0]),
    _cylinder_samples(-0.5, 2.5),
    ("The parabolic cylinder function W", "by a, numerically; by x, y' and y'' = (a - x^2 / 4) y"),
    "pbwa(2, 0.5) -> 0.30410809, -0.40234147",
)


def _orders(v: float) -> Any:
    """v0, v0 + 1, ..., v, or v0, v0 - 1, ..., v, where v0 is between -1 and 1."""
    count = int(v)
    return v - count + np.sign(count) * np.arange(abs(count) + 1)


def pbdv_seq(v: float, x: Any) -> tuple[Any, Any]:
    """pbdv(v, x) of the orders v0, v0 + 1, ..., v, and the derivatives, differentiable in x.

    >>> import gradtape as gt
    >>> gt.special.pbdv_seq(1, gt.tensor(0.5))
    (Tensor([0.93941306, 0.46970653]), Tensor([-0.23485327,  0.82198643]))
    """
    values, slopes = pbdv(_orders(v), as_value(x))
    return values, slopes


def pbvv_seq(v: float, x: Any) -> tuple[Any, Any]:
    """pbvv(v, x) of the orders v0, v0 + 1, ..., v, and the derivatives, differentiable in x.

    >>> import gradtape as gt
    >>> gt.special.pbvv_seq(1, gt.tensor(0.5))
    (Tensor([ 0.39099051, -0.65384844]), Tensor([0.75159607, 0.55445262]))
    """
    values, slopes = pbvv(_orders(v), as_value(x))
    return values, slopes


def pbdn_seq(n: int, z: Any) -> tuple[Any, Any]:
    """The parabolic cylinder functions D_0(z), ..., D_n(z) of complex z, and their derivatives, for n >= 0.

    >>> import gradtape as gt
    >>> gt.special.pbdn_seq(1, gt.tensor(0.5))
    (Tensor([0.93941306, 0.46970653]), Tensor([-0.23485327,  0.82198643]))
    """
    if n < 0:
        raise argument_error(
            OperandError, f"pbdn_seq: n={n!r}.", "n is a whole number from 0 up; pbdv has negative orders"
        )
    z = as_value(z)
    found = [np.exp(-0.25 * z * z)]
    for k in range(int(n)):  # D_(k+1) = z D_k - k D_(k-1)
        found.append(z * found[k] - (k * found[k - 1] if k else 0))
    slopes = [(k * found[k - 1] if k else 0) - 0.5 * z * found[k] for k in range(int(n) + 1)]
    return np.stack(found), np.stack(slopes)


# -- Mathieu: y'' = (2 q cos 2x - a) y, of angles in degrees, where SciPy's y' is by radians; modified
#    y'' = (a - 2 q cosh 2x) y

DEGREE = pi / 180


def _mathieu_matrix(m: int, q: float, kind: str) -> tuple[Any, Any, int]:
    """T and dT/dq of the symmetric tridiagonal matrix with the eigenvalue a_m or b_m, and the place of that."""
    size = m // 2 + 16 + int(2 * np.sqrt(abs(q)))
    first = 1 if m % 2 else 2 if kind == "b" else 0
    change = np.diag(np.ones(size - 1), 1) + np.diag(np.ones(size - 1), -1)
    if first == 0:
        change[0, 1] = change[1, 0] = np.sqrt(2)
    elif first == 1:
        change[0, 0] = 1 if kind == "a" else -1
    return np.diag((first + 2.0 * np.arange(size)) ** 2) + q * change, change, (m - first) // 2


def _mathieu_value(m: Any, q: Any, kind: str, order: int) -> Any:
    """The derivative of an eigenvalue by q: (T - l) v = 0 as a power series in q, term by term."""
    refuse_complex(q)
    if order == 0:
        return double_kernel(f"mathieu_{kind}")(m, q)
    degrees, points = np.broadcast_arrays(np.asarray(m), np.asarray(q, float))
    answer = np.empty(points.shape)
    for place in np.ndindex(points.shape):
        matrix, change, index = _mathieu_matrix(int(degrees[place]), float(points[place]), kind)
        values, vectors = np.linalg.eigh(matrix)
        gaps = values - values[index]
        inverse = np.where(np.arange(len(gaps)) == index, 0, 1 / np.where(gaps == 0, 1, gaps))
        terms, found = [vectors[:, index]], [values[index]]
        for n in range(1, order + 1):
            found.append(terms[0] @ change @ terms[n - 1])
            rest = sum(found[k] * terms[n - k] for k in range(1, n)) - change @ terms[n - 1]
            terms.append(vectors @ (inverse * (vectors.T @ rest)))
        answer[place] = found[order] * factorial(order)
    return in_precision(answer, m, q)


mathieu_derivative: Op = elementwise(
    _mathieu_value,
    fixed("mathieu_a and mathieu_b", "m", WHOLE),
    lambda m, q, kind, order: mathieu_derivative(m, q, kind=kind, order=order + 1),
    name="derivative of mathieu_a or mathieu_b",
    names=("m", "q"),
    samples=lambda draw: [
        ((2, draw.between((0.5, 5.0), (2,))), {"kind": "a", "order": 1}),
        ((np.array([1, 2]), draw.between((0.5, 5.0), (2,))), {"kind": "b", "order": 2}),
        ((1, draw.between((0.5, 5.0), ())), {"kind": "a", "order": 0}),
    ],
    doc="A derivative of an eigenvalue of Mathieu's equation, of the given order. Derivative: the next one.",
)


def _characteristic(kind: str, call: str) -> Op:
    name = f"mathieu_{kind}"
    return function_row(
        name,
        fixed(name, "m", WHOLE),
        lambda m, q: mathieu_derivative(m, q, kind=kind, order=1),
        kernel=double_kernel(name),
        names=("m", "q"),
        samples=samples_of([2, 1], (0.5, 5.0)),
        doc=(
            f"The eigenvalue of Mathieu's equation of the {'even' if kind == 'a' else 'odd'} solution of order m",
            "that of the eigenvalue of a tridiagonal matrix",
            call,
        ),
    )


mathieu_a = _characteristic("a", "mathieu_a(2, 1.5) -> 4.74677947, 0.81623445")
mathieu_b = _characteristic("b", "mathieu_b(2, 1.5) -> 3.81429087, -0.24527643")


def _periodic(name: str, kind: str, call: str) -> Op:
    def slope(m: Any, q: Any, x: Any, out: Any) -> tuple[Any, Any]:
        level = mathieu_derivative(m, q, kind=kind, order=0)
        return DEGREE * out[1], DEGREE * (2 * q * np.cos((2 * DEGREE) * x) - level) * out[0]

    what = f"The {'even' if kind == 'a' else 'odd'} Mathieu function of order m at an angle of x degrees"
    doc = (what, "by q, numerically; by x, pi / 180 y', and pi / 180 (2 q cos(2 x) - a) y")
    by_q = lambda m, q, x: _both(lambda q: row(m, q, x), q)
    samples = samples_of_both(samples_of([2, 1], [1, 3], (10.0, 80.0)), samples_of([2, 1], (0.5, 4.0), (10.0, 80.0)))
    row = _solution(name, "m q x", [fixed(name, "m", WHOLE), by_q], slope, samples, doc, call)
    return row


def _radial(name: str, kind: str, call: str) -> Op:
    def slope(m: Any, q: Any, x: Any, out: Any) -> tuple[Any, Any]:
        level = mathieu_derivative(m, q, kind=kind, order=0)
        return out[1], (level - 2 * q * np.cosh(2 * x)) * out[0]

    what = f"The {'even' if kind == 'a' else 'odd'} modified Mathieu function of kind {name[-1]} and order m"
    doc = (what, "by q, numerically; by x, y' and y'' = (a - 2 q cosh(2 x)) y")
    by_q = lambda m, q, x: _both(lambda q: row(m, q, x), q, q)  # q = 0 is a branch point
    samples = samples_of_both(samples_of([2, 1], [1, 3], (0.3, 1.0)), samples_of([2, 1], (0.5, 4.0), (0.3, 1.0)))
    row = _solution(name, "m q x", [fixed(name, "m", WHOLE), by_q], slope, samples, doc, call)
    return row


mathieu_cem = _periodic("mathieu_cem", "a", "mathieu_cem(2, 1, 30.0) -> 0.72937545, -1.35947733")
mathieu_sem = _periodic("mathieu_sem", "b", "mathieu_sem(2, 1, 30.0) -> 0.79148107, 1.14665493")
mathieu_modcem1 = _radial("mathieu_modcem1", "a", "mathieu_modcem1(2, 1, 0.5) -> 0.34220517, 0.29113627")
mathieu_modcem2 = _radial("mathieu_modcem2", "a", "mathieu_modcem2(2, 1, 0.5) -> -0.81211691, 1.16942444")
mathieu_modsem1 = _radial("mathieu_modsem1", "b", "mathieu_modsem1(2, 1, 0.5) -> 0.22749162, 0.50220642")
mathieu_modsem2 = _radial("mathieu_modsem2", "b", "mathieu_modsem2(2, 1, 0.5) -> -0.80724206, 1.01637866")

# -- spheroidal: prolate (1 - x^2) y'' = 2 x y' - (l - c^2 x^2 - m^2 / (1 - x^2)) y, both angular and radial; oblate
#    angular with -c^2; oblate radial (1 + x^2) y'' = -2 x y' + (l - c^2 x^2 - m^2 / (1 + x^2)) y


def _spheroidal_eigenvalue(name: str, call: str) -> Op:
    row: Op = function_row(
        name,
        fixed(name, "m", WHOLE),
        fixed(name, "n", WHOLE),
        lambda m, n, c: by_parameter(lambda c: row(m, n, np.abs(c)), c),
        kernel=double_kernel(name),
        names=("m", "n", "c"),
        samples=samples_of([1, 0], [2, 2], (0.5, 2.0)),
        doc=(
            f"The eigenvalue of the {'oblate' if name == 'obl_cv' else 'prolate'} spheroidal equation of m and n",
            "by c, numerically",
            call,
        ),
    )
    return row


pro_cv = _spheroidal_eigenvalue("pro_cv", "pro_cv(1, 2, 1.5) -> 6.94478481, 1.23396791")
obl_cv = _spheroidal_eigenvalue("obl_cv", "obl_cv(1, 2, 1.5) -> 5.01588567, -1.33876921")


def _spheroidal(name: str, call: str) -> Op:
    shape, _, given = name.partition("_")
    oblate, radial, known = shape == "obl", given.startswith("rad"), given.endswith("_cv")
    sign = -1.0 if oblate and not radial else 1.0
    bend = -1.0 if oblate and radial else 1.0

    def second(m: Any, c: Any, level: Any, x: Any, out: Any) -> tuple[Any, Any]:
        rest = 1 - bend * x * x
        weight = level - sign * c * c * x * x - m * m / rest
        return out[1], (2 * bend * x * out[1] - bend * weight * out[0]) / rest

    def with_level(m: Any, n: Any, c: Any, cv: Any, x: Any, out: Any) -> tuple[Any, Any]:
        return second(m, c, cv, x, out)

    def without(m: Any, n: Any, c: Any, x: Any, out: Any) -> tuple[Any, Any]:
        return second(m, c, (obl_cv if oblate else pro_cv)(m, n, c), x, out)

    bounds = (1.2, 2.0) if radial and not oblate else (0.2, 0.8)
    kind = f"{'oblate' if oblate else 'prolate'} {'radial' if radial else 'angular'}"
    what = f"The {kind} spheroidal function of the kind {given[3]}{', of the eigenvalue cv' if known else ''}"
    orders = [fixed(name, "m", WHOLE), fixed(name, "n", WHOLE)]
    if known:
        constants = [fixed(name, argument, "in which SciPy's values are not smooth") for argument in ("c", "cv")]
        samples = samples_of([1, 0], [2, 2], [0, 0], [6, 6], bounds)  # n (n + 1) is cv for c = 0
        doc = (f"{what}, for constant c and cv", "y', and y'' by the differential equation")
        return _solution(name, "m n c cv x", [*orders, *constants], with_level, samples, doc, call)

    def by_c(m: Any, n: Any, c: Any, x: Any) -> tuple[Any, Any]:
        if radial:
            return _both(lambda c: row(m, n, c, x), c, room_to_end(c))
        return _both(lambda c: row(m, n, np.abs(c), x), c)

    samples = samples_of_both(
        samples_of([1, 0], [2, 2], [1, 1], bounds), samples_of([1, 0], [2, 2], (0.5, 2.0), bounds)
    )
    doc = (what, "by c, numerically; by x, y', and y'' by the differential equation")
    row = _solution(name, "m n c x", [*orders, by_c], without, samples, doc, call)
    return row


pro_ang1 = _spheroidal("pro_ang1", "pro_ang1(1, 2, 1, 0.5) -> 1.27620871, 1.61092409")
pro_rad1 = _spheroidal("pro_rad1", "pro_rad1(1, 2, 1, 1.5) -> 0.09904707, 0.16307443")
obl_ang1 = _spheroidal("obl_ang1", "obl_ang1(1, 2, 1, 0.5) -> 1.32261049, 1.85842915")
obl_rad1 = _spheroidal("obl_rad1", "obl_rad1(1, 2, 1, 0.5) -> 0.03514426, 0.08180274")
pro_ang1_cv = _spheroidal("pro_ang1_cv", "pro_ang1_cv(1, 2, 1, 6, 0.5) -> 1.27686354, 1.61439141")
obl_ang1_cv = _spheroidal("obl_ang1_cv", "obl_ang1_cv(1, 2, 1, 6, 0.5) -> 1.32338353, 1.86258202")
