"""From a group of instructions to the loop nests that compute it.

Elementwise instructions are fused into whatever needs them. A reduction ends a nest: what depends on it belongs to a
later one. A slice, transpose or reshape is a *view*: another way to step through memory, for which what it looks at has
to be in memory; a gradient's scatter into a slice is the same for storing, after the rest was filled with zeros. Where
that slice leaves out only a little of a long row, the scatter is a *window* instead: it is not made at all, and whoever
reads it reads what it puts there, from where that is, or zero outside. A matrix product or a loop is a *call*: a step
of its own between nests, from memory to memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.jit.native import elementwise, products

DType = np.dtype[Any]
Shape = tuple[int, ...]

REDUCTIONS = frozenset({"sum", "mean", "max", "min", "prod", "all", "any"})
VIEWS = frozenset({"getitem", "transpose", "reshape", "flip", "diagonal"})
SCATTER = "scatter"
WINDOW = "window"
PRODUCT = "matmul"
LOOP = "loop"


class Unsupported(Exception):
    """An instruction that has no native form; it is left to its NumPy kernel."""


def is_reduction(instruction: Any) -> bool:
    return instruction.name in REDUCTIONS


def is_view(instruction: Any) -> bool:
    return instruction.name in VIEWS or instruction.name == WINDOW


def is_call(instruction: Any) -> bool:
    """Whether an instruction is a step of its own."""
    return instruction.name in (PRODUCT, LOOP)


def leaves_memory(instruction: Any) -> bool:
    """Whether the results of an instruction are in memory in any case."""
    return is_reduction(instruction) or is_call(instruction) or instruction.name == SCATTER


def is_value(operand: Any) -> bool:
    """Whether an operand is an array (and not a Python number)."""
    return hasattr(operand, "dtype")


def supports(instruction: Any) -> bool:
    """Whether an instruction can be part of a group.

    >>> import numpy as np
    >>> from gradtape.jit.native.planning import supports
    >>> from gradtape.jit.program import Instruction, Value
    >>> from gradtape.ops.elementwise import sin
    >>> x, z = Value(0, (3,), np.dtype(float)), Value(1, (3,), np.dtype(complex))
    >>> [supports(Instruction(sin, (v,), {}, (Value(2, (3,), v.dtype),))) for v in (x, z)]
    [True, False]
    """
    name = instruction.name
    if name == PRODUCT:
        return products.supports(instruction)
    if name == LOOP:
        return _supports_loop(instruction)
    if name not in REDUCTIONS and name not in VIEWS and name != SCATTER:
        return elementwise.supports(instruction)
    if len(instruction.results) != 1 or len(instruction.operands) != 1 or not is_value(instruction.operands[0]):
        return False
    given, result = instruction.operands[0], instruction.results[0]
    if not (elementwise.has_type(given.dtype) and elementwise.has_type(result.dtype)):
        return False
    if name in REDUCTIONS:
        return _supports_reduction(instruction, given, result)
    index = instruction.params.get("index", ())
    basic = all(_is_basic(i) for i in (index if isinstance(index, tuple) else (index,)))
    if name == SCATTER:
        return basic and given.dtype == result.dtype and _part(np.empty(result.shape, bool), index).shape == given.shape
    return basic and given.dtype == result.dtype


def _supports_loop(instruction: Any) -> bool:
    """Whether a loop's body is native as a whole, and none of its steps large enough to be split over threads."""
    loop = instruction.params.get("loop")
    if loop is None or instruction.effect or not instruction.results:
        return False
    body = loop.body
    values = [*body.inputs, *body.outputs, *(constant.value for constant in body.constants), *instruction.values]
    if not all(elementwise.has_type(value.dtype) and 0 not in value.shape for value in values):
        return False
    if not all(constant.array.flags.c_contiguous and constant.array.flags.aligned for constant in body.constants):
        return False
    made = [result for inner in body.instructions for result in inner.results]
    if any(value.size > LOOPED_AT_MOST for value in (*made, *body.inputs)):
        return False
    return bool(body.instructions) and all(not inner.effect and supports(inner) for inner in body.instructions)


LOOPED_AT_MOST = 1 << 14
"""Elements of a value in a loop; the steps of a loop over larger ones are called one by one, and use threads."""


def _is_basic(index: Any) -> bool:
    """Whether an index gives a view. A truth value, although Python has it for an int, makes a copy."""
    return isinstance(index, int | slice | None | type(Ellipsis)) and not isinstance(index, bool)


def _supports_reduction(instruction: Any, given: Any, result: Any) -> bool:
    name, params = instruction.name, instruction.params
    if set(params) - {"axis", "keepdims"} or not isinstance(params.get("keepdims", False), bool):
        return False
    if name in ("max", "min") and (0 in given.shape or given.dtype.kind == "b"):
        return False
    if name == "mean" and (given.dtype != result.dtype or 0 in given.shape):
        return False
    return not (name in ("all", "any") and result.dtype != np.dtype(bool))


def reduced_axes(instruction: Any) -> tuple[int, ...]:
    """The axes that a reduction takes away, as sorted positive numbers."""
    rank = len(instruction.operands[0].shape)
    axis = instruction.params.get("axis")
    if axis is None:
        return tuple(range(rank))
    return tuple(sorted(a % rank for a in ((axis,) if isinstance(axis, int) else axis)))


def contiguous_steps(shape: Shape) -> tuple[int, ...]:
    """The steps of a C-ordered array, in elements.

    >>> from gradtape.jit.native.planning import contiguous_steps
    >>> contiguous_steps((2, 3, 4))
    (12, 4, 1)
    """
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= size
    return tuple(reversed(steps))


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a value is: in whose memory, from which element on, and the steps along its axes, in elements."""

    root: Any
    offset: int
    steps: tuple[int, ...]


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
    def roots(self) -> list[Any]:
        return self.stores + [instruction.operands[0] for instruction in self.scatters + self.reductions]


@dataclasses.dataclass(eq=False)
class CallStep:
    """A step that is one instruction, from memory to memory."""

    instruction: Any
    level: int


@dataclasses.dataclass(frozen=True, eq=False)
class Copied:
    """A value that is made only because a reshape needs its operand in C order."""

    shape: Shape
    dtype: DType


@dataclasses.dataclass(frozen=True, eq=False)
class Copying:
    """The instruction that makes it."""

    operands: tuple[Any, ...]
    results: tuple[Any, ...]
    name: str = "positive"
    params: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, eq=False)
class Changed:
    """An instruction with other operands."""

    operands: tuple[Any, ...]
    results: tuple[Any, ...]
    name: str
    params: dict[str, Any]
    op: Any

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(x for x in self.operands if is_value(x))


def _part(array: np.ndarray[Any, Any], index: Any) -> np.ndarray[Any, Any]:
    index = index if isinstance(index, tuple) else (index,)
    return array[index if Ellipsis in index else (*index, Ellipsis)]


def _place(view: np.ndarray[Any, Any], whole: np.ndarray[Any, Any], root: Any) -> Place:
    """Where a view is in the memory of the whole; raises `Unsupported` if any element of it is not there."""
    size = view.dtype.itemsize
    steps = tuple(stride // size for stride in view.strides)
    if not view.size:
        return Place(root, 0, steps)
    start = (view.ctypes.data - whole.ctypes.data) // size
    reaches = [step * (length - 1) for step, length in zip(steps, view.shape, strict=True)]
    first = start + sum(reach for reach in reaches if reach < 0)
    last = start + sum(reach for reach in reaches if reach > 0)
    if first < 0 or last >= whole.size or not np.may_share_memory(view, whole):
        raise Unsupported("what should be a view is a copy")
    return Place(root, start, steps)


def _viewed(instruction: Any, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What a view instruction makes of an array; a single element as an array, too, so that it can be found."""
    if instruction.name == "getitem":
        return _part(array, instruction.params["index"])
    if not array.ndim and instruction.name in ("flip", "transpose"):
        return array
    return np.asarray(instruction.op.kernel(array, **instruction.params))


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
        self.instructions = self._with_views_placed(_with_windows(instructions, outputs), given)
        self.made_by = {result: instruction for instruction in self.instructions for result in instruction.results}
        self.inputs = list(inputs)
        self.written = list(dict.fromkeys(value for value in outputs if value in self.made_by))
        self.nests: list[Nest] = []
        self.calls: list[CallStep] = []
        self.handed_on: list[Any] = []
        self._find_nests()

    def _with_views_placed(self, instructions: Sequence[Any], given: dict[Any, tuple[int, ...]]) -> list[Any]:
        """The instructions, with copies before reshapes and calls that need them. Finds the places of all values.

        What a view looks like is found out by making it, of arrays whose memory is never touched.
        """
        written: list[Any] = []
        samples: dict[Any, np.ndarray[Any, Any]] = {}
        copies: dict[Any, Copied] = {}

        def sample(value: Any) -> np.ndarray[Any, Any]:
            if value not in samples:
                samples[value] = np.empty(value.shape, value.dtype)
            return samples[value]

        def copied(operand: Any) -> Any:
            """The operand in C order, in memory of its own."""
            found = copies.get(operand)
            if found is None:
                found = copies[operand] = Copied(operand.shape, operand.dtype)
                written.append(Copying((operand,), (found,)))
                self.places[found] = Place(found, 0, contiguous_steps(found.shape))
            return found

        for instruction in instructions:
            if is_call(instruction):
                fits = products.takes if instruction.name == PRODUCT else _is_contiguous
                operands = tuple([x if fits(x, self.places[x]) else copied(x) for x in instruction.operands])
                if any(a is not b for a, b in zip(operands, instruction.operands, strict=True)):
                    instruction = Changed(
                        operands, instruction.results, instruction.name, instruction.params, instruction.op
                    )
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
            seen = _viewed(instruction, sample(operand))
            if seen.size and not np.may_share_memory(seen, sample(root)):
                if instruction.name != "reshape":
                    raise Unsupported(f"{instruction.name} makes a copy here")
                root = copied(operand)
                instruction = Changed((root,), (result,), instruction.name, instruction.params, instruction.op)
                seen = _viewed(instruction, sample(root))
            samples[result] = seen
            self.places[result] = _place(seen, sample(root), root)
            written.append(instruction)
        return written

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
        return _place(_part(whole, scatter.params["index"]), whole, result)

    def _find_nests(self) -> None:
        level: dict[Any, int] = dict.fromkeys(self.inputs, 0)
        needed_in_memory: dict[Any, None] = {}
        behind_window = set(self.windows)  # what is computed from windows, in a nest of its own kind
        for instruction in self.instructions:
            depth = max((level[x] for x in instruction.operands if is_value(x)), default=0)
            if is_reduction(instruction) or instruction.name == SCATTER:
                if instruction.operands[0] in behind_window:
                    needed_in_memory[instruction.operands[0]] = None
                    depth += 1
                depth += 1
            elif not is_view(instruction) and not is_call(instruction):
                behind = any(is_value(x) and x in behind_window for x in instruction.operands)
                behind_window.update(instruction.results if behind else ())
            if is_view(instruction) or is_call(instruction):
                for operand in instruction.operands:
                    root = self.places[operand].root
                    maker = self.made_by.get(root)
                    if maker is not None and not leaves_memory(maker):
                        needed_in_memory[root] = None
                        depth = max(depth, level[root] + 1)
            if is_call(instruction):
                self.calls.append(CallStep(instruction, depth))
            for result in instruction.results:
                level[result] = depth

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
            if instruction.name == SCATTER:
                operand = instruction.operands[0]
                nest_for(operand.shape, read_at(operand), None).scatters.append(instruction)
        for value in dict.fromkeys([*self.written, *needed_in_memory]):
            if not leaves_memory(self.made_by[value]):
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
            dear = instruction.name in elementwise.HEAVY and value.shape == found[0].shape
            if len(found) > 1 and dear and value not in found[0].stores:
                found[0].stores.append(value)
                stored[value] = None
        self._fill_nests(level)
        kept = [result for i in self.instructions if leaves_memory(i) for result in i.results]
        self.handed_on = [value for value in dict.fromkeys([*kept, *stored]) if value not in self.written]

    @property
    def steps(self) -> list[Nest | CallStep]:
        """Nests and calls in the order in which they are run: of the same level, calls first."""
        ordered: list[Nest | CallStep] = [*self.calls, *self.nests]
        return sorted(ordered, key=lambda step: (step.level, isinstance(step, Nest)))

    def _fill_nests(self, level: dict[Any, int]) -> None:
        """What each nest computes: all that its roots depend on and that is not in memory yet."""
        in_memory = {*self.inputs, *(result for call in self.calls for result in call.instruction.results)}
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


WINDOW_EDGE = 8  # how much of a row a window may leave out,
WINDOW_ROW = 32  # and how long such a row has to be


def _with_windows(instructions: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """The instructions, with windows in the place of scatters that only elementwise ones read."""
    needed = set(outputs)
    for instruction in instructions:
        if is_view(instruction) or leaves_memory(instruction):
            needed.update(x for x in instruction.operands if is_value(x))
    made: list[Any] = []
    for instruction in instructions:
        window = _window(instruction) if instruction.name == SCATTER else None
        if window is None or instruction.results[0] in needed:
            made.append(instruction)
        else:
            params = {"window": window}
            made.append(Changed(instruction.operands, instruction.results, WINDOW, params, instruction.op))
    return made


def _window(scatter: Any) -> tuple[tuple[int, int], ...] | None:
    """From where to where along each axis a scatter puts its operand; None if that is no window."""
    (operand,), (result,) = scatter.operands, scatter.results
    if len(operand.shape) != len(result.shape) or 0 in operand.shape or not operand.shape:
        return None
    whole = np.empty(result.shape, result.dtype)
    part = _part(whole, scatter.params["index"])
    if part.shape != operand.shape:
        return None
    steps = zip(part.strides, whole.strides, part.shape, strict=True)
    if any(length > 1 and one != other for one, other, length in steps):
        return None
    start = np.unravel_index((part.ctypes.data - whole.ctypes.data) // whole.itemsize, result.shape)
    window = tuple((int(low), int(low) + length) for low, length in zip(start, part.shape, strict=True))
    left_out = result.shape[-1] - operand.shape[-1]
    if left_out and (left_out > WINDOW_EDGE or operand.shape[-1] < WINDOW_ROW):
        return None
    return window


def _is_contiguous(value: Any, place: Place) -> bool:
    """Whether a value is in memory in C order, from the first element of that memory on."""
    wanted = contiguous_steps(value.shape)
    return place.offset == 0 and all(
        length == 1 or found == step for length, found, step in zip(value.shape, place.steps, wanted, strict=True)
    )
