"""Loops over vectors: the dimensions of a nest, and loads and stores with strides. The base class of all emitters.

The order of arithmetic depends on the shape and the axes of a reduction only, never on what else is computed or stored
in the same loops: results have the same bits however instructions are fused, from run to run, and for any number of
threads. For that, reduced axes are joined into one loop by a rule that depends on their lengths only. Arrays whose
strides do not fit the joined loop (broadcast arrays, slices) are read element by element, by their indices.
Where a short last axis is taken apart (`lower.short_axes`), the shapes are those of its columns, and where rows are
computed in blocks (`schedule.row_blocks`), those of the blocks.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.builder import Builder
from gradtape.jit.native.emit.elementwise import Elements, memory_type
from gradtape.jit.native.emit.vectors import Lanes, Vector
from gradtape.jit.native.lower.ir import AnyInstruction, ArrayValue
from gradtape.jit.native.schedule.fusion import FusionPlan
from gradtape.jit.native.schedule.layout import contiguous_steps
from gradtape.jit.native.schedule.steps import Nest

DType = np.dtype[Any]
Step = int | tuple[tuple[int, int], ...]
"""The stride of a loop in elements; or (length, stride) of each of the axes that were joined."""

LONG = ir.IntType(64)
POINTER = ir.PointerType()
VOID = ir.VoidType()

STATUS = "status"
"""The slot of the status: set to 1 if an index is out of range, or a call fails."""

ZEROS = 256  # bytes of the widest vector
NARROW = 64
"""Reduced rows that are shorter than this are joined with the next reduced axis into one longer row."""


class Stored(NamedTuple):
    """The key of a value that is written, as opposed to read."""

    value: ArrayValue


SlotKey = ArrayValue | AnyInstruction | str
"""What a slot is for: a value, the partial results or the memory of an instruction, or the status."""
Slots = Mapping[SlotKey, int]
ArrayKey = ArrayValue | Stored | AnyInstruction
"""An array of a nest: a value that is read, one that is stored, or the instruction of a scatter or a reduction."""


class CallCode(NamedTuple):
    """What was emitted for a call: its work, in elements of light loops, and how it divides.

    `units` can be run by different threads, then `finish` names a function to be called; `memory` is the size in bytes
    of what the call needs of the workspace.
    """

    work: int
    units: int = 1
    finish: str | None = None
    memory: int = 0


@dataclasses.dataclass(eq=False)
class Dimension:
    """One loop: its length, whether it is reduced, the stride of each array, and the windows along it."""

    size: int
    reduced: bool
    steps: dict[ArrayKey, Step]
    windows: dict[ArrayValue, tuple[int, int]] = dataclasses.field(default_factory=dict)


def _align_steps(steps: Sequence[int], shape: tuple[int, ...], rank: int) -> list[int]:
    """The strides of a value along the axes of a nest: 0 along those it is broadcast over."""
    own = [step if size != 1 else 0 for step, size in zip(steps, shape, strict=True)]
    return [0] * (rank - len(shape)) + own


def _steps_by_axis(nest: Nest, plan: FusionPlan) -> dict[ArrayKey, list[int]]:
    rank = len(nest.shape)
    by_axis: dict[ArrayKey, list[int]] = {}
    for value in nest.loads:
        by_axis[value] = _align_steps(plan.layouts[value].steps, value.shape, rank)
    for value in nest.stores:
        by_axis[Stored(value)] = _align_steps(contiguous_steps(value.shape), value.shape, rank)
    for scatter in nest.scatters:
        by_axis[scatter] = _align_steps(plan.target(scatter).steps, scatter.values[0].shape, rank)
    for reduction in nest.reductions:
        kept = [axis for axis in range(rank) if axis not in nest.axes]
        along = dict(zip(kept, contiguous_steps(tuple(nest.shape[axis] for axis in kept)), strict=True))
        by_axis[reduction] = [along.get(axis, 0) for axis in range(rank)]
    return by_axis


def dimensions(nest: Nest, plan: FusionPlan) -> list[Dimension]:
    """The loops of a nest, outermost first.

    The key of an array is its value where it is read, `Stored(value)` where it is written, and the instruction for
    scatters and reductions. Adjacent axes that are not reduced are joined if the strides of all arrays allow it;
    reduced ones by their lengths.
    """
    by_axis = _steps_by_axis(nest, plan)
    made: list[Dimension] = []  # innermost first
    for axis in reversed(range(len(nest.shape))):
        size = nest.shape[axis]
        if size == 1:
            continue
        windows = _windows(nest, plan, axis)
        new = Dimension(size, axis in nest.axes, {value: found[axis] for value, found in by_axis.items()}, windows)
        last = made[-1] if made else None
        if last is not None and last.reduced == new.reduced and _can_join(new, last, len(made) == 1):
            made[-1] = _join(new, last)
        else:
            made.append(new)
    made.reverse()
    if nest.reductions and not any(loop.reduced for loop in made):
        made.insert(0, Dimension(1, True, dict.fromkeys(by_axis, 0)))
    return made or [Dimension(1, False, dict.fromkeys(by_axis, 0))]


def _windows(nest: Nest, plan: FusionPlan, axis: int) -> dict[ArrayValue, tuple[int, int]]:
    """The windows that do not cover all of an axis of a nest."""
    found = {}
    for value in nest.loads:
        own = axis - (len(nest.shape) - len(value.shape))
        if value in plan.windows and own >= 0 and plan.windows[value][own] != (0, value.shape[own]):
            found[value] = plan.windows[value][own]
    return found


def _can_join(outer: Dimension, inner: Dimension, innermost: bool) -> bool:
    if outer.windows or inner.windows:
        return False
    if outer.reduced:
        return inner.size < NARROW if innermost else True
    return all(type(_join_step(outer, inner, value)) is int for value in outer.steps)


def _join(outer: Dimension, inner: Dimension) -> Dimension:
    steps = {value: _join_step(outer, inner, value) for value in outer.steps}
    return Dimension(outer.size * inner.size, outer.reduced, steps)


def _join_step(outer: Dimension, inner: Dimension, value: ArrayKey) -> Step:
    ahead, behind = outer.steps[value], inner.steps[value]
    if type(behind) is int and ahead == behind * inner.size:
        return behind
    parts = ((inner.size, behind),) if type(behind) is int else behind
    assert type(ahead) is int
    return ((outer.size, ahead), *parts)  # type: ignore[misc]


class Loops:
    """Emits loops, and loads and stores of vectors."""

    builder: Builder
    entry: ir.Block
    lanes: Lanes
    elements: Elements
    width: int
    buffers: ir.Value
    slots: Slots

    def buffer(self, key: SlotKey) -> Any:
        """The address in the slot of a value."""
        address = self.builder.gep(self.buffers, [self.number(self.slots[key])], source_etype=POINTER)
        return self.builder.load(address, typ=POINTER)

    @contextmanager
    def loop(self, begin: int | ir.Value, end: int | ir.Value) -> Iterator[Any]:
        """A loop over the integers from begin to end (exclusive)."""
        builder = self.builder
        if isinstance(begin, int) and isinstance(end, int) and end - begin == 1:
            yield ir.Constant(LONG, begin)
            return
        first, last = (ir.Constant(LONG, x) if isinstance(x, int) else x for x in (begin, end))
        before = builder.block
        head, body, after = (builder.append_basic_block(name) for name in ("head", "body", "after"))
        builder.branch(head)
        builder.position_at_end(head)
        index = builder.phi(LONG)
        index.add_incoming(first, before)
        builder.cbranch(builder.icmp_signed("<", index, last), body, after)
        builder.position_at_end(body)
        self.lanes.enter()
        yield index
        self.lanes.leave()
        index.add_incoming(builder.add(index, ir.Constant(LONG, 1)), builder.block)
        builder.branch(head)
        builder.position_at_end(after)

    def number(self, value: int) -> Any:
        """A constant of 64 bits."""
        return ir.Constant(LONG, value)

    def minimum(self, left: ir.Value, right: ir.Value) -> Any:
        """The smaller of two signed integers."""
        return self.builder.select(self.builder.icmp_signed("<", left, right), left, right)

    def maximum(self, left: ir.Value, right: ir.Value) -> Any:
        """The larger of two signed integers."""
        return self.builder.select(self.builder.icmp_signed(">", left, right), left, right)

    def plus_steps(self, offset: ir.Value, index: ir.Value, step: Step) -> Any:
        """The offset of the element at an index of a loop."""
        builder = self.builder
        if type(step) is int:
            if step == 0:
                return offset
            return builder.add(offset, index if step == 1 else builder.mul(index, self.number(step)))
        for length, distance in reversed(step[1:]):  # type: ignore[index]
            offset = self.plus_steps(offset, builder.urem(index, self.number(length)), distance)
            index = builder.udiv(index, self.number(length))
        return self.plus_steps(offset, index, step[0][1])  # type: ignore[index]

    def local(self, kind: ir.Type) -> Any:
        """A local variable of the function (a register, after optimisation)."""
        with self.builder.goto_block(self.entry):
            return self.builder.alloca(kind)

    def load(
        self,
        dtype: DType,
        pointer: ir.Value,
        offset: ir.Value,
        place: Any,
        step: Step,
        inside: ir.Value | None = None,
    ) -> Vector:
        """Load a vector from index `place` of a loop with this stride; for stride 0, one element in all lanes.

        With `inside`, a bit: zeros if it is not set. With a vector of bits: zeros in the lanes that are not set.
        """
        builder, kind = self.builder, memory_type(dtype)
        if inside is not None and isinstance(inside.type, ir.VectorType):
            if step == 1 and not builder.checks_bounds:
                address = builder.gep(pointer, [builder.add(offset, place)], source_etype=kind)
                loaded = Vector(self.lanes, builder.load_masked(address, inside, self.lanes.type(kind), dtype.itemsize))
            else:
                positions = self._lane_offsets(offset, place, self.lanes.width, step)
                loaded = self._load_lanes(dtype, pointer, positions, inside)
        elif step == 1:
            address = self._or_zeros(builder.gep(pointer, [builder.add(offset, place)], source_etype=kind), inside)
            loaded = Vector(self.lanes, builder.load(address, typ=self.lanes.type(kind), align=dtype.itemsize))
        elif step == 0:
            address = self._or_zeros(builder.gep(pointer, [offset], source_etype=kind), inside)
            loaded = self.lanes.splat(builder.load(address, typ=kind, align=dtype.itemsize))
        else:
            vector = ir.Constant(self.lanes.type(kind), ir.Undefined)
            for lane, position in enumerate(self._lane_offsets(offset, place, self.lanes.width, step)):
                address = self._or_zeros(builder.gep(pointer, [position], source_etype=kind), inside)
                scalar = builder.load(address, typ=kind, align=dtype.itemsize)
                vector = builder.insert_element(vector, scalar, ir.Constant(ir.IntType(32), lane))
            loaded = Vector(self.lanes, vector)
        return loaded.differs(0) if dtype == np.dtype(bool) else loaded

    def _load_lanes(self, dtype: DType, pointer: ir.Value, positions: Sequence[Any], inside: ir.Value) -> Vector:
        """Load one lane after the other, those that are not set in `inside` from zeros."""
        builder, kind = self.builder, memory_type(dtype)
        vector = ir.Constant(self.lanes.type(kind), ir.Undefined)
        for lane, position in enumerate(positions):
            number = ir.Constant(ir.IntType(32), lane)
            address = builder.gep(pointer, [position], source_etype=kind)
            address = self._or_zeros(address, builder.extract_element(inside, number))
            scalar = builder.load(address, typ=kind, align=dtype.itemsize)
            vector = builder.insert_element(vector, scalar, number)
        return Vector(self.lanes, vector)

    def _or_zeros(self, address: ir.Value, inside: ir.Value | None) -> Any:
        """The address if `inside` is set, otherwise that of zeros: a select instead of a branch."""
        if inside is None:
            return address
        name, kind = "gradtape_zeros", ir.ArrayType(ir.IntType(8), ZEROS)
        zeros = self.builder.module.globals.get(name)
        if zeros is None:
            zeros = ir.GlobalVariable(self.builder.module, kind, name)
            zeros.linkage, zeros.global_constant, zeros.align = "internal", True, 64
            zeros.initializer = ir.Constant(kind, bytearray(ZEROS))
        return self.builder.select(inside, address, self.builder.bitcast(zeros, POINTER))

    def _lane_offsets(self, offset: ir.Value, place: ir.Value, count: int, step: Step) -> list[Any]:
        """The offsets of `count` elements from index `place` of a loop with this stride."""
        builder, first = self.builder, self.plus_steps(offset, place, step)
        if type(step) is int:
            return [first] + [builder.add(first, self.number(lane * step)) for lane in range(1, count)]
        length, distance = step[-1]  # type: ignore[index]
        if count > length:
            further = [builder.add(place, self.number(lane)) for lane in range(1, count)]
            return [first] + [self.plus_steps(offset, index, step) for index in further]
        # at most one row ends; the remaining lanes continue from a start before that of the next row
        left = builder.sub(self.number(length), builder.urem(place, self.number(length)))
        ahead = self.plus_steps(offset, builder.add(place, left), step)
        other = builder.sub(ahead, builder.mul(left, self.number(distance)))
        starts = [builder.select(builder.icmp_signed(">", left, self.number(i)), first, other) for i in range(1, count)]
        return [first] + [builder.add(start, self.number(i * distance)) for i, start in enumerate(starts, 1)]

    def store(
        self, value: Vector, dtype: DType, pointer: ir.Value, offset: ir.Value, place: ir.Value, step: Step = 1
    ) -> None:
        """Store a vector from index `place` of a loop with this stride; for stride 0, the first lane."""
        builder, lanes, kind = self.builder, value.lanes, memory_type(dtype)
        if dtype == np.dtype(bool):
            value = lanes.convert("zext", value, kind)
        if step == 1:
            address = builder.gep(pointer, [builder.add(offset, place)], source_etype=kind)
            builder.store(value.ir, address, align=dtype.itemsize)
            return
        for lane, position in enumerate(self._lane_offsets(offset, place, 1 if step == 0 else lanes.width, step)):
            element = builder.extract_element(value.ir, ir.Constant(ir.IntType(32), lane))
            address = builder.gep(pointer, [position], source_etype=kind)
            builder.store(element, address, align=dtype.itemsize)

    def clear(self, pointer: ir.Value, size: int | ir.Value) -> None:
        """Fill bytes with zeros."""
        emit_clear(self.builder, pointer, size)

    def copy_bytes(self, target: ir.Value, source: ir.Value, size: int) -> None:
        """Copy bytes between buffers that do not overlap."""
        builder, plain = self.builder, ir.Constant(ir.IntType(1), 0)
        copy = builder.module.declare_intrinsic("llvm.memcpy", [POINTER, POINTER, LONG])
        places = [builder.require(target, size, "copies"), builder.require(source, size, "copies")]
        builder.call(copy, [*places, self.number(size), plain])

    def table_lookup(self, numbers: Sequence[int], index: ir.Value) -> Any:
        """An element of a constant table of integers."""
        if len(set(numbers)) == 1:
            return self.number(numbers[0])
        if all(number == i for i, number in enumerate(numbers)):
            return index
        name = f"gradtape_list_{hashlib.sha256(repr(list(numbers)).encode()).hexdigest()[:24]}"
        found = self.builder.module.globals.get(name)
        if found is None:
            kind = ir.ArrayType(LONG, len(numbers))
            found = ir.GlobalVariable(self.builder.module, kind, name)
            found.linkage, found.global_constant, found.initializer = "internal", True, ir.Constant(kind, list(numbers))
        return self.builder.load(self.builder.gep(found, [self.number(0), index]), typ=LONG)

    # -- indices

    def check_index(self, index: Vector, length: int, status: ir.Value) -> Vector:
        """Check indices: negative ones count from the end; if one is out of range, it is 0 and the status is set."""
        builder, lanes = self.builder, index.lanes
        place = lanes.select(index < 0, index + length, index)
        exists = lanes.compare("<", place, lanes.like(place, length), signed=False)
        with builder.if_then(lanes.any(~exists), likely=False):
            builder.store(self.number(1), status)
        return lanes.select(exists, place, 0)

    def gather(self, dtype: DType, pointer: ir.Value, where: Vector, offset: int, step: int) -> Vector:
        """Gather the elements at these positions, lane by lane."""
        builder, kind, lanes = self.builder, memory_type(dtype), where.lanes
        vector = ir.Constant(lanes.type(kind), ir.Undefined)
        for lane in range(lanes.width):
            number = ir.Constant(ir.IntType(32), lane)
            position = self.plus_steps(self.number(offset), builder.extract_element(where.ir, number), step)
            scalar = builder.load(builder.gep(pointer, [position], source_etype=kind), typ=kind, align=dtype.itemsize)
            vector = builder.insert_element(vector, scalar, number)
        loaded = Vector(lanes, vector)
        return loaded.differs(0) if dtype == np.dtype(bool) else loaded


def copy_if_apart(builder: Builder, target: ir.Value, source: ir.Value, size: int | ir.Value) -> None:
    """Copy bytes between buffers that are the same or do not overlap."""
    copy = builder.module.declare_intrinsic("llvm.memcpy", [POINTER, POINTER, LONG])
    apart = builder.icmp_unsigned("!=", builder.ptrtoint(target, LONG), builder.ptrtoint(source, LONG))
    with builder.if_then(apart):
        places = [builder.require(target, size, "copies"), builder.require(source, size, "copies")]
        length = ir.Constant(LONG, size) if isinstance(size, int) else size
        builder.call(copy, [*places, length, ir.Constant(ir.IntType(1), 0)])


def emit_clear(builder: Builder, pointer: ir.Value, size: int | ir.Value) -> None:
    """Fill bytes with zeros."""
    fill = builder.module.declare_intrinsic("llvm.memset", (POINTER, LONG))
    zero, plain = ir.Constant(ir.IntType(8), 0), ir.Constant(ir.IntType(1), 0)
    length = ir.Constant(LONG, size) if isinstance(size, int) else size
    builder.call(fill, [builder.require(pointer, size, "clears"), zero, length, plain])
