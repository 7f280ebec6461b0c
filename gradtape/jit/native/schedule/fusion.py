"""Fusion: from a group of instructions to the loop nests and calls that compute it.

- Elementwise instructions are fused into the nests that need their results.
- A reduction ends a nest: what depends on it belongs to a later nest.
- A slice, transpose or reshape is a *view*: other strides on the same memory, so its operand has to be in memory.
- A scatter into a slice (a gradient) is a view for storing, after the rest was filled with zeros.
- A write to a slice is the same, after the rest was copied from the *base*. Nothing is copied where the write is *in
  place*, in the memory of the base. For that, what is computed from the base and read later is stored before.
- Where the slice covers nearly all of a long row, the scatter is not materialised: consumers read its source with a
  bounds check, 0 outside (a *window read*: see `virtual_scatter`).
- Concatenated and stacked arrays are written in *parts*, each by the nest that computes it.
- A matrix product or a loop is a *call*: a step of its own between nests, from memory to memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradtape.config import config
from gradtape.jit.ir.program import Program
from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower import decompose, matmul, short_axes
from gradtape.jit.native.lower.ir import (
    CONSTANT,
    GATHER,
    MOVING_VIEW,
    PART,
    WRITE,
    AnyInstruction,
    ArrayValue,
    LoweredInstruction,
    LoweredValue,
    values_read,
)
from gradtape.jit.native.lower.support import (
    FROM_DIAGONAL,
    JOINED_VIEW,
    PRODUCTS,
    WINDOW_READ,
    is_call,
    is_reduction,
    is_scatter,
    is_view,
    leaves_memory,
    reduced_axes,
    supports,
)
from gradtape.jit.native.lower.virtual_scatter import virtualise_scatters
from gradtape.jit.native.schedule import row_blocks, tiling
from gradtape.jit.native.schedule.layout import (
    Layout,
    Unsupported,
    apply_view,
    contiguous_steps,
    diagonal_of,
    index_part,
    is_contiguous,
    layout_of_view,
)
from gradtape.jit.native.schedule.steps import CallStep, Nest
from gradtape.jit.native.schedule.versions import find_links, merge_versions
from gradtape.jit.native.schedule.write_order import WriteOrder

DType = np.dtype[Any]
Shape = tuple[int, ...]

LONG_CHAIN = 8
"""Instructions that are computed one after the other, from which on a small result is stored for later nests."""
CHAIN_USERS = 3
"""How many nests have to need it."""
SMALL = 16
"""Elements of what is cheaper to store than to compute by such a chain."""


class FusionPlan:
    """The nests and calls of a group, and the layout of each value that is read from memory."""

    def __init__(
        self,
        instructions: Sequence[AnyInstruction],
        inputs: Sequence[ArrayValue],
        outputs: Sequence[ArrayValue],
        steps: dict[ArrayValue, tuple[int, ...]] | None = None,
        owned: Sequence[ArrayValue] = (),
        in_blocks: bool = False,
        copies: Iterable[ArrayValue] = (),
    ) -> None:
        """`owned` are inputs whose memory may be written to, `copies` values that are stored before they are used.

        `in_blocks`: the instructions are those of a block of rows.
        """
        for instruction in instructions:
            if not supports(instruction):
                raise Unsupported(f"{instruction.name} has no native form for these operands")
        given = steps or {}
        self.windows: dict[ArrayValue, tuple[tuple[int, int], ...]] = {}  # window read -> bounds along each axis
        self.layouts: dict[ArrayValue, Layout] = {
            value: Layout(value, 0, given.get(value, contiguous_steps(value.shape))) for value in inputs
        }
        self.constants: dict[ArrayValue, np.ndarray[Any, Any]] = {}  # value -> array that is the same in every run
        self.inputs, self.outputs = list(inputs), list(outputs)
        self._verified: list[AnyInstruction] | None = None  # the instructions that were verified last
        smaller = self._verify_stage("expanding", decompose.decompose(instructions))
        if not in_blocks:
            smaller = self._verify_stage("blocks of rows", row_blocks.divide_into_row_blocks(smaller, outputs))
        taken = short_axes.take_short_axes_apart(smaller, outputs, decompose.find_rows(instructions))
        self.copies, self.sums = (
            {*taken.copies, *copies},
            taken.sums,
        )  # what is stored before it is used, and if it is used again
        columns = self._verify_stage("taking short axes apart", taken.instructions)
        in_tiles = self._verify_stage("tiling", tiling.tile_loops(columns, outputs))
        virtual = self._verify_stage("opening windows", virtualise_scatters(in_tiles, outputs))
        placed = self._verify_stage("placing views", self._lay_out_values(virtual, given))
        writes = WriteOrder(self.inputs, self.outputs, self.constants, self.layouts)
        self.instructions = self._verify_stage("ordering writes", writes.order(placed, set(owned)))
        self.tracked, self.materialised = writes.tracked, writes.materialised
        self.producers: dict[ArrayValue, AnyInstruction] = {
            result: instruction for instruction in self.instructions for result in instruction.results
        }
        self.written = list(dict.fromkeys(value for value in outputs if value in self.producers))
        self.aliases = self._find_aliases()  # value -> output that is a reshape of it, and shares its memory
        self.nests: list[Nest] = []
        self.calls: list[CallStep] = []
        self.temporaries: list[ArrayValue] = []
        self._find_nests()
        self.bodies = {  # the plans of the bodies of loops
            call.instruction: plan_body(call.instruction.params["loop"].body, call.instruction.params["loop"].carried)
            for call in self.calls
            if call.instruction.name == tiling.LOOP
        }
        self.links = find_links(self)  # value -> memory that it takes over if nothing reads that later
        self.merged: dict[ArrayValue, ArrayValue] = {}  # earlier version of an output -> that output, in its memory
        self.in_place: dict[ArrayValue, ArrayValue] = {}  # output -> owned input in whose memory it is
        merge_versions(self, owned)
        if config.check != "off":
            from gradtape.jit.native.schedule.verify import verify_plan

            verify_plan(self)

    def _verify_stage(self, stage: str, instructions: list[AnyInstruction]) -> list[AnyInstruction]:
        """The instructions, verified in the checking modes after each stage that changed them."""
        if config.check != "off" and instructions != self._verified:  # instructions are equal if they are the same
            from gradtape.jit.native.schedule.verify import verify_instructions

            verify_instructions(instructions, self.inputs, self.outputs, stage)
            self._verified = list(instructions)
        return instructions

    def _lay_out_values(
        self, instructions: Sequence[AnyInstruction], given: dict[ArrayValue, tuple[int, ...]]
    ) -> list[AnyInstruction]:
        """Find the layouts of all values, and insert copies before reshapes and calls that cannot read theirs.

        The layout of a view is that of the same view of a NumPy array whose memory is never touched.
        """
        written: list[AnyInstruction] = []
        samples: dict[ArrayValue, np.ndarray[Any, Any]] = {}
        copies: dict[ArrayValue, LoweredValue] = {}

        def sample(value: ArrayValue) -> np.ndarray[Any, Any]:
            if value not in samples:
                samples[value] = np.empty(value.shape, value.dtype)
            return samples[value]

        def copy_of(operand: ArrayValue) -> LoweredValue:
            """A copy of the operand in C order."""
            found = copies.get(operand)
            if found is None:
                found = copies[operand] = LoweredValue(operand.shape, operand.dtype)
                written.append(LoweredInstruction((operand,), (found,), "positive", {}))
                self.layouts[found] = Layout(found, 0, contiguous_steps(found.shape))
            return found

        for instruction in instructions:
            if instruction.name == GATHER and self.layouts[instruction.params["table"]].moves:
                table = copy_of(instruction.params["table"])
                params = {**instruction.params, "table": table}
                instruction = LoweredInstruction(instruction.operands, instruction.results, GATHER, params)
            if instruction.name == WRITE and not self._is_whole(instruction.values[1]):
                new, base, *indices = instruction.values
                operands = (new, copy_of(base), *indices)
                instruction = LoweredInstruction(operands, instruction.results, WRITE, instruction.params)
            if is_call(instruction):
                operands = tuple(
                    [x if self._can_read(instruction, i) else copy_of(x) for i, x in enumerate(instruction.values)]
                )
                if any(a is not b for a, b in zip(operands, instruction.operands, strict=True)):
                    instruction = LoweredInstruction(
                        operands, instruction.results, instruction.name, instruction.params, instruction.op
                    )
            if instruction.name == CONSTANT:
                self.constants[instruction.results[0]] = instruction.params["array"]
            if not is_view(instruction):
                for result in instruction.results:
                    self.layouts[result] = Layout(result, 0, contiguous_steps(result.shape))
                written.append(instruction)
                continue
            (result,) = instruction.results
            operand = instruction.values[0]
            root = self.layouts[operand].root
            if instruction.name == WINDOW_READ:
                self._lay_out_window_read(instruction)
                written.append(instruction)
                continue
            if root in given:
                raise Unsupported("a view of an input that is not in C order")
            seen = apply_view(instruction, sample(operand))
            if seen.size and not np.may_share_memory(seen, sample(root)):
                if instruction.name != "reshape":
                    raise Unsupported(f"{instruction.name} makes a copy here")
                root = copy_of(operand)
                instruction = LoweredInstruction(
                    (root,), (result,), instruction.name, instruction.params, instruction.op
                )
                seen = apply_view(instruction, sample(root))
            samples[result] = seen
            moves = () if root is copies.get(operand) else self.layouts[operand].moves
            if instruction.name == MOVING_VIEW:
                steps = [self.layouts[operand].steps[axis] for axis in instruction.params["moving"]]
                moves += tuple(zip(instruction.values[1:], steps, strict=True))
            self.layouts[result] = layout_of_view(seen, sample(root), root)._replace(moves=moves)
            written.append(instruction)
        return self._merge_stacked_parts(written)

    def _can_read(self, call: AnyInstruction, number: int) -> bool:
        """Whether a call can read an operand in the layout that it has."""
        operand = call.values[number]
        layout = self.layouts[operand]
        if layout.moves:
            return False
        return matmul.can_read_layout(call, number, layout) if call.name in PRODUCTS else is_contiguous(operand, layout)

    def _merge_stacked_parts(self, instructions: list[AnyInstruction]) -> list[AnyInstruction]:
        """Merge runs of parts of a stack whose operands are at equal distances in memory into one part each."""
        written: list[AnyInstruction] = []
        run: list[AnyInstruction] = []

        def end_run() -> None:
            written.extend(run if len(run) < 3 else self._merge_run(run))
            run.clear()

        for instruction in instructions:
            stacked = instruction.name == PART and isinstance(instruction.params["index"][-1], int)
            if not stacked or (run and not self._continues_run(run, instruction)):
                end_run()
            (run if stacked else written).append(instruction)
        end_run()
        return written

    def _continues_run(self, run: list[AnyInstruction], part: AnyInstruction) -> bool:
        """Whether a part is at the distance in memory at which the run continues."""
        values = [x.values[0] for x in (*run[-2:], part)]
        layouts = [self.layouts[value] for value in values]
        if any(layout.moves for layout in layouts):
            return False
        if part.results != run[-1].results or values[0].shape != values[-1].shape:
            return False
        if any(layout.root is not layouts[0].root or layout.steps != layouts[0].steps for layout in layouts):
            return False
        offsets = [layout.offset for layout in layouts]
        return len(run) < 2 or offsets[1] - offsets[0] == offsets[2] - offsets[1]

    def _merge_run(self, run: list[AnyInstruction]) -> list[AnyInstruction]:
        """One view of all operands of a run, and one part."""
        operand = run[0].values[0]
        *before, number = run[0].params["index"]
        axis, (first, second) = len(before), (self.layouts[x.values[0]] for x in run[:2])
        shape, steps = list(operand.shape), list(first.steps)
        shape.insert(axis, len(run))
        steps.insert(axis, second.offset - first.offset)
        together = LoweredValue(tuple(shape), operand.dtype)
        self.layouts[together] = Layout(first.root, first.offset, tuple(steps))
        index = (*before, slice(number, number + len(run)))
        return [
            LoweredInstruction((operand,), (together,), JOINED_VIEW, {}),
            LoweredInstruction((together,), run[0].results, PART, {"index": index}),
        ]

    def _lay_out_window_read(self, instruction: AnyInstruction) -> None:
        """The layout of a window read: that of the operand, shifted by the start of the window."""
        (operand,), (result,) = instruction.values, instruction.results
        layout, window = self.layouts[operand], instruction.params["window"]
        offset = layout.offset - sum(low * step for (low, _), step in zip(window, layout.steps, strict=True))
        self.layouts[result] = layout._replace(offset=offset)  # a view that moves in a loop keeps its moves
        self.windows[result] = window

    def target(self, scatter: AnyInstruction) -> Layout:
        """The layout of the part of the result that a scatter writes."""
        (result,) = scatter.results
        whole = np.empty(result.shape, result.dtype)
        if scatter.name == FROM_DIAGONAL:
            return layout_of_view(diagonal_of(whole, scatter), whole, result)
        layout = layout_of_view(index_part(whole, scatter.params["index"]), whole, result)
        moving = scatter.params.get("moving", ())
        if not moving:
            return layout
        steps = [contiguous_steps(result.shape)[axis] for axis in moving]
        return layout._replace(moves=tuple(zip(scatter.values[-len(moving) :], steps, strict=True)))

    def _is_whole(self, value: ArrayValue) -> bool:
        """Whether a value is all of the memory that it is in, in C order."""
        layout = self.layouts[value]
        return is_contiguous(value, layout) and math.prod(value.shape) == math.prod(layout.root.shape)

    def memory_read(self, nest: Nest) -> list[ArrayValue]:
        """The memory that a nest reads, with that of the positions of moving views."""
        layouts = [self.layouts[value] for value in (*nest.loads, *nest.tables)]
        targets = [self.target(scatter) for scatter in nest.scatters if scatter.params.get("moving")]
        moves = [self.layouts[index].root for layout in (*layouts, *targets) for index, _ in layout.moves]
        return [*(layout.root for layout in layouts), *moves]

    def _find_aliases(self) -> dict[ArrayValue, ArrayValue]:
        found: dict[ArrayValue, ArrayValue] = {}
        for value in self.written:
            if self.producers[value].name != "reshape" or 0 in value.shape:
                continue
            layout = self.layouts[value]
            made_here = layout.root in self.producers and layout.root not in self.constants
            whole = is_contiguous(value, layout) and math.prod(value.shape) == math.prod(layout.root.shape)
            if made_here and whole and layout.root not in found and layout.root not in self.written:
                found[layout.root] = value
        return found

    def _find_nests(self) -> None:
        level: dict[ArrayValue, int] = dict.fromkeys(self.inputs, 0)
        needed_in_memory: dict[ArrayValue, None] = {}
        behind_window = set(self.windows)  # computed from window reads: such values have nests of their own
        expensive: set[ArrayValue] = set()  # expensive to compute, and not stored so far
        free_at: dict[ArrayValue, int] = {}  # memory that is overwritten -> the first level after those that read it
        for instruction in self.instructions:
            depth = max((level[x] for x in instruction.values), default=0)
            if instruction.name == WRITE:
                new, base = instruction.values[:2]
                if new in self.materialised or new in behind_window:
                    needed_in_memory[new] = None
                    depth = max(depth, level[new] + 1)
                depth = max(depth, free_at.get(self.layouts[base].root, 0)) + 1
            elif is_reduction(instruction) or is_scatter(instruction):
                if instruction.values[0] in behind_window:
                    needed_in_memory[instruction.values[0]] = None
                    depth += 1
                depth += 1
            elif not is_view(instruction) and not is_call(instruction):
                behind = any(x in behind_window for x in instruction.values)
                behind_window.update(instruction.results if behind else ())
            looked_at = instruction.values if is_view(instruction) or is_call(instruction) else ()
            if is_scatter(instruction) and (instruction.name == WRITE or instruction.params.get("moving")):
                looked_at = instruction.values[1:]
            if instruction.name == GATHER:
                looked_at = (instruction.params["table"],)
                depth = max(depth, level[looked_at[0]])
            elif not looked_at and not leaves_memory(instruction):
                (result,) = instruction.results
                looked_at = tuple(
                    [x for x in instruction.values if x in self.copies or (x in expensive and _is_reread(x, result))]
                )
                in_hand = [x for x in instruction.values if x in expensive and x not in looked_at]
                if in_hand or instruction.name in elementwise.HEAVY:
                    expensive.add(result)
            for operand in looked_at:
                root = self.layouts[operand].root
                maker = self.producers.get(root)
                if maker is not None and not leaves_memory(maker):
                    needed_in_memory[root] = None
                    depth = max(depth, level[root] + (2 if is_scatter(instruction) else 1))
            if is_call(instruction):
                self.calls.append(CallStep(instruction, depth))
            for result in instruction.results:
                level[result] = max(depth, level.get(result, 0))
                if result in self.materialised and not leaves_memory(instruction) and not is_view(instruction):
                    needed_in_memory[result] = None
            after = depth if leaves_memory(instruction) else depth + 1
            for value in values_read(instruction) if self.tracked else ():
                for root in self.tracked.get(value, ()):
                    free_at[root] = max(free_at.get(root, 0), after)

        found: dict[tuple[Shape, int, bool], list[Nest]] = {}

        def nest_for(shape: Shape, depth: int, axes: tuple[int, ...] | None, windowed: bool = False) -> Nest:
            alike = found.setdefault((shape, depth, windowed), [])
            for nest in alike:
                if axes is None or nest.axes == axes:
                    return nest
            alike.append(Nest(shape, axes or (), depth, windowed))
            self.nests.append(alike[-1])
            return alike[-1]

        def read_at(value: ArrayValue) -> int:
            """The level of the nest that reduces or scatters a value."""
            return level[value] + (value in behind_window)

        for instruction in self.instructions:
            if is_reduction(instruction):
                operand = instruction.values[0]
                nest_for(operand.shape, read_at(operand), reduced_axes(instruction)).reductions.append(instruction)
        for instruction in self.instructions:
            if instruction.name == WRITE:  # a nest of its own: others may read the base
                shape = instruction.values[0].shape
                self.nests.append(Nest(shape, (), level[instruction.results[0]] - 1))
                self.nests[-1].scatters.append(instruction)
            elif is_scatter(instruction):
                operand = instruction.values[0]
                nest_for(operand.shape, read_at(operand), None).scatters.append(instruction)
        shared = set(self.aliases.values())
        for value in dict.fromkeys([*self.written, *needed_in_memory]):
            if value not in shared and not leaves_memory(self.producers[value]):
                nest_for(value.shape, level[value], None, value in behind_window).stores.append(value)
        self.nests.sort(key=lambda nest: nest.level)
        self._fill_nests(level)
        # an expensive value that several nests need is stored by the first
        users: dict[AnyInstruction, list[Nest]] = {}
        for nest in self.nests:
            for instruction in nest.instructions:
                users.setdefault(instruction, []).append(nest)
        stored = dict.fromkeys(needed_in_memory)
        for instruction, nests in users.items():
            value = instruction.results[0]
            slow = instruction.name in elementwise.HEAVY or instruction.name == GATHER or value in self.sums
            if len(nests) > 1 and slow and value.shape == nests[0].shape and value not in nests[0].stores:
                nests[0].stores.append(value)
                stored[value] = None
        stored |= dict.fromkeys(self._store_long_chains(users, level, {*stored, *self.written}, behind_window))
        self._fill_nests(level)
        kept = [result for i in self.instructions if leaves_memory(i) for result in i.results]
        made = dict.fromkeys([*kept, *stored])
        elsewhere = {*self.written, *self.constants, *self.aliases}
        self.temporaries = [value for value in made if value not in elsewhere]

    def _store_long_chains(
        self,
        users: dict[AnyInstruction, list[Nest]],
        level: dict[ArrayValue, int],
        stored: set[ArrayValue],
        behind_window: set[ArrayValue],
    ) -> list[ArrayValue]:
        """Store small values at the ends of long chains that several nests would compute; returns these values.

        A number that a loop carries, written out, is a chain as long as the loop, of which each iteration has users.
        """
        made: list[ArrayValue] = []
        first: list[Nest] = []  # before the other nests of their levels
        chain: dict[ArrayValue, int] = {}  # value -> how many instructions a nest takes to compute it
        for instruction in self.instructions:
            nests = users.get(instruction, ())
            if not nests:
                continue
            (value,) = instruction.results
            chain[value] = 1 + max((chain.get(x, 0) for x in instruction.values), default=0)
            if value in stored:
                chain[value] = 0
            elif (
                chain[value] >= LONG_CHAIN
                and len(nests) >= CHAIN_USERS
                and math.prod(value.shape) <= SMALL
                and value not in behind_window
            ):
                if value.shape == nests[0].shape and not nests[0].windowed:
                    nests[0].stores.append(value)
                else:
                    first.append(Nest(value.shape, (), level[value], stores=[value]))
                chain[value] = 0
                made.append(value)
        self.nests = sorted([*first, *self.nests], key=lambda nest: nest.level)
        return made

    @property
    def steps(self) -> list[Nest | CallStep]:
        """Nests and calls in execution order: by level, and calls before nests."""
        ordered: list[Nest | CallStep] = [*self.calls, *self.nests]
        return sorted(ordered, key=lambda step: (step.level, isinstance(step, Nest)))

    def _fill_nests(self, level: dict[ArrayValue, int]) -> None:
        """Set the instructions of each nest: all that its roots depend on and that is not in memory yet."""
        in_memory = {*self.inputs, *self.constants, *(r for call in self.calls for r in call.instruction.results)}
        order = {value: number for number, value in enumerate(level)}
        makers = {i.results[0]: i for i in self.instructions if not is_view(i) and not leaves_memory(i)}
        for nest in self.nests:
            wanted: set[ArrayValue] = set()
            computed: list[ArrayValue] = []
            waiting = list(nest.roots)
            while waiting:
                value = waiting.pop()
                if value in wanted:
                    continue
                wanted.add(value)
                if value in makers and value not in in_memory:
                    computed.append(value)
                    waiting += makers[value].values
            nest.instructions = [makers[value] for value in sorted(computed, key=order.__getitem__)]
            nest.loads = sorted(wanted.difference(computed), key=order.__getitem__)
            in_memory.update(value for value in nest.stores if not is_view(self.producers[value]))
            in_memory.update(instruction.results[0] for instruction in nest.reductions + nest.scatters)


def plan_body(body: Program, carried: int) -> FusionPlan:
    """The plan of the body of a loop, whose carried values are in memory that it may write to."""
    inputs = [*body.inputs, *(constant.value for constant in body.constants)]
    return FusionPlan(body.instructions, inputs, body.outputs, owned=body.inputs[:carried])


def _is_reread(value: ArrayValue, result: ArrayValue) -> bool:
    """Whether a loop over the result would compute each element of a broadcast operand several times.

    Operands that are broadcast along the last axes only are computed outside of the inner loops.
    """
    shape = (1,) * (len(result.shape) - len(value.shape)) + tuple(value.shape)
    stretched = [axis for axis, (own, n) in enumerate(zip(shape, result.shape, strict=True)) if own < n]
    return bool(stretched) and any(n > 1 for n in shape[stretched[0] + 1 :])
