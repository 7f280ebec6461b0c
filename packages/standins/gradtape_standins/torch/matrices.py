"""Products of vectors and matrices, and what is computed from matrices under names of `torch` itself."""

from __future__ import annotations

from typing import Any

import gradtape as gt
from gradtape.errors import ShapeError
from gradtape.extend import Tensor as Value
from gradtape.extend import argument_error
from gradtape_standins.torch.wrapping import function, one_type


def _ranks(name: str, wanted: str, **operands: Any) -> None:
    for (what, x), rank in zip(operands.items(), wanted, strict=True):
        if len(x.shape) != int(rank):
            raise argument_error(
                ShapeError,
                f"torch.{name}: {what} has shape {list(x.shape)}; {rank} dimensions are accepted.",
                "torch.matmul takes vectors, matrices and batches of them",
            )


_BY_RANK: dict[tuple[int, int], int | str] = {(1, 1): "Dot", (2, 1): "Mv", (2, 2): "Mm", (1, 2): 4}


def _product(input: Any, other: Any) -> int | str:
    """What PyTorch makes of a product of tensors of so many axes."""
    return _BY_RANK.get((len(input.shape), len(getattr(other, "shape", ()))), "UnsafeView")


@function("Squeeze", _product)
def matmul(input: Any, other: Any) -> Any:
    """The product of vectors, matrices or batches of matrices."""
    if not isinstance(other, Value):
        raise TypeError(f"matmul(): argument 'other' must be Tensor, not {type(other).__name__}.\n  fix: * for numbers")
    one_type("matmul", input=input, other=other)
    return gt.matmul(input, other)


@function("Mm")
def mm(input: Any, mat2: Any) -> Any:
    """The product of two matrices."""
    _ranks("mm", "22", input=input, mat2=mat2)
    one_type("mm", input=input, mat2=mat2)
    return gt.matmul(input, mat2)


@function("Mv")
def mv(input: Any, vec: Any) -> Any:
    """The product of a matrix and a vector."""
    _ranks("mv", "21", input=input, vec=vec)
    return gt.matmul(input, vec)


@function("Bmm")
def bmm(input: Any, mat2: Any) -> Any:
    """The products of two batches of matrices."""
    _ranks("bmm", "33", input=input, mat2=mat2)
    one_type("bmm", input=input, mat2=mat2)
    return gt.matmul(input, mat2)


@function("Dot")
def dot(input: Any, tensor: Any) -> Any:
    """The product of two vectors."""
    _ranks("dot", "11", input=input, tensor=tensor)
    one_type("dot", input=input, tensor=tensor)
    return gt.matmul(input, tensor)


@function("Vdot")
def vdot(input: Any, other: Any) -> Any:
    """The product of two vectors, the first one conjugated."""
    return gt.vdot(input, other)


@function("View")
def inner(input: Any, other: Any) -> Any:
    """The products along the last axes of both."""
    return gt.inner(input, other)


@function("Mul")
def outer(input: Any, vec2: Any) -> Any:
    """All products of an element of one vector and an element of another."""
    return gt.outer(input, vec2)


def _affine(input: Any, product: Any, beta: Any, alpha: Any) -> Any:
    scaled = product if alpha == 1 else product * alpha
    return scaled if beta == 0 else (input if beta == 1 else input * beta) + scaled


@function("Addmm")
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * mat1 @ mat2."""
    return _affine(input, gt.matmul(mat1, mat2), beta, alpha)


@function("Addmv")
def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * mat @ vec."""
    return _affine(input, gt.matmul(mat, vec), beta, alpha)


@function("Addr")
def addr(input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * outer(vec1, vec2)."""
    return _affine(input, gt.outer(vec1, vec2), beta, alpha)


@function("Baddbmm")
def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * batch1 @ batch2."""
    return _affine(input, gt.matmul(batch1, batch2), beta, alpha)


@function("View")
def einsum(equation: Any, *operands: Any) -> Any:
    """Einstein's sum."""
    given = operands[0] if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else operands
    return gt.einsum(equation, *given)


@function("View")
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """The sum of products along pairs of axes."""
    return gt.tensordot(a, b, dims)


@function("UnsafeView")
def kron(input: Any, other: Any) -> Any:
    """Kronecker's product."""
    return gt.kron(input, other)


@function("LinalgCross")
def cross(input: Any, other: Any, dim: int = -1) -> Any:
    """The cross product of vectors along `dim`."""
    return gt.cross(input, other, axis=dim)


@function("Trace")
def trace(input: Any) -> Any:
    """The sum of the diagonal of a matrix."""
    return gt.trace(input)


@function("Cdist")
def cdist(x1: Any, x2: Any, p: float = 2.0) -> Any:
    """The p-norms of all differences of a row of x1 and a row of x2."""
    difference = gt.expand_dims(x1, -2) - gt.expand_dims(x2, -3)
    return gt.linalg.vector_norm(difference, axis=-1, ord=p)


@function("Sub")
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours along `dim`."""
    return gt.diff(input, n, dim, prepend, append)


@function("Sum")
def trapezoid(y: Any, x: Any = None, *, dx: Any = 1.0, dim: int = -1) -> Any:
    """The integral by the trapezoidal rule along `dim`."""
    return gt.trapezoid(y, x, dx, dim)


@function("Squeeze")
def cov(input: Any, *, correction: int = 1) -> Any:
    """The covariances of variables (rows) over observations (columns)."""
    return gt.cov(input, ddof=correction)


@function("Squeeze")
def corrcoef(input: Any) -> Any:
    """The correlations of variables (rows) over observations (columns)."""
    return gt.corrcoef(input)


_NAMES = (
    "matmul mm mv bmm dot vdot inner outer addmm addmv addr baddbmm einsum tensordot kron cross trace cdist diff "
    "trapezoid cov corrcoef"
)
FUNCTIONS = {name: globals()[name] for name in _NAMES.split()}
FUNCTIONS.update(ger=outer, trapz=trapezoid)
"""Every function of this chapter by its name in `torch`."""
