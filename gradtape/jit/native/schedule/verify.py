"""The verifier of lowered instructions, plans and workspaces, after each stage: `gt.config.check = "verify"`.

`verify_instructions` checks a list of lowered instructions:

1. Every value is defined once (as an input, or as a result), before it is read. The *parts* of one result are disjoint
   and cover it.
2. Shapes and dtypes of results are those that the kind of the instruction gives for its operands.
3. A *window read* lies within its result and is as large as its operand, which is in memory: a window read of a window
   read would access memory that no step has written. A value that is zero outside of a window was computed from a read
   of that same window.

`verify_plan` runs a plan of loop nests and calls on sets of elements: each step reads only elements that an earlier
step has written, within the bounds of their buffer; views of views that move in a loop move with them.
`verify_workspace` checks that temporaries whose live ranges overlap do not share memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gradtape.jit.ir.program import ProgramError, Value
from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower.ir import (
    CHECK_INDEX,
    CONSTANT,
    GATHER,
    PART,
    SCATTER_ADD,
    WRITE,
    AnyInstruction,
    ArrayValue,
    is_value,
)
from gradtape.jit.native.lower.support import (
    FROM_DIAGONAL,
    JOINED_VIEW,
    SCATTER,
    WINDOW_READ,
    ZERO_OUTSIDE,
    is_call,
    is_reduction,
    is_view,
    reduced_axes,
)
from gradtape.jit.native.schedule.fusion import FusionPlan
from gradtape.jit.native.schedule.layout import Layout, apply_view, diagonal_of, index_part
from gradtape.jit.native.schedule.steps import CallStep, Nest

LARGEST = 1 << 20
"""Elements up to which a buffer is checked element by element; a larger one counts as written as a whole."""


def verify_instructions(
    instructions: Sequence[AnyInstruction], inputs: Iterable[ArrayValue], outputs: Iterable[ArrayValue], stage: str
) -> None:
    """Raise a `ProgramError` that names the `stage` and the instruction if lowered instructions break the rules."""
    _Verifier(inputs, stage).verify(instructions, outputs)


class _Verifier:
    def __init__(self, inputs: Iterable[ArrayValue], stage: str) -> None:
        self.stage = stage
        self.makers: dict[ArrayValue, AnyInstruction | None] = dict.fromkeys(inputs)
        self.parts: dict[ArrayValue, np.ndarray[Any, Any]] = {}  # joined array -> which of its elements are written

    def verify(self, instructions: Sequence[AnyInstruction], outputs: Iterable[ArrayValue]) -> None:
        for instruction in instructions:
            table = instruction.params.get("table")
            for operand in (*instruction.operands, *(() if table is None else (table,))):
                if not is_value(operand):
                    self.require(hasattr(operand, "value"), instruction, "an operand is neither a value nor a number")
                    continue
                if operand not in self.makers:
                    raise self.error(instruction, f"{describe(operand)} is read before it is there")
                self.require_complete(operand, instruction)
            for result in instruction.results:
                if instruction.name != PART and result in self.makers:
                    raise self.error(instruction, f"{describe(result)} is made twice")
                self.makers[result] = instruction
            self.verify_kind(instruction)
        for value in outputs:
            if value not in self.makers:
                raise self.error(None, f"the output {describe(value)} is not made")
            self.require_complete(value, None)

    def require(self, condition: bool, instruction: AnyInstruction | None, what: str) -> None:
        if not condition:
            raise self.error(instruction, what)

    def error(self, instruction: AnyInstruction | None, what: str) -> ProgramError:
        """For checks of each operand: their text takes longer than the check, and is made where it fails."""
        where = "" if instruction is None else f", in {show(instruction)}"
        return ProgramError(f"after {self.stage}: {what}{where}")

    def require_complete(self, value: ArrayValue, reader: AnyInstruction | None) -> None:
        covered = self.parts.get(value)
        if covered is not None and not covered.all():
            raise self.error(reader, f"parts of {describe(value)} are missing")

    def verify_kind(self, instruction: AnyInstruction) -> None:
        name = instruction.name
        if name == WINDOW_READ:
            self.verify_window(instruction)
        elif name == ZERO_OUTSIDE:
            self.verify_inside(instruction)
        elif name == JOINED_VIEW or is_call(instruction):
            if name == SCATTER_ADD:
                given, positions = instruction.values[:2]
                self.require(given.shape == positions.shape, instruction, "there is not one position for each element")
        elif name == CONSTANT:
            array = instruction.params["array"]
            self.require_spec(instruction, array.shape, array.dtype)
        elif name in (GATHER, CHECK_INDEX):
            (positions,), table = instruction.values, instruction.params.get("table")
            self.require(positions.dtype.kind in "iu", instruction, "positions are not integers")
            self.require(table is None or len(table.shape) == 1, instruction, "elements are picked along several axes")
            self.require_spec(instruction, positions.shape, np.dtype(np.int64) if table is None else table.dtype)
        elif is_reduction(instruction):
            axes, keep = reduced_axes(instruction), instruction.params.get("keepdims", False)
            shape = [
                (1 if i in axes else n) for i, n in enumerate(instruction.values[0].shape) if keep or i not in axes
            ]
            self.require_spec(instruction, tuple(shape), None)
        elif name in (SCATTER, FROM_DIAGONAL, PART, WRITE):
            self.verify_scatter(instruction)
        elif is_view(instruction):
            operand = instruction.values[0]
            seen = apply_view(instruction, np.empty(operand.shape, operand.dtype))
            self.require_spec(instruction, seen.shape, operand.dtype)
        else:
            self.verify_elementwise(instruction)

    def require_spec(self, instruction: AnyInstruction, shape: tuple[int, ...], dtype: np.dtype[Any] | None) -> None:
        (result,) = instruction.results
        if result.shape != shape:
            raise self.error(instruction, f"the result has the shape {result.shape}, not {shape}")
        if dtype is not None and result.dtype != dtype:
            raise self.error(instruction, f"the result is {result.dtype}, not {dtype}")

    def verify_window(self, instruction: AnyInstruction) -> None:
        (operand,), (result,), window = instruction.values, instruction.results, instruction.params["window"]
        lengths = tuple(high - low for low, high in window)
        self.require(lengths == operand.shape, instruction, "a window is not as large as what is seen through it")
        inside = all(low >= 0 and high <= n for (low, high), n in zip(window, result.shape, strict=True))
        self.require(inside, instruction, "a window reaches over the edge of its result")
        self.require(operand.dtype == result.dtype, instruction, "a window changes the dtype")
        maker = self.makers[operand]
        while maker is not None and is_view(maker) and maker.name != WINDOW_READ:
            maker = self.makers[maker.values[0]]
        self.require(
            maker is None or maker.name != WINDOW_READ, instruction, "a window is looked at through another one"
        )

    def verify_inside(self, instruction: AnyInstruction) -> None:
        (operand,), window = instruction.values, instruction.params["window"]
        self.require_spec(instruction, operand.shape, operand.dtype)
        leaf = self.makers.get(instruction.params["leaf"])
        seen = None if leaf is None or leaf.name != WINDOW_READ else (leaf.params["window"], leaf.results[0].shape)
        same = seen == (window, operand.shape)
        self.require(same, instruction, "what is zero outside of a window was not computed from that window")

    def verify_scatter(self, instruction: AnyInstruction) -> None:
        operand, (result,) = instruction.values[0], instruction.results
        self.require(operand.dtype == result.dtype, instruction, "a scatter changes the dtype")
        if instruction.name == WRITE:
            base = instruction.values[1]
            self.require_spec(instruction, base.shape, base.dtype)
        whole = np.zeros(result.shape, bool)
        if instruction.name == PART:
            whole = self.parts.setdefault(result, whole)
        part = (
            diagonal_of(whole, instruction)
            if instruction.name == FROM_DIAGONAL
            else index_part(whole, instruction.params["index"])
        )
        self.require(part.shape == operand.shape, instruction, f"the part has the shape {part.shape}")
        if instruction.name == PART:
            self.require(not bool(part.any()), instruction, "a part is written twice")
            part[...] = True

    def verify_elementwise(self, instruction: AnyInstruction) -> None:
        values = instruction.values
        shape = np.broadcast_shapes(*[x.shape for x in values])
        if "shape" in instruction.params:
            shape = np.broadcast_shapes(shape, instruction.results[0].shape)
        self.require_spec(instruction, shape, None)
        typed = all(elementwise.has_type(x.dtype) for x in (*values, *instruction.results))
        self.require(typed, instruction, "a dtype has no native form")


# -- plans


def verify_plan(plan: FusionPlan) -> None:
    """Raise a `ProgramError` if a step of a plan reads memory that no step before it has written, or the wrong part."""
    for instruction in plan.instructions:
        if is_view(instruction):
            _verify_moves(plan, instruction)
    _Memory(plan).run()


def _verify_moves(plan: FusionPlan, view: AnyInstruction) -> None:
    """A view in the memory of its operand moves in a loop as that does, and by its own indices."""
    result, operand = plan.layouts[view.results[0]], plan.layouts[view.values[0]]
    if result.root is operand.root and result.moves[: len(operand.moves)] != operand.moves:
        raise ProgramError(f"after planning: the result stands still where its operand moves, in {show(view)}")


class _Memory:
    """Which elements of each buffer have been written, step by step."""

    def __init__(self, plan: FusionPlan) -> None:
        self.plan = plan
        self.written: dict[ArrayValue, np.ndarray[Any, Any]] = {}
        for value in (*plan.inputs, *plan.constants):
            self.write(value)

    def run(self) -> None:
        plan = self.plan
        for step in plan.steps:
            if isinstance(step, CallStep):
                for operand in step.instruction.values:
                    self.read(operand, show(step.instruction))
                for result in step.instruction.results:
                    self.write(result)
            else:
                self.run_nest(step)
        for value in plan.written:
            root = value if value in self.written else plan.layouts[value].root
            if root not in self.written or not self.written[root].all():
                raise ProgramError(f"after planning: the output {describe(value)} is not written")

    def run_nest(self, nest: Nest) -> None:
        where = f"a nest over {nest.shape}"
        for value in (*nest.loads, *nest.tables):
            self.read(value, where)
        known = set(nest.loads)
        for instruction in nest.instructions:
            missing = [x for x in instruction.values if x not in known]
            if missing:
                raise ProgramError(f"after planning: {describe(missing[0])} is not there, in {show(instruction)}")
            known.update(instruction.results)
        for root in nest.roots:
            if root not in known:
                raise ProgramError(f"after planning: {describe(root)} is not computed, in {where}")
        for value in nest.stores:
            self.write(value)
        for instruction in nest.reductions:
            self.write(instruction.results[0])
        for instruction in nest.scatters:
            (result,) = instruction.results
            if instruction.name == PART:
                self.write(result, self.plan.target(instruction), instruction.values[0].shape)
            else:
                self.write(result)

    def write(self, value: ArrayValue, layout: Layout | None = None, shape: tuple[int, ...] = ()) -> None:
        size = math.prod(value.shape)
        if layout is None or size > LARGEST:
            self.written[value] = np.broadcast_to(np.True_, (size,))
            return
        if value not in self.written:
            self.written[value] = np.zeros(size, bool)
        self.written[value][self.elements(value, layout, shape, None)] = True

    def read(self, value: ArrayValue, where: str) -> None:
        layout, window = self.plan.layouts[value], self.plan.windows.get(value)
        written = self.written.get(layout.root)
        if written is None:
            raise ProgramError(f"after planning: {describe(value)} is read before it is written, in {where}")
        shape = value.shape if window is None else tuple(high - low for low, high in window)
        if math.prod(shape) <= LARGEST and not written[self.elements(layout.root, layout, shape, window)].all():
            raise ProgramError(
                f"after planning: parts of {describe(value)} are read before they are written, in {where}"
            )

    def elements(
        self, root: ArrayValue, layout: Layout, shape: tuple[int, ...], window: tuple[tuple[int, int], ...] | None
    ) -> np.ndarray[Any, Any]:
        """The indices of the elements that are accessed; for a window read, those inside."""
        found = np.full((), layout.offset)
        for axis, (length, step) in enumerate(zip(shape, layout.steps, strict=True)):
            low = 0 if window is None else window[axis][0]
            found = found[..., None] + step * np.arange(low, low + length)
        size = math.prod(root.shape)
        if found.size and (found.min() < 0 or found.max() >= size):
            text = f"elements {found.min()} to {found.max()} of {describe(root)}, which has {size}, are accessed"
            raise ProgramError(f"after planning: {text}")
        return found


def verify_workspace(
    lives: Mapping[Any, tuple[int, int]], pieces: Mapping[Any, tuple[int, int]], followers: Mapping[Any, Any]
) -> None:
    """Raise a `ProgramError` if two temporaries share memory while both are needed.

    `lives` are the first and the last step of each, `pieces` its offset and size, and `followers` the temporary that
    takes over its memory in its last step.
    """
    keys = [key for key in pieces if key in lives]
    for i, one in enumerate(keys):
        for other in keys[:i]:
            (start, size), (begin, length) = pieces[one], pieces[other]
            if start >= begin + length or begin >= start + size:
                continue
            (first, last), (early, late) = lives[one], lives[other]
            if first > late or early > last:
                continue
            if not (followers.get(one) is other and last == early) and not (
                followers.get(other) is one and late == first
            ):
                raise ProgramError("after arranging: two temporaries share memory while both are needed")


def describe(value: ArrayValue) -> str:
    """A value, for messages."""
    name = f"%{value.id}: " if isinstance(value, Value) else ""
    return f"{name}{value.dtype.name}[{','.join(map(str, value.shape))}]"


def show(instruction: AnyInstruction) -> str:
    """An instruction, for messages."""
    given = ", ".join(describe(x) if is_value(x) else repr(getattr(x, "value", x)) for x in instruction.operands)
    return f"{', '.join(map(describe, instruction.results))} = {instruction.name}({given})"
