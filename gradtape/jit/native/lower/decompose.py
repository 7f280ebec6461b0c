"""Decomposition into primitive instructions: softmax, concatenate and stack, indexing with arrays, some einsums.

The results are instructions of the program, and those of `ir` that only native code has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower import labels, pool, sparse, writes
from gradtape.jit.native.lower.ir import (
    CALLBACK,
    CHECK_INDEX,
    CONSTANT,
    GATHER,
    PART,
    SCATTER_ADD,
    AnyInstruction,
    ArrayValue,
    LoweredBuilder,
    LoweredInstruction,
    LoweredValue,
    add_constant,
    are_values,
)
from gradtape.jit.native.lower.lowering import Lowering, find_lowering, index_by_name
from gradtape.ops.indexing import may_repeat

DType = np.dtype[Any]
Shape = tuple[int, ...]

SOFTMAX = frozenset({"softmax", "log_softmax", "logsumexp"})
JOINING = frozenset({"concatenate", "stack", "stacked"})
_TAKE, _ADD, _POSITIONS = "take at positions", "add at positions", "positions"
_INTEGER = np.dtype(np.int64)
_GAP = "index array"
LARGEST_INDEX = 1 << 20
"""Elements of a constant index up to which it becomes a constant array."""


def _has_native_dtypes(instruction: AnyInstruction, count: int) -> bool:
    """Whether there are this many operands, all arrays of native dtypes, and one result."""
    values = (*instruction.operands, *instruction.results)
    typed = are_values(values) and all(elementwise.has_type(x.dtype) for x in values)
    return typed and len(instruction.operands) == count and len(instruction.results) == 1


def _supports_softmax(instruction: AnyInstruction) -> bool:
    if not _has_native_dtypes(instruction, 1):
        return False
    (x,), (result,) = instruction.values, instruction.results
    return bool(x.dtype.kind == "f" and x.dtype == result.dtype and 0 not in x.shape)


def _supports_joining(instruction: AnyInstruction) -> bool:
    if not instruction.operands or not _has_native_dtypes(instruction, len(instruction.operands)):
        return False
    (result,) = instruction.results
    if not isinstance(instruction.params.get("axis", 0), int):
        return False
    return all(x.dtype == result.dtype or result.dtype.kind == "f" for x in instruction.values)


def _supports_positions(instruction: AnyInstruction) -> bool:
    template, shape = instruction.params["template"], instruction.params["shape"]
    if not instruction.operands or not _has_native_dtypes(instruction, len(instruction.operands)) or 0 in shape:
        return False
    (result,) = instruction.results
    if result.dtype != _INTEGER or not all(elementwise.is_index(x.dtype) for x in instruction.values):
        return False
    if not all(isinstance(p, int | slice | np.ndarray) or p is None or _is_gap(p) for p in template):
        return False
    if any(isinstance(p, bool) or (isinstance(p, np.ndarray) and p.dtype.kind not in "iu") for p in template):
        return False
    return bool(math.prod(result.shape) <= LARGEST_INDEX)


def _is_gap(part: object) -> bool:
    return isinstance(part, str) and part == _GAP


def _supports_flat(instruction: AnyInstruction) -> bool:
    if not _has_native_dtypes(instruction, 2):
        return False
    x, positions = instruction.values
    (result,) = instruction.results
    if x.dtype != result.dtype or not elementwise.is_index(positions.dtype):
        return False
    if instruction.name == _TAKE:
        return len(x.shape) == 1 and (x.shape[0] > 0 or not math.prod(result.shape))
    return bool(x.shape == positions.shape and x.dtype.kind in "iuf" and (result.shape[0] > 0 or 0 in x.shape))


def has_arrays(index: object) -> bool:
    """Whether an index contains arrays, so that it picks elements one by one."""
    return any(isinstance(part, np.ndarray | list) for part in (index if isinstance(index, tuple) else (index,)))


def _supports_static(instruction: AnyInstruction) -> bool:
    if not _has_native_dtypes(instruction, 1):
        return False
    (x,), (result,) = instruction.values, instruction.results
    smaller = result if instruction.name == "getitem" else x
    larger = x if instruction.name == "getitem" else result
    if x.dtype != result.dtype or 0 in larger.shape or math.prod(smaller.shape) > LARGEST_INDEX:
        return False
    return instruction.name == "getitem" or x.dtype.kind in "iuf"


def _is_sum_of_products(instruction: AnyInstruction) -> bool:
    """Whether an einsum uses each element once: then it is one multiplication and one sum."""
    if not 1 <= len(instruction.operands) <= 2 or not _has_native_dtypes(instruction, len(instruction.operands)):
        return False
    (result,) = instruction.results
    if result.dtype.kind != "f" or any(x.dtype != result.dtype for x in instruction.values):
        return False
    subscripts = instruction.params.get("subscripts")
    if not isinstance(subscripts, str) or "->" not in subscripts:
        return False
    given, out = subscripts.replace(" ", "").split("->")
    labels = given.split(",")
    if len(labels) != len(instruction.operands) or not all(x.isalpha() or not x for x in (*labels, out)):
        return False
    lengths: dict[str, int] = {}
    for own, x in zip(labels, instruction.values, strict=True):
        if len(set(own)) != len(own) or len(own) != len(x.shape) or 0 in x.shape:
            return False
        if any(lengths.setdefault(label, n) != n for label, n in zip(own, x.shape, strict=True)):
            return False
    largest = max(math.prod(x.shape) for x in (*instruction.values, result))
    return bool(math.prod(lengths.values()) <= largest)  # otherwise it is a matrix product, or has several sums


# -- decompositions


def decompose(instructions: Sequence[AnyInstruction]) -> list[AnyInstruction]:
    """Replace the instructions that have a decomposition; the others stay as they are.

    A search for the largest elements of windows and the reading of those elements become one instruction.
    """
    made: list[AnyInstruction] = []
    positions = {i.results[0]: math.prod(i.params["shape"]) for i in instructions if i.name == _POSITIONS}
    takers = pool.find_partners(instructions)
    taken = set(takers.values())
    for instruction in instructions:
        if instruction in takers:
            results = (*instruction.results, *takers[instruction].results)
            made.append(LoweredInstruction(instruction.operands, results, pool.LARGEST, instruction.params))
        elif instruction not in taken:
            lowering = find_lowering(_BY_NAME, instruction)
            smaller = [instruction] if lowering is None else lowering.decompose(instruction)  # type: ignore[misc]
            if instruction.name == _TAKE and positions.get(instruction.values[1]) == instruction.values[0].shape[0]:
                smaller[0].params["known"] = True  # the positions were checked where they were computed
            made += smaller
    return made


def _decompose_callback(instruction: AnyInstruction) -> list[LoweredInstruction]:
    return [LoweredInstruction(instruction.values, instruction.results, CALLBACK, {"instruction": instruction})]


def _decompose_labels(instruction: AnyInstruction) -> list[LoweredInstruction]:
    write = LoweredBuilder()
    labels.decompose_labels(write, instruction, build_softmax)
    return write.finish(instruction.results[0])


def _decompose_take(instruction: AnyInstruction) -> list[LoweredInstruction]:
    table, positions = instruction.values
    return [LoweredInstruction((positions,), instruction.results, GATHER, {"table": table})]


def _decompose_add(instruction: AnyInstruction) -> list[LoweredInstruction]:
    return [LoweredInstruction(instruction.operands, instruction.results, SCATTER_ADD, {"adds": True})]


def _decompose_softmax(instruction: AnyInstruction) -> list[LoweredInstruction]:
    write = LoweredBuilder()
    (x,), params = instruction.values, instruction.params
    build_softmax(write, x, instruction.name, tuple(params["axis"]), not params.get("keepdims", True))
    return write.finish(instruction.results[0])


def build_softmax(
    write: LoweredBuilder, x: ArrayValue, name: str, axes: tuple[int, ...], flat: bool = False
) -> LoweredValue:
    """Write softmax, log_softmax or logsumexp; with `flat`, logsumexp without the reduced axes."""
    kept = tuple(1 if axis in axes else n for axis, n in enumerate(x.shape))
    rest = tuple(n for axis, n in enumerate(x.shape) if axis not in axes) if flat else kept

    def reduce_over_axes(name: str, value: ArrayValue) -> LoweredValue:
        return write(name, value, shape=rest, axis=axes, keepdims=not flat)

    def zero_if_not_finite(value: ArrayValue) -> LoweredValue:
        return write("where", write("isfinite", value, dtype=bool), value, 0, dtype=x.dtype)

    top = reduce_over_axes("max", x)
    level = write.reshape(top, kept) if flat else top
    shifted = write("subtract", x, zero_if_not_finite(level))
    powers = write("exp", shifted)
    total = reduce_over_axes("sum", powers)
    if name == "softmax":
        return write("divide", powers, total)
    if name == "log_softmax":
        return write("subtract", shifted, write("log", total))
    return write("add", write("log", total), zero_if_not_finite(top))


def _decompose_join(instruction: AnyInstruction) -> list[LoweredInstruction]:
    (result,) = instruction.results
    axis = instruction.params.get("axis", 0) % max(1, len(result.shape))
    write, start = LoweredBuilder(), 0
    for number, operand in enumerate(instruction.values):
        where: int | slice = number
        if instruction.name == "concatenate":
            where = slice(start, start + operand.shape[axis])
            start += operand.shape[axis]
        part = operand if operand.dtype == result.dtype else write("astype", operand, dtype=result.dtype)
        index = (*[slice(None)] * axis, where)
        write.instructions.append(LoweredInstruction((part,), (result,), PART, {"index": index}))
    return write.instructions


def _decompose_positions(instruction: AnyInstruction) -> list[LoweredInstruction]:
    """Flat positions: a constant part, plus each index array times the stride of its axis."""
    write = LoweredBuilder()
    template, shape = instruction.params["template"], instruction.params["shape"]
    (result,) = instruction.results
    zeros = [np.zeros(x.shape, np.int64) for x in instruction.values]
    assert instruction.op is not None  # it is an instruction of the program
    total = add_constant(write, instruction.op.kernel(*zeros, template=template, shape=shape))
    behind = _axes_behind(template, shape)
    supply, axis = iter(instruction.values), 0
    for part in template:
        if _is_gap(part):
            index = next(supply)
            if behind:
                longer = (*index.shape, *[1] * behind)
                index = write.reshape(index, longer)
            place = write(CHECK_INDEX, index, dtype=_INTEGER, length=shape[axis])
            distance = math.prod(shape[axis + 1 :])
            total = write("add", total, place if distance == 1 else write("multiply", place, distance))
        axis += part is not None
    write("broadcast_to", total, shape=result.shape)
    return write.finish(result)


def _axes_behind(template: Sequence[object], shape: Shape) -> int:
    """The number of axes of the result after those of the index arrays."""
    picks = [i for i, part in enumerate(template) if not isinstance(part, slice) and part is not None]
    rest = len(shape) - sum(part is not None for part in template)  # axes that are not named
    together = picks[-1] - picks[0] + 1 == len(picks)
    first = picks[-1] + 1 if together else 0
    return rest + sum(isinstance(part, slice) or part is None for part in template[first:])


def find_rows(instructions: Sequence[AnyInstruction]) -> dict[ArrayValue, ArrayValue]:
    """The positions of whole rows of tables, with the numbers of these rows."""
    found: dict[ArrayValue, ArrayValue] = {}
    for instruction in instructions:
        if instruction.name == _POSITIONS and len(instruction.values) == 1:
            (index,), template = instruction.values, instruction.params["template"]
            first, *rest = template
            whole = all(isinstance(part, slice) and part == slice(None) for part in rest)
            if _is_gap(first) and whole and len(instruction.params["shape"]) == 2 and len(index.shape) == 1:
                found[instruction.results[0]] = index
    return found


def _decompose_static_index(instruction: AnyInstruction) -> list[LoweredInstruction]:
    """A gather or scatter-add at the positions of a constant index."""
    write = LoweredBuilder()
    (x,), (result,), index = instruction.values, instruction.results, instruction.params["index"]
    larger = x if instruction.name == "getitem" else result
    size = math.prod(larger.shape)
    where = np.arange(size).reshape(larger.shape)[index]
    positions = LoweredValue(where.shape, _INTEGER)
    write.instructions.append(
        LoweredInstruction((), (positions,), CONSTANT, {"array": np.ascontiguousarray(where).reshape(where.shape)})
    )
    if instruction.name == "getitem":
        flat = x if len(x.shape) == 1 else write.reshape(x, (size,))
        write(GATHER, positions, dtype=x.dtype, table=flat)
    else:
        write(SCATTER_ADD, x, positions, shape=result.shape, adds=may_repeat(index))
    return write.finish(result)


def _decompose_sum_of_products(instruction: AnyInstruction) -> list[LoweredInstruction]:
    """Transpose the operands to the axes of the result followed by the summed axes, multiply, and sum."""
    write = LoweredBuilder()
    (result,) = instruction.results
    given, out = instruction.params["subscripts"].replace(" ", "").split("->")
    order = list(dict.fromkeys(out + given.replace(",", "")))
    factors = []
    for own, x in zip(given.split(","), instruction.values, strict=True):
        labels = [label for label in order if label in own]
        axes = tuple(own.index(label) for label in labels)
        shape = tuple(x.shape[axis] for axis in axes)
        if axes != tuple(range(len(axes))):
            x = write("transpose", x, shape=shape)
            write.instructions[-1].params["axes"] = axes
        index = tuple(slice(None) if label in own else None for label in order)
        if None in index:
            longer = tuple(shape[labels.index(label)] if label in own else 1 for label in order)
            x = write("getitem", x, shape=longer, index=index)
        factors.append(x)
    total = write("multiply", *factors) if len(factors) == 2 else write("positive", *factors)
    axes = tuple(range(len(out), len(order)))
    if axes:
        write("sum", total, shape=result.shape, axis=axes, keepdims=False)
    return write.finish(result)


LOWERINGS = (
    Lowering(frozenset({CALLBACK}), lambda instruction: True, decompose=_decompose_callback, emitter="callback"),
    Lowering(SOFTMAX, _supports_softmax, decompose=_decompose_softmax),
    Lowering(JOINING, _supports_joining, decompose=_decompose_join),
    *writes.LOWERINGS,
    *sparse.LOWERINGS,
    Lowering(labels.NAMES, labels.supports, decompose=_decompose_labels),
    Lowering(frozenset({_POSITIONS}), _supports_positions, decompose=_decompose_positions),
    Lowering(frozenset({_TAKE}), _supports_flat, decompose=_decompose_take),
    Lowering(frozenset({_ADD}), _supports_flat, decompose=_decompose_add),
    Lowering(
        frozenset({"getitem", "scatter"}),
        _supports_static,
        applies=lambda instruction: has_arrays(instruction.params.get("index")),
        decompose=_decompose_static_index,
    ),
    Lowering(
        frozenset({"einsum"}),
        lambda instruction: True,
        applies=_is_sum_of_products,
        decompose=_decompose_sum_of_products,
    ),
)
"""The families that have a decomposition; `support.LOWERINGS` has all families."""
_BY_NAME = index_by_name(LOWERINGS)
