"""Which matrix products are native, and how: inline loops for small ones and for batches, BLAS for the rest.

A product is that of two matrices or of a batch of pairs, by `matmul` or `einsum`: its `ProductForm` says which axes of
the operands are the rows, the columns, the common (contracted) axis and the batch. Operands are in memory with
contiguous rows or columns: a transpose is a flag of BLAS. Small products are added up element by element, in binary64;
whether a product is small depends on the shapes alone. `emit.matmul` emits both, `emit.blocked_product` batches.

A batch in which one operand is the same along an axis, and the other is a vector, is a product of matrices: that axis
is the one that the vector lacks (`(k, d, d) @ (n, k, d, 1)` is k products of d rows and n columns).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradtape.jit.native.lower.ir import AnyInstruction, are_values
from gradtape.jit.native.runtime import blas

if TYPE_CHECKING:
    from gradtape.jit.native.schedule.layout import Layout

MATMUL, EINSUM = "matmul", "einsum"
SMALL = 4096
"""Multiplications up to which a product is computed inline."""
LARGE = 1 << 23
"""Multiplications of a pair of matrices, from which on BLAS is left to compute it, with threads of its own."""
SPLIT = 1 << 18
"""Multiplications from which on BLAS may use threads of its own: then pairs are not shared among other threads."""
SCRATCH = 8192
"""Elements of a copy of an operand on the stack."""
PART, STEP = 144, 48
"""Rows or columns of a part, if there are more than two: it is worth the copies of the other operand. They are divided
by the vectors of a block."""
MOST_PARTS = 16
"""Parts into which a product is divided among threads, where it is not computed by the threads of BLAS."""
_LARGEST = 2**31 - 1  # of C's int

Axis = int | None


class ProductForm(NamedTuple):
    """The loops of a product: the length of each, and its axis in the left operand, the right one and the result."""

    rows: tuple[int, Axis, Axis, Axis]
    columns: tuple[int, Axis, Axis, Axis]
    common: tuple[int, Axis, Axis, Axis]
    pairs: tuple[tuple[int, Axis, Axis, Axis], ...] = ()

    def matrix(self, number: int) -> tuple[tuple[int, Axis], tuple[int, Axis]]:
        """The rows and columns of the left operand, the right one or the result: lengths and axes."""
        first, second = ((self.rows, self.common), (self.common, self.columns), (self.rows, self.columns))[number]
        return (first[0], first[1 + number]), (second[0], second[1 + number])


def form(instruction: AnyInstruction) -> ProductForm | None:
    """The form of a product; None if it is not a product of matrices."""
    if instruction.name == EINSUM:
        return _parse_subscripts(instruction)
    if instruction.name != MATMUL or instruction.params or len(instruction.operands) != 2:
        return None
    operands = instruction.operands
    if not are_values(operands) or not all(x.shape for x in operands):
        return None
    left, right = operands
    if len(left.shape) == len(right.shape) == 1:  # `prepare` makes it a multiplication and a sum
        return None
    (result,) = instruction.results
    rank, one, two = len(result.shape), len(left.shape), len(right.shape)
    out_rows = None if one == 1 else rank - (1 if two == 1 else 2)
    rows = (1 if one == 1 else left.shape[-2], None if one == 1 else one - 2, None, out_rows)
    columns = (1 if two == 1 else right.shape[-1], None, None if two == 1 else two - 1, None if two == 1 else rank - 1)
    common = (left.shape[-1], one - 1, max(0, two - 2), None)
    pairs = []
    ahead = rank - (one > 1) - (two > 1)
    for axis in range(ahead):
        length, axes = result.shape[axis], []
        for x, own in ((left, max(0, one - 2)), (right, max(0, two - 2))):
            place = axis - (ahead - own)
            axes.append(place if place >= 0 and x.shape[place] == length else None)
        pairs.append((length, axes[0], axes[1], axis))
    return _join_vectors(ProductForm(rows, columns, common, tuple(pairs)))


def _join_vectors(found: ProductForm) -> ProductForm:
    """The form in which an axis of the batch, along which one operand is the same, replaces the axis of a vector."""
    for is_column in (True, False):
        length, constant = (found.columns[0], 1) if is_column else (found.rows[0], 2)
        for pair in found.pairs:
            if length == 1 and pair[0] > 1 and pair[constant] is None and None not in (pair[3 - constant], pair[3]):
                others = tuple([x for x in found.pairs if x is not pair])
                return (
                    found._replace(columns=pair, pairs=others) if is_column else found._replace(rows=pair, pairs=others)
                )
    return found


def _parse_subscripts(instruction: AnyInstruction) -> ProductForm | None:
    subscripts = instruction.params.get("subscripts")
    if len(instruction.operands) != 2 or not isinstance(subscripts, str) or "->" not in subscripts:
        return None
    given, out = subscripts.replace(" ", "").split("->")
    left, right = given.split(",") if given.count(",") == 1 else ("", "")
    if not are_values(instruction.operands):
        return None
    shapes = [x.shape for x in (*instruction.values, *instruction.results)]
    for labels, shape in zip((left, right, out), shapes, strict=True):
        if not labels.isalpha() or len(set(labels)) != len(labels) or len(labels) != len(shape):
            return None
    lengths: dict[str, int] = {}
    for labels, shape in zip((left, right, out), shapes, strict=True):
        for label, length in zip(labels, shape, strict=True):
            if lengths.setdefault(label, length) != length:
                return None
    kinds: dict[str, list[str]] = {"both": [], "left": [], "right": [], "common": []}
    for label in dict.fromkeys(out + left + right):
        kind = {(1, 1, 1): "both", (1, 0, 1): "left", (0, 1, 1): "right", (1, 1, 0): "common"}.get(
            (label in left, label in right, label in out)
        )
        if kind is None:
            return None
        kinds[kind].append(label)
    if any(len(kinds[kind]) != 1 for kind in ("left", "right", "common")):
        return None

    def axes(label: str) -> tuple[int, Axis, Axis, Axis]:
        found = [labels.index(label) if label in labels else None for labels in (left, right, out)]
        return lengths[label], found[0], found[1], found[2]

    rows, columns, common = (axes(kinds[kind][0]) for kind in ("left", "right", "common"))
    return ProductForm(rows, columns, common, tuple(axes(label) for label in kinds["both"]))


def supports(instruction: AnyInstruction) -> bool:
    """Whether an instruction is a product of matrices or vectors of one dtype of floats."""
    operands = instruction.operands
    if len(instruction.results) != 1 or not are_values(operands):
        return False
    (result,) = instruction.results
    if result.dtype not in (np.dtype("f8"), np.dtype("f4")) or not result.dtype.isnative:
        return False
    if any(x.dtype != result.dtype for x in operands):
        return False
    found = form(instruction)
    if found is None or any(max(x.shape, default=0) >= _LARGEST for x in (*operands, result)):
        return False
    if is_small(found) or is_blocked(instruction, found):
        return True
    values = (*operands, result)
    plain = all(_fits(found, number, _contiguous(value.shape)) for number, value in enumerate(values))
    return plain and bool(blas.addresses())


def _contiguous(shape: tuple[int, ...]) -> list[int]:
    steps, step = [], 1
    for length in reversed(shape):
        steps.append(step)
        step *= length
    return steps[::-1]


def is_small(found: ProductForm) -> bool:
    """Whether each product of two matrices is computed inline."""
    return found.rows[0] * found.columns[0] * found.common[0] <= SMALL


def is_blocked(instruction: AnyInstruction, found: ProductForm) -> bool:
    """Whether the products of a batch, or of a loop over one, are computed by `emit.blocked_product`."""
    rows, columns, common = found.rows[0], found.columns[0], found.common[0]
    if instruction.results[0].dtype != np.dtype(np.float64):
        return False
    if not instruction.params.get("blocked") and math.prod(length for length, *_ in found.pairs) < 2:
        return False
    return min(rows, columns) > 1 and 0 < rows * columns * common <= LARGE


def uses_threads(found: ProductForm) -> bool:
    """Whether BLAS may compute each product with threads of its own."""
    return found.rows[0] * found.columns[0] * found.common[0] > SPLIT


class Division(NamedTuple):
    """The parts of a product that threads compute: how many, of how many rows or columns each."""

    parts: int
    size: int
    is_by_columns: bool


def divide(rows: int, columns: int, common: int) -> Division:
    """The parts of a product; their number depends on the shapes alone.

    >>> from gradtape.jit.native.lower.matmul import divide
    >>> divide(64, 784, 256), divide(1000, 100, 100), divide(64, 64, 64).parts
    (Division(parts=5, size=192, is_by_columns=True), Division(parts=6, size=192, is_by_columns=False), 1)
    """
    is_by_columns = columns >= rows
    length = columns if is_by_columns else rows
    wanted = min(MOST_PARTS, rows * columns * common // (2 * SPLIT), max(2, length // PART))
    size = -(-length // max(1, wanted))
    size = max(1, -(-size // STEP)) * STEP
    return Division(max(1, -(-length // size)), size, is_by_columns)


def steps_of(found: ProductForm, number: int, steps: Sequence[int]) -> tuple[int, int]:
    """The strides (in elements) along rows and columns of an operand or the result."""
    (_, first), (_, second) = found.matrix(number)
    return (0 if first is None else steps[first], 0 if second is None else steps[second])


def _fits(found: ProductForm, number: int, steps: Sequence[int]) -> bool:
    """Whether BLAS can read matrices of these strides: rows or columns are contiguous."""
    (rows, _), (columns, _) = found.matrix(number)
    first, second = steps_of(found, number, steps)
    if 0 in (rows, columns):
        return True
    if any(length > 1 and not 1 <= step < _LARGEST for length, step in ((rows, first), (columns, second))):
        return False
    if rows == 1 or columns == 1:
        return True
    return bool((second == 1 and first >= columns) or (first == 1 and second >= rows))


def can_read_layout(instruction: AnyInstruction, number: int, layout: Layout) -> bool:
    """Whether an operand can be multiplied as it lies in memory, without a copy."""
    found = form(instruction)
    if found is None:
        return False
    return is_blocked(instruction, found) or _fits(found, number, layout.steps)
