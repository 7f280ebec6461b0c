"""Emits scans along an axis: cumulative operations, argmax and argmin; see `lower.scan`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.call_emitter import CallEmitter
from gradtape.jit.native.emit.elementwise import EMITTERS, lane_type
from gradtape.jit.native.emit.loops import LONG, CallCode
from gradtape.jit.native.emit.vectors import Vector
from gradtape.jit.native.lower.ir import AnyInstruction
from gradtape.jit.native.lower.scan import ARG_EXTREMA, CUMULATIVE

if TYPE_CHECKING:
    from gradtape.jit.native.emit.block import Block

WIDTH = 8
_INTEGER = np.dtype(np.int64)


class ScanEmitter(CallEmitter):
    """Emits `name(buffers, begin, end)`. Lanes are neighbours along the axes after that of the scan, if any."""

    def __init__(self, block: Block, name: str, instruction: AnyInstruction) -> None:
        super().__init__(block, name, instruction)
        (x,), axis = instruction.values, instruction.params.get("axis")
        shape = x.shape if axis is not None else (math.prod(x.shape),)
        axis = (axis or 0) % len(shape)
        self.before, self.length, self.behind = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
        self.start_function()
        self.use_lanes(1 << (min(WIDTH, self.behind).bit_length() - 1))

    def emit(self) -> int:
        """Emits the function; a measure of its work, in elements of light loops."""
        builder = self.builder
        (x,), (result,) = self.instruction.values, self.instruction.results
        source, out = self.buffer(self.plan.layouts[x].root), self.buffer(result)
        step = self.emit_position if self.instruction.name in ARG_EXTREMA else self.emit_cumulative
        with self.loop(0, self.before) as number, self.loop(0, -(-self.behind // self.width)) as block:
            place = builder.mul(block, self.number(self.width))
            place = self.minimum(place, self.number(self.behind - self.width))  # the last overlaps the one before
            start = builder.mul(number, self.number(self.length * self.behind))
            step(source, out, start, place, builder.mul(number, self.number(self.behind)))
        builder.ret_void()
        return int(math.prod(x.shape) * 4)

    def at(self, start: ir.Value, index: ir.Value) -> Any:
        """The position of element `index` of a row along the axis of the scan."""
        return self.builder.add(start, self.builder.mul(index, self.number(self.behind)))

    def emit_cumulative(self, source: ir.Value, out: ir.Value, start: ir.Value, place: ir.Value, row: ir.Value) -> None:
        """Emit a cumulative operation: each element combined with the result before it."""
        (x,), (result,) = self.instruction.values, self.instruction.results
        kind, emit = result.dtype, EMITTERS[CUMULATIVE[self.instruction.name]][1]
        memory = self.local(self.lanes.type(lane_type(kind)))

        def element(index: ir.Value) -> Vector:
            return self.elements.cast(self.load(x.dtype, source, self.at(start, index), place, 1), x.dtype, kind)

        def keep(value: Vector, index: ir.Value) -> None:
            self.builder.store(value.ir, memory)
            self.store(value, kind, out, self.at(start, index), place)

        keep(element(self.number(0)), self.number(0))
        with self.loop(1, self.length) as index:
            old = Vector(self.lanes, self.builder.load(memory, typ=self.lanes.type(lane_type(kind))))
            keep(emit(self.elements, kind, [old, element(index)], {}), index)

    def emit_position(self, source: ir.Value, out: ir.Value, start: ir.Value, place: ir.Value, row: ir.Value) -> None:
        """The first position of the extremum; that of the first NaN, if there is one."""
        (x,) = self.instruction.values
        builder, lanes, kind = self.builder, self.lanes, lane_type(x.dtype)
        best, where = self.local(lanes.type(kind)), self.local(lanes.type(LONG))
        builder.store(self.load(x.dtype, source, start, place, 1).ir, best)
        builder.store(lanes.constant(LONG, 0).ir, where)
        relation = ARG_EXTREMA[self.instruction.name]
        with self.loop(1, self.length) as index:
            found = self.load(x.dtype, source, self.at(start, index), place, 1)
            old = Vector(lanes, builder.load(best, typ=lanes.type(kind)))
            better = lanes.compare(relation, found, old, signed=x.dtype.kind == "i")
            if x.dtype.kind == "f":
                better = (better | found.is_nan) & ~old.is_nan
            before = Vector(lanes, builder.load(where, typ=lanes.type(LONG)))
            builder.store(lanes.select(better, found, old).ir, best)
            builder.store(lanes.select(better, lanes.splat(index), before).ir, where)
        answer = Vector(lanes, builder.load(where, typ=lanes.type(LONG)))
        self.store(answer, _INTEGER, out, row, place)


def emit_call(block: Block, name: str, instruction: AnyInstruction) -> CallCode:
    """Emit a running operation, or the position of an extremum."""
    emitter = ScanEmitter(block, name, instruction)
    return CallCode(emitter.emit())
