"""Rerolling: a Python loop arrives as the same operations over and over; this pass turns them into a loop again.

1. Every instruction is given a number for all of it that a loop could repeat: operation, parameters, shapes, but not
   the values it reads, nor constants that may advance (`X[t]`). A loop is then a stretch in which these numbers repeat.
   Candidates for the period come from ever longer words of that sequence: how far is it to the next same word?
2. A stretch is taken apart into columns, one for each operand of the period, with a row for each step. What a column
   holds says what it is: always the same value (invariant), a value of this step or of an earlier one (carried), values
   of an earlier loop in order or in reverse (a walk along what that loop stacks), or others (stacked beforehand).
   Where a column breaks its pattern, the stretch is cut.
3. What is used outside becomes a result of the loop. Inner loops come first, so loops of loops are found in rounds.

All of it is done with arrays of numbers, in time proportional to the length of the program (times its logarithm), and
what the program computes does not change by a bit.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.jit.ir.program import LOOP, Instruction, Literal, Loop, Program, Value, operand_key, params_key
from gradtape.jit.passes.reroll.induction import find_advancing
from gradtape.jit.passes.reroll.segment import INDEXED, Segment, may_vary

STEPS_AT_LEAST = 8
"""How often something has to be repeated to be made a loop."""
SAVED_AT_LEAST = 40
"""How many instructions a loop has to save."""
STACKED_AT_MOST = 1 << 12
"""Bytes of an array, up to which a list of such arrays is stacked for a loop."""
MUCH_AT_LEAST = 4000
"""How many instructions have to be followed for their loops to be made before anything else is done."""
ROUNDS_AT_MOST = 4
"""How deep loops of loops are found."""

Numbers = np.ndarray[Any, np.dtype[np.int64]]


def reroll_loops(program: Program) -> Program:
    """`program` with repeated instructions replaced by loops.

    >>> import numpy as np, gradtape as gt
    >>> def power(x):
    ...     for _ in range(1000):
    ...         x = np.tanh(x) * 1.5
    ...     return np.sum(x)
    >>> program = gt.jit(gt.grad(power)).lower(np.ones(3))
    >>> [instruction.name for instruction in program.instructions].count("loop"), len(program) < 20
    (2, True)
    """
    for _ in range(ROUNDS_AT_MOST):
        if len(program) < SAVED_AT_LEAST:
            break
        listing = Listing(program)
        stretches = find_stretches(listing)
        if not stretches:
            break
        from gradtape.jit.passes.reroll.build import build_loops  # lazy: most programs have no loops

        program = build_loops(listing, stretches)
    return program


class Listing:
    """A program as arrays of numbers.

    Values are numbered in the order in which they are defined. `reads` holds the operands of all instructions, one
    after the other: the number of a value, or -1 - the number of a literal.
    """

    def __init__(self, program: Program, segments: Sequence[Segment] = ()) -> None:
        """`segments` are parts of the program of which it is known that they repeat what is before them."""
        self.program = program
        self.segments = segments
        self.values: list[Value] = [*program.inputs, *(constant.value for constant in program.constants)]
        self.numbers = {value: number for number, value in enumerate(self.values)}
        self.outside = len(self.values)  # values below this one are inputs and constants
        self.literals: list[Literal] = []
        self._literals: dict[Any, int] = {}
        self._specs: dict[Any, int] = {}
        self._spec_of: dict[tuple[Any, int], int] = {}  # the same by the dtype's id, which values hold
        self._params: dict[Any, int] = {}
        self._words: dict[Any, int] = {}
        self._value_specs = [self._spec(value) for value in self.values]
        self._columns: tuple[array[int], ...] = (array("q"), array("q"), array("q"), array("q", [0]), array("q"))
        position = 0
        for segment in segments:
            self._append(program.instructions[position : segment.begin])
            self._repeat(segment, program.instructions[segment.begin : segment.end])
            position = segment.end
        self._append(program.instructions[position:])
        self._seal()

    def extend(self, program: Program) -> Listing | None:
        """This listing for a longer program, which begins with the same inputs, constants and instructions.

        Constants that are new there are numbered after all that was here: no stretch that was found here reads them.
        None if it does not begin so.
        """
        count, constants = len(self.program), len(self.program.constants)
        if self.program.inputs != program.inputs or program.instructions[:count] != self.program.instructions:
            return None
        if program.constants[:constants] != self.program.constants:
            return None
        self.program = program
        for constant in program.constants[constants:]:
            self.numbers[constant.value] = len(self.values)
            self.values.append(constant.value)
            self._value_specs.append(self._spec(constant.value))
        self._append(program.instructions[count:])
        self._seal()
        return self

    def _append(self, instructions: Sequence[Instruction]) -> None:
        words, exact, reads, begins, firsts = self._columns
        numbers, values, specs, known = self.numbers, self.values, self._value_specs, self._words
        spec_of = self._spec_of
        for instruction in instructions:
            word: list[Any] = [instruction.op]
            for operand in instruction.operands:
                if type(operand) is Value:
                    number = numbers[operand]
                    reads.append(number)
                    word.append(specs[number])
                else:
                    number, alike = self._literal(operand, instruction)
                    reads.append(-1 - number)
                    word.append(alike)
            begins.append(len(reads))
            if instruction.params:
                params, alike = self._param_numbers(instruction)
                word.append(alike)
                exact.append(params)
            else:
                exact.append(0)
            firsts.append(len(values))
            for result in instruction.results:
                numbers[result] = len(values)
                values.append(result)
                spec = spec_of.get((result.shape, id(result.dtype)))
                if spec is None:
                    spec = self._spec(result)
                specs.append(spec)
                word.append(spec)
            words.append(known.setdefault(tuple(word), len(known)))

    def _repeat(self, segment: Segment, instructions: Sequence[Instruction]) -> None:
        """Append instructions that are known to repeat the last `segment.period` ones, without examining them."""
        words, exact, reads, begins, firsts = self._columns
        period, count = segment.period, len(instructions)
        steps = -(-count // period)
        moved = np.arange(1, steps + 1)[:, None]

        def extend(column: array[int], length: int, by: Any, until: int) -> None:
            """Add to a column of which `length` are a step: each is `by` more than in the step before."""
            column.frombytes((np.array(column[-length:]) + by * moved).ravel()[:until].tobytes())

        made = len(self.values) - firsts[-period]
        width = begins[-1] - begins[-1 - period]
        old = np.array(reads[-width:])
        stays = (old < 0) | (old == np.array(reads[-2 * width : -width]))
        extend(begins, period, width, count)
        extend(firsts, period, made, count)
        extend(reads, width, np.where(stays, 0, made), begins[-1] - len(reads))
        extend(words, period, 0, count)
        extend(exact, period, 0, count)
        results = [value for instruction in instructions for value in instruction.results]
        self._value_specs += (self._value_specs[-made:] * steps)[: len(results)]
        self.numbers.update(zip(results, itertools.count(len(self.values)), strict=False))
        self.values += results
        before = len(words) - count
        for place in segment.varying:
            for index in range(place, count, period):
                self._renumber(before + index, instructions[index])

    def _renumber(self, index: int, instruction: Instruction) -> None:
        """Number the literals and parameters of an instruction; those of later iterations may differ."""
        _, exact, reads, begins, _ = self._columns
        for place, operand in enumerate(instruction.operands, begins[index]):
            if type(operand) is Literal:
                reads[place] = -1 - self._literal(operand, instruction)[0]
        if instruction.params:
            exact[index] = self._param_numbers(instruction)[0]

    def _seal(self) -> None:
        words, exact, reads, begins, firsts = self._columns
        self.instructions = self.program.instructions
        self.words: Numbers = np.array(words)
        self.exact: Numbers = np.array(exact)
        self.reads: Numbers = np.array(reads)
        self.begins: Numbers = np.array(begins)
        self.firsts: Numbers = np.append(firsts, len(self.values))
        users = np.repeat(np.arange(len(words)), np.diff(self.begins))
        self.last_use: Numbers = np.full(len(self.values), -1)
        are_values = self.reads >= 0
        np.maximum.at(self.last_use, self.reads[are_values], users[are_values])
        for value in self.program.outputs:
            self.last_use[self.numbers[value]] = len(words)

    def _spec(self, value: Value) -> int:
        key = value.shape, id(value.dtype)
        number = self._spec_of.get(key)
        if number is None:
            number = self._specs.setdefault((value.shape, value.dtype), len(self._specs))
            self._spec_of[key] = number
        return number

    def _literal(self, operand: Any, instruction: Instruction) -> tuple[int, Any]:
        """The number of a literal, and a number for its class: what may replace it in another iteration."""
        kind = type(operand.value)
        if kind is float and operand.value:  # 0.0 == -0.0: these are never the same literal
            key: Any = operand.value
        else:
            key = (kind, repr(operand.value)) if kind in _PLAIN else operand_key(operand)
        if key is None:
            key = id(operand)
        number = self._literals.get(key)
        if number is None:
            number = self._literals[key] = len(self.literals)
            self.literals.append(operand)
        if may_vary(instruction, kind):
            return number, kind
        return number, ("literal", number)

    def _param_numbers(self, instruction: Instruction) -> tuple[int, Any]:
        """The number of an instruction's parameters, and a number for the part that must be equal in all iterations."""
        params = instruction.params
        if instruction.op is LOOP:
            key: Any = loop_key(params["loop"])
        else:
            key = params_key(params)
        if key is None:
            key = id(params)
        number = self._params.setdefault(key, len(self._params) + 1)
        if instruction.name in INDEXED:
            forms = tuple([_form(part) for part in params["index"]])
            return number, (forms, params.get("shape"))
        return number, number


_PLAIN = frozenset({int, float, bool, type(None)})


def _form(part: Any) -> Any:
    """The part of an index entry that must be equal in all iterations."""
    if type(part) is int:
        return int
    if type(part) is slice:
        return slice, part.start is None, part.stop is None, part.step
    if isinstance(part, np.ndarray):
        return np.ndarray, part.shape, part.dtype.str
    return repr(part)


def loop_key(loop: Loop) -> Any:
    """A hashable form of a loop, the same for loops that do the same; None where that cannot be told."""
    body = loop.body
    numbers = {value: number for number, value in enumerate(body.values())}
    key: list[Any] = [loop.length, loop.carried, loop.sliced, loop.stacked]
    key += [(value.shape, value.dtype) for value in (*body.inputs, *(c.value for c in body.constants))]
    key += [constant.array.tobytes() for constant in body.constants]
    for instruction in body.instructions:
        inner = instruction.params.get("loop") if instruction.op is LOOP else None
        params = params_key(instruction.params) if inner is None else loop_key(inner)
        reads = [numbers[x] if type(x) is Value else operand_key(x) for x in instruction.operands]
        if params is None or None in reads:
            return None
        key += [instruction.op, params, *reads, len(instruction.results)]
    return tuple(key), tuple([numbers[value] for value in body.outputs])


# -- stretches


class Stretch(NamedTuple):
    """`steps` repetitions of `period` instructions, from the one at `begin`."""

    begin: int
    period: int
    steps: int

    @property
    def end(self) -> int:
        """The index after the last instruction."""
        return self.begin + self.period * self.steps

    def is_worth_it(self) -> bool:
        """Whether a loop would replace enough instructions."""
        return self.steps >= STEPS_AT_LEAST and (self.steps - 1) * self.period >= SAVED_AT_LEAST


class FoundLoops:
    """Loops that the tracer has detected, as stretches of instructions."""

    def __init__(self, listing: Listing) -> None:
        self.listing = listing  # of the instructions up to the first search
        self.stretches: list[Stretch] = []


def find_detected_loops(program: Program, segments: Sequence[Segment]) -> FoundLoops | None:
    """The loops of a long program, most of which the tracer has detected; None for other programs."""
    followed = sum(segment.end - segment.begin for segment in segments)
    if followed < MUCH_AT_LEAST or followed < _NEARLY_ALL * len(program):
        return None
    listing = Listing(program, segments)
    loops = FoundLoops(listing)
    loops.stretches = find_stretches(listing)
    return loops if loops.stretches else None


def find_stretches(listing: Listing) -> list[Stretch]:
    """Stretches that can be made loops, from first to last; of two in the same place, the one of the shorter period."""
    taken = np.zeros(len(listing.words), bool)
    chosen: list[Stretch] = []
    for period in _candidates(listing):
        for begin, end in _find_repeated(listing.words, period, taken):
            for stretch in split_regular(listing, Stretch(begin, period, (end - begin) // period), end):
                chosen.append(stretch)
                taken[stretch.begin : stretch.end] = True
    return sorted(chosen)


def _candidates(listing: Listing) -> list[int]:
    """The periods to try. If segments already cover most of the program, only the rest is searched."""
    words = listing.words
    for segment in listing.segments:
        shown = segment.begin + 2 * STEPS_AT_LEAST * segment.period
        if shown < segment.end and segment.end - segment.begin >= _NEARLY_ALL * len(words):
            part = np.concatenate([words[:shown], words[segment.end :]])
            return sorted({segment.period, *periods(part)})
    return periods(words)


def periods(words: Numbers) -> list[int]:
    """The distances at which words of the sequence recur most often, shortest first."""
    candidates: set[int] = set()
    count = len(words)
    ids = words
    length = 1
    while True:
        order = np.argsort(ids, kind="stable")
        same = ids[order[1:]] == ids[order[:-1]]
        distances = (order[1:] - order[:-1])[same]
        distances = distances[distances <= count // STEPS_AT_LEAST]
        if not len(distances):
            return sorted(candidates)
        often = np.bincount(distances)
        best = np.argsort(often)[-_CANDIDATES:]
        candidates.update(int(d) for d in best if often[d] + d >= SAVED_AT_LEAST)
        usual = int(best[-1])
        if length * 2 >= count // 2 or (length >= 2 * usual and often[usual] >= _NEARLY_ALL * count):
            return sorted(candidates)
        pairs = ids[:-length] * (int(ids.max()) + 1) + ids[length:]
        ids = np.unique(pairs, return_inverse=True)[1]
        length *= 2


_CANDIDATES = 6
_NEARLY_ALL = 0.9  # of the words, of which it is known that they come back at one distance


def _find_repeated(words: Numbers, period: int, taken: np.ndarray[Any, Any]) -> Iterator[tuple[int, int]]:
    """The ranges in which the sequence repeats with this `period` often enough for a loop."""
    same = (words[:-period] == words[period:]) & ~taken[:-period] & ~taken[period:]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]])))
    begins, ends = edges[::2], edges[1::2]
    steps = (ends - begins + period) // period
    worth = (steps >= STEPS_AT_LEAST) & ((steps - 1) * period >= SAVED_AT_LEAST)
    for begin, end in zip(begins[worth].tolist(), ends[worth].tolist(), strict=True):
        yield begin, end + period


def split_regular(listing: Listing, stretch: Stretch, end: int) -> Iterator[Stretch]:
    """Split a stretch, which ends before `end`, where an operand column stops to follow its pattern."""
    columns = Columns(listing, stretch)
    if all(listing.instructions[i].op.view for i in range(stretch.begin, stretch.begin + stretch.period)):
        return  # views cost nothing, and a loop that reads them can slice the array
    limits = [0, *sorted({int(t) for t in columns.breaks() if 0 < t < stretch.steps}), stretch.steps]
    for first, last in itertools.pairwise(limits):
        whole = last == stretch.steps
        part = Stretch(stretch.begin + first * stretch.period, stretch.period, last - first)
        if not part.is_worth_it():
            continue
        turned = _rotate(listing, part, end if whole else part.end)
        if turned is not None:
            part = turned
        columns = Columns(listing, part)
        if (
            not columns.fail()
            and columns.is_cheap()
            and all(_can_advance(listing, part, i) for i in range(part.period))
        ):
            yield part


def _can_advance(listing: Listing, stretch: Stretch, place: int) -> bool:
    params = varying_params(listing, stretch, place)
    return params is None or find_advancing([given["index"] for given in params]) is not None


def _rotate(listing: Listing, stretch: Stretch, end: int) -> Stretch | None:
    """The stretch rotated so that the fewest values are carried between iterations; None if it is so already."""
    crossing = Columns(listing, stretch).crossing()
    offset = int(np.argmin(crossing))
    if crossing[offset] >= crossing[0]:
        return None
    begin = stretch.begin + offset
    turned = Stretch(begin, stretch.period, (end - begin) // stretch.period)
    columns = Columns(listing, turned)
    inner = [int(t) for t in columns.breaks() if 0 < t < turned.steps]
    limits = [0, *sorted(set(inner)), turned.steps]
    first, last = max(itertools.pairwise(limits), key=lambda pair: pair[1] - pair[0])
    turned = Stretch(begin + first * stretch.period, stretch.period, last - first)
    return turned if turned.is_worth_it() else None


class Columns:
    """The operands of a stretch: `table[t, c]` is operand c of the period in iteration t."""

    def __init__(self, listing: Listing, stretch: Stretch) -> None:
        self.listing, self.stretch = listing, stretch
        begin, period, steps = stretch
        first, last = int(listing.begins[begin]), int(listing.begins[begin + period])
        self.width = last - first
        self.table = listing.reads[first : first + steps * self.width].reshape(steps, self.width)
        self.base = int(listing.firsts[begin])  # the number of the first value that is made here
        self.made = int(listing.firsts[begin + period]) - self.base  # number of values that an iteration defines
        self.position = np.repeat(np.arange(period), np.diff(listing.begins[begin : begin + period + 1]))
        # of a value that a step makes: number - made * t does not change from step to step
        relative = self.table - self.base - self.made * np.arange(steps)[:, None]
        self.relative = relative[steps // 2] if self.made else np.full(self.width, self.made)
        own = self.table[steps // 2] >= self.base
        moves = relative[steps // 2] == relative[steps // 2 - 1] if self.made else np.zeros(self.width, bool)
        self.internal = own & moves
        self.distance = np.where(self.internal, -(self.relative // max(self.made, 1)), 0)  # distance in iterations
        self.origin = np.where(self.internal, self.relative % max(self.made, 1), 0)  # position in an iteration
        self._off = relative != self.relative

    def breaks(self) -> set[int]:
        """The iterations before which the stretch has to be split."""
        steps = self.stretch.steps
        found: set[int] = set()
        rows, columns = np.nonzero(self._off[:, self.internal])
        distance = self.distance[self.internal][columns]
        for row, far in {*zip(rows.tolist(), distance.tolist(), strict=True)}:
            if row >= far:  # else it reads a value from before the loop
                found |= {row} if far else {row, row + 1}
        for column in np.flatnonzero(~self.internal):
            found |= self._broken(self.table[:, column], steps)
        for place in range(self.stretch.period):
            found |= self._odd_parameters(place)
        return found

    def _odd_parameters(self, place: int) -> set[int]:
        """The split points around iterations whose parameters differ from all others, if these are few."""
        begin, period, steps = self.stretch
        exact = self.listing.exact[begin + place : begin + period * steps : period]
        odd = np.flatnonzero(exact != np.median(exact)).tolist()
        return {*odd, *(step + 1 for step in odd)} if 0 < len(odd) <= 2 < steps // STEPS_AT_LEAST else set()

    def _broken(self, column: Numbers, steps: int) -> set[int]:
        inside = column >= self.base
        if inside.any():  # a value of some step of this stretch, which later ones read: it may begin after that
            changes = np.flatnonzero(np.diff(column)) + 1
            made_in = (column[inside] - self.base) // max(self.made, 1) + 1
            return {*changes.tolist(), *made_in.tolist()}
        if column.min() < 0:
            return set()
        moves = np.diff(column)
        usual = int(np.median(moves))
        odd = np.flatnonzero(moves != usual) + 1
        # a list of values without any order is stacked; an order that breaks at few places is worth a cut there
        return {*odd.tolist()} if 0 < len(odd) <= 2 and steps > 4 * STEPS_AT_LEAST else set()

    def fail(self) -> bool:
        """Whether an operand is a value of the same stretch in an order that no carried value can express."""
        off = self._off[:, self.internal] & (np.arange(self.stretch.steps)[:, None] >= self.distance[self.internal])
        if off.any() or (self.distance < 0).any():
            return True
        others = self.table[:, ~self.internal]
        if (others >= self.base).any():
            return True
        far = self.internal & (self.distance > 0)
        before = np.arange(self.stretch.steps)[:, None] < self.distance[far]
        return bool((self.table[:, far][before] >= self.base).any() or self.distance.max(initial=0) > _FAR)

    def is_cheap(self) -> bool:
        """Whether few bytes have to be copied into stacked arrays for the loop to slice.

        A list of arrays has to be stacked, in each call: worth it for small ones that a chain of steps reads, and never
        for the mere sake of doing the same to all of them.
        """
        chained = bool((self.distance > 0).any())
        for column in np.flatnonzero(~self.internal):
            numbers = self.table[:, column]
            if (chained and self._row_bytes(numbers) <= STACKED_AT_MOST) or not self._is_list(numbers):
                continue
            return False
        return True

    def _row_bytes(self, numbers: Numbers) -> int:
        return self.listing.values[int(numbers[0])].nbytes if numbers[0] >= 0 else 0

    def _is_list(self, numbers: Numbers) -> bool:
        """Whether a column consists of separate arrays, which would have to be stacked."""
        listing = self.listing
        moves = np.diff(numbers)
        if numbers.min() < 0 or not moves.any():
            return False
        if (numbers < len(listing.program.inputs)).any():
            return True
        if numbers.min() < listing.outside or (moves == moves[0]).all():  # constants, or in the order of some loop
            return False
        makers = np.searchsorted(listing.firsts, numbers, "right") - 1
        return any(listing.instructions[maker].name != "getitem" for maker in makers.tolist())

    def crossing(self) -> Numbers:
        """For each position in the period, how many values would be carried if iterations began there."""
        period, first = self.stretch.period, self.stretch.begin
        firsts = self.listing.firsts[first : first + period + 1] - self.base
        maker = np.repeat(np.arange(period), np.diff(firsts))  # which instruction of the period makes a value
        ends = np.zeros(self.made, dtype=np.int64)
        used = self.internal
        reach = self.distance[used] * period + self.position[used] - maker[self.origin[used]]
        np.maximum.at(ends, self.origin[used], reach)
        count = np.full(period, int((ends // period).sum()))
        change = np.zeros(2 * period + 2, dtype=np.int64)
        np.add.at(change, maker + 1, 1)
        np.add.at(change, maker + 1 + ends % period, -1)
        partial = np.cumsum(change)
        return count + partial[:period] + partial[period : 2 * period]


_FAR = 4
"""How many steps back a loop may read."""


def varying_params(listing: Listing, stretch: Stretch, place: int) -> Sequence[dict[str, Any]] | None:
    """The parameters of instruction `place` in all iterations; None if they are all equal."""
    at = range(stretch.begin + place, stretch.end, stretch.period)
    exact = listing.exact[stretch.begin + place : stretch.end : stretch.period]
    return None if (exact == exact[0]).all() else [listing.instructions[index].params for index in at]
