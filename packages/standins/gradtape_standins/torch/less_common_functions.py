"""Functions of `torch` that programs seldom ask for."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import Tensor as Value
from gradtape.extend import concrete
from gradtape_standins.torch import creation, dtypes, linalg
from gradtape_standins.torch.linalg import fields
from gradtape_standins.torch.tensor import Tensor, wrap
from gradtape_standins.torch.wrapping import cast, floating, function, operand

# -- places


@function("DiagonalBackwardCopy")
def diagflat(input: Any, offset: int = 0) -> Any:
    """A matrix with these numbers on a diagonal."""
    return gt.diagflat(input, offset)


@function("SelectScatter")
def select_scatter(input: Any, src: Any, dim: int, index: int) -> Any:
    """`input` with `src` in the place of one slice."""
    return gt.at(input)[(*(slice(None),) * (dim % len(input.shape)), index)].set(src)


@function("SliceScatter")
def slice_scatter(input: Any, src: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    """`input` with `src` in the place of a range of slices."""
    return gt.at(input)[(*(slice(None),) * (dim % len(input.shape)), slice(start, end, step))].set(src)


@function("DiagonalScatter")
def diagonal_scatter(input: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """`input` with `src` on a diagonal."""
    places = np.diagonal(np.arange(np.prod(input.shape, dtype=int)).reshape(input.shape), offset, dim1, dim2)
    flat = gt.at(gt.reshape(input, (-1,)))[places.ravel()].set(gt.reshape(src, (-1,)))
    return gt.reshape(flat, input.shape)


@function("Put")
def put(input: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """`input` with numbers written (or added) at positions counted along one axis."""
    place = gt.at(gt.reshape(input, (-1,)))[gt.reshape(index, (-1,))]
    flat = gt.reshape(source, (-1,))
    return gt.reshape(place.add(flat) if accumulate else place.set(flat), input.shape)


def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int = 0) -> Any:
    """A view of the storage by lengths and strides."""
    root: Any = input if input._base is None else input._base
    order = np.arange(root.numel())
    steps = [each * order.itemsize for each in stride]
    places = np.lib.stride_tricks.as_strided(order[storage_offset:], tuple(size), steps, writeable=False)
    if places.size and places.max() >= order.size:
        raise RuntimeError(
            f"as_strided: size={list(size)}, stride={list(stride)} and storage_offset={storage_offset} reach beyond "
            f"the {order.size} elements that there are"
        )
    return root._viewed(lambda value: gt.take(gt.reshape(value, (-1,)), places, 0))


def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Positions counted along one axis as positions along each."""
    return tuple(wrap(part) for part in np.unravel_index(indices._numbers, tuple(shape)))


@function("Sum")
def sum_to_size(input: Any, *size: Any) -> Any:
    """Summed over the axes that would have to be stretched from `size`."""
    shape = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (list, tuple)) else size
    extra = len(input.shape) - len(shape)
    axes = tuple(range(extra)) + tuple(extra + i for i, n in enumerate(shape) if n == 1 != input.shape[extra + i])
    return gt.reshape(gt.sum(input, axes), shape)


# -- numbers


@function("Polygamma")
def polygamma(n: int, input: Any) -> Any:
    """The n-th derivative of digamma."""
    return gt.special.polygamma(n, floating(input))


@function("Mvlgamma")
def mvlgamma(input: Any, p: int) -> Any:
    """The logarithm of the gamma function of several dimensions."""
    return gt.special.multigammaln(floating(input), p)


@function("Igamma")
def igamma(input: Any, other: Any) -> Any:
    """The lower incomplete gamma function, normalised."""
    return gt.special.gammainc(input, other)


@function("Igammac")
def igammac(input: Any, other: Any) -> Any:
    """The upper incomplete gamma function, normalised."""
    return gt.special.gammaincc(input, other)


@function("Ldexp")
def ldexp(input: Any, other: Any) -> Any:
    """input times a power of 2."""
    return floating(input) * gt.power(np.asarray(2.0, floating(input).dtype), cast(operand(other), input.dtype))


@function()
def nextafter(input: Any, other: Any) -> Any:
    """The next number that the type has, towards `other`."""
    return np.nextafter(concrete(input), concrete(other))


@function()
def isreal(input: Any) -> Any:
    """Whether each number has no imaginary part."""
    return np.isreal(concrete(input))


@function()
def frexp(input: Any) -> Any:
    """Numbers as a mantissa and a power of 2."""
    mantissa, exponent = np.frexp(concrete(input))
    return _Frexp(mantissa, exponent)


_Frexp = fields("frexp", "mantissa", "exponent", chapter="")


@function("Quantile")
def nanquantile(input: Any, q: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Quantiles of what is not NaN."""
    return gt.nanquantile(input, q, axis=dim, keepdims=keepdim)


@function("Sort")
def msort(input: Any) -> Any:
    """Sorted along the first axis."""
    return gt.sort(input, axis=0)


@function("Copy")
def gradient(input: Any, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> Any:
    """Slopes by central differences along each axis."""
    axes = range(len(input.shape)) if dim is None else (dim,) if isinstance(dim, int) else dim
    return tuple(gt.gradient(input, spacing, axis=axis, edge_order=edge_order) for axis in axes)


@function("Cumsum")
def cumulative_trapezoid(y: Any, x: Any = None, *, dx: Any = 1.0, dim: int = -1) -> Any:
    """The running integral, in straight lines."""
    moved = gt.moveaxis(y, dim, -1)
    widths = dx if x is None else x[..., 1:] - x[..., :-1]
    return gt.moveaxis(gt.cumsum((moved[..., 1:] + moved[..., :-1]) / 2 * widths, -1), -1, dim)


@function("Renorm")
def renorm(input: Any, p: float, dim: int, maxnorm: float) -> Any:
    """Slices along `dim` whose norm is above `maxnorm`, scaled down to it."""
    rows = gt.reshape(gt.moveaxis(input, dim, 0), (input.shape[dim], -1))
    norms = gt.linalg.vector_norm(rows, ord=p, axis=1, keepdims=True)
    scaled = gt.where(norms > maxnorm, rows * (maxnorm / (norms + 1e-7)), rows)
    others = [n for axis, n in enumerate(input.shape) if axis != dim % len(input.shape)]
    return gt.moveaxis(gt.reshape(scaled, (input.shape[dim], *others)), 0, dim)


# -- matrices


def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """U, S and V, as `torch.svd` has them: V, and not its transpose."""
    left, values, right = linalg.svd(input, full_matrices=not some)
    return _Svd(left, values, right.mH)


_Svd = fields("svd", "U", "S", "V", chapter="")


@function("CholeskySolve")
def cholesky_solve(input: Any, L: Any, upper: bool = False) -> Any:
    """The solution for a matrix that is given by its Cholesky factor."""
    return gt.linalg.cho_solve((L, not upper), input)


@function("CholeskyInverse")
def cholesky_inverse(L: Any, upper: bool = False) -> Any:
    """The inverse of a matrix that is given by its Cholesky factor."""
    return gt.linalg.cho_solve((L, not upper), np.eye(L.shape[-1], dtype=L.dtype))


def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """The solution for a triangular matrix, and the matrix."""
    matrix = A.mT if transpose else A
    found = linalg.solve_triangular(matrix, b, upper=upper != transpose, unitriangular=unitriangular)
    return _Triangular(found, A)


_Triangular = fields("triangular_solve", "solution", "cloned_coefficient", chapter="")


@function("Pow")
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """The powers of numbers, along a last axis."""
    return gt.vander(x, N, increasing)


def chain_matmul(*matrices: Tensor) -> Any:
    """The product of several matrices."""
    return linalg.multi_dot(matrices)


@function("Addbmm")
def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta input + alpha times the sum of the products of two batches of matrices."""
    return beta * input + alpha * gt.sum(gt.matmul(batch1, batch2), 0)


# -- windows


def _window(name: str, compute: Any, doc: str) -> Any:
    def window(window_length: int, periodic: bool = True, *args: Any, dtype: Any = None, **_: Any) -> Tensor:
        kind = dtypes.as_numpy(dtype) or dtypes.default()
        points = np.arange(window_length) / max(window_length - (0 if periodic else 1), 1)
        made: Tensor = wrap(Value(np.asarray(compute(points, *args), kind)))
        return made

    window.__name__, window.__doc__ = name, doc
    return window


hann_window = _window("hann_window", lambda x: 0.5 - 0.5 * np.cos(2 * np.pi * x), "Hann's window.")
hamming_window = _window("hamming_window", lambda x, a=0.54, b=0.46: a - b * np.cos(2 * np.pi * x), "Hamming's window.")
blackman_window = _window(
    "blackman_window",
    lambda x: 0.42 - 0.5 * np.cos(2 * np.pi * x) + 0.08 * np.cos(4 * np.pi * x),
    "Blackman's window.",
)
bartlett_window = _window("bartlett_window", lambda x: 1 - np.abs(2 * x - 1), "Bartlett's window, a triangle.")


def range_(start: Any = 0, end: Any = None, step: Any = 1, **options: Any) -> Tensor:
    """From `start` to `end`, which is included."""
    return creation.arange(start, end + step / 2, step, **{"dtype": dtypes.get_default_dtype(), **options})


def scalar_tensor(s: Any, *, dtype: Any = None, **_: Any) -> Tensor:
    """A tensor of one number without axes, in the default type."""
    return creation.tensor(s, dtype=dtype or dtypes.get_default_dtype())


_NAMES = (
    "diagflat select_scatter slice_scatter diagonal_scatter put as_strided mvlgamma igamma igammac ldexp nextafter "
    "isreal frexp nanquantile msort renorm svd cholesky_solve cholesky_inverse triangular_solve addbmm"
)
_FUNCTIONS_ONLY = (
    "polygamma unravel_index vander gradient cumulative_trapezoid chain_matmul hann_window hamming_window "
    "blackman_window bartlett_window scalar_tensor"
)
METHODS = {name: globals()[name] for name in _NAMES.split()}
FUNCTIONS = METHODS | {name: globals()[name] for name in _FUNCTIONS_ONLY.split()} | {"range": range_}
"""Every function of this chapter by its name in `torch`."""
METHODS = METHODS | {"sum_to_size": sum_to_size}
"""The methods of this chapter."""
