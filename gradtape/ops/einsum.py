"""Sums of products by Einstein's convention.

`einsum` spells its subscripts out (a letter an axis, no ellipsis, no letter twice in one operand, none that stands
alone) and hands them to one operation, whose transposes are sums of products again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.operation import Op, apply
from gradtape.core.rules import multilinear
from gradtape.core.shapes import unbroadcast
from gradtape.core.typing import Array, DTypeLike, TensorLike
from gradtape.errors import OperandError, ShapeError
from gradtape.numpy_dispatch.protocols import answers
from gradtape.ops.arguments import argument_error, as_value, write_result_into
from gradtape.ops.products import conjugated, diagonal
from gradtape.ops.reductions import sum
from gradtape.ops.shaping import transpose

__all__ = ["einsum"]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _einsum_kernel(*operands: Array, subscripts: str) -> Any:
    return np.einsum(subscripts, *operands, optimize=is_large(operands))


def is_large(operands: Sequence[Array]) -> bool:
    """Whether it takes less time to look for the best path, and to call BLAS."""
    return len(operands) > 2 or any(np.size(x) > 4096 for x in operands)


def _einsum_transpose(g: Array, index: int, inputs: Any, parent: Any, subscripts: str) -> Any:
    terms, result = subscripts.split("->")
    operands = terms.split(",")
    others = [(term, conjugated(x)) for i, (term, x) in enumerate(zip(operands, inputs, strict=True)) if i != index]
    back = ",".join([result, *(term for term, _ in others)]) + "->" + operands[index]
    found = _einsum(g, *(x for _, x in others), subscripts=back)
    # where this operand was stretched, the sum over its copies; where all the others were, the same for each
    found = unbroadcast(found, tuple([min(n, m) for n, m in zip(found.shape, parent.shape, strict=True)]))
    return found if found.shape == parent.shape else np.broadcast_to(found, parent.shape)


def _batch_einsum(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    terms, result = params["subscripts"].split("->")
    letter = next(c for c in _LETTERS if c not in params["subscripts"])
    operands = [letter + t if flag else t for t, flag in zip(terms.split(","), flags, strict=True)]
    return apply(op, tuple(values), {"subscripts": ",".join(operands) + "->" + letter + result})


_einsum: Op = multilinear(
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
        ((draw(2, 3), draw(1, 3)), {"subscripts": "ij,ij->j"}),
        ((draw(0, 2), draw(2)), {"subscripts": "ij,j->i"}),
    ],
)


@answers(np.einsum)
def einsum(
    subscripts: Any,
    *operands: TensorLike,
    optimize: Any = None,
    out: Array | None = None,
    dtype: DTypeLike = None,
    order: str = "K",
    casting: str = "safe",
) -> Any:
    """Sums of products by Einstein's convention, as `np.einsum`.

    >>> import gradtape as gt
    >>> a, b = gt.tensor([[1.0, 2.0]]), gt.tensor([[3.0], [4.0]])
    >>> gt.einsum("ij,jk->ik", a, b)
    Tensor([[11.]])
    """
    if out is not None:
        return write_result_into(
            out, einsum, subscripts, *operands, optimize=optimize, dtype=dtype, order=order, casting=casting
        )
    if not isinstance(subscripts, str):
        subscripts, operands = _from_lists((subscripts, *operands))
    values = [as_value(x) for x in operands]
    if dtype is not None:
        values = [_cast(x, np.dtype(dtype), casting) for x in values]
    terms, result = _explicit(subscripts.replace(" ", ""), values)
    kind = np.result_type(*[x.dtype for x in values])
    prepared = []
    for position, (term, x) in enumerate(zip(terms, values, strict=True)):
        elsewhere = set(result).union(*(set(t) for i, t in enumerate(terms) if i != position))
        prepared.append(_simplified(term, x, elsewhere, kind))
    if len(prepared) == 1 and len(prepared[0][0]) == len(result) > 0:  # nothing is summed: a view, as in NumPy
        term, x = prepared[0]
        return transpose(x, [term.index(letter) for letter in result])
    clean = ",".join(term for term, _ in prepared) + "->" + result
    return _einsum(*(x for _, x in prepared), subscripts=clean)


def _cast(x: Array, dtype: np.dtype[Any], casting: Any) -> Any:
    if not np.can_cast(x.dtype, dtype, casting):
        raise argument_error(
            OperandError, f"einsum: from {x.dtype} to {dtype} with casting={casting!r}.", "casting='unsafe'"
        )
    return x.astype(dtype) if x.dtype != dtype else x


def _simplified(term: str, x: Array, elsewhere: set[str], kind: np.dtype[Any]) -> tuple[str, Any]:
    """An operand without repeated letters (their diagonal) and without letters that stand nowhere else (their sum)."""
    for letter in sorted(set(term)):
        while term.count(letter) > 1:
            first = term.index(letter)
            second = term.index(letter, first + 1)
            if x.shape[first] != x.shape[second]:
                raise argument_error(
                    ShapeError,
                    f"einsum: {letter!r} stands for axes of length {x.shape[first]} and {x.shape[second]}.",
                    "one letter, one length",
                )
            x = diagonal(x, 0, first, second)
            term = term[:first] + term[first + 1 : second] + term[second + 1 :] + letter
    lonely = tuple([i for i, letter in enumerate(term) if letter not in elsewhere])
    if lonely:
        x = sum(x, axis=lonely, dtype=kind)
        term = "".join(letter for letter in term if letter in elsewhere)
    return term, x


def _from_lists(arguments: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The form einsum(x, [0, 1], y, [1, 2], [0, 2]) as subscripts and operands."""

    def letters(labels: Array) -> str:
        return "".join("..." if label is Ellipsis else _LETTERS[label] for label in labels)

    pairs = len(arguments) // 2
    subscripts = ",".join(letters(arguments[2 * i + 1]) for i in range(pairs))
    if len(arguments) % 2:
        subscripts += "->" + letters(arguments[-1])
    return subscripts, tuple([arguments[2 * i] for i in range(pairs)])


def _explicit(subscripts: str, operands: Sequence[Any]) -> tuple[list[str], str]:
    """Subscripts with a letter for every axis, the ellipsis spelt out and the result given."""
    left, arrow, result = subscripts.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise argument_error(
            ShapeError,
            f"einsum: {subscripts!r} names {len(terms)} operands; {len(operands)} were given.",
            "one group of letters for each operand, separated by commas",
        )
    free = [c for c in _LETTERS if c not in subscripts]
    ranks = [x.ndim - len(t.replace("...", "")) if "..." in t else 0 for t, x in zip(terms, operands, strict=True)]
    longest = max(ranks, default=0)
    dots = "".join(free[:longest])
    spelt = [t.replace("...", dots[longest - rank :]) for t, rank in zip(terms, ranks, strict=True)]
    for t, x in zip(spelt, operands, strict=True):
        if len(t) != x.ndim:
            raise argument_error(
                ShapeError,
                f"einsum: {subscripts!r} gives {len(t)} letters to an operand of shape {x.shape}.",
                "one letter for each axis, or ... for the axes without one",
            )
    if not arrow:
        every = "".join(spelt)
        return spelt, dots + "".join(sorted(c for c in set(every) - set(dots) if every.count(c) == 1))
    result = result.replace("...", dots)
    unknown = sorted(set(result) - set("".join(spelt)))
    if unknown or len(set(result)) != len(result):
        raise argument_error(
            ShapeError,
            f"einsum: {subscripts!r} asks for an axis that no operand has, or for one twice.",
            "in the result, each letter of the operands at most once",
        )
    return spelt, result
