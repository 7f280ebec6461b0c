"""Recompute cheap values in the loop of a gradient, instead of stacking them in the loop before it.

The loop of a gradient walks along what the forward loop has stacked: `x[None] - x[:, None]` for 64 points is 4096 pairs
in every step, of 64 points that are a hundredth of it. Where a stacked value follows by a few cheap instructions from
values that are stacked anyway, that are much smaller, or that both loops read, the later loop computes it again. The
instructions are the same, so the numbers are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import NamedTuple

from gradtape.jit.ir.program import LOOP, Constant, Instruction, Loop, Operand, Program, Value, Walk
from gradtape.jit.passes.cse import share_subexpressions
from gradtape.jit.passes.dce import drop_dead

CHEAP = frozenset(
    {
        "absolute",
        "add",
        "astype",
        "broadcast_to",
        "divide",
        "equal",
        "getitem",
        "greater",
        "greater_equal",
        "less",
        "less_equal",
        "maximum",
        "minimum",
        "multiply",
        "negative",
        "reshape",
        "square",
        "subtract",
        "transpose",
        "where",
    }
)
VIEWS = frozenset({"getitem", "reshape", "transpose", "broadcast_to"})
SHORT_SUM = 16
"""Elements that a cheap sum adds up for each of its results."""
MOST = 12
"""Instructions that are run again for one value."""
SMALLER = 8
"""How many times smaller a value is that is stacked instead."""
ROW = -1
WORTH = 4096
"""Bytes of a row from which on it is not stacked if it can be computed again."""
LARGE_STACK = 1 << 16
"""Bytes of a stack of smaller rows, from which on"""
FEW, FEW_BASES = 3, 2
"""so many light instructions on so many values that are there anyway are run again, instead of a store and a load."""
LIGHT = CHEAP - {"divide"}


class Use(NamedTuple):
    """How a stacked value is read: by a loop at a place among the inputs of its body, or one row of it (place -1)."""

    instruction: Instruction
    place: int
    walk: Walk


class _Plan(NamedTuple):
    """How a value is computed again: the instructions, in order, and the values of the forward body that they need."""

    instructions: tuple[Instruction, ...]
    bases: tuple[Value, ...]


def recompute_stacked(program: Program) -> Program:
    """`program` with stacked values that are cheap computed again in the loops that read them."""
    while True:
        changed = _recompute_once(program)
        if changed is None:
            return program
        program = drop_dead(changed)


def _recompute_once(program: Program) -> Program | None:
    """The program after one value of a forward loop was replaced in the loops that read it; None if there is none."""
    for forward in program.instructions:
        if forward.op is not LOOP or forward.effect:
            continue
        loop: Loop = forward.params["loop"]
        plans: dict[int, tuple[_Plan, list[Use]]] = {}
        for number in range(loop.carried, len(loop.body.outputs)):
            uses = find_uses(program, forward.results[number])
            plan = _plan(loop, number, {n for n in range(loop.carried, len(loop.body.outputs)) if n != number})
            if uses and plan is not None:
                plans[number] = plan, uses
        if plans:  # the largest first: what is computed from it can be computed from what it is computed from
            number = max(plans, key=lambda n: (loop.body.outputs[n].nbytes, -n))
            return _Replacement(program, forward, number, *plans[number]).run()
    return None


def _row_of(instruction: Instruction) -> int | None:
    """The row of an array that an instruction reads, counted from the first; None if it reads anything else."""
    index = instruction.params.get("index") if instruction.name == "getitem" else None
    if not isinstance(index, tuple) or len(index) != 1 or type(index[0]) is not int:
        return None
    return index[0] % instruction.values[0].shape[0]


def find_uses(program: Program, value: Value) -> list[Use]:
    """The loops that walk along a stacked value, and who reads a row of it; none if anything else reads it."""
    found: list[Use] = []
    if value in program.outputs:
        return []
    for instruction in program.instructions:
        for place, operand in enumerate(instruction.operands):
            if operand is not value:
                continue
            row = _row_of(instruction)
            if row is not None:
                found.append(Use(instruction, ROW, Walk(row, 0)))
                continue
            loop = instruction.params.get("loop") if instruction.op is LOOP else None
            if loop is None or instruction.effect or not loop.carried <= place < loop.carried + len(loop.sliced):
                return []
            found.append(Use(instruction, place, loop.sliced[place - loop.carried]))
    return found


def _is_cheap(instruction: Instruction) -> bool:
    if instruction.effect or len(instruction.results) != 1:
        return False
    if instruction.name == "sum":
        return instruction.values[0].size <= SHORT_SUM * instruction.result.size
    return instruction.name in CHEAP


def _plan(loop: Loop, number: int, stacked: set[int]) -> _Plan | None:
    """How to compute a stacked output again; None if it is not worth it."""
    body = loop.body
    wanted = body.outputs[number]
    is_small = wanted.nbytes < WORTH
    if wanted in body.inputs or (is_small and loop.length * wanted.nbytes < LARGE_STACK):
        return None
    makers = {result: i for i in body.instructions for result in i.results}
    kept = {body.outputs[n] for n in stacked}
    first = loop.carried
    free = {*body.inputs[first:], *(constant.value for constant in body.constants)}
    instructions: dict[Instruction, None] = {}
    bases: dict[Value, None] = {}
    waiting = [wanted]
    while waiting:
        value = waiting.pop()
        if value in bases:
            continue
        is_base = value in free or (value in kept and (is_small or not _is_cheap_again(makers.get(value))))
        maker = makers.get(value)
        small = value.nbytes * SMALLER <= wanted.nbytes and not _is_view_of_smaller(maker)
        if value is not wanted and (is_base or small):
            bases[value] = None
            continue
        if maker is None or not _is_cheap(maker):
            if value in kept and value is not wanted:
                bases[value] = None
                continue
            return None
        if maker not in instructions:
            instructions[maker] = None
            waiting += maker.values
        if len(instructions) > MOST:
            return None
    more = sum(value.nbytes for value in bases if value not in free and value not in kept)
    if more * 4 > wanted.nbytes:
        return None
    if is_small and (more or not _is_light(instructions, bases)):
        return None
    order = {instruction: i for i, instruction in enumerate(body.instructions)}
    return _Plan(tuple(sorted(instructions, key=order.__getitem__)), tuple(bases))


def _is_light(instructions: Collection[Instruction], bases: Collection[Value]) -> bool:
    """Whether instructions take no longer than a store and a load of their result."""
    return len(instructions) <= FEW and len(bases) <= FEW_BASES and all(i.name in LIGHT for i in instructions)


def _is_view_of_smaller(maker: Instruction | None) -> bool:
    """Whether a value is a view of one that is no larger."""
    return maker is not None and maker.name in VIEWS and maker.values[0].nbytes <= maker.result.nbytes


def _is_cheap_again(maker: Instruction | None) -> bool:
    """Whether a stacked value is likely to be computed again itself."""
    return maker is not None and _is_cheap(maker)


class _Replacement:
    """Replaces one stacked value in the loops that read it."""

    def __init__(self, program: Program, forward: Instruction, number: int, plan: _Plan, uses: list[Use]) -> None:
        self.program, self.forward, self.plan, self.uses = program, forward, plan, uses
        self.loop: Loop = forward.params["loop"]
        self.number = number
        self.next_id = program.next_id()
        self.first = self.loop.carried + len(self.loop.sliced)
        self.held: list[Constant] = []
        self.stacks: dict[Value, Value] = {}  # value of the forward body -> the array of its rows
        for n in range(self.loop.carried, len(self.loop.body.outputs)):
            walk = self.loop.stacked[n - self.loop.carried]
            if n != number and walk == self.walk:
                self.stacks.setdefault(self.loop.body.outputs[n], forward.results[n])

    @property
    def walk(self) -> Walk:
        """Which row each step of the forward loop writes."""
        found: Walk = self.loop.stacked[self.number - self.loop.carried]
        return found

    def run(self) -> Program:
        """The changed program."""
        body = self.loop.body
        constants = {constant.value for constant in body.constants}
        read = {*body.inputs[self.loop.carried :], *constants}
        added = [value for value in self.plan.bases if value not in read and value not in self.stacks]
        results = list(self.forward.results)
        for value in added:
            self.stacks[value] = self.new_value(Value(0, (self.loop.length, *value.shape), value.dtype))
            results.append(self.stacks[value])
        changed = dataclasses.replace(
            self.loop,
            body=body.replace(outputs=(*body.outputs, *added)),
            stacked=(*self.loop.stacked, *[self.walk] * len(added)),
        )
        replaced: dict[Instruction, list[Instruction]] = {
            self.forward: [self.forward.replace(params={"loop": changed}, results=tuple(results))]
        }
        for use in sorted(self.uses, key=lambda use: -use.place):  # places before one that is dropped stay
            if use.place == ROW:
                replaced[use.instruction] = self.compute_row(use)
            else:
                (current,) = replaced.get(use.instruction, [use.instruction])
                replaced[use.instruction] = [self.change(current, use)]
        made = [new for i in self.program.instructions for new in replaced.get(i, [i])]
        return self.program.replace(instructions=tuple(made), constants=(*self.program.constants, *self.held))

    def new_value(self, like: Value) -> Value:
        """A new value of the program."""
        self.next_id += 1
        return Value(self.next_id - 1, like.shape, like.dtype)

    def source(self, value: Value, walk: Walk) -> tuple[Operand, Walk | None]:
        """The array outside of the loops that holds a value that the instructions need, and the walk along it."""
        if value in self.stacks:
            return self.stacks[value], walk
        place = self.loop.body.inputs.index(value)
        operand = self.forward.operands[place]
        if place >= self.first:
            return operand, None
        own = self.loop.sliced[place - self.loop.carried]
        sign = self.walk.step  # 1 or -1: the forward step that wrote a row is sign * (row - start)
        start = own.start + own.step * sign * (walk.start - self.walk.start)
        return operand, Walk(start, own.step * sign * walk.step)

    def compute_row(self, use: Use) -> list[Instruction]:
        """The instructions that compute one row of the value."""
        constants = {c.value: c for c in self.loop.body.constants}
        names: dict[Value, Operand] = {}
        made: list[Instruction] = []
        for value in self.plan.bases:
            if value in constants:
                held = self.new_value(value)
                self.held.append(dataclasses.replace(constants[value], value=held))
                names[value] = held
                continue
            operand, walk = self.source(value, use.walk)
            if walk is None:
                names[value] = operand
                continue
            row = self.new_value(value)
            params = {"index": (walk.start,)}
            made.append(use.instruction.replace(operands=(operand,), params=params, results=(row,)))
            names[value] = row
        for inner in self.plan.instructions:
            is_last = inner.result is self.loop.body.outputs[self.number]
            result = use.instruction.result if is_last else self.new_value(inner.result)
            operands = tuple([names[x] if type(x) is Value else x for x in inner.operands])
            made.append(inner.replace(operands=operands, results=(result,)))
            names[inner.result] = result
        return made

    def change(self, instruction: Instruction, use: Use) -> Instruction:
        """A loop that computes the value again. Its slice of the stacked value stays, unread, until it is dropped."""
        loop: Loop = instruction.params["loop"]
        body, split = loop.body, loop.carried + len(loop.sliced)
        next_id = body.next_id()
        constants = {c.value: c for c in self.loop.body.constants}
        names: dict[Value, Value] = {}
        slices: list[tuple[Value, Operand, Walk]] = []
        invariants: list[tuple[Value, Operand]] = []
        held: list[Constant] = []
        # what the loop reads already, by the array and the walk along it
        read: dict[tuple[Operand, Walk | None], Value] = {}
        for place in range(loop.carried, len(body.inputs)):
            walk = loop.sliced[place - loop.carried] if place < split else None
            read[instruction.operands[place], walk] = body.inputs[place]
        for value in self.plan.bases:
            new = Value(next_id, value.shape, value.dtype)
            next_id += 1
            if value in constants:
                held.append(dataclasses.replace(constants[value], value=new))
                names[value] = new
                continue
            operand, walk = self.source(value, use.walk)
            names[value] = read.setdefault((operand, walk), new)
            if names[value] is not new:
                continue
            if walk is None:
                invariants.append((new, operand))
            else:
                slices.append((new, operand, walk))
        made: list[Instruction] = []
        for inner in self.plan.instructions:
            result = Value(next_id, inner.result.shape, inner.result.dtype)
            next_id += 1
            operands = tuple([names[x] if type(x) is Value else x for x in inner.operands])
            made.append(inner.replace(operands=operands, results=(result,)))
            names[inner.result] = result
        replaced, again = body.inputs[use.place], names[self.loop.body.outputs[self.number]]
        changed = [
            i.replace(operands=tuple([again if x is replaced else x for x in i.operands]))
            if replaced in i.values
            else i
            for i in body.instructions
        ]
        inputs = (*body.inputs[:split], *(v for v, _, _ in slices), *body.inputs[split:], *(v for v, _ in invariants))
        operands = (
            *instruction.operands[:split],
            *(operand for _, operand, _ in slices),
            *instruction.operands[split:],
            *(operand for _, operand in invariants),
        )
        outputs = tuple([again if value is replaced else value for value in body.outputs])
        longer_body = body.replace(
            inputs=inputs,
            constants=(*body.constants, *held),
            instructions=(*made, *changed),
            outputs=outputs,
        )
        longer = dataclasses.replace(
            loop,
            body=share_subexpressions(longer_body),
            sliced=(*loop.sliced, *(walk for _, _, walk in slices)),
        )
        return _without_input(instruction.replace(operands=operands, params={"loop": longer}), use.place)


def _without_input(instruction: Instruction, place: int) -> Instruction:
    """A loop without one of its sliced inputs, which nothing reads."""
    loop: Loop = instruction.params["loop"]
    inputs = loop.body.inputs
    walks = list(loop.sliced)
    del walks[place - loop.carried]
    body = loop.body.replace(inputs=inputs[:place] + inputs[place + 1 :])
    smaller = dataclasses.replace(loop, body=body, sliced=tuple(walks))
    operands = instruction.operands[:place] + instruction.operands[place + 1 :]
    return instruction.replace(operands=operands, params={"loop": smaller})
