"""Products of matrices and tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.operation import Op, apply
from gradtape.core.rules import linear, multilinear
from gradtape.core.shapes import unbroadcast
from gradtape.errors import ShapeError
from gradtape.ops.elementwise import conjugate, multiply
from gradtape.ops.reductions import sum
from gradtape.ops.shaping import as_value, moveaxis, ravel, reshape
from gradtape.protocols import answers


def _adjoint(x: Any) -> Any:
    """The conjugate transpose of the last two axes."""
    turned = x.T if x.ndim == 2 else np.swapaxes(x, -1, -2)
    return np.conj(turned) if x.dtype.kind == "c" else turned


def _conjugate(x: Any) -> Any:
    return np.conj(x) if x.dtype.kind == "c" else x


def _matmul_left(g: Any, x: Any, y: Any) -> Any:
    """g y^H, whichever of the operands are vectors."""
    if y.ndim == 1:
        left = g[..., None] * _conjugate(y)
    elif x.ndim == 1:
        left = np.matmul(_conjugate(y), g[..., None])[..., 0]
    else:
        left = np.matmul(g, _adjoint(y))
    return left if left.shape == x.shape else unbroadcast(left, x.shape)


def _matmul_right(g: Any, x: Any, y: Any) -> Any:
    """x^H g, whichever of the operands are vectors."""
    if x.ndim == 1:
        right = g * _conjugate(x) if y.ndim == 1 else _conjugate(x)[:, None] * g[..., None, :]
    elif y.ndim == 1:
        right = np.matmul(_adjoint(x), g[..., None])[..., 0]
    else:
        right = np.matmul(_adjoint(x), g)
    return right if right.shape == y.shape else unbroadcast(right, y.shape)


def _batch_matmul(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    x, y = values
    x_rank, y_rank = x.ndim - flags[0], y.ndim - flags[1]
    if x_rank == 1:
        x = x[..., None, :]
    if y_rank == 1:
        y = y[..., None]
    rank = max(x_rank, y_rank, 2)
    x = _pad_batch(x, rank) if flags[0] else x
    y = _pad_batch(y, rank) if flags[1] else y
    out = apply(op, (x, y), {})
    if y_rank == 1:
        out = out[..., 0]
    return out[..., 0, :] if x_rank == 1 and y_rank > 1 else out[..., 0] if x_rank == 1 else out


def _pad_batch(x: Any, rank: int) -> Any:
    missing = rank - (x.ndim - 1)
    return x.reshape((x.shape[0],) + (1,) * missing + x.shape[1:]) if missing else x


matmul = multilinear(
    lambda x, y: np.matmul(x, y),
    _matmul_left,
    _matmul_right,
    name="matmul",
    batch=_batch_matmul,
    answers=[np.matmul, np.linalg.matmul],
    samples=lambda draw: [
        ((draw(2, 3), draw(3, 4)), {}),
        ((draw(3), draw(3)), {}),
        ((draw(3), draw(3, 2)), {}),
        ((draw(2, 3), draw(3)), {}),
        ((draw(5, 2, 3), draw(3, 4)), {}),
        ((draw(5, 1, 2, 3), draw(4, 3, 2)), {}),
        ((draw(3), draw(4, 3, 2)), {}),
        ((draw(4, 2, 3), draw(3)), {}),
        ((draw(0, 3), draw(3, 2)), {}),
    ],
)


# -- einsum: explicit subscripts with one letter an axis; each operand's transpose is another einsum


def _einsum_kernel(*operands: Any, subscripts: str) -> Any:
    large = len(operands) > 2 or any(np.size(x) > 4096 for x in operands)
    return np.einsum(subscripts, *operands, optimize=large)


def _einsum_transpose(g: Any, index: int, inputs: Any, parent: Any, subscripts: str) -> Any:
    terms, result = subscripts.split("->")
    operands = terms.split(",")
    others = [(term, _conjugate(x)) for i, (term, x) in enumerate(zip(operands, inputs, strict=True)) if i != index]
    back = ",".join([result, *(term for term, _ in others)]) + "->" + operands[index]
    return unbroadcast(_einsum(g, *(x for _, x in others), subscripts=back), parent.shape)


def _batch_einsum(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    terms, result = params["subscripts"].split("->")
    letter = next(c for c in _LETTERS if c not in params["subscripts"])
    operands = [letter + t if flag else t for t, flag in zip(terms.split(","), flags, strict=True)]
    return apply(op, tuple(values), {"subscripts": ",".join(operands) + "->" + letter + result})


_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

_einsum = multilinear(
    _einsum_kernel,
    _einsum_transpose,
    name="einsum",
    variadic=True,
    batch=_batch_einsum,
    samples=lambda draw: [
        ((draw(2, 3), draw(3, 4)), {"subscripts": "ij,jk->ik"}),
        ((draw(2, 3), draw(3, 4), draw(4)), {"subscripts": "ij,jk,k->i"}),
        ((draw(3), draw(2)), {"subscripts": "i,j->ij"}),
        ((draw(2, 3, 4),), {"subscripts": "ijk->kij"}),
        ((draw(5, 2, 3), draw(5, 3)), {"subscripts": "bij,bj->bi"}),
    ],
)


@answers(np.einsum)
def einsum(subscripts: Any, *operands: Any, optimize: Any = None, out: None = None) -> Any:
    """Sums of products by Einstein's convention, as `np.einsum`.

    >>> import gradtape as gt
    >>> a, b = gt.tensor([[1.0, 2.0]]), gt.tensor([[3.0], [4.0]])
    >>> gt.einsum("ij,jk->ik", a, b)
    Tensor([[11.]])
    """
    if not isinstance(subscripts, str):
        subscripts, operands = _from_lists((subscripts, *operands))
    values = [as_value(x) for x in operands]
    terms, result = _explicit(subscripts.replace(" ", ""), values)
    prepared = []
    for position, (term, x) in enumerate(zip(terms, values, strict=True)):
        elsewhere = set(result).union(*(set(t) for i, t in enumerate(terms) if i != position))
        prepared.append(_simplified(term, x, elsewhere))
    clean = ",".join(term for term, _ in prepared) + "->" + result
    return _einsum(*(x for _, x in prepared), subscripts=clean)


def _simplified(term: str, x: Any, elsewhere: set[str]) -> tuple[str, Any]:
    """An operand without repeated letters (their diagonal) and without letters that stand nowhere else (their sum)."""
    for letter in sorted(set(term)):
        while term.count(letter) > 1:
            first = term.index(letter)
            second = term.index(letter, first + 1)
            x = diagonal(x, 0, first, second)
            term = term[:first] + term[first + 1 : second] + term[second + 1 :] + letter
    lonely = tuple(i for i, letter in enumerate(term) if letter not in elsewhere)
    if lonely:
        x = sum(x, axis=lonely)
        term = "".join(letter for letter in term if letter in elsewhere)
    return term, x


def _from_lists(arguments: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The form einsum(x, [0, 1], y, [1, 2], [0, 2]) as subscripts and operands."""

    def letters(labels: Any) -> str:
        return "".join("..." if label is Ellipsis else _LETTERS[label] for label in labels)

    pairs = len(arguments) // 2
    subscripts = ",".join(letters(arguments[2 * i + 1]) for i in range(pairs))
    if len(arguments) % 2:
        subscripts += "->" + letters(arguments[-1])
    return subscripts, tuple(arguments[2 * i] for i in range(pairs))


def _explicit(subscripts: str, operands: Sequence[Any]) -> tuple[list[str], str]:
    """Subscripts with a letter for every axis, the ellipsis spelt out and the result given."""
    left, arrow, result = subscripts.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise ShapeError(f"einsum: {subscripts!r} names {len(terms)} operands; {len(operands)} were given")
    free = [c for c in _LETTERS if c not in subscripts]
    ranks = [x.ndim - len(t.replace("...", "")) if "..." in t else 0 for t, x in zip(terms, operands, strict=True)]
    longest = max(ranks, default=0)
    dots = "".join(free[:longest])
    spelt = [t.replace("...", dots[longest - rank :]) for t, rank in zip(terms, ranks, strict=True)]
    for t, x in zip(spelt, operands, strict=True):
        if len(t) != x.ndim:
            raise ShapeError(f"einsum: {subscripts!r} gives {len(t)} letters to an operand of shape {x.shape}")
    if not arrow:
        every = "".join(spelt)
        result = dots + "".join(sorted(c for c in set(every) - set(dots) if every.count(c) == 1))
    else:
        result = result.replace("...", dots)
    return spelt, result


# -- other products, by the two above


@answers(np.tensordot, np.linalg.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """The sum of products over pairs of axes, as `np.tensordot`.

    >>> import gradtape as gt
    >>> gt.tensordot(gt.tensor([1.0, 2.0]), gt.tensor([3.0, 4.0]), 1)
    Tensor(11.)
    """
    a, b = as_value(a), as_value(b)
    if isinstance(axes, int | np.integer):
        pairs = [(a.ndim - axes + i, i) for i in range(axes)]
    else:
        first, second = ([x] if isinstance(x, int | np.integer) else list(x) for x in axes)
        pairs = [(i % a.ndim, j % b.ndim) for i, j in zip(first, second, strict=True)]
    a_sum, b_sum = [i for i, _ in pairs], [j for _, j in pairs]
    if [a.shape[i] for i in a_sum] != [b.shape[j] for j in b_sum]:
        raise ShapeError(f"tensordot: axes {a_sum} of shape {a.shape} against axes {b_sum} of shape {b.shape}")
    a_kept = [i for i in range(a.ndim) if i not in a_sum]
    b_kept = [j for j in range(b.ndim) if j not in b_sum]
    length = int(np.prod([a.shape[i] for i in a_sum]))
    left = reshape(a.transpose((*a_kept, *a_sum)), (int(np.prod([a.shape[i] for i in a_kept])), length))
    right = reshape(b.transpose((*b_sum, *b_kept)), (length, int(np.prod([b.shape[j] for j in b_kept]))))
    return reshape(matmul(left, right), [a.shape[i] for i in a_kept] + [b.shape[j] for j in b_kept])


@answers(np.dot)
def dot(a: Any, b: Any, out: None = None) -> Any:
    """The product of vectors and matrices, as `np.dot`.

    >>> import gradtape as gt
    >>> gt.dot(gt.tensor([1.0, 2.0]), gt.tensor([3.0, 4.0]))
    Tensor(11.)
    """
    a, b = as_value(a), as_value(b)
    if not a.ndim or not b.ndim:
        return multiply(a, b)
    if b.ndim <= 2:
        return matmul(a, b)
    return tensordot(a, b, ([-1], [-2]))


@answers(np.inner)
def inner(a: Any, b: Any) -> Any:
    """The sum of products over the last axes.

    >>> import gradtape as gt
    >>> gt.inner(gt.tensor([1.0, 2.0]), gt.tensor([3.0, 4.0]))
    Tensor(11.)
    """
    a, b = as_value(a), as_value(b)
    return multiply(a, b) if not a.ndim or not b.ndim else tensordot(a, b, ([-1], [-1]))


@answers(np.vdot)
def vdot(a: Any, b: Any) -> Any:
    """The sum of products of all elements, the first conjugated.

    >>> import gradtape as gt
    >>> gt.vdot(gt.tensor([[1.0, 2.0]]), gt.tensor([[3.0], [4.0]]))
    Tensor(11.)
    """
    return matmul(conjugate(ravel(a)), ravel(b))


@answers(np.outer, np.linalg.outer)
def outer(a: Any, b: Any, out: None = None) -> Any:
    """All products of an element of `a` and one of `b`.

    >>> import gradtape as gt
    >>> gt.outer(gt.tensor([1.0, 2.0]), gt.tensor([3.0])).shape
    (2, 1)
    """
    return multiply(reshape(a, (-1, 1)), reshape(b, (1, -1)))


# -- diagonals


def _diagonal_transpose(g: Any, x: Any, offset: int, axis1: int, axis2: int) -> Any:
    return _from_diagonal(g, offset=offset, axis1=axis1, axis2=axis2, shape=x.shape)


def _from_diagonal_kernel(x: Any, offset: int, axis1: int, axis2: int, shape: tuple[int, ...]) -> Any:
    out = np.zeros(shape, x.dtype)
    view = np.moveaxis(out, (axis1, axis2), (-2, -1))
    steps = np.arange(x.shape[-1])
    view[..., steps + max(-offset, 0), steps + max(offset, 0)] = x
    return out


def _batch_diagonal(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    moved = {**params, "axis1": params["axis1"] + 1, "axis2": params["axis2"] + 1}
    if "shape" in params:
        moved["shape"] = (values[0].shape[0], *params["shape"])
    return apply(op, tuple(values), moved)


_diagonal = linear(
    lambda x, offset, axis1, axis2: np.diagonal(x, offset, axis1, axis2),
    _diagonal_transpose,
    name="diagonal",
    batch=_batch_diagonal,
    samples=lambda draw: [
        ((draw(3, 4),), {"offset": 0, "axis1": 0, "axis2": 1}),
        ((draw(3, 4),), {"offset": -1, "axis1": 0, "axis2": 1}),
        ((draw(2, 3, 3),), {"offset": 1, "axis1": 2, "axis2": 1}),
    ],
)
_from_diagonal = linear(
    _from_diagonal_kernel,
    lambda g, offset, axis1, axis2: _diagonal(g, offset=offset, axis1=axis1, axis2=axis2),
    name="from_diagonal",
    batch=_batch_diagonal,
    samples=lambda draw: [((draw(3),), {"offset": 1, "axis1": 0, "axis2": 1, "shape": (4, 4)})],
)


@answers(np.diagonal)
def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonal of two axes, along a last axis.

    >>> import gradtape as gt
    >>> gt.diagonal(gt.tensor([[1.0, 2.0], [3.0, 4.0]]))
    Tensor([1., 4.])
    """
    x = as_value(x)
    return _diagonal(x, offset=offset, axis1=axis1 % x.ndim, axis2=axis2 % x.ndim)


@answers(np.diag)
def diag(x: Any, k: int = 0) -> Any:
    """The diagonal of a matrix, or the matrix with a given diagonal.

    >>> import gradtape as gt
    >>> gt.diag(gt.tensor([1.0, 2.0]))
    Tensor([[1., 0.],
            [0., 2.]])
    """
    x = as_value(x)
    if x.ndim == 2:
        return diagonal(x, k)
    length = x.shape[0] + abs(k)
    return _from_diagonal(x, offset=k, axis1=0, axis2=1, shape=(length, length))


@answers(np.trace)
def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The sum of the diagonal.

    >>> import gradtape as gt
    >>> gt.trace(gt.tensor([[1.0, 2.0], [3.0, 4.0]]))
    Tensor(5.)
    """
    return sum(diagonal(x, offset, axis1, axis2), axis=-1)


def norm(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The Euclidean length along `axis`; its gradient at zero is zero.

    >>> import gradtape as gt
    >>> gt.grad(norm)(gt.tensor([3.0, 4.0])), gt.grad(norm)(gt.tensor([0.0, 0.0]))
    (Tensor([0.6, 0.8]), Tensor([0., 0.]))
    """
    from gradtape.ops.elementwise import sqrt, where

    x = as_value(x)
    squares = sum(x * x if x.dtype.kind != "c" else (x * conjugate(x)).real, axis=axis, keepdims=keepdims)
    nonzero = squares != 0
    return where(nonzero, sqrt(where(nonzero, squares, 1)), 0)


__all__ = [
    "diag",
    "diagonal",
    "dot",
    "einsum",
    "inner",
    "matmul",
    "moveaxis",
    "norm",
    "outer",
    "tensordot",
    "trace",
    "vdot",
]
