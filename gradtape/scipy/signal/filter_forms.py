"""Filters in other forms: coefficients, zeros and poles, second-order sections, state space; and other bands."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gradtape.errors import ShapeError
from gradtape.extend import concrete, constant
from gradtape.ops.numerics import convolve
from gradtape.ops.polynomials import poly, roots
from gradtape.scipy.arraylike import as_array, as_floating, as_vector, is_tensor, refusal, surely
from gradtape.scipy.signal.fir_filters import sampling_frequency
from gradtape.scipy.signal.mirrored import original


def numbers_of(x: Any) -> Any:
    """The numbers of a tensor or an array."""
    return concrete(x) if is_tensor(x) else np.asarray(x)


def _polynomial(zeros: Any) -> Any:
    """The coefficients of the polynomial with these zeros, the first coefficient 1."""
    return poly(zeros) if is_tensor(zeros) else np.atleast_1d(np.poly(zeros))


# -- coefficients


@original.differentiated
def normalize(b: Any, a: Any) -> tuple[Any, Any]:
    """The coefficients without leading zeros, divided by the first of `a`."""
    b, a = as_floating(b), as_vector(a, "normalize: a")
    if b.ndim > 2:
        raise refusal(f"normalize: b has shape {b.shape}; a vector or a matrix is accepted.", "b[0]", ShapeError)
    b = b if b.ndim == 2 else b.reshape((1, -1))
    if surely(np.all(a == 0)):
        raise refusal("normalize: a is all zeros.", "a with a coefficient that is not 0")
    while surely(a[0] == 0):
        a = a[1:]
    b, a = b / a[0], a / a[0]
    leading = 0
    while leading < b.shape[1] and surely(np.all(np.abs(b[:, leading]) <= 1e-14)):
        leading += 1
    if leading:
        warnings.warn(
            "Badly conditioned filter coefficients (numerator): the results may be meaningless",
            original.contents.BadCoefficients,
            stacklevel=3,
        )
        b = b[:, min(leading, b.shape[1] - 1) :]
    return (b[0] if b.shape[0] == 1 else b), a


def _substituted(c: Any, top: Any, bottom: Any, degree: int) -> Any:
    """The coefficients of sum_i c_i top^i bottom^(degree - i), the highest power first, as are all of them."""
    order = c.shape[0] - 1
    powers = [np.ones(1)]
    for _ in range(degree):
        powers.append(convolve(powers[-1], bottom))
    total, raised = c[order] * powers[degree], np.ones(1)
    for i in range(1, order + 1):
        raised = convolve(raised, top)
        term = c[order - i] * convolve(raised, powers[degree - i])
        length = max(total.shape[0], term.shape[0])
        total, term = (np.concatenate([np.zeros(length - v.shape[0], v.dtype), v]) for v in (total, term))
        total = total + term
    return total


def _transformed(name: str, b: Any, a: Any, top: Any, bottom: Any) -> tuple[Any, Any]:
    """The filter with top / bottom in place of s."""
    b, a = as_vector(b, f"{name}: b"), as_vector(a, f"{name}: a")
    top, bottom = as_array(top), as_array(bottom)
    degree = max(b.shape[0], a.shape[0]) - 1
    b, a = (_substituted(c, top, bottom, degree) for c in (b, a))
    shared = 0  # powers of s that both have
    while min(b.shape[0], a.shape[0]) - shared > 1 and all(
        surely(c[c.shape[0] - 1 - shared] == 0) and not is_tensor(bottom) for c in (b, a)
    ):
        shared += 1
    b, a = (c[: c.shape[0] - shared] for c in (b, a))
    return normalize(b, a)


@original.differentiated
def lp2lp(b: Any, a: Any, wo: Any = 1.0) -> tuple[Any, Any]:
    """A low-pass filter with the cut-off frequency `wo` in place of 1."""
    return _transformed("lp2lp", b, a, [1.0 / wo, 0.0], [1.0])


@original.differentiated
def lp2hp(b: Any, a: Any, wo: Any = 1.0) -> tuple[Any, Any]:
    """The high-pass filter with the cut-off frequency `wo` of a low-pass filter."""
    return _transformed("lp2hp", b, a, [wo], [1.0, 0.0])


@original.differentiated
def lp2bp(b: Any, a: Any, wo: Any = 1.0, bw: Any = 1.0) -> tuple[Any, Any]:
    """The band-pass filter around `wo` of a low-pass filter."""
    return _transformed("lp2bp", b, a, [1.0 / bw, 0.0, wo * wo / bw], [1.0, 0.0])


@original.differentiated
def lp2bs(b: Any, a: Any, wo: Any = 1.0, bw: Any = 1.0) -> tuple[Any, Any]:
    """The band-stop filter around `wo` of a low-pass filter."""
    return _transformed("lp2bs", b, a, [bw, 0.0], [1.0, 0.0, wo * wo])


@original.differentiated
def bilinear(b: Any, a: Any, fs: Any = 1.0) -> tuple[Any, Any]:
    """The digital filter of an analog one by the bilinear transformation, s = 2 fs (z - 1) / (z + 1)."""
    b, a = as_vector(b, "bilinear: b"), as_vector(a, "bilinear: a")
    b, a = (c if is_tensor(c) else np.trim_zeros(c, "f") for c in (b, a))
    twice = 2.0 * sampling_frequency("bilinear", fs, 1.0)
    return _transformed("bilinear", b, a, [twice, -twice], [1.0, 1.0])


# -- zeros and poles


def _excess(z: Any, p: Any) -> int:
    """How many more poles than zeros there are."""
    degree = int(p.shape[0] - z.shape[0])
    if degree < 0:
        raise refusal(f"{z.shape[0]} zeros and {p.shape[0]} poles.", "at least as many poles as zeros")
    return degree


def _roots_of(name: str, z: Any, p: Any) -> tuple[Any, Any, int]:
    z, p = as_vector(z, f"{name}: z"), as_vector(p, f"{name}: p")
    return z, p, _excess(z, p)


@original.differentiated
def lp2lp_zpk(z: Any, p: Any, k: Any, wo: Any = 1.0) -> tuple[Any, Any, Any]:
    """`lp2lp` of zeros, poles and gain."""
    z, p, degree = _roots_of("lp2lp_zpk", z, p)
    return z * wo, p * wo, k * wo**degree


@original.differentiated
def lp2hp_zpk(z: Any, p: Any, k: Any, wo: Any = 1.0) -> tuple[Any, Any, Any]:
    """`lp2hp` of zeros, poles and gain."""
    z, p, degree = _roots_of("lp2hp_zpk", z, p)
    return np.concatenate([wo / z, np.zeros(degree)]), wo / p, k * np.real(np.prod(-z) / np.prod(-p))


def _both_sides(x: Any, wo: Any) -> Any:
    """x + sqrt(x^2 - wo^2) and x - sqrt(x^2 - wo^2)."""
    x = x if x.dtype.kind == "c" else x.astype(complex)
    root = np.sqrt(x**2 - wo**2)  # written as SciPy does: the sign of a zero decides which of the two comes first
    return np.concatenate([x + root, x - root])


@original.differentiated
def lp2bp_zpk(z: Any, p: Any, k: Any, wo: Any = 1.0, bw: Any = 1.0) -> tuple[Any, Any, Any]:
    """`lp2bp` of zeros, poles and gain."""
    z, p, degree = _roots_of("lp2bp_zpk", z, p)
    zeros = np.concatenate([_both_sides(z * bw / 2, wo), np.zeros(degree)])
    return zeros, _both_sides(p * bw / 2, wo), k * bw**degree


@original.differentiated
def lp2bs_zpk(z: Any, p: Any, k: Any, wo: Any = 1.0, bw: Any = 1.0) -> tuple[Any, Any, Any]:
    """`lp2bs` of zeros, poles and gain."""
    z, p, degree = _roots_of("lp2bs_zpk", z, p)
    stops = [sign * wo * np.ones(degree) for sign in (1j, -1j)]
    zeros = np.concatenate([_both_sides(bw / 2 / z, wo), *stops])
    return zeros, _both_sides(bw / 2 / p, wo), k * np.real(np.prod(-z) / np.prod(-p))


@original.differentiated
def bilinear_zpk(z: Any, p: Any, k: Any, fs: Any) -> tuple[Any, Any, Any]:
    """`bilinear` of zeros, poles and gain."""
    z, p, degree = _roots_of("bilinear_zpk", z, p)
    twice = 2.0 * fs
    zeros = np.concatenate([(twice + z) / (twice - z), -np.ones(degree)])
    gain = k * np.real(np.prod(twice - z) / np.prod(twice - p))
    return zeros, (twice + p) / (twice - p), gain


@original.differentiated
def tf2zpk(b: Any, a: Any) -> tuple[Any, Any, Any]:
    """The zeros, the poles and the gain of coefficients.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import tf2zpk
    >>> tf2zpk(gt.tensor([2.0, -1.0]), [1.0, -0.25])
    (Tensor([0.5]), array([0.25]), Tensor(2.))
    """
    b, a = normalize(b, a)
    if b.ndim > 1:
        raise refusal(f"tf2zpk: b has shape {b.shape}; a vector is accepted.", "b[0]", ShapeError)
    return roots(b / b[0]), roots(a), b[0]


@original.differentiated
def zpk2tf(z: Any, p: Any, k: Any) -> tuple[Any, Any]:
    """The coefficients of a filter with these zeros and poles and this gain."""
    z, p, k = as_floating(z), as_vector(p, "zpk2tf: p"), as_floating(k)
    z = z if z.ndim else z.reshape((1,))
    if z.ndim == 1:
        return k * _polynomial(z), _polynomial(p)
    gains = np.broadcast_to(k.reshape((-1,)), (z.shape[0],))
    return np.stack([gains[i] * _polynomial(z[i]) for i in range(z.shape[0])]), _polynomial(p)


# -- second-order sections


def _assigned(numbers: Any, wanted: Any, free: list[int]) -> list[int]:
    """The indices of the free roots that are closest to the wanted ones, taken from `free`."""
    found = []
    for root in wanted:
        best = min(free, key=lambda i: abs(numbers[i] - root))
        free.remove(best)
        found.append(best)
    return found


def _pairs(z: Any, p: Any, *, pairing: str, analog: bool) -> Any:
    """Which zeros and which poles SciPy has in each section: for each two indices, -1 where it has fewer.

    They do not depend on the gain. SciPy fills up with zeros and poles at 0, which count as the last ones.
    """
    theirs = original.contents.zpk2sos(z, p, 1.0, pairing, analog=analog)
    sections = theirs.shape[0]
    pairs = np.full((sections, 2, 2), -1)
    for side, roots_given in enumerate((z, p)):
        numbers = np.concatenate([roots_given, np.zeros(max(2 * sections - len(roots_given), 0))])
        free = list(range(len(numbers) if pairing != "minimal" else len(roots_given)))
        for section in range(sections):
            given = theirs[section, 3 * side : 3 * side + 3]
            wanted = np.roots(given) if np.any(given) else np.zeros(0)
            wanted = np.concatenate([wanted, np.zeros(max(len(np.trim_zeros(given, "f")) - 1 - len(wanted), 0))])
            chosen = _assigned(numbers, wanted, free)
            pairs[section, side, : len(chosen)] = chosen
    return pairs


_pairs_of_roots = constant(
    _pairs,
    name="pairs of roots",
    samples=lambda draw: [
        ((np.array([-1.0, -1.0]), np.array([0.5 + 0.2j, 0.5 - 0.2j])), {"pairing": "nearest", "analog": False})
    ],
)


def _quadratic(zeros: Any, indices: list[int], length: int) -> Any:
    """The real coefficients of a section with these zeros, `length` of them with zeros first."""
    found = np.ones(1)
    if indices:
        chosen = zeros[np.array(indices)]
        pair = [1.0, -np.real(np.sum(chosen))]
        if len(indices) == 2:
            pair.append(np.real(chosen[0] * chosen[1]))
        found = as_array(pair)
    return np.concatenate([np.zeros(length - found.shape[0]), found])


@original.differentiated
def zpk2sos(z: Any, p: Any, k: Any, pairing: str | None = None, *, analog: bool = False) -> Any:
    """Second-order sections of zeros, poles and a gain. Which of them share a section is SciPy's choice."""
    z, p, k = as_vector(z, "zpk2sos: z"), as_vector(p, "zpk2sos: p"), as_floating(k)
    pairing = ("minimal" if analog else "nearest") if pairing is None else pairing
    pairs = numbers_of(_pairs_of_roots(z, p, pairing=pairing, analog=analog))  # in a trace, all that is relied on
    if pairing != "minimal":
        z, p = (np.concatenate([v, np.zeros(max(2 * len(pairs) - v.shape[0], 0))]) for v in (z, p))
    rows = []
    for section, sides in enumerate(pairs):
        halves = [_quadratic(v, [int(i) for i in side if i >= 0], 3) for v, side in zip((z, p), sides, strict=True)]
        if section == 0:
            halves[0] = halves[0] * k
        rows.append(np.concatenate(halves))
    return np.stack(rows)


@original.differentiated
def tf2sos(b: Any, a: Any, pairing: str | None = None, *, analog: bool = False) -> Any:
    """Second-order sections of coefficients."""
    return zpk2sos(*tf2zpk(b, a), pairing, analog=analog)


@original.differentiated
def sos2tf(sos: Any) -> tuple[Any, Any]:
    """The coefficients of second-order sections: their products.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import sos2tf
    >>> sos2tf(gt.tensor([[1.0, 2.0, 0.0, 1.0, -0.5, 0.0]]))
    (Tensor([1., 2., 0.]), Tensor([ 1. , -0.5,  0. ]))
    """
    sos = as_floating(sos)
    b, a = np.ones(1), np.ones(1)
    for section in range(sos.shape[0]):
        b, a = convolve(b, sos[section, :3]), convolve(a, sos[section, 3:])
    return b, a


@original.differentiated
def sos2zpk(sos: Any) -> tuple[Any, Any, Any]:
    """The zeros, the poles and the gain of second-order sections; those that a section lacks are at 0."""
    sos = as_floating(sos)
    zeros: list[Any] = []
    poles: list[Any] = []
    gain: Any = 1.0
    for section in range(sos.shape[0]):
        z, p, k = tf2zpk(sos[section, :3], sos[section, 3:])
        for found, given in ((zeros, z), (poles, p)):
            found.append(np.concatenate([given + 0j, np.zeros(2 - given.shape[0])]))
        gain = gain * k
    return np.concatenate(zeros), np.concatenate(poles), gain


# -- state space


@original.differentiated
def tf2ss(num: Any, den: Any) -> tuple[Any, Any, Any, Any]:
    """The matrices of a system with these coefficients, in controller canonical form."""
    num, den = normalize(num, den)
    num = num if num.ndim == 2 else num.reshape((1, -1))
    order = den.shape[0] - 1
    if num.shape[1] > order + 1:
        raise refusal(f"tf2ss: {num.shape[1]} coefficients over {order + 1}.", "num no longer than den")
    num = np.concatenate([np.zeros((num.shape[0], order + 1 - num.shape[1])), num], axis=1)
    direct = num[:, :1]
    if not order:
        return np.zeros((1, 1)), np.zeros((1, direct.shape[1])), np.zeros((direct.shape[0], 1)), direct
    a = np.concatenate([-den[1:].reshape((1, -1)), np.eye(order - 1, order)])
    return a, np.eye(order, 1), num[:, 1:] - direct * den[1:], direct


def matrices(name: str, A: Any, B: Any, C: Any, D: Any) -> tuple[Any, Any, Any, Any]:
    """The four matrices of a system, if their shapes fit."""
    a, b, c, d = (as_floating(v) for v in (A, B, C, D))
    a, b, c, d = (v if v.ndim == 2 else v.reshape((1, -1)) for v in (a, b, c, d))
    states, inputs, outputs = a.shape[0], b.shape[1], c.shape[0]
    if a.shape != (states, states) or b.shape[0] != states or c.shape[1] != states or d.shape != (outputs, inputs):
        raise refusal(
            f"{name}: A, B, C, D of shapes {a.shape}, {b.shape}, {c.shape}, {d.shape}.",
            "(n, n), (n, inputs), (outputs, n), (outputs, inputs)",
            ShapeError,
        )
    return a, b, c, d


def _characteristic(a: Any) -> Any:
    """The characteristic polynomial of a matrix, the first coefficient 1, by Faddeev and LeVerrier.

    It needs no eigenvalues, whose derivatives do not exist where two of them are equal.
    """
    size = a.shape[0]
    coefficients, m = [np.ones(())], np.eye(size)
    for k in range(1, size + 1):
        product = np.matmul(a, m)
        c = -np.trace(product) / k
        coefficients.append(c)
        m = product + c * np.eye(size)
    return np.stack(coefficients)


@original.differentiated
def ss2tf(A: Any, B: Any, C: Any, D: Any, input: int = 0) -> tuple[Any, Any]:
    """The coefficients of a system: for each output those of the numerator, and those of the denominator.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import ss2tf
    >>> ss2tf(gt.tensor([[-2.0]]), [[1.0]], [[3.0]], [[0.0]])
    (Tensor([[0., 3.]]), Tensor([1., 2.]))
    """
    a, b, c, d = matrices("ss2tf", A, B, C, D)
    if input >= d.shape[1]:
        raise refusal(f"ss2tf: input={input} of {d.shape[1]} inputs.", "input=0")
    b, d = b[:, input : input + 1], d[:, input : input + 1]
    den = _characteristic(a)
    rows = [_characteristic(a - b * c[k]) + (d[k] - 1) * den for k in range(c.shape[0])]
    return np.stack(rows), den


@original.differentiated
def zpk2ss(z: Any, p: Any, k: Any) -> tuple[Any, Any, Any, Any]:
    """The matrices of a system with these zeros and poles and this gain."""
    return tf2ss(*zpk2tf(z, p, k))


@original.differentiated
def ss2zpk(A: Any, B: Any, C: Any, D: Any, input: int = 0) -> tuple[Any, Any, Any]:
    """The zeros, the poles and the gain of a system."""
    num, den = ss2tf(A, B, C, D, input)
    return tf2zpk(num if num.shape[0] > 1 else num[0], den)
