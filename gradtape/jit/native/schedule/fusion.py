"""From a group of instructions to the loop nests that compute it.

Elementwise instructions are fused into whatever needs them. A reduction ends a nest: what depends on it belongs to a
later one. A slice, transpose or reshape is a *view*: another way to step through memory, for which what it looks at has
to be in memory; a gradient's scatter into a slice is the same for storing, after the rest was filled with zeros. Where
that slice leaves out only a little of a long row, the scatter is a *window* instead: it is not made at all, and whoever
reads it reads what it puts there, from where that is, or zero outside. Joined arrays are made in *parts*, each by the
nest that computes it. A matrix product or a loop is a *call*: a step of its own between nests, from memory to memory.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.config import config
from gradtape.jit.native.emit import elementwise
from gradtape.jit.native.lower import decompose, matmul
from gradtape.jit.native.lower.ir import CHECKED, GATHER, HELD, PART, Changed, Made
from gradtape.jit.native.lower.support import (
    PRODUCTS,
    SEVERAL,
    SPREAD,
    WINDOW,
    is_call,
    is_reduction,
    is_scatter,
    is_value,
    is_view,
    leaves_memory,
    reduced_axes,
    supports,
)
from gradtape.jit.native.lower.virtual_scatter import with_windows
from gradtape.jit.native.schedule import tiling
from gradtape.jit.native.schedule.layout import (
    Place,
    Unsupported,
    contiguous_steps,
    diagonal_of,
    is_contiguous,
    part_of,
    place_of,
    viewed,
)

DType = np.dtype[Any]
Shape = tuple[int, ...]


@dataclasses.dataclass(eq=False)
class Nest:
    """Loops over one shape: what they load, compute, store, put into parts of other values, and reduce."""

    shape: Shape
    axes: tuple[int, ...]
    level: int
    windowed: bool = False
    stores: list[Any] = dataclasses.field(default_factory=list)
    scatters: list[Any] = dataclasses.field(default_factory=list)
    reductions: list[Any] = dataclasses.field(default_factory=list)
    loads: list[Any] = dataclasses.field(default_factory=list)
    instructions: list[Any] = dataclasses.field(default_factory=list)

    @property
    def tables(self) -> list[Any]:
        """The arrays of which single elements are picked."""
        return list(dict.fromkeys(i.params["table"] for i in self.instructions if i.name == GATHER))

    @property
    def is_checked(self) -> bool:
        """Whether there are positions that may not exist."""
        return any(instruction.name in CHECKED for instruction in self.instructions)

    @property
    def roots(self) -> list[Any]:
        return self.stores + [instruction.operands[0] for instruction in self.scatters + self.reductions]


@dataclasses.dataclass(eq=False)
class CallStep:
    """A step that is one instruction, from memory to memory."""

    instruction: Any
    level: int


class Plan:
    """The nests of a group in the order they are run, and where each value that is read from memory is."""

    def __init__(
        self,
        instructions: Sequence[Any],
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        steps: dict[Any, tuple[int, ...]] | None = None,
    ) -> None:
        for instruction in instructions:
            if not supports(instruction):
                raise Unsupported(f"{instruction.name} has no native form for these operands")
        given = steps or {}
        self.windows: dict[Any, tuple[tuple[int, int], ...]] = {}  # from where to where along each axis
        self.places = {value: Place(value, 0, given.get(value, contiguous_steps(value.shape))) for value in inputs}
        self.held: dict[Any, np.ndarray[Any, Any]] = {}  # values that are the same in every run
        self.inputs, self.outputs = list(inputs), list(outputs)
        smaller = self._verified("expanding", decompose.expanded(instructions))
        in_tiles = self._verified("tiling", tiling.tiled(smaller, outputs))
        windowed = self._verified("opening windows", with_windows(in_tiles, outputs))
        self.instructions = self._verified("placing views", self._with_views_placed(windowed, given))
        self.made_by = {result: instruction for instruction in self.instructions for result in instruction.results}
        self.written = list(dict.fromkeys(value for value in outputs if value in self.made_by))
        self.aliases = self._aliases()  # values that are made in the memory of an output, which is a reshape of them
        self.nests: list[Nest] = []
        self.calls: list[CallStep] = []
        self.handed_on: list[Any] = []
        self._find_nests()
        if config.check != "off":
            from gradtape.jit.native.schedule.verify import verify_plan

            verify_plan(self)

    def _verified(self, stage: str, instructions: list[Any]) -> list[Any]:
        """The instructions, which are verified after this stage in the checking modes."""
        if config.check != "off":
            from gradtape.jit.native.schedule.verify import verify_instructions

            verify_instructions(instructions, self.inputs, self.outputs, stage)
        return instructions

    def _with_views_placed(self, instructions: Sequence[Any], given: dict[Any, tuple[int, ...]]) -> list[Any]:
        """The instructions, with copies before reshapes and calls that need them. Finds the places of all values.

        What a view looks like is found out by making it, of arrays whose memory is never touched.
        """
        written: list[Any] = []
        samples: dict[Any, np.ndarray[Any, Any]] = {}
        copies: dict[Any, Made] = {}

        def sample(value: Any) -> np.ndarray[Any, Any]:
            if value not in samples:
                samples[value] = np.empty(value.shape, value.dtype)
            return samples[value]

        def copied(operand: Any) -> Any:
            """The operand in C order, in memory of its own."""
            found = copies.get(operand)
            if found is None:
                found = copies[operand] = Made(operand.shape, operand.dtype)
                written.append(Changed((operand,), (found,), "positive", {}))
                self.places[found] = Place(found, 0, contiguous_steps(found.shape))
            return found

        for instruction in instructions:
            if is_call(instruction):
                operands = tuple(
                    [x if self._takes(instruction, i) else copied(x) for i, x in enumerate(instruction.operands)]
                )
                if any(a is not b for a, b in zip(operands, instruction.operands, strict=True)):
                    instruction = Changed(
                        operands, instruction.results, instruction.name, instruction.params, instruction.op
                    )
            if instruction.name == HELD:
                self.held[instruction.results[0]] = instruction.params["array"]
            if not is_view(instruction):
                for result in instruction.results:
                    self.places[result] = Place(result, 0, contiguous_steps(result.shape))
                written.append(instruction)
                continue
            (result,) = instruction.results
            operand = instruction.operands[0]
            root = self.places[operand].root
            if instruction.name == WINDOW:
                self._open_window(instruction)
                written.append(instruction)
                continue
            if root in given:
                raise Unsupported("a view of an input that is not in C order")
            seen = viewed(instruction, sample(operand))
            if seen.size and not np.may_share_memory(seen, sample(root)):
                if instruction.name != "reshape":
                    raise Unsupported(f"{instruction.name} makes a copy here")
                root = copied(operand)
                instruction = Changed((root,), (result,), instruction.name, instruction.params, instruction.op)
                seen = viewed(instruction, sample(root))
            samples[result] = seen
            self.places[result] = place_of(seen, sample(root), root)
            written.append(instruction)
        return self._with_parts_together(written)

    def _takes(self, call: Any, number: int) -> bool:
        """Whether a call can read an operand where and how it lies in memory."""
        operand = call.operands[number]
        place = self.places[operand]
        return matmul.takes(call, number, place) if call.name in PRODUCTS else is_contiguous(operand, place)

    def _with_parts_together(self, instructions: list[Any]) -> list[Any]:
        """The instructions, in which neighbours that lie in memory at equal distances are put into a stack at once."""
        written: list[Any] = []
        run: list[Any] = []

        def end_run() -> None:
            written.extend(run if len(run) < 3 else self._several(run))
            run.clear()

        for instruction in instructions:
            stacked = instruction.name == PART and isinstance(instruction.params["index"][-1], int)
            if not stacked or (run and not self._goes_on(run, instruction)):
                end_run()
            (run if stacked else written).append(instruction)
        end_run()
        return written

    def _goes_on(self, run: list[Any], part: Any) -> bool:
        """Whether a part is where a run of them would have its next one."""
        values = [x.operands[0] for x in (*run[-2:], part)]
        places = [self.places[value] for value in values]
        if part.results != run[-1].results or values[0].shape != values[-1].shape:
            return False
        if any(place.root is not places[0].root or place.steps != places[0].steps for place in places):
            return False
        offsets = [place.offset for place in places]
        return len(run) < 2 or offsets[1] - offsets[0] == offsets[2] - offsets[1]

    def _several(self, run: list[Any]) -> list[Any]:
        """A run of parts as one view and one part."""
        operand = run[0].operands[0]
        *before, number = run[0].params["index"]
        axis, (first, second) = len(before), (self.places[x.operands[0]] for x in run[:2])
        shape, steps = list(operand.shape), list(first.steps)
        shape.insert(axis, len(run))
        steps.insert(axis, second.offset - first.offset)
        together = Made(tuple(shape), operand.dtype)
        self.places[together] = Place(first.root, first.offset, tuple(steps))
        index = (*before, slice(number, number + len(run)))
        return [
            Changed((operand,), (together,), SEVERAL, {}),
            Changed((together,), run[0].results, PART, {"index": index}),
        ]

    def _open_window(self, instruction: Any) -> None:
        """Where the elements of a scatter are that are not zero."""
        (operand,), (result,) = instruction.operands, instruction.results
        place, window = self.places[operand], instruction.params["window"]
        offset = place.offset - sum(low * step for (low, _), step in zip(window, place.steps, strict=True))
        self.places[result] = Place(place.root, offset, place.steps)
        self.windows[result] = window

    def target(self, scatter: Any) -> Place:
        """Where in its result a scatter puts its operand."""
        (result,) = scatter.results
        whole = np.empty(result.shape, result.dtype)
        if scatter.name == SPREAD:
            return place_of(diagonal_of(whole, scatter), whole, result)
        return place_of(part_of(whole, scatter.params["index"]), whole, result)

    def _aliases(self) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for value in self.written:
            if self.made_by[value].name != "reshape" or 0 in value.shape:
                continue
            place = self.places[value]
            made_here = place.root in self.made_by and place.root not in self.held
            whole = is_contiguous(value, place) and math.prod(value.shape) == math.prod(place.root.shape)
            if made_here and whole and place.root not in found and place.root not in self.written:
                found[place.root] = value
        return found

    def _find_nests(self) -> None:
        level: dict[Any, int] = dict.fromkeys(self.inputs, 0)
        needed_in_memory: dict[Any, None] = {}
        behind_window = set(self.windows)  # what is computed from windows, in a nest of its own kind
        dear: set[Any] = set()  # what takes long to compute, and is not in memory
        for instruction in self.instructions:
            depth = max((level[x] for x in instruction.operands if is_value(x)), default=0)
            if is_reduction(instruction) or is_scatter(instruction):
                if instruction.operands[0] in behind_window:
                    needed_in_memory[instruction.operands[0]] = None
                    depth += 1
                depth += 1
            elif not is_view(instruction) and not is_call(instruction):
                behind = any(is_value(x) and x in behind_window for x in instruction.operands)
                behind_window.update(instruction.results if behind else ())
            looked_at = instruction.operands if is_view(instruction) or is_call(instruction) else ()
            if instruction.name == GATHER:
                looked_at = (instruction.params["table"],)
                depth = max(depth, level[looked_at[0]])
            elif not looked_at and not leaves_memory(instruction):
                (result,) = instruction.results
                looked_at = tuple([x for x in instruction.operands if x in dear and _is_repeated(x, result)])
                in_hand = [x for x in instruction.operands if is_value(x) and x in dear and x not in looked_at]
                if in_hand or instruction.name in elementwise.HEAVY:
                    dear.add(result)
            for operand in looked_at:
                root = self.places[operand].root
                maker = self.made_by.get(root)
                if maker is not None and not leaves_memory(maker):
                    needed_in_memory[root] = None
                    depth = max(depth, level[root] + 1)
            if is_call(instruction):
                self.calls.append(CallStep(instruction, depth))
            for result in instruction.results:
                level[result] = max(depth, level.get(result, 0))

        def nest_for(shape: Shape, depth: int, axes: tuple[int, ...] | None, windowed: bool = False) -> Nest:
            for nest in self.nests:
                same = nest.shape == shape and nest.level == depth and nest.windowed == windowed
                if same and (axes is None or nest.axes == axes):
                    return nest
            self.nests.append(Nest(shape, axes or (), depth, windowed))
            return self.nests[-1]

        def read_at(value: Any) -> int:
            """The level of a nest that reads a value to reduce or scatter it."""
            return level[value] + (value in behind_window)

        for instruction in self.instructions:
            if is_reduction(instruction):
                operand = instruction.operands[0]
                nest_for(operand.shape, read_at(operand), reduced_axes(instruction)).reductions.append(instruction)
        for instruction in self.instructions:
            if is_scatter(instruction):
                operand = instruction.operands[0]
                nest_for(operand.shape, read_at(operand), None).scatters.append(instruction)
        shared = set(self.aliases.values())
        for value in dict.fromkeys([*self.written, *needed_in_memory]):
            if value not in shared and not leaves_memory(self.made_by[value]):
                nest_for(value.shape, level[value], None, value in behind_window).stores.append(value)
        self.nests.sort(key=lambda nest: nest.level)
        self._fill_nests(level)
        # what is dear and needed by several nests is stored by the first
        users: dict[Any, list[Nest]] = {}
        for nest in self.nests:
            for instruction in nest.instructions:
                users.setdefault(instruction, []).append(nest)
        stored = dict.fromkeys(needed_in_memory)
        for instruction, found in users.items():
            value = instruction.results[0]
            slow = instruction.name in elementwise.HEAVY or instruction.name == GATHER
            if len(found) > 1 and slow and value.shape == found[0].shape and value not in found[0].stores:
                found[0].stores.append(value)
                stored[value] = None
        self._fill_nests(level)
        kept = [result for i in self.instructions if leaves_memory(i) for result in i.results]
        made = dict.fromkeys([*kept, *stored])
        elsewhere = {*self.written, *self.held, *self.aliases}
        self.handed_on = [value for value in made if value not in elsewhere]

    @property
    def steps(self) -> list[Nest | CallStep]:
        """Nests and calls in the order in which they are run: of the same level, calls first."""
        ordered: list[Nest | CallStep] = [*self.calls, *self.nests]
        return sorted(ordered, key=lambda step: (step.level, isinstance(step, Nest)))

    def _fill_nests(self, level: dict[Any, int]) -> None:
        """What each nest computes: all that its roots depend on and that is not in memory yet."""
        in_memory = {*self.inputs, *self.held, *(r for call in self.calls for r in call.instruction.results)}
        for nest in self.nests:
            wanted, needed = set(nest.roots), []
            for instruction in reversed(self.instructions):
                if is_view(instruction) or leaves_memory(instruction):
                    continue
                (result,) = instruction.results
                if result in wanted and result not in in_memory:
                    needed.append(instruction)
                    wanted.update(x for x in instruction.operands if is_value(x))
            computed = {instruction.results[0] for instruction in needed}
            nest.instructions = needed[::-1]
            nest.loads = [value for value in level if value in wanted and value not in computed]
            in_memory.update(value for value in nest.stores if not is_view(self.made_by[value]))
            in_memory.update(instruction.results[0] for instruction in nest.reductions + nest.scatters)


def _is_repeated(value: Any, result: Any) -> bool:
    """Whether a value is stretched so that a loop over the result comes by each of its elements time and again.

    Those that are only stretched along the last axes are computed once for each round of the inner loops.
    """
    shape = (1,) * (len(result.shape) - len(value.shape)) + tuple(value.shape)
    stretched = [axis for axis, (own, n) in enumerate(zip(shape, result.shape, strict=True)) if own < n]
    return bool(stretched) and any(n > 1 for n in shape[stretched[0] + 1 :])
