"""Emits blocks of rows: see `schedule.row_blocks`.

A unit is a range of blocks. Each adds up the sums over rows for itself, from block to block; in the end these are added
in the order of the units. Threads have memory of their own for what is inside of a block.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.block import Block
from gradtape.jit.native.emit.builder import start_builder
from gradtape.jit.native.emit.inner_block import InnerBlockEmitter
from gradtape.jit.native.emit.loops import POINTER, VOID, CallCode
from gradtape.jit.native.emit.vectors import Lanes
from gradtape.jit.native.lower.ir import AnyInstruction, ArrayValue
from gradtape.jit.native.schedule.fusion import FusionPlan
from gradtape.jit.native.schedule.layout import bytes_of
from gradtape.jit.native.schedule.row_blocks import RowBlock
from gradtape.jit.native.schedule.workspace import align

_DOUBLE = np.dtype(np.float64)
WIDTH = 8


def emit_call(block: Block, name: str, instruction: AnyInstruction) -> CallCode:
    """Emit the blocks of an instruction."""
    emitter = RowBlocksEmitter(block, name, instruction)
    work = emitter.emit()
    return CallCode(work, emitter.units, emitter.finish, emitter.memory)


class RowBlocksEmitter(InnerBlockEmitter):
    """Emits `name(buffers, begin, end)` for a range of units, and `name_finish(buffers)` for the sums of several."""

    finish: str | None = None

    def emit(self) -> int:
        """Emits the loops over units and blocks; a measure of its work, in elements of light loops."""
        self.blocks = blocks = self.instruction.params["blocks"]
        first = blocks.bodies[0]
        count = blocks.count + len(blocks.bodies) - 1
        self.units = min(blocks.most_units, count)
        plans = [
            FusionPlan(body.instructions, body.inputs, body.outputs, in_blocks=True, copies=body.copies)
            for body in blocks.bodies
        ]
        inner = [
            self.emit_body(f"{self.name}_body_{i}_", body.instructions, body.inputs, body.outputs, plan)
            for i, (body, plan) in enumerate(zip(blocks.bodies, plans, strict=True))
        ]
        self.start_function()
        builder = self.builder
        self.sums = [i for i, value in enumerate(first.outputs) if value in first.sums]
        self.memory = max(found.workspace for found, _ in inner)
        rooms = {i: self._reserve(bytes_of(first.outputs[i])) for i in self.sums}
        each = self.memory
        totals_size = sum(align(bytes_of(first.outputs[i])) for i in self.sums)
        # each thread has its own region of the workspace, and each unit its own totals
        slot = self.outer_slot(self.instruction)
        space = self.advance(slot, builder.mul(self.begin, self.number(each)))
        self.totals_start = each * self.units
        self.memory = self.totals_start + (totals_size * self.units if self.units > 1 else 0)
        tables = []
        for found, function in inner:
            self.use_body(found, function)
            self.prepare(space, {})
            tables.append(self.table)
        inputs = [self.outer_slot(key) for key in self.operands]
        results = [self.outer_slot(result) for result in self.instruction.results]
        for number, body in enumerate(blocks.bodies):
            self.inner, self.body, self.table = *inner[number], tables[number]
            for value, pointer in zip(body.inputs, inputs, strict=True):
                if value not in body.rows:
                    self.fill_slot(self.inner.slots[value], pointer)
            for i in self.sums:
                self.fill_slot(self.inner.slots[body.outputs[i]], self.advance(space, self.number(rooms[i])))
        with self.loop(self.begin, self.end) as unit:
            totals = self._totals(slot, results, unit)
            for i, pointer in totals.items():
                self._add(pointer, [], first.outputs[i])
            begin, end = (
                builder.udiv(
                    builder.mul(builder.add(unit, self.number(i)), self.number(count)), self.number(self.units)
                )
                for i in (0, 1)
            )
            self.inner, self.body, self.table = *inner[0], tables[0]
            with self.loop(begin, self.minimum(end, self.number(blocks.count))) as block:
                place = builder.mul(block, self.number(first.length))
                self._run_block(first, inputs, results, totals, place)
            if len(blocks.bodies) > 1:
                with builder.if_then(builder.icmp_signed(">", end, self.number(blocks.count))):
                    self.inner, self.body, self.table = *inner[1], tables[1]
                    place = self.number(blocks.count * first.length)
                    self._run_block(blocks.bodies[1], inputs, results, totals, place)
        builder.ret_void()
        if self.sums and self.units > 1:
            self._emit_finish(first)
        self.inner = inner[0][0]
        return int(count * self.work())

    def _reserve(self, size: int) -> int:
        """The offset of more memory for each thread."""
        start = self.memory
        self.memory += align(size)
        return start

    def _totals(self, slot: ir.Value, results: list[Any], unit: ir.Value) -> dict[int, Any]:
        """Where a unit adds up its sums: in the results, if it is the only one."""
        if self.units == 1:
            return {i: results[i] for i in self.sums}
        found, start = {}, self.totals_start
        for i in self.sums:
            size = align(bytes_of(self.instruction.results[i]))
            found[i] = self.advance(
                slot, self.builder.add(self.number(start), self.builder.mul(unit, self.number(size)))
            )
            start += size * self.units
        return found

    def _run_block(
        self, body: RowBlock, inputs: list[Any], results: list[Any], totals: dict[int, Any], place: ir.Value
    ) -> None:
        """Set the pointers to the rows of a block, compute it, and add its sums to those of the unit."""
        pairs = [*zip(body.inputs, inputs, strict=True), *zip(body.outputs, results, strict=True)]
        for value, whole in pairs:
            if value in body.rows:
                row = bytes_of(value) // body.length
                distance = self.builder.mul(place, self.number(row))
                self.fill_slot(self.inner.slots[value], self.advance(whole, distance))
        self.run()
        for i, total in totals.items():
            found = self.builder.load(self.inner_slot(self.inner.slots[body.outputs[i]]), typ=POINTER)
            self._add(total, [found], body.outputs[i])

    def _add(self, target: ir.Value, sources: list[Any], value: ArrayValue) -> None:
        """Add arrays to another one, in their order; with none, store -0.0, to which any can be added."""
        size = math.prod(value.shape)
        plain = self.lanes
        for width, begin, end in ((WIDTH, 0, size // WIDTH), (1, size // WIDTH * WIDTH, size)):
            if begin == end:
                continue
            self.lanes = Lanes(self.builder, width, self.outer.machine.fused)
            with self.loop(begin, end) as index:
                place = self.builder.mul(index, self.number(width))
                found = self.lanes.constant(ir.DoubleType(), -0.0)
                if sources:
                    found = self.load(_DOUBLE, target, self.number(0), place, 1)
                for source in sources:
                    found = found + self.load(_DOUBLE, source, self.number(0), place, 1)
                self.store(found, _DOUBLE, target, self.number(0), place)
        self.lanes = plain

    def _emit_finish(self, body: RowBlock) -> None:
        """Emit the sums of the totals of all units."""
        self.finish = f"{self.name}_finish"
        function = ir.Function(self.module, ir.FunctionType(VOID, [POINTER]), self.finish)
        self.entry = function.append_basic_block("entry")
        self.builder = start_builder(self.entry)
        (self.buffers,) = function.args
        slot = self.outer_slot(self.instruction)
        units = [self._totals(slot, [], self.number(unit)) for unit in range(self.units)]
        for i in self.sums:
            target, value = self.outer_slot(self.instruction.results[i]), body.outputs[i]
            self.copy_bytes(target, units[0][i], bytes_of(value))
            self._add(target, [totals[i] for totals in units[1:]], value)
        self.builder.ret_void()
