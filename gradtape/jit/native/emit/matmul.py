"""Emits matrix products: loops for small ones, calls of BLAS, or of `emit.gemm`, for the rest; see `lower.matmul`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit import gemm
from gradtape.jit.native.emit.blocked_product import BlockedProduct, choose_axes, estimate_work, rows_at_a_time
from gradtape.jit.native.emit.builder import start_builder
from gradtape.jit.native.emit.elementwise import lane_type
from gradtape.jit.native.emit.fortran_call import INT, Argument, FortranCalls
from gradtape.jit.native.emit.loops import POINTER, VOID, CallCode, SlotKey
from gradtape.jit.native.emit.shared import Form, Record
from gradtape.jit.native.emit.vectors import Lanes, Vector
from gradtape.jit.native.lower.ir import AnyInstruction
from gradtape.jit.native.lower.matmul import divide, form, is_blocked, is_small, steps_of, uses_threads
from gradtape.jit.native.schedule.layout import contiguous_steps

if TYPE_CHECKING:
    from gradtape.jit.native.emit.block import Block

WIDTH = 8


class Lengths(NamedTuple):
    """The loops of a small product: how many rows, vectors and terms, and where the last vector of a row is."""

    outer: int | ir.Value
    blocks: int | ir.Value
    last: ir.Value
    common: int | ir.Value


class ProductEmitter(BlockedProduct, FortranCalls):
    """Emits `name(buffers, begin, end)` for one product, or for a range of a batch. A unit is one pair of matrices."""

    def __init__(self, block: Block, name: str, instruction: AnyInstruction) -> None:
        super().__init__(block, name, instruction)
        self.dtype = instruction.results[0].dtype
        self.start_function()
        self.layouts = [self.plan.layouts[x] for x in instruction.values]
        found = form(instruction)
        assert found is not None
        self.form = found
        all_steps = [*(layout.steps for layout in self.layouts), contiguous_steps(instruction.results[0].shape)]
        self.steps = [steps_of(found, number, steps) for number, steps in enumerate(all_steps)]
        self.pairs = [
            (length, [0 if axis is None else steps[axis] for axis, steps in zip(axes, all_steps, strict=True)])
            for length, *axes in found.pairs
        ]
        self.sizes = found.rows[0], found.columns[0], found.common[0]
        self.is_blocked = is_blocked(instruction, found)
        self.units = math.prod(length for length, _ in self.pairs) if math.prod(self.sizes[:2]) else 0
        self.has_own_gemm = gemm.supports(self.machine)
        self.division = divide(*self.sizes)

    def pointer(self, value: SlotKey, offset: int) -> Any:
        """The address of the element of a value at `offset`."""
        return self.advance(self.buffer(value), self.number(offset))

    def advance(self, pointer: ir.Value, distance: ir.Value) -> Any:
        """The address `distance` elements after a pointer."""
        return self.builder.gep(pointer, [distance], source_etype=lane_type(self.dtype))

    def emit(self) -> int:
        """Emits the function; a measure of its work, in elements of light loops."""
        pointers = [self.pointer(layout.root, layout.offset) for layout in self.layouts]
        pointers.append(self.pointer(self.instruction.results[0], 0))
        if self.is_blocked:
            self.emit_batch(pointers)
        elif self.is_divided:
            self.lanes = Lanes(self.builder, 1, self.machine.fused)
            with self.loop(self.begin, self.end) as part:
                left, right, out = pointers
                self.emit_matrix(left, right, out, part)
        elif self.units == 1:
            self.emit_pair(*pointers)
        elif self.units:
            self.lanes = Lanes(self.builder, 1, self.machine.fused)
            with self.loop(*((0, self.units) if self.is_alone else (self.begin, self.end))) as pair:
                self.emit_pair(*[self.advance(x, self.distance(pair, i)) for i, x in enumerate(pointers)])
        self.builder.ret_void()
        work = self.units * math.prod(self.sizes) // 8
        return estimate_work(choose_axes(self.sizes, self.steps), work) if self.is_blocked else work

    def emit_batch(self, pointers: Sequence[ir.Value]) -> None:
        """Emit a batch in blocks: for some rows at a time, all pairs of matrices."""
        axes = choose_axes(self.sizes, self.steps)
        rows = rows_at_a_time(axes)
        self.lanes = Lanes(self.builder, 1, self.machine.fused)
        with self.loop(0, -(-axes.outer // rows)) as part, self.loop(self.begin, self.end) as pair:
            # the last rows overlap those before them: they are computed twice, to the same bits
            first = self.minimum(self.builder.mul(part, self.number(rows)), self.number(axes.outer - rows))
            left, right, out = (self.advance(x, self.distance(pair, i)) for i, x in enumerate(pointers))
            ahead = self.plus_steps(self.number(0), first, axes.singles[0])
            left, right = (left, self.advance(right, ahead)) if axes.swapped else (self.advance(left, ahead), right)
            out = self.advance(out, self.plus_steps(self.number(0), first, axes.out[0]))
            self.emit_blocks(axes._replace(outer=rows), left, right, out)

    @property
    def is_alone(self) -> bool:
        """Whether one thread goes through the batch, since BLAS uses threads for each product."""
        return uses_threads(self.form) and not self.is_blocked and not self.has_own_gemm

    @property
    def is_divided(self) -> bool:
        """Whether one product is divided among threads."""
        plain = self.units == 1 and not self.is_blocked and 1 not in self.sizes[:2]
        return plain and self.has_own_gemm and self.division.parts > 1

    def distance(self, pair: ir.Value, number: int) -> Any:
        """The distance in elements from the first pair of matrices of a batch to another one."""
        distance, rest = self.number(0), pair
        for length, steps in reversed(self.pairs):
            if length > 1:
                distance = self.plus_steps(distance, self.builder.urem(rest, self.number(length)), steps[number])
                rest = self.builder.udiv(rest, self.number(length))
        return distance

    def emit_pair(self, left: Any, right: Any, out: Any) -> None:
        """Emit the product of two matrices: inline, by gemv or by gemm."""
        rows, columns, _ = self.sizes
        if is_small(self.form):
            self.emit_inline(left, right, out)
        elif 1 in (rows, columns):
            self.emit_vector(left, right, out)
        else:
            self.emit_matrix(left, right, out)

    # -- small products

    def emit_inline(self, left: ir.Value, right: ir.Value, out: ir.Value) -> None:
        """Emit loops for a small product, with sums in binary64."""
        rows, columns, common = self.sizes
        (left_row, left_common), (right_common, right_column), (out_row, out_column) = self.steps
        if columns >= rows:  # vectors are along the columns, otherwise along the rows
            outer, inner = rows, columns
            outer_steps, inner_steps = (left_row, 0, out_row), (0, right_column, out_column)
        else:
            outer, inner = columns, rows
            outer_steps, inner_steps = (0, right_column, out_column), (left_row, 0, out_row)
        if inner == 1:  # the stride does not matter; with 1, stores are vector stores
            inner_steps = (inner_steps[0], inner_steps[1], 1)
        double = np.dtype(np.float64)
        self.use_lanes(1 << (min(WIDTH, inner).bit_length() - 1))
        total = self.local(self.lanes.type(lane_type(double)))
        lengths = self.find_lengths(outer, inner, common)
        with self.loop(0, lengths.outer) as i, self.loop(0, lengths.blocks) as block:
            place = self.minimum(self.builder.mul(block, self.number(self.width)), lengths.last)
            self.builder.store(self.elements.constant(double, 0.0).ir, total)
            starts = [self.plus_steps(self.number(0), i, step) for step in outer_steps]
            with self.loop(0, lengths.common) as j:
                factors = []
                for k, (pointer, step) in enumerate(((left, left_common), (right, right_common))):
                    offset = self.plus_steps(starts[k], j, step)
                    loaded = self.load(self.dtype, pointer, offset, place, inner_steps[k])
                    factors.append(self.elements.cast(loaded, self.dtype, double))
                old = Vector(self.lanes, self.builder.load(total, typ=factors[0].ir.type))
                self.builder.store((old + factors[0] * factors[1]).ir, total)
            found = Vector(self.lanes, self.builder.load(total, typ=self.lanes.type(lane_type(double))))
            self.store(self.elements.cast(found, double, self.dtype), self.dtype, out, starts[2], place, inner_steps[2])

    def find_lengths(self, outer: int, inner: int, common: int) -> Lengths:
        """The lengths of the loops of a small product."""
        return Lengths(outer, -(-inner // self.width), self.number(inner - self.width), common)

    # -- BLAS

    def blas_layout(self, steps: tuple[int, int], rows: int, columns: int) -> tuple[str, int]:
        """The flag and leading dimension with which BLAS, which stores by columns, reads the transpose of a matrix."""
        row_step, column_step = steps
        if columns == 1 or column_step == 1:
            return "N", max(row_step if rows > 1 else columns, columns, 1)
        return "T", max(column_step, rows, 1)

    def emit_matrix(self, left: ir.Value, right: ir.Value, out: ir.Value, part: ir.Value | None = None) -> None:
        """Emit gemm: the transpose of the result is the product of the transposes in reverse order.

        With the number of a part, only the rows or columns of that part are computed.
        """
        rows, columns, common = self.sizes
        one, two, (out_step, distance) = self.steps
        if distance != 1:  # the result is stored by columns
            left, right, one, two = right, left, two[::-1], one[::-1]
            rows, columns, out_step = columns, rows, distance
        right_flag, right_step = self.blas_layout(two, common, columns)
        left_flag, left_step = self.blas_layout(one, rows, common)
        right = self.matrix(right, *((columns, common) if right_flag == "N" else (common, columns)), right_step)
        left = self.matrix(left, *((common, rows) if left_flag == "N" else (rows, common)), left_step)
        out_step = max(out_step, columns)
        out = self.matrix(out, columns, rows, out_step)
        lengths: list[Argument] = [columns, rows]
        if part is not None:
            _, size, is_by_columns = divide(rows, columns, common)
            first = self.builder.mul(part, self.number(size))
            count = self.minimum(
                self.number(size), self.builder.sub(self.number((rows, columns)[is_by_columns]), first)
            )
            memory = self.local(INT)
            self.builder.store(self.builder.trunc(count, INT), memory)
            lengths[0 if is_by_columns else 1] = self.address(memory)
            if is_by_columns:
                right = self.advance(
                    right, self.plus_steps(self.number(0), first, 1 if right_flag == "N" else right_step)
                )
                out = self.advance(out, first)
            else:
                left = self.advance(left, self.plus_steps(self.number(0), first, left_step if left_flag == "N" else 1))
                out = self.advance(out, self.plus_steps(self.number(0), first, out_step))
        matrices = (1.0, right, right_step, left, left_step, 0.0, out, out_step)
        self.call("gemm", right_flag, left_flag, *lengths, common, *matrices)

    def emit_vector(self, left: ir.Value, right: ir.Value, out: ir.Value) -> None:
        """Emit gemv: one of the operands is a vector."""
        rows, columns, common = self.sizes
        one, two, (row_step, column_step) = self.steps
        if columns == 1:
            flag, step = self.blas_layout(one, rows, common)
            shape = (common, rows) if flag == "N" else (rows, common)
            turned, matrix, vector, distance = "T" if flag == "N" else "N", left, right, two[0]
        else:
            flag, step = self.blas_layout(two, common, columns)
            shape = (columns, common) if flag == "N" else (common, columns)
            turned, matrix, vector, distance = flag, right, left, one[1]
        out_step, distance = max(1, row_step if columns == 1 else column_step), max(1, distance)
        matrix = self.matrix(matrix, *shape, step)
        vector, out = self.matrix(vector, 1, common, distance), self.matrix(out, 1, max(rows, columns), out_step)
        self.call("gemv", turned, *shape, 1.0, matrix, step, vector, distance, 0.0, out, out_step)


class ProductDescriber(ProductEmitter):
    """Finds what a product has in common with others that can share code, and in which numbers it differs from them.

    It emits nothing: in the place of a call of BLAS, its arguments are noted.
    """

    def __init__(self, block: Block, instruction: AnyInstruction) -> None:
        super().__init__(block, "", instruction)
        self.arguments: list[Any] = []
        self.areas: list[int] = []

    def start_function(self) -> None:
        """Nothing to start."""

    def describe(self) -> tuple[Form, dict[Any, int]] | None:
        """The form and the numbers of a record; None if the product has to have code of its own."""
        if self.units != 1 or self.is_blocked or self.is_divided or any(layout.moves for layout in self.layouts):
            return None
        numbers: dict[Any, int] = {}
        roots = [*((layout.root, layout.offset) for layout in self.layouts), (self.instruction.results[0], 0)]
        for i, (root, start) in enumerate(roots):
            numbers |= {("slot", i): self.slots[root], ("start", i): start}
        if is_small(self.form):
            rows, columns, common = self.sizes
            outer, inner = min(rows, columns), max(rows, columns)
            width = 1 << (min(WIDTH, inner).bit_length() - 1)
            numbers |= {"outer": outer, "blocks": -(-inner // width), "last": inner - width, "common": common}
            lengths = columns >= rows, outer == 1, inner == 1, width
            return ("inline product", self.dtype, lengths, tuple(self.steps)), numbers
        self.emit_pair("left", "right", "out")
        for i, argument in enumerate(self.arguments):
            if isinstance(argument, int):
                numbers["argument", i] = argument
        numbers |= {("bytes", i): size for i, size in enumerate(self.areas)}
        given = tuple([None if isinstance(argument, int) else argument for argument in self.arguments])
        return ("product", self.dtype, given), numbers

    def matrix(self, pointer: ir.Value, rows: int, columns: int, distance: int) -> Any:
        """The matrix, after its size was noted."""
        self.areas.append(self.area(rows, columns, distance))
        return pointer

    def call(self, function: str, *arguments: Argument) -> None:
        """Note the arguments."""
        self.arguments = [function, *arguments]


class SharedProductEmitter(ProductEmitter):
    """Emits the code of a form of products: `name(buffers, record)`."""

    def emit_shared(self, names: Sequence[Any]) -> Any:
        """Emit the function; `names` are those of the numbers of a record."""
        self.given = Record(self.builder, self.buffers, self.record, names)
        self._matrices = 0
        self.emit_pair(
            *[self.advance(self.given.pointer(("slot", i)), self.given.number(("start", i))) for i in range(3)]
        )
        self.builder.ret_void()
        return self.function

    def start_function(self) -> None:
        """Add the function to the module, and place the builder at its entry."""
        self.function = ir.Function(self.module, ir.FunctionType(VOID, [POINTER, POINTER]), self.name)
        self.buffers, self.record = self.function.args
        self.entry = self.function.append_basic_block("entry")
        self.builder = start_builder(self.entry)

    def find_lengths(self, outer: int, inner: int, common: int) -> Lengths:
        """The lengths of the loops of a small product, from the record."""
        number = self.given.number
        blocks = 1 if inner == 1 else number("blocks")
        return Lengths(1 if outer == 1 else number("outer"), blocks, number("last"), number("common"))

    def matrix(self, pointer: ir.Value, rows: int, columns: int, distance: int) -> Any:
        """The address of a matrix, after a bounds check."""
        self._matrices += 1
        return self.builder.require(pointer, self.given.number(("bytes", self._matrices - 1)), "hands BLAS")

    def call(self, function: str, *arguments: Argument) -> None:
        """Emit a call whose integers are those of the record."""
        given: list[Any] = []
        for i, argument in enumerate(arguments, 1):
            if isinstance(argument, int):
                memory = self.local(INT)
                self.builder.store(self.builder.trunc(self.given.number(("argument", i)), INT), memory)
                given.append(self.address(memory))
            else:
                given.append(argument)
        super().call(function, *given)


def describe(block: Block, instruction: AnyInstruction) -> tuple[Form, dict[Any, int]] | None:
    """What a product has in common with others, and the numbers in which it may differ; None if it shares no code."""
    return ProductDescriber(block, instruction).describe()


def emit_shared(block: Block, name: str, instruction: AnyInstruction, names: Sequence[Any]) -> Any:
    """Emit the code of the form of a product."""
    return SharedProductEmitter(block, name, instruction).emit_shared(names)


def work_of(instruction: AnyInstruction) -> int:
    """A measure of the work of one product of two matrices, in elements of light loops."""
    found = form(instruction)
    return 0 if found is None else found.rows[0] * found.columns[0] * found.common[0] // 8


def emit_call(block: Block, name: str, instruction: AnyInstruction) -> CallCode:
    """Emit a matrix product."""
    emitter = ProductEmitter(block, name, instruction)
    work = emitter.emit()
    if emitter.is_divided:
        return CallCode(work, emitter.division.parts)
    return CallCode(work, min(1, emitter.units) if emitter.is_alone else emitter.units)
