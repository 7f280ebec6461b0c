"""Instructions that native code has as several smaller ones: softmax and its kin, joining, and indexing with arrays.

What they become has the names of other instructions, or of the few in `writing` that only native code knows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower import labels as labelled
from gradtape.jit.native.lower import pool
from gradtape.jit.native.lower.ir import CALLBACK, FILLING, GATHER, HELD, PART, WITHIN, Changed, Made, Writer, held
from gradtape.ops.indexing import may_repeat

DType = np.dtype[Any]
Shape = tuple[int, ...]

SOFTMAX = frozenset({"softmax", "log_softmax", "logsumexp"})
JOINING = frozenset({"concatenate", "stack", "stacked"})
_TAKE, _ADD, _POSITIONS = "take at positions", "add at positions", "positions"
_INTEGER = np.dtype(np.int64)
_GAP = "index array"
LARGEST_INDEX = 1 << 20
"""Elements of an index that is known beforehand and written down."""


def supports(instruction: Any) -> bool | None:
    """Whether there are smaller instructions for this one; None if it is not one of those that are looked at here."""
    name = instruction.name
    if name in SOFTMAX:
        return _supports_softmax(instruction)
    if name in JOINING:
        return _supports_joining(instruction)
    if name in labelled.NAMES:
        return labelled.supports(instruction)
    if name == _POSITIONS:
        return _supports_positions(instruction)
    if name in (_TAKE, _ADD):
        return _supports_flat(instruction)
    if name in ("getitem", "scatter") and has_arrays(instruction.params.get("index")):
        return _supports_static(instruction)
    if name == "einsum" and _is_sum_of_products(instruction):
        return True
    return None


def _plain(instruction: Any, count: int) -> bool:
    """Whether there are this many operands, all of them arrays of dtypes that native code has, and one result."""
    values = (*instruction.operands, *instruction.results)
    typed = all(hasattr(x, "dtype") and elementwise.has_type(x.dtype) for x in values)
    return typed and len(instruction.operands) == count and len(instruction.results) == 1


def _supports_softmax(instruction: Any) -> bool:
    if not _plain(instruction, 1):
        return False
    (x,), (result,) = instruction.operands, instruction.results
    return bool(x.dtype.kind == "f" and x.dtype == result.dtype and 0 not in x.shape)


def _supports_joining(instruction: Any) -> bool:
    if not instruction.operands or not _plain(instruction, len(instruction.operands)):
        return False
    (result,) = instruction.results
    if not isinstance(instruction.params.get("axis", 0), int):
        return False
    return all(x.dtype == result.dtype for x in instruction.operands)


def _supports_positions(instruction: Any) -> bool:
    template, shape = instruction.params["template"], instruction.params["shape"]
    if not instruction.operands or not _plain(instruction, len(instruction.operands)) or 0 in shape:
        return False
    (result,) = instruction.results
    if result.dtype != _INTEGER or not all(elementwise.is_index(x.dtype) for x in instruction.operands):
        return False
    if not all(isinstance(p, int | slice | np.ndarray) or p is None or _is_gap(p) for p in template):
        return False
    if any(isinstance(p, bool) or (isinstance(p, np.ndarray) and p.dtype.kind not in "iu") for p in template):
        return False
    return bool(math.prod(result.shape) <= LARGEST_INDEX)


def _is_gap(part: Any) -> bool:
    return isinstance(part, str) and part == _GAP


def _supports_flat(instruction: Any) -> bool:
    if not _plain(instruction, 2):
        return False
    x, positions = instruction.operands
    (result,) = instruction.results
    if x.dtype != result.dtype or not elementwise.is_index(positions.dtype):
        return False
    if instruction.name == _TAKE:
        return len(x.shape) == 1 and (x.shape[0] > 0 or not math.prod(result.shape))
    return bool(x.shape == positions.shape and x.dtype.kind in "iuf" and (result.shape[0] > 0 or not x.size))


def has_arrays(index: Any) -> bool:
    """Whether an index picks elements one by one."""
    return any(isinstance(part, np.ndarray | list) for part in (index if isinstance(index, tuple) else (index,)))


def _supports_static(instruction: Any) -> bool:
    if not _plain(instruction, 1):
        return False
    (x,), (result,) = instruction.operands, instruction.results
    smaller = result if instruction.name == "getitem" else x
    larger = x if instruction.name == "getitem" else result
    if x.dtype != result.dtype or 0 in larger.shape or math.prod(smaller.shape) > LARGEST_INDEX:
        return False
    return instruction.name == "getitem" or x.dtype.kind in "iuf"


def _is_sum_of_products(instruction: Any) -> bool:
    """Whether an einsum has nothing that is used several times: it is a multiplication and a sum, and no more."""
    if not 1 <= len(instruction.operands) <= 2 or not _plain(instruction, len(instruction.operands)):
        return False
    (result,) = instruction.results
    if result.dtype.kind != "f" or any(x.dtype != result.dtype for x in instruction.operands):
        return False
    subscripts = instruction.params.get("subscripts")
    if not isinstance(subscripts, str) or "->" not in subscripts:
        return False
    given, out = subscripts.replace(" ", "").split("->")
    labels = given.split(",")
    if len(labels) != len(instruction.operands) or not all(x.isalpha() or not x for x in (*labels, out)):
        return False
    lengths: dict[str, int] = {}
    for own, x in zip(labels, instruction.operands, strict=True):
        if len(set(own)) != len(own) or len(own) != len(x.shape) or 0 in x.shape:
            return False
        if any(lengths.setdefault(label, n) != n for label, n in zip(own, x.shape, strict=True)):
            return False
    largest = max(math.prod(x.shape) for x in (*instruction.operands, result))
    return bool(math.prod(lengths.values()) <= largest)  # or else it is a product of matrices, or several sums


# -- the smaller instructions


def expanded(instructions: Sequence[Any]) -> list[Any]:
    """The instructions, with those that have smaller ones replaced by them."""
    made: list[Any] = []
    takers = pool.partners(instructions)
    taken = set(takers.values())
    for instruction in instructions:
        if instruction in takers:
            results = (*instruction.results, *takers[instruction].results)
            made.append(Changed(instruction.operands, results, pool.LARGEST, instruction.params))
        elif instruction in taken:
            continue
        elif instruction.name == CALLBACK:
            made.append(Changed(instruction.values, instruction.results, CALLBACK, {"instruction": instruction}))
        elif instruction.name in SOFTMAX:
            made += _softmax(instruction)
        elif instruction.name in JOINING:
            made += _joined(instruction)
        elif instruction.name in labelled.NAMES:
            write = Writer()
            labelled.write_smaller(write, instruction, softmax)
            made += write.finished(instruction.results[0])
        elif instruction.name == _POSITIONS:
            made += _positions(instruction)
        elif instruction.name == _TAKE:
            table, positions = instruction.operands
            made.append(Changed((positions,), instruction.results, GATHER, {"table": table}))
        elif instruction.name == _ADD:
            made.append(Changed(instruction.operands, instruction.results, FILLING, {"adds": True}))
        elif instruction.name in ("getitem", "scatter") and has_arrays(instruction.params.get("index")):
            made += _static(instruction)
        elif instruction.name == "einsum" and _is_sum_of_products(instruction):
            made += _sum_of_products(instruction)
        else:
            made.append(instruction)
    return made


def _softmax(instruction: Any) -> list[Changed]:
    write = Writer()
    (x,), params = instruction.operands, instruction.params
    softmax(write, x, instruction.name, tuple(params["axis"]), not params.get("keepdims", True))
    return write.finished(instruction.results[0])


def softmax(write: Writer, x: Any, name: str, axes: tuple[int, ...], flat: bool = False) -> Any:
    """A softmax, its logarithm, or the logarithm of what it is divided by, without the axes if that is `flat`."""
    kept = tuple(1 if axis in axes else n for axis, n in enumerate(x.shape))
    rest = tuple(n for axis, n in enumerate(x.shape) if axis not in axes) if flat else kept

    def reduced(name: str, value: Any) -> Any:
        return write(name, value, shape=rest, axis=axes, keepdims=not flat)

    def finite(value: Any) -> Any:
        return write("where", write("isfinite", value, dtype=bool), value, 0, dtype=x.dtype)

    top = reduced("max", x)
    level = write.reshaped(top, kept) if flat else top
    shifted = write("subtract", x, finite(level))
    powers = write("exp", shifted)
    total = reduced("sum", powers)
    if name == "softmax":
        return write("divide", powers, total)
    if name == "log_softmax":
        return write("subtract", shifted, write("log", total))
    return write("add", write("log", total), finite(top))


def _joined(instruction: Any) -> list[Changed]:
    (result,) = instruction.results
    axis = instruction.params.get("axis", 0) % max(1, len(result.shape))
    made, start = [], 0
    for number, operand in enumerate(instruction.operands):
        where: Any = number
        if instruction.name == "concatenate":
            where = slice(start, start + operand.shape[axis])
            start += operand.shape[axis]
        index = (*[slice(None)] * axis, where)
        made.append(Changed((operand,), (result,), PART, {"index": index}))
    return made


def _positions(instruction: Any) -> list[Changed]:
    """A part that is known beforehand, plus each array that is not, times the distance of neighbours along its axis."""
    write = Writer()
    template, shape = instruction.params["template"], instruction.params["shape"]
    (result,) = instruction.results
    zeros = [np.zeros(x.shape, np.int64) for x in instruction.operands]
    total = held(write, instruction.op.kernel(*zeros, template=template, shape=shape))
    behind = _axes_behind(template, shape)
    supply, axis = iter(instruction.operands), 0
    for part in template:
        if _is_gap(part):
            index = next(supply)
            if behind:
                longer = (*index.shape, *[1] * behind)
                index = write.reshaped(index, longer)
            place = write(WITHIN, index, dtype=_INTEGER, length=shape[axis])
            distance = math.prod(shape[axis + 1 :])
            total = write("add", total, place if distance == 1 else write("multiply", place, distance))
        axis += part is not None
    write("broadcast_to", total, shape=result.shape)
    return write.finished(result)


def _axes_behind(template: Any, shape: Shape) -> int:
    """How many axes of the result come after those of the index arrays."""
    picks = [i for i, part in enumerate(template) if not isinstance(part, slice) and part is not None]
    rest = len(shape) - sum(part is not None for part in template)  # axes that are not named
    together = picks[-1] - picks[0] + 1 == len(picks)
    first = picks[-1] + 1 if together else 0
    return rest + sum(isinstance(part, slice) or part is None for part in template[first:])


def _static(instruction: Any) -> list[Changed]:
    """With an index that is known beforehand."""
    write = Writer()
    (x,), (result,), index = instruction.operands, instruction.results, instruction.params["index"]
    larger = x if instruction.name == "getitem" else result
    size = math.prod(larger.shape)
    where = np.arange(size).reshape(larger.shape)[index]
    positions = Made(where.shape, _INTEGER)
    write.made.append(Changed((), (positions,), HELD, {"array": np.ascontiguousarray(where).reshape(where.shape)}))
    if instruction.name == "getitem":
        flat = x if len(x.shape) == 1 else write.reshaped(x, (size,))
        write(GATHER, positions, dtype=x.dtype, table=flat)
    else:
        write(FILLING, x, positions, shape=result.shape, adds=may_repeat(index))
    return write.finished(result)


def _sum_of_products(instruction: Any) -> list[Changed]:
    """Operands with their axes in the order of the result's, then those that are summed."""
    write = Writer()
    (result,) = instruction.results
    given, out = instruction.params["subscripts"].replace(" ", "").split("->")
    order = list(dict.fromkeys(out + given.replace(",", "")))
    factors = []
    for own, x in zip(given.split(","), instruction.operands, strict=True):
        labels = [label for label in order if label in own]
        axes = tuple(own.index(label) for label in labels)
        shape = tuple(x.shape[axis] for axis in axes)
        if axes != tuple(range(len(axes))):
            x = write("transpose", x, shape=shape)
            write.made[-1].params["axes"] = axes
        index = tuple(slice(None) if label in own else None for label in order)
        if None in index:
            longer = tuple(shape[labels.index(label)] if label in own else 1 for label in order)
            x = write("getitem", x, shape=longer, index=index)
        factors.append(x)
    total = write("multiply", *factors) if len(factors) == 2 else write("positive", *factors)
    axes = tuple(range(len(out), len(order)))
    if axes:
        write("sum", total, shape=result.shape, axis=axes, keepdims=False)
    return write.finished(result)
