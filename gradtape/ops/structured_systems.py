"""Linear systems with banded and with Toeplitz matrices, which are given and differentiated by their diagonals.

A banded matrix a with `lower` diagonals below the main one and `upper` above it is the array ab with
ab[upper + i - j, j] = a[i, j], as LAPACK and SciPy have it; a Hermitian one is given by the rows from the main diagonal
down. A Toeplitz matrix is given by its first column and its first row.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.batch import repeat_for_batch
from gradtape.core.operation import Op, apply
from gradtape.core.rules import general
from gradtape.core.shapes import unbroadcast
from gradtape.core.typing import Array, Draw
from gradtape.ops.linalg_common import batch_as_stack, in_precision_of, over_stack

# -- banded matrices as arrays of their diagonals


@functools.lru_cache(maxsize=64)
def band_rows(lower: int, upper: int, n: int) -> tuple[Any, Any]:
    """For each element of the array of diagonals its row in the matrix, and whether there is such a row."""
    rows = np.arange(n) + np.arange(-upper, lower + 1)[:, None]
    return np.clip(rows, 0, n - 1), (rows >= 0) & (rows < n)


def band_transpose(ab: Array, lower: int, upper: int) -> Any:
    """The diagonals of the transpose, which has `upper` of them below and `lower` above."""
    rows, inside = band_rows(upper, lower, ab.shape[-1])
    diagonals = np.arange(lower + upper, -1, -1)[:, None]
    return np.where(inside, ab[..., diagonals, rows], 0)


def band_matmul(ab: Array, x: Array, lower: int, upper: int) -> Any:
    """The product of a banded matrix and the columns of x."""
    across = band_transpose(ab, lower, upper)  # the elements of row i are in column i
    columns, _ = band_rows(upper, lower, ab.shape[-1])
    return np.sum(across[..., None] * x[..., columns, :], axis=-3)


def band_of_product(left: Array, right: Array, lower: int, upper: int) -> Any:
    """The diagonals of left @ right^H, of which nothing else is computed."""
    rows, inside = band_rows(lower, upper, right.shape[-2])
    conjugate = np.conj(right) if right.dtype.kind == "c" else right
    return np.where(inside, np.sum(left[..., rows, :] * conjugate[..., None, :, :], axis=-1), 0)


def dense_of_band(ab: Array, lower: int, upper: int) -> Any:
    """The matrix itself."""
    n = ab.shape[-1]
    offsets = np.arange(n)[:, None] - np.arange(n)
    inside = (offsets >= -upper) & (offsets <= lower)
    return np.where(inside, ab[..., np.clip(upper + offsets, 0, lower + upper), np.arange(n)], 0)


def lower_band(ab: Array) -> Any:
    """The diagonals from the main one down of a Hermitian matrix, from those of its upper triangle."""
    count = ab.shape[-2]
    across = band_transpose(ab, 0, count - 1)
    return np.conj(across) if ab.dtype.kind == "c" else across


def _solved(one: Callable[..., Any], *arrays: Array) -> Any:
    """`one(...)` of each system of a stack; the last array is the right-hand side, whose shape the result has."""
    stack = np.broadcast_shapes(*(array.shape[:-2] for array in arrays))
    if 0 in stack:
        return np.zeros(stack + arrays[-1].shape[-2:], np.result_type(*arrays))
    return in_precision_of(over_stack(one, *map(np.asarray, arrays)), *arrays)


# -- solve_banded: a x = b,  a dx = db - da x


def _banded_kernel(x: Array, y: Array, lower: int, upper: int) -> Any:
    from scipy import linalg

    def one(ab: Array, b: Array) -> Any:
        if not b.size:
            return np.zeros(b.shape, np.result_type(ab, b))
        return linalg.solve_banded((lower, upper), ab, b, check_finite=False)

    return _solved(one, x, y)


def _banded_reverse(g: Array, x: Array, y: Array, out: Array, lower: int, upper: int) -> Any:
    across = band_transpose(x, lower, upper)
    right = banded_solution(np.conj(across) if x.dtype.kind == "c" else across, g, lower=upper, upper=lower)
    return unbroadcast(-band_of_product(right, out, lower, upper), x.shape), unbroadcast(right, y.shape)


def _banded_forward(dx: Array, dy: Array, x: Array, out: Array, lower: int, upper: int) -> Any:
    return banded_solution(x, dy - band_matmul(dx, out, lower, upper), lower=lower, upper=upper)


def _diagonals(draw: Draw, lower: int, upper: int, n: int) -> Any:
    ab = 0.4 * draw(lower + upper + 1, n)
    ab[upper] += 2
    return ab


banded_solution: Op = general(
    _banded_kernel,
    reverse=_banded_reverse,
    forward=_banded_forward,
    name="solve_banded",
    inputs=2,
    batch=batch_as_stack,
    samples=lambda draw: [
        ((_diagonals(draw, 1, 1, 4), draw(4, 2)), {"lower": 1, "upper": 1}),
        ((_diagonals(draw, 2, 0, 3), draw(3, 1)), {"lower": 2, "upper": 0}),
        ((np.stack([_diagonals(draw, 0, 1, 3)] * 2), draw(3, 2)), {"lower": 0, "upper": 1}),
    ],
)


# -- solveh_banded: the same for a positive definite matrix, given by the diagonals from the main one down


def _definite_kernel(x: Array, y: Array) -> Any:
    from scipy import linalg

    def one(ab: Array, b: Array) -> Any:
        if not b.size:
            return np.zeros(b.shape, np.result_type(ab, b))
        return linalg.solveh_banded(ab, b, lower=True, check_finite=False)

    return _solved(one, x, y)


def _both_halves(ab: Array) -> Any:
    """All diagonals of the Hermitian matrix with these from the main one down."""
    count = ab.shape[-2]
    across = band_transpose(ab, count - 1, 0)[..., :-1, :]
    main = np.real(ab[..., :1, :]) if ab.dtype.kind == "c" else ab[..., :1, :]
    return np.concatenate([np.conj(across) if ab.dtype.kind == "c" else across, main, ab[..., 1:, :]], axis=-2)


def _definite_reverse(g: Array, x: Array, y: Array, out: Array) -> Any:
    below = x.shape[-2] - 1
    right = definite_banded_solution(x, g)
    one, other = band_of_product(right, out, below, 0), band_of_product(out, right, below, 0)
    twice = one + other  # an element below the diagonal is there a second time, above it
    main = np.arange(below + 1)[:, None] == 0
    return unbroadcast(-np.where(main, twice / 2, twice), x.shape), unbroadcast(right, y.shape)


definite_banded_solution: Op = general(
    _definite_kernel,
    reverse=_definite_reverse,
    forward=lambda dx, dy, x, out: definite_banded_solution(
        x, dy - band_matmul(_both_halves(dx), out, x.shape[-2] - 1, x.shape[-2] - 1)
    ),
    name="solveh_banded",
    inputs=2,
    batch=batch_as_stack,
    samples=lambda draw: [
        ((_diagonals(draw, 1, 0, 4), draw(4, 2)), {}),
        ((_diagonals(draw, 0, 0, 3), draw(3, 1)), {}),
        ((np.stack([_diagonals(draw, 1, 0, 3)] * 2), draw(3, 2)), {}),
    ],
)


# -- solve_toeplitz: t x = b,  t dx = db - dt x. The products with Toeplitz matrices are convolutions


def toeplitz_matmul(column: Array, row: Array, x: Array) -> Any:
    """The product of the Toeplitz matrix with this first column and row and the columns of x, by Fourier transforms."""
    m, n = column.shape[-1], row.shape[-1]
    circle = np.concatenate([column, row[..., :0:-1]], axis=-1)
    kind = np.result_type(column.dtype, row.dtype, x.dtype)
    if kind.kind == "c":
        product: Any = np.fft.ifft(np.fft.fft(circle)[..., None] * np.fft.fft(x, m + n - 1, axis=-2), axis=-2)
    else:
        spectrum = np.fft.rfft(circle)[..., None] * np.fft.rfft(x, m + n - 1, axis=-2)
        product = np.fft.irfft(spectrum, m + n - 1, axis=-2)
    return product[..., :m, :]


def _sums_along_diagonals(left: Array, right: Array) -> tuple[Any, Any]:
    """The sums of left @ right^H along its diagonals: from the main one down, and from the main one up."""
    m, n = left.shape[-2], right.shape[-2]
    if left.dtype.kind == "c" or right.dtype.kind == "c":
        spectrum = np.fft.fft(left, m + n - 1, axis=-2) * np.conj(np.fft.fft(right, m + n - 1, axis=-2))
        sums: Any = np.fft.ifft(np.sum(spectrum, axis=-1))
    else:
        spectrum = np.fft.rfft(left, m + n - 1, axis=-2) * np.conj(np.fft.rfft(right, m + n - 1, axis=-2))
        sums = np.fft.irfft(np.sum(spectrum, axis=-1), m + n - 1)
    return sums[..., :m], np.concatenate([sums[..., :1], sums[..., :-n:-1]], axis=-1)


def _toeplitz_kernel(x: Array, y: Array, z: Array) -> Any:
    from scipy import linalg

    def one(column: Array, row: Array, b: Array) -> Any:
        if not b.size:
            return np.zeros(b.shape, np.result_type(column, row, b))
        return linalg.solve_toeplitz((column[0], row[0]), b, check_finite=False)

    return _solved(one, x[..., None, :], y[..., None, :], z)


def _toeplitz_reverse(g: Array, x: Array, y: Array, z: Array, out: Array) -> Any:
    first = np.concatenate([x[..., :1], y[..., 1:]], axis=-1)  # the row's own first element is not read
    right = toeplitz_solution(np.conj(first), np.conj(x), g)
    down, up = _sums_along_diagonals(right, out)
    up = np.where(np.arange(y.shape[-1]) == 0, 0, up)
    return unbroadcast(-down, x.shape), unbroadcast(-up, y.shape), unbroadcast(right, z.shape)


def _batch_toeplitz(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    size = next(value.shape[0] for value, flag in zip(values, flags, strict=True) if flag)
    return apply(
        op, tuple(v if flag else repeat_for_batch(v, size) for v, flag in zip(values, flags, strict=True)), params
    )


def _dominant(draw: Draw, n: int) -> Any:
    column = 0.4 * draw(n)
    column[0] = 3 + draw(1)[0] / 4
    return column


toeplitz_solution: Op = general(
    _toeplitz_kernel,
    reverse=_toeplitz_reverse,
    forward=lambda dx, dy, dz, x, y, out: toeplitz_solution(
        x, y, dz - toeplitz_matmul(dx, np.concatenate([dx[..., :1], dy[..., 1:]], axis=-1), out)
    ),
    name="solve_toeplitz",
    inputs=3,
    batch=_batch_toeplitz,
    samples=lambda draw: [
        ((_dominant(draw, 4), 0.4 * draw(4), draw(4, 2)), {}),
        ((_dominant(draw, 3), 0.4 * draw(3), draw(3, 1)), {}),
    ],
)
