"""Polynomials by their coefficients, the highest power first, as `np.polyval` has them; and Vandermonde matrices."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.polynomial import polynomial as numpy_polynomial

from gradtape.core.operation import Lifted
from gradtape.core.tensor import Tensor, plain
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import OperandError, ShapeError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import argument_error, as_value
from gradtape.ops.decompositions import inv
from gradtape.ops.eigen import eigvals_real_if_all_are
from gradtape.ops.joining import concatenate, stack
from gradtape.ops.least_squares import lstsq
from gradtape.ops.numerics import convolve
from gradtape.ops.products import tensordot
from gradtape.ops.shaping import expand_dims, moveaxis, reshape


def _coefficients(p: TensorLike, what: str) -> Array:
    """The coefficients as a vector."""
    p = as_value(p.coeffs if isinstance(p, np.poly1d) else p)
    if p.ndim > 1:
        raise argument_error(
            ShapeError, f"{what}: coefficients of shape {p.shape}.", "a vector, the highest power first"
        )
    return p if p.ndim else reshape(p, (1,))


@answers(np.polyval)
def polyval(p: TensorLike, x: TensorLike) -> Any:
    """The polynomial with coefficients `p` at `x`, by Horner's rule; differentiable in both.

    >>> import gradtape as gt
    >>> gt.value_and_grad(lambda x: gt.polyval([1.0, 0.0, -2.0], x))(gt.tensor(3.0))
    (Tensor(7.), Tensor(6.))
    """
    p = as_value(p.coeffs if isinstance(p, np.poly1d) else p)
    p, x = p if p.ndim else reshape(p, (1,)), as_value(x)  # of a matrix, each column is a polynomial
    total: Any = np.zeros_like(x)
    for k in range(p.shape[0]):
        total = total * x + p[k]
    return total


def _lined_up(a1: TensorLike, a2: TensorLike, what: str) -> tuple[Any, Any]:
    """Both with as many coefficients, zeros first."""
    pair = [_coefficients(a, what) for a in (a1, a2)]
    length = max(p.shape[0] for p in pair)
    first, second = (
        p if p.shape[0] == length else concatenate([np.zeros(length - p.shape[0], p.dtype), p]) for p in pair
    )
    return first, second


@answers(np.polyadd)
def polyadd(a1: TensorLike, a2: TensorLike) -> Any:
    """The coefficients of the sum of two polynomials.

    >>> import gradtape as gt
    >>> gt.polyadd(gt.tensor([1.0, 2.0]), [1.0])
    Tensor([1., 3.])
    """
    first, second = _lined_up(a1, a2, "polyadd")
    return first + second


@answers(np.polysub)
def polysub(a1: TensorLike, a2: TensorLike) -> Any:
    """The coefficients of the difference of two polynomials.

    >>> import gradtape as gt
    >>> gt.polysub(gt.tensor([1.0, 2.0]), [1.0])
    Tensor([1., 1.])
    """
    first, second = _lined_up(a1, a2, "polysub")
    return first - second


@answers(np.polymul)
def polymul(a1: TensorLike, a2: TensorLike) -> Any:
    """The coefficients of the product of two polynomials.

    >>> import gradtape as gt
    >>> gt.polymul(gt.tensor([1.0, 1.0]), [1.0, -1.0])
    Tensor([ 1.,  0., -1.])
    """
    return convolve(_without_leading_zeros(a1), _without_leading_zeros(a2))


def _without_leading_zeros(a: TensorLike) -> Any:
    """The coefficients from the first that is not 0, as `np.polymul` takes them; all of them inside `vmap`."""
    a = _coefficients(a, "polymul")
    if isinstance(a, Lifted) or not a.shape[0]:
        return a
    (places,) = np.nonzero(plain(a))
    return a[int(places[0]) if places.size else -1 :]


@answers(np.polydiv)
def polydiv(u: TensorLike, v: TensorLike) -> tuple[Any, Any]:
    """The coefficients of the quotient and of the remainder of two polynomials, by long division.

    Leading coefficients of the remainder that are 0 are left out, but not inside `vmap`.

    >>> import gradtape as gt
    >>> gt.polydiv(gt.tensor([1.0, 0.0, -1.0]), [1.0, 1.0])
    (Tensor([ 1., -1.]), Tensor([0.]))
    """
    u, v = _coefficients(u, "polydiv") + 0.0, _coefficients(v, "polydiv") + 0.0
    rest, quotient = u, []
    for _ in range(u.shape[0] - v.shape[0] + 1):
        factor = rest[0] / v[0]
        quotient.append(factor)
        taken = rest[1 : v.shape[0]] - factor * v[1:]
        rest = concatenate([taken, rest[v.shape[0] :]])
    whole = stack(quotient) if quotient else 0 * u[:1] / v[0]
    if not rest.shape[0]:
        return whole, 0 * u[:1] * v[0]
    leading = 0
    if not isinstance(rest, Lifted):  # how many coefficients vanish is not the same for all examples of a batch
        while leading < rest.shape[0] - 1 and np.allclose(plain(rest)[leading], 0, rtol=1e-14):
            leading += 1
    return whole, rest[leading:]


@answers(np.polyder)
def polyder(p: Any, m: int = 1) -> Any:
    """The coefficients of the `m`-th derivative of a polynomial.

    >>> import gradtape as gt
    >>> gt.polyder(gt.tensor([1.0, 2.0, 3.0]))
    Tensor([2., 2.])
    """
    if int(m) < 0:
        raise argument_error(
            OperandError, f"polyder: m={m}.", "m is the number of times, 0 or more; gt.polyint goes back"
        )
    p = _coefficients(p, "polyder")
    for _ in range(int(m)):
        p = p[:-1] * np.arange(p.shape[0] - 1, 0, -1)
    return p


@answers(np.polyint)
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """The coefficients of the `m`-th integral of a polynomial, with `k` as the constants of integration (0).

    >>> import gradtape as gt
    >>> gt.polyint(gt.tensor([2.0, 2.0]), k=5.0)
    Tensor([1., 2., 5.])
    """
    if int(m) < 0:
        raise argument_error(
            OperandError, f"polyint: m={m}.", "m is the number of times, 0 or more; gt.polyder goes back"
        )
    p = _coefficients(p, "polyint")
    constants = reshape(as_value(np.zeros(m) if k is None else k), (-1,))
    if constants.shape[0] < m and constants.shape[0] != 1:
        raise argument_error(
            ShapeError, f"polyint: {constants.shape[0]} constants for m={m}.", "one, or one for each time"
        )
    for step in range(int(m)):
        constant = constants[step : step + 1] if constants.shape[0] > 1 else constants
        p = concatenate([p / np.arange(p.shape[0], 0, -1), constant])
    return p


@answers(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    """The coefficients of the polynomial with the given zeros, the first coefficient 1.

    >>> import gradtape as gt
    >>> gt.poly(gt.tensor([1.0, -1.0]))
    Tensor([ 1.,  0., -1.])
    """
    zeros = as_value(seq_of_zeros)
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] > 0:
        zeros = eigvals_real_if_all_are(zeros)
    if zeros.ndim != 1:
        raise argument_error(
            ShapeError, f"poly: an array of shape {zeros.shape}.", "a vector of zeros, or a square matrix"
        )
    zeros = zeros if zeros.dtype.kind in "fc" else zeros.astype(float)
    found, nothing = np.ones(1, zeros.dtype), np.zeros(1, zeros.dtype)
    for k in range(zeros.shape[0]):
        found = concatenate([found, nothing]) - concatenate([nothing, found * zeros[k]])
    return np.real(found) if _come_in_pairs(zeros) else found


def _come_in_pairs(zeros: Any) -> bool:
    """Whether complex zeros are those of a polynomial with real coefficients."""
    if zeros.dtype.kind != "c" or isinstance(zeros, Lifted):
        return False
    values = plain(zeros)
    return bool(np.all(np.sort(values) == np.sort(values.conj())))


@answers(np.roots)
def roots(p: TensorLike) -> Any:
    """The zeros of the polynomial with coefficients `p`: the eigenvalues of its companion matrix, then those at 0.

    >>> import gradtape as gt
    >>> gt.roots(gt.tensor([1.0, 0.0, -4.0]))
    Tensor([-2.,  2.])
    """
    p = _coefficients(p, "roots")
    p = p if p.dtype.kind in "fc" else p.astype(float)
    if isinstance(p, Lifted):
        first, last = 0, p.shape[0] - 1  # how many coefficients vanish is not the same for all examples of a batch
    else:
        (places,) = np.nonzero(plain(p))
        if not places.size:
            return Tensor(np.zeros(0, p.dtype))
        first, last = int(places[0]), int(places[-1])
    at_zero = np.zeros(p.shape[0] - 1 - last, p.dtype)
    degree = last - first
    if not degree:
        return concatenate([p[:0], at_zero])
    top = -p[first + 1 : last + 1] / p[first]
    companion = concatenate([reshape(top, (1, degree)), np.eye(degree - 1, degree, dtype=p.dtype)])
    found = eigvals_real_if_all_are(companion)
    return concatenate([found, at_zero.astype(found.dtype)]) if at_zero.size else found


@answers(np.polyfit)
def polyfit(
    x: TensorLike,
    y: TensorLike,
    deg: Any,
    rcond: float | None = None,
    full: bool = False,
    w: TensorLike | None = None,
    cov: Any = False,
) -> Any:
    """The coefficients of the polynomial of degree `deg` that fits `y` at `x` best; differentiable in x, y and w.

    With `full` also what `lstsq` says; with `cov` also the covariance of the coefficients.

    >>> import gradtape as gt
    >>> y = gt.tensor([1.0, 3.0, 6.0, 7.0])
    >>> gt.grad(lambda y: gt.polyfit([0.0, 1.0, 2.0, 3.0], y, 1)[0])(y).round(8)
    Tensor([-0.3, -0.1,  0.1,  0.3])
    """
    x, y = as_value(x) + 0.0, as_value(y) + 0.0
    degree = int(deg)
    if degree < 0:
        raise argument_error(OperandError, f"polyfit: deg={deg}.", "a degree of 0 or more")
    if x.ndim != 1 or not x.size or y.ndim not in (1, 2) or y.shape[0] != x.shape[0]:
        raise argument_error(
            ShapeError, f"polyfit: x of shape {x.shape}, y of shape {y.shape}.", "a vector x, and a y for each of them"
        )
    powers = vander(x, degree + 1)
    rcond = x.shape[0] * float(np.finfo(x.dtype).eps) if rcond is None else rcond
    left, right = powers, y
    if w is not None:
        w = as_value(w) + 0.0
        if w.shape != x.shape:
            raise argument_error(
                ShapeError, f"polyfit: w of shape {w.shape}, x of shape {x.shape}.", "a weight for each x"
            )
        left, right = left * w[:, None], right * (w[:, None] if y.ndim == 2 else w)
    scale = np.sqrt((left * left).sum(0))
    found, squares, rank, singular = lstsq(left / scale, right, rcond)
    found = (found.T / scale).T
    if not isinstance(rank, Lifted) and rank != degree + 1 and not full:
        warnings.warn("polyfit: fewer independent points than coefficients", np.exceptions.RankWarning, stacklevel=2)
    if full:
        return found, squares, rank, singular, rcond
    if not cov:
        return found
    spread = inv(left.T @ left / (scale[:, None] * scale[None, :])) / (scale[:, None] * scale[None, :])
    if cov != "unscaled":
        free = x.shape[0] - degree - 1
        if free <= 0:
            raise argument_error(
                ShapeError, f"polyfit: {x.shape[0]} points say nothing of the covariance.", "more points"
            )
        factor = squares / free
        return found, spread[:, :, None] * factor if y.ndim == 2 else spread * factor[0]
    return found, spread[:, :, None] if y.ndim == 2 else spread


@answers(np.vander)
def vander(x: TensorLike, N: int | None = None, increasing: bool = False) -> Any:
    """The matrix of the powers of the vector `x`, the highest first unless `increasing`. Single precision stays so.

    >>> import gradtape as gt
    >>> gt.vander(gt.tensor([2.0, 3.0]), 3)
    Tensor([[4., 2., 1.],
            [9., 3., 1.]])
    """
    x = as_value(x)
    if x.ndim != 1:
        raise argument_error(ShapeError, f"vander: an array of shape {x.shape}.", "a vector")
    count = x.shape[0] if N is None else N
    powers = np.arange(count) if increasing else np.arange(count)[::-1].copy()
    return (expand_dims(x, 1) ** powers[None, :]).astype(
        x.dtype if x.dtype.kind in "fc" else np.result_type(x.dtype, int)
    )


# -- polynomials of two variables, the lowest powers first, as `numpy.polynomial` has them


def _powers(x: Array, count: int) -> Any:
    """x^0, x^1, ... along a first axis."""
    found = [np.ones_like(x)]
    for _ in range(count - 1):
        found.append(found[-1] * x)
    return stack(found)


@answers(numpy_polynomial.polyval2d)
def _polyval2d(x: TensorLike, y: TensorLike, c: TensorLike) -> Any:
    """The sum of c_ij x^i y^j; axes of `c` behind the first two are other polynomials."""
    x, y, c = as_value(x), as_value(y), as_value(c)
    if x.shape != y.shape:
        raise argument_error(ShapeError, f"polyval2d: x of shape {x.shape} and y of shape {y.shape}.", "a y for each x")
    others = c.ndim - 2
    inner = tensordot(moveaxis(c, (0, 1), (-2, -1)), _powers(y, c.shape[1]), 1)
    return (inner * _powers(x, c.shape[0])).sum(others)


@answers(numpy_polynomial.polygrid2d)
def _polygrid2d(x: TensorLike, y: TensorLike, c: TensorLike) -> Any:
    """The sum of c_ij x^i y^j for every x with every y."""
    x, y, c = as_value(x), as_value(y), as_value(c)
    others = c.ndim - 2
    inner = tensordot(moveaxis(c, (1, 0), (-2, -1)), _powers(x, c.shape[0]), 1)
    return tensordot(moveaxis(inner, others, -1), _powers(y, c.shape[1]), 1)


__all__ = [
    "poly",
    "polyadd",
    "polyder",
    "polydiv",
    "polyfit",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "roots",
    "vander",
]
