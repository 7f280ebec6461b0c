"""Emits the reductions of a nest.

The order of the additions depends on the length of what is summed only. A row is added up in 32 lanes (fewer if it is
shorter): element i goes to lane i modulo 32, whatever the vector width of the loop, with new lanes every 32 rounds;
then the lanes are added pairwise, in halves. A column is added up from top to bottom; where rows are long, many columns
at a time, row by row. Long rows and tall columns are divided into units; each leaves a partial result, and these are
added in their order, with compensation. Sums of floats are computed in binary64.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.emit.builder import start_builder
from gradtape.jit.native.emit.elementwise import Elements, lane_type
from gradtape.jit.native.emit.loops import POINTER, VOID, Dimension, Loops
from gradtape.jit.native.emit.vectors import Lanes, Vector
from gradtape.jit.native.lower.ir import AnyInstruction
from gradtape.jit.native.runtime.llvm import Machine
from gradtape.jit.native.schedule.steps import Nest

DType = np.dtype[Any]

SUM_LANES = 32
FRESH = 32  # rounds of additions to one set of lanes
CHUNK = 8192  # elements of the inner loop in one unit
ROWS = 128  # rows of a column sum in one unit
FINISH_WIDTH = 8
SIDE_BY_SIDE = 32  # vectors of columns that are added up row by row
UNROLLED = 8  # instructions of a body that is repeated for the accumulators of a row


def sum_lanes(length: int) -> int:
    """The number of lanes in which a row of this length is added up.

    >>> from gradtape.jit.native.emit.reduction import sum_lanes
    >>> [sum_lanes(length) for length in (1, 3, 31, 32, 1000)]
    [1, 2, 16, 32, 32]
    """
    return 1 << (min(SUM_LANES, length).bit_length() - 1)


class Reducing(Loops, abc.ABC):
    """Emits the reductions of a nest inside of its loops."""

    module: Any
    machine: Machine
    nest: Nest
    slots: dict[Any, int]
    inner: Dimension
    rows: Dimension | None
    chunks: int
    row_chunks: int
    parts: int
    pointers: dict[Any, Any]

    @abc.abstractmethod
    def compute(
        self,
        values: dict[Any, Vector],
        level: int,
        offsets: dict[Any, Any],
        place: ir.Value | None,
        row: ir.Value | None,
    ) -> None:
        """Emit the loads and instructions of this level, and add their results to `values`."""

    @abc.abstractmethod
    def store_all(
        self, values: dict[Any, Vector], offsets: dict[Any, Any], place: ir.Value, row: ir.Value | None
    ) -> None:
        """Emit the stores and scatters of the nest."""

    def place(self, first: ir.Value, block: ir.Value) -> tuple[Any, Any]:
        """The start of a vector, moved back if it would exceed the end of the row, and its start without that."""
        wanted = self.builder.add(first, self.builder.mul(block, self.number(self.width)))
        if self.inner.size % self.width == 0:
            return wanted, wanted
        return self.minimum(wanted, self.number(self.inner.size - self.width)), wanted

    def identity(self, reduction: AnyInstruction) -> Vector:
        """The neutral element of a reduction, as a vector."""
        return self.elements.constant(accumulator(reduction), identity(reduction))

    def add(self, reduction: AnyInstruction, place: ir.Value, value: Vector) -> None:
        """Combine a vector with the accumulator in memory."""
        old = Vector(self.lanes, self.builder.load(place, typ=value.ir.type))
        self.builder.store(combine(self.elements, reduction, old, value).ir, place)

    def term(self, reduction: AnyInstruction, values: dict[Any, Vector]) -> Vector:
        """The operand of a reduction, in the dtype of its accumulator."""
        operand = reduction.values[0]
        return self.elements.cast(values[operand], operand.dtype, accumulator(reduction))

    # -- rows

    def emit_row(
        self,
        values: dict[Any, Vector],
        offsets: dict[Any, Any],
        first: ir.Value,
        blocks: int | ir.Value,
        part: ir.Value,
    ) -> None:
        """The inner loop is reduced: add `blocks` vectors in lanes, then add the lanes."""
        sets = sum_lanes(self.inner.size) // self.width  # of lanes, each as wide as the vectors of the loop
        turns = FRESH * sets
        few = self.chunks == 1 and -(-self.inner.size // self.width) <= turns
        totals = [RowLanes(self, reduction, sets) for reduction in self.nest.reductions]
        fresh = totals if few else [RowLanes(self, reduction, sets) for reduction in self.nest.reductions]
        for total in totals:
            total.reset()
        with self.loop(0, 1 if few else -(-(CHUNK // self.width) // turns)) as turn:
            begin, last = 0, blocks
            if not few:
                for accumulated in fresh:
                    accumulated.reset()
                count = self.number(blocks) if isinstance(blocks, int) else blocks
                begin = self.minimum(self.builder.mul(turn, self.number(turns)), count)
                last = self.minimum(self.builder.add(begin, self.number(turns)), count)
            if few and sets > 1 and isinstance(blocks, int) and len(self.nest.instructions) <= UNROLLED:
                self._emit_rounds(values, offsets, blocks, fresh)
            else:
                with self.loop(begin, last) as block:
                    self._emit_row_block(values, offsets, *self.place(first, block), [x.at(block) for x in fresh])
            if not few:
                for total, accumulated in zip(totals, fresh, strict=True):
                    total.add_all(accumulated)
        for reduction, total in zip(self.nest.reductions, totals, strict=True):
            self.store_result(reduction, total.across(), offsets[reduction], self.number(0), part)

    def _emit_row_block(
        self, values: dict[Any, Vector], offsets: dict[Any, Any], place: Any, wanted: Any, totals: list[Any]
    ) -> None:
        """Add one vector of a row to the accumulators at these addresses."""
        inside = dict(values)
        self.compute(inside, 1, offsets, place, None)
        self.store_all(inside, offsets, place, None)
        for reduction, total in zip(self.nest.reductions, totals, strict=True):
            term = self.term(reduction, inside)
            if place is not wanted:
                term = self._without_repetition(reduction, term, place, wanted)
            self.add(reduction, total, term)

    def _emit_rounds(
        self, values: dict[Any, Vector], offsets: dict[Any, Any], blocks: int, totals: list[RowLanes]
    ) -> None:
        """Add a row of `blocks` vectors, one for each accumulator at a time: so accumulators stay in registers."""
        sets = totals[0].sets
        rounds = (blocks - 1) // sets  # without the last vector, which may overlap the one before it
        with self.loop(0, rounds) as turn:
            for i in range(sets):
                number = self.builder.add(self.builder.mul(turn, self.number(sets)), self.number(i))
                place = self.builder.mul(number, self.number(self.width))
                self._emit_row_block(values, offsets, place, place, [total.at(i) for total in totals])
        for block in range(rounds * sets, blocks):
            place, wanted = self.place(self.number(0), self.number(block))
            places = (place, wanted) if block == blocks - 1 else (wanted, wanted)
            self._emit_row_block(values, offsets, *places, [total.at(block % sets) for total in totals])

    def _without_repetition(self, reduction: AnyInstruction, term: Vector, place: ir.Value, wanted: ir.Value) -> Vector:
        """The last vector of a row overlaps the one before: move new elements to their lanes, identity elsewhere."""
        builder = self.builder
        new = self.inner.size % self.width
        chosen = self.local(term.ir.type)
        builder.store(term.ir, chosen)
        with builder.if_then(builder.icmp_unsigned("!=", place, wanted)):
            numbers = [self.width - new + i if i < new else self.width for i in range(self.width)]
            mask = ir.Constant(ir.VectorType(ir.IntType(32), self.width), numbers)
            builder.store(builder.shuffle_vector(term.ir, self.identity(reduction).ir, mask), chosen)
        return Vector(self.lanes, builder.load(chosen, typ=term.ir.type))

    # -- columns

    def count_rows(self) -> int | ir.Value:
        """The number of rows of a column sum."""
        return 1 if self.rows is None else self.rows.size

    def emit_column(
        self, values: dict[Any, Vector], offsets: dict[Any, Any], place: ir.Value, row_chunk: ir.Value, part: ir.Value
    ) -> None:
        """The inner loop is not reduced: each lane adds up its column."""
        assert self.rows is not None
        inside = dict(values)
        self.compute(inside, 1, offsets, place, None)
        totals = [self.local(self.lanes.type(lane_type(accumulator(r)))) for r in self.nest.reductions]
        for reduction, total in zip(self.nest.reductions, totals, strict=True):
            self.builder.store(self.identity(reduction).ir, total)
        with self.loop(*self.row_bounds(row_chunk)) as row:
            deep = dict(inside)
            self.compute(deep, 2, offsets, place, row)
            self.store_all(deep, offsets, place, row)
            for reduction, memory in zip(self.nest.reductions, totals, strict=True):
                self.add(reduction, memory, self.term(reduction, deep))
        for reduction, memory in zip(self.nest.reductions, totals, strict=True):
            kind = self.lanes.type(lane_type(accumulator(reduction)))
            value = Vector(self.lanes, self.builder.load(memory, typ=kind))
            self.store_result(reduction, value, offsets[reduction], place, part)

    def emit_columns(
        self,
        values: dict[Any, Vector],
        offsets: dict[Any, Any],
        first: ir.Value,
        blocks: int | ir.Value,
        row_chunk: ir.Value,
        part: ir.Value,
    ) -> None:
        """Long rows: columns are added up side by side, row by row, so that memory is read in its order.

        Each column is added up from top to bottom, as by `emit_column`.
        """
        builder = self.builder
        count = self.number(blocks) if isinstance(blocks, int) else blocks
        together = self.number(SIDE_BY_SIDE)
        kinds = [self.lanes.type(lane_type(accumulator(r))) for r in self.nest.reductions]
        totals = [self.local(ir.ArrayType(kind, SIDE_BY_SIDE)) for kind in kinds]
        begin, end = self.row_bounds(row_chunk)

        def place_of(total: Any, number: Any) -> Any:
            return builder.gep(total, [self.number(0), number], inbounds=True)

        groups = builder.udiv(builder.add(count, self.number(SIDE_BY_SIDE - 1)), together)
        with self.loop(0, -(-blocks // SIDE_BY_SIDE) if isinstance(blocks, int) else groups) as group:
            start = builder.mul(group, together)
            length = self.minimum(together, builder.sub(count, start))
            with self.loop(self.number(0), length) as number:
                for reduction, total in zip(self.nest.reductions, totals, strict=True):
                    builder.store(self.identity(reduction).ir, place_of(total, number))
            with self.loop(begin, end) as row, self.loop(self.number(0), length) as number:
                place, _ = self.place(first, builder.add(start, number))
                deep = dict(values)
                self.compute(deep, 1, offsets, place, None)
                self.compute(deep, 2, offsets, place, row)
                self.store_all(deep, offsets, place, row)
                for reduction, total in zip(self.nest.reductions, totals, strict=True):
                    self.add(reduction, place_of(total, number), self.term(reduction, deep))
            with self.loop(self.number(0), length) as number:
                place, _ = self.place(first, builder.add(start, number))
                for reduction, total, kind in zip(self.nest.reductions, totals, kinds, strict=True):
                    value = Vector(self.lanes, builder.load(place_of(total, number), typ=kind))
                    self.store_result(reduction, value, offsets[reduction], place, part)

    def row_bounds(self, row_chunk: ir.Value) -> tuple[Any, Any]:
        """The first row of a unit of a column sum, and the one after its last."""
        assert self.rows is not None
        if self.row_chunks <= 1:
            return 0, self.count_rows()
        begin = self.builder.mul(row_chunk, self.number(ROWS))
        return begin, self.minimum(self.builder.add(begin, self.number(ROWS)), self.number(self.rows.size))

    # -- results

    def store_result(
        self, reduction: AnyInstruction, value: Vector, offset: ir.Value, place: Any, part: ir.Value
    ) -> None:
        """Store the result of a reduction, or the partial result of one unit."""
        step = 1 if self.rows is None else self.inner.steps[reduction]
        if self.parts == 1:
            dtype = reduction.results[0].dtype
            result = finish_reduction(Elements(value.lanes), reduction, value)
            self.store(result, dtype, self.pointers[reduction], offset, place, step)
            return
        size = max(1, math.prod(reduction.results[0].shape))
        offset = self.builder.add(self.builder.mul(part, self.number(size)), offset)
        self.store(value, accumulator(reduction), self.pointers[reduction], offset, place, step)

    def emit_finish(self, name: str) -> None:
        """Emit the sum of the partial results of the units, in their order, for a vector of results at a time."""
        function = ir.Function(self.module, ir.FunctionType(VOID, [POINTER]), name)
        self.entry = function.append_basic_block("entry")
        self.builder = start_builder(self.entry)
        for reduction in self.nest.reductions:
            (result,) = reduction.results
            size = max(1, math.prod(result.shape))
            width = 1 << (min(FINISH_WIDTH, size).bit_length() - 1)
            self.lanes = Lanes(self.builder, width, self.machine.fused)
            self.elements = Elements(self.lanes)
            pointers = []
            for key in (reduction, result):
                address = self.builder.gep(function.args[0], [self.number(self.slots[key])], source_etype=POINTER)
                pointers.append(self.builder.load(address, typ=POINTER))
            dtype = accumulator(reduction)
            kind = self.lanes.type(lane_type(dtype))
            total, error = self.local(kind), self.local(kind)
            compensated = dtype.kind == "f" and reduction.name in ("sum", "mean")
            with self.loop(0, -(-size // width)) as block:
                place = self.builder.mul(block, self.number(width))
                place = self.minimum(place, self.number(size - width))
                self.builder.store(self.identity(reduction).ir, total)
                if compensated:
                    self.builder.store(self.identity(reduction).ir, error)
                with self.loop(0, self.parts) as part:
                    offset = self.builder.mul(part, self.number(size))
                    term = self.load(dtype, pointers[0], offset, place, 1)
                    self.add_compensated(reduction, total, error, term, compensated)
                value = Vector(self.lanes, self.builder.load(total, typ=kind))
                if compensated:
                    value = self.compensation(value, Vector(self.lanes, self.builder.load(error, typ=kind)))
                self.store(
                    finish_reduction(self.elements, reduction, value), result.dtype, pointers[1], self.number(0), place
                )
        self.builder.ret_void()

    def add_compensated(
        self, reduction: AnyInstruction, total: ir.Value, error: ir.Value, term: Vector, compensated: bool
    ) -> None:
        """Combine a vector with the accumulator; sums keep their rounding error in `error`."""
        if not compensated:
            self.add(reduction, total, term)
            return
        old = Vector(self.lanes, self.builder.load(total, typ=term.ir.type))
        new = old + term
        shift = new - old
        lost = (old - (new - shift)) + (term - shift)
        self.builder.store(new.ir, total)
        self.add(reduction, error, lost)

    def compensation(self, total: Vector, error: Vector) -> Vector:
        """The total plus its rounding error, unless the total is infinite or NaN: then the error means nothing."""
        return self.lanes.select(self.lanes.absolute(total) < math.inf, total + error, total)


class RowLanes:
    """The lanes in which a row is added up, as one or several vectors of the loop's width."""

    def __init__(self, loops: Reducing, reduction: AnyInstruction, sets: int) -> None:
        self.loops, self.reduction, self.sets = loops, reduction, sets
        self.kind = loops.lanes.type(lane_type(accumulator(reduction)))
        self.memory = loops.local(self.kind if sets == 1 else ir.ArrayType(self.kind, sets))

    def at(self, block: ir.Value | int) -> Any:
        """The address of the vector to which the elements of a block are added."""
        if self.sets == 1:
            return self.memory
        loops = self.loops
        number = block if isinstance(block, int) else loops.builder.urem(block, loops.number(self.sets))
        index = loops.number(number) if isinstance(number, int) else number
        return loops.builder.gep(self.memory, [loops.number(0), index], inbounds=True)

    def value(self, index: int) -> Vector:
        """Load accumulator number `index`."""
        return Vector(self.loops.lanes, self.loops.builder.load(self.at(index), typ=self.kind))

    def reset(self) -> None:
        """Store the neutral element in all accumulators."""
        for index in range(self.sets):
            self.loops.builder.store(self.loops.identity(self.reduction).ir, self.at(index))

    def add_all(self, others: RowLanes) -> None:
        """Combine each accumulator with that of another set."""
        for index in range(self.sets):
            self.loops.add(self.reduction, self.at(index), others.value(index))

    def across(self) -> Vector:
        """Combine the lanes pairwise, in halves, to a vector of one lane."""
        loops, reduction = self.loops, self.reduction
        values = [self.value(index) for index in range(self.sets)]
        while len(values) > 1:
            half = len(values) // 2
            values = [combine(loops.elements, reduction, values[i], values[i + half]) for i in range(half)]
        (value,) = values
        while value.lanes.width > 1:
            half_lanes = Lanes(loops.builder, value.lanes.width // 2, value.lanes.fused)
            parts = []
            for start in (0, half_lanes.width):
                index = ir.Constant(
                    ir.VectorType(ir.IntType(32), half_lanes.width), [start + i for i in range(half_lanes.width)]
                )
                parts.append(Vector(half_lanes, loops.builder.shuffle_vector(value.ir, value.ir, index)))
            value = combine(Elements(half_lanes), reduction, parts[0], parts[1])
        return value


# -- dtype, identity and combination of reductions


def accumulator(reduction: AnyInstruction) -> DType:
    """The dtype a reduction is computed in: sums and products of floats in binary64."""
    result: DType = reduction.results[0].dtype
    if result.kind == "f" and reduction.name in ("sum", "mean", "prod"):
        return np.dtype(np.float64)
    return result


def identity(reduction: AnyInstruction) -> Any:
    """The identity element of a reduction."""
    dtype = accumulator(reduction)
    if reduction.name in ("max", "min"):
        lowest, highest = (-math.inf, math.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        return lowest if reduction.name == "max" else highest
    # -0.0, so that a sum of -0.0 is -0.0
    zero: float = -0.0 if dtype.kind == "f" else 0
    return {"sum": zero, "mean": zero, "prod": 1, "all": True, "any": False}[reduction.name]


def combine(elements: Elements, reduction: AnyInstruction, left: Vector, right: Vector) -> Vector:
    """Two partial results of a reduction as one."""
    dtype = accumulator(reduction)
    table: dict[str, Callable[[], Vector]] = {
        "max": lambda: elementwise.maximum(elements, dtype, left, right),
        "min": lambda: elementwise.minimum(elements, dtype, left, right),
        "prod": lambda: left * right,
        "all": lambda: left & right,
        "any": lambda: left | right,
    }
    return table[reduction.name]() if reduction.name in table else left + right


def finish_reduction(elements: Elements, reduction: AnyInstruction, value: Vector) -> Vector:
    """The result of a reduction from its accumulator."""
    operand, result = reduction.values[0], reduction.results[0]
    if reduction.name == "mean":
        value = value / float(math.prod(operand.shape) // max(1, math.prod(result.shape)))
    return elements.cast(value, accumulator(reduction), result.dtype)
