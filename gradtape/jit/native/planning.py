"""From a group of instructions to the loop nests that compute it.

Elementwise instructions are fused into whatever needs them. A reduction ends a nest: what depends on it belongs to a
later one. A slice, transpose or reshape is a *view*: another way to step through memory, for which what it looks at has
to be in memory; a gradient's scatter into a slice is the same for storing, after the rest was filled with zeros.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.jit.native import elementwise

DType = np.dtype[Any]
Shape = tuple[int, ...]

REDUCTIONS = frozenset({"sum", "mean", "max", "min", "prod", "all", "any"})
VIEWS = frozenset({"getitem", "transpose", "reshape", "flip", "diagonal"})
SCATTER = "scatter"


class Unsupported(Exception):
    """An instruction that has no native form; it is left to its NumPy kernel."""


def is_reduction(instruction: Any) -> bool:
    return instruction.name in REDUCTIONS


def is_view(instruction: Any) -> bool:
    return instruction.name in VIEWS


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
    stores: list[Any] = dataclasses.field(default_factory=list)
    scatters: list[Any] = dataclasses.field(default_factory=list)
    reductions: list[Any] = dataclasses.field(default_factory=list)
    loads: list[Any] = dataclasses.field(default_factory=list)
    instructions: list[Any] = dataclasses.field(default_factory=list)

    @property
    def roots(self) -> list[Any]:
        return self.stores + [instruction.operands[0] for instruction in self.scatters + self.reductions]


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
class Viewing:
    """A view instruction with another operand."""

    operands: tuple[Any, ...]
    results: tuple[Any, ...]
    name: str
    params: dict[str, Any]
    op: Any


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
        self.places = {value: Place(value, 0, given.get(value, contiguous_steps(value.shape))) for value in inputs}
        self.instructions = self._with_views_placed(instructions, given)
        self.made_by = {instruction.results[0]: instruction for instruction in self.instructions}
        self.inputs = list(inputs)
        self.written = list(dict.fromkeys(value for value in outputs if value in self.made_by))
        self.nests: list[Nest] = []
        self.handed_on: list[Any] = []
        self._find_nests()

    def _with_views_placed(self, instructions: Sequence[Any], given: dict[Any, tuple[int, ...]]) -> list[Any]:
        """The instructions, with copies before reshapes that need them. Finds the places of all values.

        What a view looks like is found out by making it, of arrays whose memory is never touched.
        """
        written: list[Any] = []
        samples: dict[Any, np.ndarray[Any, Any]] = {}

        def sample(value: Any) -> np.ndarray[Any, Any]:
            if value not in samples:
                samples[value] = np.empty(value.shape, value.dtype)
            return samples[value]

        for instruction in instructions:
            (result,) = instruction.results
            if not is_view(instruction):
                self.places[result] = Place(result, 0, contiguous_steps(result.shape))
                written.append(instruction)
                continue
            operand = instruction.operands[0]
            root = self.places[operand].root
            if root in given:
                raise Unsupported("a view of an input that is not in C order")
            seen = _viewed(instruction, sample(operand))
            if seen.size and not np.may_share_memory(seen, sample(root)):
                if instruction.name != "reshape":
                    raise Unsupported(f"{instruction.name} makes a copy here")
                copied = Copied(operand.shape, operand.dtype)
                written.append(Copying((operand,), (copied,)))
                self.places[copied] = Place(copied, 0, contiguous_steps(copied.shape))
                instruction = Viewing((copied,), (result,), instruction.name, instruction.params, instruction.op)
                root = copied
                seen = _viewed(instruction, sample(copied))
            samples[result] = seen
            self.places[result] = _place(seen, sample(root), root)
            written.append(instruction)
        return written

    def target(self, scatter: Any) -> Place:
        """Where in its result a scatter puts its operand."""
        (result,) = scatter.results
        whole = np.empty(result.shape, result.dtype)
        return _place(_part(whole, scatter.params["index"]), whole, result)

    def _find_nests(self) -> None:
        level: dict[Any, int] = dict.fromkeys(self.inputs, 0)
        needed_in_memory: dict[Any, None] = {}
        for instruction in self.instructions:
            depth = max((level[x] for x in instruction.operands if is_value(x)), default=0)
            if is_reduction(instruction) or instruction.name == SCATTER:
                depth += 1
            if is_view(instruction):
                root = self.places[instruction.operands[0]].root
                maker = self.made_by.get(root)
                if maker is not None and not is_reduction(maker) and maker.name != SCATTER:
                    needed_in_memory[root] = None
                    depth = max(depth, level[root] + 1)
            level[instruction.results[0]] = depth

        def nest_for(shape: Shape, depth: int, axes: tuple[int, ...] | None) -> Nest:
            for nest in self.nests:
                if nest.shape == shape and nest.level == depth and (axes is None or nest.axes == axes):
                    return nest
            self.nests.append(Nest(shape, axes or (), depth))
            return self.nests[-1]

        for instruction in self.instructions:
            operand = instruction.operands[0]
            if is_reduction(instruction):
                nest_for(operand.shape, level[operand], reduced_axes(instruction)).reductions.append(instruction)
        for instruction in self.instructions:
            operand = instruction.operands[0]
            if instruction.name == SCATTER:
                nest_for(operand.shape, level[operand], None).scatters.append(instruction)
        for value in dict.fromkeys([*self.written, *needed_in_memory]):
            maker = self.made_by[value]
            if not is_reduction(maker) and maker.name != SCATTER:
                nest_for(value.shape, level[value], None).stores.append(value)
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
        kept = [i.results[0] for i in self.instructions if is_reduction(i) or i.name == SCATTER]
        self.handed_on = [value for value in dict.fromkeys([*kept, *stored]) if value not in self.written]

    def _fill_nests(self, level: dict[Any, int]) -> None:
        """What each nest computes: all that its roots depend on and that is not in memory yet."""
        in_memory = set(self.inputs)
        for nest in self.nests:
            wanted, needed = set(nest.roots), []
            for instruction in reversed(self.instructions):
                (result,) = instruction.results
                fused = not (is_reduction(instruction) or is_view(instruction) or instruction.name == SCATTER)
                if result in wanted and result not in in_memory and fused:
                    needed.append(instruction)
                    wanted.update(x for x in instruction.operands if is_value(x))
            computed = {instruction.results[0] for instruction in needed}
            nest.instructions = needed[::-1]
            nest.loads = [value for value in level if value in wanted and value not in computed]
            in_memory.update(value for value in nest.stores if not is_view(self.made_by[value]))
            in_memory.update(instruction.results[0] for instruction in nest.reductions + nest.scatters)
