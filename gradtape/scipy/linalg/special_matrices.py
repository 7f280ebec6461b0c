"""Matrices of `scipy.linalg` that are made of a few numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.extend import Tensor
from gradtape.ops.products import kron as _kron
from gradtape.scipy.linalg.arguments import as_matrix, as_numbers, known_numbers, no_such_option, original

__all__ = [
    *("bandwidth", "block_diag", "circulant", "clarkson_woodruff_transform", "companion", "convolution_matrix"),
    *("diagsvd", "fiedler", "fiedler_companion", "hankel", "ishermitian", "issymmetric", "khatri_rao", "kron"),
    *("leslie", "toeplitz"),
]


def _as_given(x: Any, name: str) -> Any:
    """An argument whose integers stay integers, with at least one axis."""
    from gradtape.extend import as_value
    from gradtape.mirror import holds_tensor
    from gradtape.ops.creation_from import asarray

    x = as_value(asarray(x)) if isinstance(x, (list, tuple)) and holds_tensor(x) else as_value(x)
    return x.reshape((1,)) if x.ndim == 0 else x


@original.differentiated
def toeplitz(c: Any, r: Any = None) -> Any:
    """The matrix with this first column and first row and constant diagonals, as `scipy.linalg.toeplitz`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.toeplitz(gt.tensor([1.0, 2.0]), [1.0, 3.0])
    Tensor([[1., 3.],
            [2., 1.]])
    """
    c = _as_given(c, "c")
    r = (np.conj(c) if c.dtype.kind == "c" else c) if r is None else _as_given(r, "r")
    if c.ndim > 1 or r.ndim > 1:
        raise no_such_option("toeplitz", "the shapes", (c.shape, r.shape), "vectors; gt.vmap(toeplitz) for several")
    return _toeplitz(c, r)


def _toeplitz(c: Any, r: Any) -> Any:
    m, n = c.shape[0], r.shape[0]
    values = np.concatenate([r[:0:-1], c])
    return values[np.arange(m)[:, None] - np.arange(n) + n - 1]


@original.differentiated
def hankel(c: Any, r: Any = None) -> Any:
    """The matrix with this first column and last row and constant anti-diagonals, as `scipy.linalg.hankel`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.hankel(gt.tensor([1.0, 2.0]))
    Tensor([[1., 2.],
            [2., 0.]])
    """
    c = _as_given(c, "c")
    r = np.zeros(c.shape, c.dtype) if r is None else _as_given(r, "r")
    if c.ndim > 1 or r.ndim > 1:
        raise no_such_option("hankel", "the shapes", (c.shape, r.shape), "vectors; gt.vmap(hankel) for several")
    values = np.concatenate([c, r[1:]])
    return values[np.arange(c.shape[0])[:, None] + np.arange(r.shape[0])]


@original.differentiated
def circulant(c: Any) -> Any:
    """The matrix whose columns are this one, each moved down by one more place, as `scipy.linalg.circulant`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.circulant(gt.tensor([1.0, 2.0]))
    Tensor([[1., 2.],
            [2., 1.]])
    """
    c = _as_given(c, "c")
    n = c.shape[-1]
    return c[..., (np.arange(n)[:, None] - np.arange(n)) % n]


@original.differentiated
def companion(a: Any) -> Any:
    """The matrix whose eigenvalues are the roots of a polynomial, as `scipy.linalg.companion`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.companion(gt.tensor([1.0, -3.0, 2.0]))
    Tensor([[ 3., -2.],
            [ 1.,  0.]])
    """
    a = _as_given(a, "a")
    n = a.shape[-1]
    if n < 2:
        raise no_such_option("companion", "a.shape", a.shape, "at least two coefficients")
    _require_leading(a[..., 0], "companion")
    first = -a[..., 1:] / (1.0 * a[..., :1])
    below = np.broadcast_to(np.eye(n - 1, dtype=first.dtype)[:-1], (*a.shape[:-1], n - 2, n - 1))
    return np.concatenate([first[..., None, :], below], axis=-2)


def _require_leading(first: Any, function: str) -> None:
    from gradtape.extend import numbers_if_known

    numbers = numbers_if_known(first) if isinstance(first, Tensor) else first
    if numbers is not None and np.any(np.asarray(numbers) == 0):
        raise no_such_option(function, "a[..., 0]", 0.0, "a leading coefficient that is not zero")


@original.differentiated
def fiedler_companion(a: Any) -> Any:
    """Another matrix whose eigenvalues are the roots of a polynomial, as `scipy.linalg.fiedler_companion`."""
    a = _as_given(a, "a")
    if a.ndim != 1:
        raise no_such_option(
            "fiedler_companion", "a.shape", a.shape, "a vector; gt.vmap(fiedler_companion) for several"
        )
    if a.shape[0] < 2:
        return np.array([], a.dtype)
    _require_leading(a[0], "fiedler_companion")
    a = a / a[0]
    n = a.shape[0] - 1
    if n == 1:
        return (-a[1:]).reshape((1, 1))
    # the places that hold a coefficient, by its number, and those that hold a one
    places, ones = np.zeros((n, n), np.intp), np.zeros((n, n))
    ones[range(3, n, 2), range(1, n - 2, 2)] = 1.0
    places[range(2, n, 2), range(1, n - 1, 2)] = range(3, n + 1, 2)
    ones[range(0, n - 2, 2), range(2, n, 2)] = 1.0
    places[range(0, n - 1, 2), range(1, n, 2)] = range(2, n + 1, 2)
    places[0, 0], ones[1, 0] = 1, 1.0
    return np.where(places > 0, -a[places], ones.astype(a.dtype))


@original.differentiated
def fiedler(a: Any) -> Any:
    """The distances of all pairs of numbers, as `scipy.linalg.fiedler`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.fiedler(gt.tensor([1.0, 4.0]))
    Tensor([[0., 3.],
            [3., 0.]])
    """
    a = _as_given(a, "a")
    return np.abs(a[..., :, None] - a[..., None, :])


@original.differentiated
def leslie(f: Any, s: Any) -> Any:
    """The matrix of a population with these fecundities and survival rates, as `scipy.linalg.leslie`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.leslie(gt.tensor([0.5, 2.0]), [0.25])
    Tensor([[0.5 , 2.  ],
            [0.25, 0.  ]])
    """
    f, s = _as_given(f, "f"), _as_given(s, "s")
    n = f.shape[-1]
    if f.ndim != 1 or s.shape != (n - 1,) or n < 2:
        raise no_such_option("leslie", "the shapes", (f.shape, s.shape), "(n,) for f and (n - 1,) for s, n at least 2")
    below = np.concatenate([np.diag(s), np.zeros((n - 1, 1), s.dtype)], axis=1)
    return np.concatenate([f[None, :], below], axis=0)


@original.differentiated
def block_diag(*arrs: Any) -> Any:
    """The matrix with these along its diagonal, as `scipy.linalg.block_diag`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.block_diag(gt.tensor([[1.0, 2.0]]), 3.0)
    Tensor([[1., 2., 0.],
            [0., 0., 3.]])
    """
    blocks = [_as_given(block, "arrs") for block in arrs]
    blocks = [block[None, :] if block.ndim == 1 else block for block in blocks]
    stack = np.broadcast_shapes(*(block.shape[:-2] for block in blocks))
    columns = [block.shape[-1] for block in blocks]
    kind = np.result_type(*(block.dtype for block in blocks))
    rows, before = [], 0
    for block, width in zip(blocks, columns, strict=True):
        block = np.broadcast_to(block, (*stack, *block.shape[-2:]))
        height = block.shape[-2]
        left = np.zeros((*stack, height, before), kind)
        right = np.zeros((*stack, height, sum(columns) - before - width), kind)
        rows.append(np.concatenate([left, block, right], axis=-1))
        before += width
    return np.concatenate(rows, axis=-2)


@original.differentiated
def kron(a: Any, b: Any) -> Any:
    """The Kronecker product, as `scipy.linalg.kron` of SciPy before 1.17 and `np.kron`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.kron(gt.tensor([[1.0, 2.0]]), [[1.0], [1.0]])
    Tensor([[1., 2.],
            [1., 2.]])
    """
    return _kron(as_numbers(a), as_numbers(b, name="b"))


@original.differentiated
def khatri_rao(a: Any, b: Any) -> Any:
    """The Kronecker products of the columns of a with those of b, as `scipy.linalg.khatri_rao`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.khatri_rao(gt.tensor([[1.0, 2.0]]), [[3.0, 4.0], [5.0, 6.0]])
    Tensor([[ 3.,  8.],
            [ 5., 12.]])
    """
    a, b = as_matrix(_as_given(a, "a")), as_matrix(_as_given(b, "b"), name="b")
    if a.shape[-1] != b.shape[-1]:
        raise no_such_option("khatri_rao", "the shapes", (a.shape, b.shape), "as many columns of a as of b")
    product = a[..., :, None, :] * b[..., None, :, :]
    return product.reshape((*product.shape[:-3], -1, product.shape[-1]))


@original.differentiated
def convolution_matrix(a: Any, n: int, mode: str = "full") -> Any:
    """The matrix of the convolution of `a` with vectors of length n, as `scipy.linalg.convolution_matrix`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.convolution_matrix(gt.tensor([1.0, 2.0]), 2, mode="same")
    Tensor([[1., 0.],
            [2., 1.]])
    """
    a = _as_given(a, "a")
    if n <= 0 or not a.shape[-1]:
        raise no_such_option("convolution_matrix", "n, a.shape", (n, a.shape), "a positive n and at least one element")
    if mode not in ("full", "valid", "same"):
        raise no_such_option("convolution_matrix", "mode", mode, "'full', 'valid' or 'same'")
    length = a.shape[-1]
    shorter = min(n, length) - 1
    before = {"full": 0, "same": shorter // 2, "valid": shorter}[mode]
    behind = {"full": 0, "same": shorter - shorter // 2, "valid": shorter}[mode]
    places = np.arange(before, length + n - 1 - behind)[:, None] - np.arange(n)
    inside = (places >= 0) & (places < length)
    return np.where(inside, a[..., np.clip(places, 0, length - 1)], np.zeros((), a.dtype))


@original.differentiated
def diagsvd(s: Any, M: int, N: int) -> Any:
    """The M by N matrix with singular values on its diagonal, as `scipy.linalg.diagsvd`.

    >>> import gradtape as gt
    >>> from gradtape.scipy import linalg
    >>> linalg.diagsvd(gt.tensor([2.0]), 1, 2)
    Tensor([[2., 0.]])
    """
    s = _as_given(s, "s")
    if s.ndim != 1 or s.shape[0] not in (M, N) or s.shape[0] > min(M, N):
        raise no_such_option("diagsvd", "s.shape", s.shape, f"min(M, N) = {min(M, N)} singular values")
    part = np.diag(s)
    return (
        np.concatenate([part, np.zeros((abs(M - N), min(M, N)), s.dtype)], 0)
        if M > N
        else np.concatenate([part, np.zeros((min(M, N), abs(N - M)), s.dtype)], 1)
    )


@original.differentiated
def clarkson_woodruff_transform(input_matrix: Any, sketch_size: int, rng: Any = None, **seeds: Any) -> Any:
    """A random sketch of a matrix, S @ input_matrix, as `scipy.linalg.clarkson_woodruff_transform`."""
    a = as_matrix(input_matrix, name="input_matrix")
    given = {} if rng is None else {"rng": rng}
    return original.contents.clarkson_woodruff_transform(np.eye(a.shape[-2]), sketch_size, **given, **seeds) @ a


# -- questions, whose answers are whole numbers


@original.differentiated
def bandwidth(a: Any) -> tuple[int, int]:
    """How many diagonals there are below and above the main one, as `scipy.linalg.bandwidth`; whole numbers."""
    answer: tuple[int, int] = original.contents.bandwidth(known_numbers(a, "bandwidth"))
    return answer


@original.differentiated
def issymmetric(a: Any, atol: float | None = None, rtol: float | None = None) -> bool:
    """Whether a matrix is its own transpose, as `scipy.linalg.issymmetric`."""
    return bool(original.contents.issymmetric(known_numbers(a, "issymmetric"), atol, rtol))


@original.differentiated
def ishermitian(a: Any, atol: float | None = None, rtol: float | None = None) -> bool:
    """Whether a matrix is its own conjugate transpose, as `scipy.linalg.ishermitian`."""
    return bool(original.contents.ishermitian(known_numbers(a, "ishermitian"), atol, rtol))
