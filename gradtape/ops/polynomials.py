"""Polynomials by their coefficients, the highest power first, as `np.polyval` has them; and Vandermonde matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.operation import Lifted
from gradtape.core.tensor import plain
from gradtape.errors import OperandError, ShapeError
from gradtape.ops.arguments import as_value, refused
from gradtape.ops.joining import concatenate, stack
from gradtape.ops.numerical import convolve
from gradtape.ops.shaping import expand_dims, reshape
from gradtape.protocols import answers


def _coefficients(p: Any, what: str) -> Any:
    """The coefficients as a vector."""
    p = as_value(p.coeffs if isinstance(p, np.poly1d) else p)
    if p.ndim > 1:
        raise refused(ShapeError, f"{what}: coefficients of shape {p.shape}.", "a vector, the highest power first")
    return p if p.ndim else reshape(p, (1,))


@answers(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """The polynomial with coefficients `p` at `x`, by Horner's rule; differentiable in both.

    >>> import gradtape as gt
    >>> gt.value_and_grad(lambda x: gt.polyval([1.0, 0.0, -2.0], x))(gt.tensor(3.0))
    (Tensor(7.), Tensor(6.))
    """
    p, x = _coefficients(p, "polyval"), as_value(x)
    total: Any = np.zeros_like(x)
    for k in range(p.shape[0]):
        total = total * x + p[k]
    return total


def _lined_up(a1: Any, a2: Any, what: str) -> tuple[Any, Any]:
    """Both with as many coefficients, zeros first."""
    pair = [_coefficients(a, what) for a in (a1, a2)]
    length = max(p.shape[0] for p in pair)
    first, second = (
        p if p.shape[0] == length else concatenate([np.zeros(length - p.shape[0], p.dtype), p]) for p in pair
    )
    return first, second


@answers(np.polyadd)
def polyadd(a1: Any, a2: Any) -> Any:
    """The coefficients of the sum of two polynomials.

    >>> import gradtape as gt
    >>> gt.polyadd(gt.tensor([1.0, 2.0]), [1.0])
    Tensor([1., 3.])
    """
    first, second = _lined_up(a1, a2, "polyadd")
    return first + second


@answers(np.polysub)
def polysub(a1: Any, a2: Any) -> Any:
    """The coefficients of the difference of two polynomials.

    >>> import gradtape as gt
    >>> gt.polysub(gt.tensor([1.0, 2.0]), [1.0])
    Tensor([1., 1.])
    """
    first, second = _lined_up(a1, a2, "polysub")
    return first - second


@answers(np.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    """The coefficients of the product of two polynomials.

    >>> import gradtape as gt
    >>> gt.polymul(gt.tensor([1.0, 1.0]), [1.0, -1.0])
    Tensor([ 1.,  0., -1.])
    """
    return convolve(_coefficients(a1, "polymul"), _coefficients(a2, "polymul"))


@answers(np.polydiv)
def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
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
    whole = stack(quotient) if quotient else 0 * u[:1]
    if not rest.shape[0]:
        return whole, 0 * u[:1]
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
        raise refused(OperandError, f"polyder: m={m}.", "m is the number of times, 0 or more; gt.polyint goes back")
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
        raise refused(OperandError, f"polyint: m={m}.", "m is the number of times, 0 or more; gt.polyder goes back")
    p = _coefficients(p, "polyint")
    constants = reshape(as_value(np.zeros(m) if k is None else k), (-1,))
    if constants.shape[0] not in (1, m):
        raise refused(ShapeError, f"polyint: {constants.shape[0]} constants for m={m}.", "one, or one for each time")
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
    if zeros.ndim != 1:
        raise refused(
            ShapeError,
            f"poly: an array of shape {zeros.shape}.",
            "a vector of zeros; for the characteristic polynomial of a matrix, gt.poly of its eigenvalues",
        )
    found, nothing = np.ones(1, zeros.dtype), np.zeros(1, zeros.dtype)
    for k in range(zeros.shape[0]):
        found = concatenate([found, nothing]) - concatenate([nothing, found * zeros[k]])
    return found


@answers(np.vander)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """The matrix of the powers of the vector `x`, the highest first unless `increasing`. Single precision stays so.

    >>> import gradtape as gt
    >>> gt.vander(gt.tensor([2.0, 3.0]), 3)
    Tensor([[4., 2., 1.],
            [9., 3., 1.]])
    """
    x = as_value(x)
    if x.ndim != 1:
        raise refused(ShapeError, f"vander: an array of shape {x.shape}.", "a vector")
    count = x.shape[0] if N is None else N
    powers = np.arange(count) if increasing else np.arange(count)[::-1].copy()
    return (expand_dims(x, 1) ** powers).astype(x.dtype)


__all__ = ["poly", "polyadd", "polyder", "polydiv", "polyint", "polymul", "polysub", "polyval", "vander"]
