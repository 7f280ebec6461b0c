"""Emits products of small matrices in blocks that stay in registers, for batches of pairs of matrices.

One axis of the result is along vectors: the *inner* one. A block of the result, some rows of the outer axis and some
vectors of the inner one, is added up in registers over the common axis; each step multiplies the vectors of one operand
with single elements of the other. The common axis is divided into stretches for which the first operand fits into the
cache; where its inner axis is not contiguous, or its rows are far apart, a stretch of it is copied first.

Every element of the result is added up in the order of the common axis, by fused multiplications and additions where
the machine has them: its bits depend on the numbers of its row and its column only.

Where both operands are contiguous along the common axis, and the matrix is small, vectors are along that axis instead:
every element of the result is added up in the lanes of a vector, and the lanes are added in halves.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.call_emitter import CallEmitter
from gradtape.jit.native.emit.loops import LONG, POINTER, VOID
from gradtape.jit.native.emit.vectors import Vector
from gradtape.jit.native.lower.matmul import SCRATCH

_DOUBLE = np.dtype(np.float64)
_REAL = ir.DoubleType()
WIDTH = 8
ACCUMULATORS = {True: 24, False: 6}
"""Vectors of a block of the result, where vectors of 8 fit into one register each, and where they do not."""
MOST_VECTORS = {True: 4, False: 1}
STRETCH, SHORT_STRETCH = 128, 32
"""Elements of the common axis at a time; fewer where an operand is copied."""
CACHED = 4096
"""Elements that stay in the first cache while blocks are computed."""
LINE = 8
"""Elements of a line of the cache."""
SETUP = 10
"""Steps along the common axis that starting and storing a block takes as long as."""
NEIGHBOURS = 512
"""Elements of a row, times 8, up to which its neighbours in the lines of the cache matter."""
BLOCK = 24
"""Rows that any block divides."""
FAR = 256
"""Elements from row to row of an operand, from which on a copy is read faster,"""
FEW = 16
"""and how often a row has to be read for that."""
DOT_ROWS = {True: 5, False: 2}
"""Rows, and columns, of a block of the result that is added up in lanes."""
ACROSS = 8
"""Instructions that adding up the lanes of a vector takes,"""
COPYING, MULTIPLYING = 1.75, 1.45
"""that copying an element of an operand takes, and a vector of products with the loads for it."""


class Axes(NamedTuple):
    """The loops of a product: lengths, and the strides of the vectorised operand, the other one and the result."""

    inner: int
    outer: int
    common: int
    vectors: tuple[int, int]  # strides of the vectorised operand along the common and the inner axis
    singles: tuple[int, int]  # strides of the other operand along the outer and the common axis
    out: tuple[int, int]  # strides of the result along the outer and the inner axis
    swapped: bool  # whether the vectorised operand is the left one


def choose_axes(sizes: tuple[int, int, int], steps: list[tuple[int, int]]) -> Axes:
    """The loops of a product: vectors are along the axis of the result that makes the fewest and the quickest.

    >>> from gradtape.jit.native.emit.blocked_product import choose_axes
    >>> choose_axes((10, 1000, 10), [(10, 1), (1, 250), (1, 250)]).swapped
    True
    """
    rows, columns, common = sizes
    (left_row, left_common), (right_common, right_column), (out_row, out_column) = steps
    by_columns = Axes(
        columns, rows, common, (right_common, right_column), (left_row, left_common), (out_row, out_column), False
    )
    by_rows = Axes(
        rows, columns, common, (left_common, left_row), (right_column, right_common), (out_column, out_row), True
    )

    def cost(axes: Axes) -> float:
        """The vector operations, roughly: products, loads to copy the operand, and stores."""
        lanes = min(WIDTH, 1 << (axes.inner.bit_length() - 1))
        vectors = -(-axes.inner // lanes)
        copied = 0 if axes.vectors[1] == 1 else axes.common * axes.inner * (1 if axes.inner <= SCRATCH // 32 else lanes)
        stores = vectors * axes.outer * (1 if axes.out[1] == 1 else lanes)
        return vectors * axes.outer * axes.common + copied + stores

    return min(by_columns, by_rows, key=cost)


class Piece(NamedTuple):
    """A part of an axis that is divided into `blocks` blocks of `vectors` vectors of `width` elements each."""

    start: int
    width: int
    vectors: int
    blocks: int


def divide_inner(length: int, most: int) -> list[Piece]:
    """The pieces of the inner axis, for blocks of up to `most` vectors; no two blocks overlap.

    Inside of a block the last vector may overlap the one before it.

    >>> from gradtape.jit.native.emit.blocked_product import divide_inner
    >>> divide_inner(10, 4), divide_inner(38, 4)[1:]
    ([Piece(start=0, width=8, vectors=2, blocks=1)], [Piece(start=32, width=4, vectors=2, blocks=1)])
    """
    width = min(WIDTH, 1 << (length.bit_length() - 1))
    vectors = -(-length // width)
    if vectors <= most:
        return [Piece(0, width, vectors, 1)]
    whole = length // width
    each = min(range(1, most + 1), key=lambda n: (whole % n, -n))
    pieces = [Piece(0, width, each, whole // each)]
    done = whole // each * each * width
    if done < length:
        pieces += [piece._replace(start=piece.start + done) for piece in divide_inner(length - done, most)]
    return pieces


def divide_outer(length: int, most: int) -> list[tuple[int, int, int]]:
    """The (start, rows, count) of the blocks along the outer axis.

    >>> from gradtape.jit.native.emit.blocked_product import divide_outer
    >>> divide_outer(100, 12)
    [(0, 12, 8), (96, 4, 1)]
    """
    rows = min(length, most)
    equal = -(-length // -(-length // rows))  # blocks of nearly equal sizes, where these cover the axis
    rows = equal if length % equal == 0 else rows
    rest = length % rows
    return [(0, rows, length // rows), *([(length - rest, rest, 1)] if rest else [])]


def sums_in_lanes(axes: Axes) -> bool:
    """Whether products are added up in lanes, along the common axis.

    >>> from gradtape.jit.native.emit.blocked_product import choose_axes, sums_in_lanes
    >>> [sums_in_lanes(choose_axes((n, n, 125), [(125, 1), (1, 125), (n, 1)])) for n in (10, 64)]
    [True, False]
    """
    if axes.vectors[0] != 1 or axes.singles[1] != 1 or axes.vectors[1] == 1 or axes.common < WIDTH:
        return False
    rows = DOT_ROWS[True]
    blocks = -(-axes.inner // rows) * -(-axes.outer // rows)
    in_lanes = blocks * (-(-axes.common // WIDTH) * (rows * rows + 2 * rows) + ACROSS * rows * rows)
    lanes = min(WIDTH, 1 << (axes.inner.bit_length() - 1))
    products = -(-axes.inner // lanes) * axes.outer * axes.common
    return in_lanes < COPYING * axes.inner * axes.common + MULTIPLYING * products


class Operands(NamedTuple):
    """Addresses and offsets of one stretch of the operands, and of the result."""

    panel: Any  # the vectorised operand, the offset of the stretch, and the distance of its rows
    base: Any
    step: int
    single: Any
    behind: Any
    out: Any
    length: Any
    is_first: Any


def rows_at_a_time(axes: Axes) -> int:
    """The rows of the outer axis for which all pairs of a batch are computed before the next rows are.

    Where the rows of a matrix are short and those of the other matrices of the batch are next to them, the lines of the
    cache are shared: then the batch is gone through for some rows at a time.

    >>> from gradtape.jit.native.emit.blocked_product import choose_axes, rows_at_a_time
    >>> rows_at_a_time(choose_axes((1000, 10, 10), [(250, 1), (10, 1), (250, 1)]))
    120
    """
    distance = max(abs(axes.singles[0]), abs(axes.out[0]))
    if axes.common > SHORT_STRETCH or max(axes.inner, axes.common) * 8 > NEIGHBOURS or distance <= axes.inner:
        return axes.outer
    rows = max(BLOCK, SCRATCH * 4 // distance // BLOCK * BLOCK)
    return rows if rows * 2 <= axes.outer else axes.outer


def estimate_work(axes: Axes, work: int) -> int:
    """The work of a product whose blocks are full and long that takes as long as one with these axes.

    >>> from gradtape.jit.native.emit.blocked_product import choose_axes, estimate_work
    >>> [estimate_work(choose_axes((n, n, n), [(n, 1)] * 3), 1000) for n in (8, 10, 64)]
    [2250, 3200, 1156]
    """
    lanes = -(-axes.inner // WIDTH) * WIDTH
    return work * lanes * (axes.common + SETUP) // (axes.inner * axes.common)


class BlockedProduct(CallEmitter):
    """Emits the product of one pair of matrices of float64."""

    def emit_blocks(self, axes: Axes, left: ir.Value, right: ir.Value, out: ir.Value) -> None:
        """Emit loops over stretches of the common axis, and over the blocks of the result in each."""
        wide = "+avx512f" in self.machine.features
        if sums_in_lanes(axes):
            self._emit_sums_in_lanes(axes, left, right, out, DOT_ROWS[wide])
            return
        pieces = divide_inner(axes.inner, MOST_VECTORS[wide])
        apart, single = (left, right) if axes.swapped else (right, left)
        copied = axes.vectors[1] != 1 or (abs(axes.vectors[0]) > FAR and axes.outer >= FEW)
        longest = min(STRETCH, max(SHORT_STRETCH, CACHED // axes.inner), max(1, SCRATCH // axes.inner))
        stretch = -(-axes.common // -(-axes.common // (longest if copied else STRETCH)))
        gathered = axes.singles[0] == 1 and abs(axes.singles[1]) > FAR and stretch * axes.outer <= CACHED
        scratch = self.local(ir.ArrayType(_REAL, stretch * axes.inner)) if copied else None
        second = self.local(ir.ArrayType(_REAL, stretch * axes.outer)) if gathered else None
        for memory in (scratch, second):
            if memory is not None:
                memory.align = 64
        with self.loop(0, -(-axes.common // stretch)) as number:
            start = self.builder.mul(number, self.number(stretch))
            length: Any = stretch
            if axes.common % stretch:
                length = self.minimum(self.number(stretch), self.builder.sub(self.number(axes.common), start))
            panel, base, step = apart, self.plus_steps(self.number(0), start, axes.vectors[0]), axes.vectors[0]
            if scratch is not None:
                panel = self._address(scratch)
                self._copy(apart, base, axes.vectors, panel, axes.inner, length)
                base, step = self.number(0), axes.inner
            other, behind = single, self.plus_steps(self.number(0), start, axes.singles[1])
            along = axes
            if second is not None:
                other = self._address(second)
                self._copy(single, behind, axes.singles[::-1], other, axes.outer, length)
                behind, along = self.number(0), axes._replace(singles=(1, axes.outer))
            is_first = self.builder.icmp_signed("<", number, self.number(1))
            operands = Operands(panel, base, step, other, behind, out, length, is_first)
            # the panel is read again for each block of rows where it fits into the cache, otherwise the rows are
            rows_first = stretch * axes.inner <= CACHED
            for first, height, blocks in divide_outer(axes.outer, ACCUMULATORS[wide] // pieces[0].vectors):
                rest = [divide_outer(height, ACCUMULATORS[wide] // piece.vectors) for piece in pieces]
                if rows_first:
                    with self._lanes_of(1), self.loop(0, blocks) as block:
                        row = self.builder.add(self.builder.mul(block, self.number(height)), self.number(first))
                        self._prefetch(along, operands, self.builder.add(row, self.number(height)), height)
                        for piece, parts in zip(pieces, rest, strict=True):
                            self._emit_tiles(along, piece, parts, operands, row)
                else:
                    for piece, parts in zip(pieces, rest, strict=True):
                        lanes, tiles = self._lanes_of(piece.width), self.loop(0, piece.blocks)
                        with lanes, tiles as tile, self.loop(0, blocks) as block:
                            row = self.builder.add(self.builder.mul(block, self.number(height)), self.number(first))
                            self._emit_rows(along, piece, parts, operands, tile, row)

    def _emit_sums_in_lanes(self, axes: Axes, left: ir.Value, right: ir.Value, out: ir.Value, most: int) -> None:
        """Emit blocks of the result whose elements are added up in the lanes of vectors along the common axis."""
        other, single = (left, right) if axes.swapped else (right, left)
        for (first, rows, count), (start, columns, times) in itertools.product(
            divide_outer(axes.outer, most), divide_outer(axes.inner, most)
        ):
            with self._lanes_of(WIDTH), self.loop(0, count) as block, self.loop(0, times) as number:
                row = self.builder.add(self.builder.mul(block, self.number(rows)), self.number(first))
                column = self.builder.add(self.builder.mul(number, self.number(columns)), self.number(start))
                places = [
                    [
                        self.plus_steps(self.number(0), self.builder.add(begin, self.number(i)), step)
                        for i in range(size)
                    ]
                    for begin, step, size in ((row, axes.singles[0], rows), (column, axes.vectors[1], columns))
                ]
                totals = self._add_up_in_lanes(axes.common, (single, other), places)
                for (i, j), total in totals.items():
                    at = self.plus_steps(self.number(0), self.builder.add(row, self.number(i)), axes.out[0])
                    at = self.plus_steps(at, self.builder.add(column, self.number(j)), axes.out[1])
                    value = self._across(self.builder.load(total, typ=self.lanes.type(_REAL)))
                    self.builder.store(value, self.builder.gep(out, [at], source_etype=_REAL), align=8)

    def _add_up_in_lanes(self, common: int, given: tuple[Any, Any], places: list[list[Any]]) -> dict[Any, Any]:
        """The products of rows that begin at these places, as vectors whose lanes are yet to be added, in memory."""
        builder, kind = self.builder, self.lanes.type(_REAL)
        cells = list(itertools.product(range(len(places[0])), range(len(places[1]))))
        totals = {cell: self.local(kind) for cell in cells}
        for total in totals.values():
            builder.store(self.elements.constant(_DOUBLE, 0.0).ir, total)

        def add(place: Any, repeated: int) -> None:
            """Add a vector of products; the first lanes are left out if they were in the vector before."""
            rows, columns = (
                [self.load(_DOUBLE, pointer, start, place, 1) for start in starts]
                for pointer, starts in zip(given, places, strict=True)
            )
            if repeated:
                bits = [ir.Constant(ir.IntType(1), lane >= repeated) for lane in range(WIDTH)]
                mask = ir.Constant(ir.VectorType(ir.IntType(1), WIDTH), bits)
                zero = self.elements.constant(_DOUBLE, 0.0).ir
                rows, columns = (
                    [Vector(self.lanes, builder.select(mask, x.ir, zero)) for x in found] for found in (rows, columns)
                )
            for i, j in cells:
                old = Vector(self.lanes, builder.load(totals[i, j], typ=kind))
                builder.store(self.lanes.multiply_add(rows[i], columns[j], old).ir, totals[i, j])

        with self.loop(0, common // WIDTH) as number:
            add(builder.mul(number, self.number(WIDTH)), 0)
        if common % WIDTH:
            add(self.number(common - WIDTH), WIDTH - common % WIDTH)
        return totals

    def _across(self, value: Any) -> Any:
        """The sum of the lanes of a vector, in halves."""
        builder, width = self.builder, WIDTH
        while width > 1:
            width //= 2
            halves = []
            for start in (0, width):
                lanes = [ir.Constant(ir.IntType(32), start + i) for i in range(width)]
                halves.append(
                    builder.shuffle_vector(value, value, ir.Constant(ir.VectorType(ir.IntType(32), width), lanes))
                )
            value = builder.fadd(*halves)
        return builder.extract_element(value, ir.Constant(ir.IntType(32), 0))

    def _address(self, memory: ir.Value) -> Any:
        """The address of memory on the stack, without the type of what it points to."""
        return self.builder.inttoptr(self.builder.ptrtoint(memory, LONG), POINTER)

    def _emit_tiles(
        self, axes: Axes, piece: Piece, parts: list[tuple[int, int, int]], operands: Operands, row: ir.Value
    ) -> None:
        """Emit the blocks of a piece of the inner axis for some rows."""
        with self._lanes_of(piece.width), self.loop(0, piece.blocks) as tile:
            self._emit_rows(axes, piece, parts, operands, tile, row)

    def _emit_rows(
        self,
        axes: Axes,
        piece: Piece,
        parts: list[tuple[int, int, int]],
        operands: Operands,
        tile: ir.Value,
        row: ir.Value,
    ) -> None:
        """Emit one block, or several below each other where its vectors leave room for fewer rows."""
        place = self.builder.mul(tile, self.number(piece.vectors * piece.width))
        place = self.builder.add(place, self.number(piece.start))
        for start, height, count in parts:
            with self.loop(0, count) as number:
                below = self.builder.add(self.builder.mul(number, self.number(height)), self.number(start))
                self._emit_block(axes, piece, height, operands, place, self.builder.add(row, below))

    def _prefetch(self, axes: Axes, given: Operands, row: ir.Value, rows: int) -> None:
        """Ask for the rows of the next block, where each is a few lines of the cache far from the one before it."""
        if axes.singles[1] != 1 or abs(axes.singles[0]) <= FAR or axes.outer < FEW:
            return
        kinds = [POINTER, *[ir.IntType(32)] * 3]
        module = self.builder.module
        name = "llvm.prefetch.p0"
        function = module.globals.get(name) or ir.Function(module, ir.FunctionType(VOID, kinds), name)
        hints = [ir.Constant(ir.IntType(32), number) for number in (0, 3, 1)]  # to read, soon, data
        for i in range(rows):
            offset = self.plus_steps(given.behind, self.builder.add(row, self.number(i)), axes.singles[0])
            for line in range(0, min(axes.common, STRETCH), LINE):
                at = self.builder.add(offset, self.number(line))
                self.builder.call(function, [self.builder.gep(given.single, [at], source_etype=_REAL), *hints])

    @contextmanager
    def _lanes_of(self, width: int) -> Iterator[None]:
        """Compute with vectors of this width in a part of the code; loops are left with the lanes they began with."""
        outside = self.lanes
        self.use_lanes(width)
        yield
        self.lanes = outside

    def _copy(
        self, source: ir.Value, base: ir.Value, steps: tuple[int, int], target: ir.Value, inner: int, length: Any
    ) -> None:
        """Copy a stretch of an operand to the stack, with a contiguous inner axis."""
        width = min(WIDTH, 1 << (inner.bit_length() - 1))
        with self._lanes_of(width), self.loop(0, length) as i, self.loop(0, -(-inner // width)) as block:
            place = self.builder.mul(block, self.number(self.width))
            place = self.minimum(place, self.number(inner - self.width))
            value = self.load(_DOUBLE, source, self.plus_steps(base, i, steps[0]), place, steps[1])
            self.store(value, _DOUBLE, target, self.builder.mul(i, self.number(inner)), place)

    def _emit_block(self, axes: Axes, piece: Piece, rows: int, given: Operands, place: ir.Value, row: ir.Value) -> None:
        """Add the products of one stretch to a block of the result."""
        builder, kind = self.builder, self.lanes.type(_REAL)
        last = axes.inner - piece.start - piece.width if piece.blocks == 1 else piece.vectors * piece.width
        starts = [builder.add(place, self.number(min(i * piece.width, last))) for i in range(piece.vectors)]
        numbers = [builder.add(row, self.number(i)) for i in range(rows)]
        lines = [self.plus_steps(self.number(0), number, axes.out[0]) for number in numbers]
        cells = [(i, j) for i in range(rows) for j in range(piece.vectors)]
        totals = {cell: self.local(kind) for cell in cells}
        for cell in cells:
            builder.store(self.elements.constant(_DOUBLE, 0.0).ir, totals[cell])
        if not isinstance(given.is_first, ir.Constant):
            with builder.if_then(builder.not_(given.is_first)):
                self.lanes.enter()
                for i, j in cells:
                    found = self.load(_DOUBLE, given.out, lines[i], starts[j], axes.out[1])
                    builder.store(found.ir, totals[i, j])
                self.lanes.leave()
        places = [self.plus_steps(given.behind, number, axes.singles[0]) for number in numbers]
        with self.loop(0, given.length) as k:
            offset = self.plus_steps(given.base, k, given.step)
            columns = [self.load(_DOUBLE, given.panel, offset, start, 1) for start in starts]
            for i in range(rows):
                at = self.plus_steps(places[i], k, axes.singles[1])
                factor = self.load(_DOUBLE, given.single, at, self.number(0), 0)
                for j, column in enumerate(columns):
                    old = Vector(self.lanes, builder.load(totals[i, j], typ=kind))
                    builder.store(self.lanes.multiply_add(factor, column, old).ir, totals[i, j])
        for i, j in cells:
            value = Vector(self.lanes, builder.load(totals[i, j], typ=kind))
            repeated = max(0, j * piece.width - last) if axes.out[1] == 1 else 0
            if not repeated:
                self.store(value, _DOUBLE, given.out, lines[i], starts[j], axes.out[1])
                continue
            # only the elements that the vector before has not stored: stores to the same memory wait for each other
            new = [ir.Constant(ir.IntType(32), lane) for lane in range(repeated, piece.width)]
            mask = ir.Constant(ir.VectorType(ir.IntType(32), len(new)), new)
            at = builder.add(lines[i], builder.add(starts[j], self.number(repeated)))
            address = builder.gep(given.out, [at], source_etype=_REAL)
            builder.store(builder.shuffle_vector(value.ir, value.ir, mask), address, align=8)
