"""Gradient rule of a traced loop: one operation on the tapes, one `Loop` of the program in each direction.

For the gradient, the forward and backward pass of one iteration are traced together, into one program. Instructions
that depend on no cotangent are the forward part; values of it that the other part reads are the residuals, which the
forward loop stacks and the backward loop reads from the end. With `recompute`, only the carries are stacked, and the
backward loop repeats the forward part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.batch import BatchLevel, BatchTensor, unbatch
from gradtape.core.graph import Spec
from gradtape.core.rules import TABLE
from gradtape.core.tensor import Tensor
from gradtape.jit.ir.locations import apply_at
from gradtape.jit.ir.program import LOOP, Constant, Instruction, Loop, Program, Value, Walk
from gradtape.jit.passes import optimise
from gradtape.jit.passes.dce import drop_dead
from gradtape.jit.trace.loops.scan_body import (
    Arrays,
    ScanBody,
    TracedFunction,
    emit_op,
    is_differentiable,
    is_on_tape,
    level_of,
    pull_step,
    push_step,
)
from gradtape.jit.trace.tracer import TracingLevel
from gradtape.jit.trace.unevaluated import UnevaluatedSample
from gradtape.loops.scan import scan
from gradtape.transforms.custom.arrays import ArrayTemplate, is_recorded
from gradtape.transforms.custom.errors import RuleCall
from gradtape.transforms.custom.rules import CustomRule, KeptValues, ResultForm


def sample(x: Any) -> Any:
    """The array of `x` in the traced call, which may be unevaluated."""
    found = x._array if isinstance(x, Tensor) else x
    return found if type(found) is UnevaluatedSample else np.asarray(found)


class LoopEmitter:
    """Assembles a `Loop` from instructions of a traced body and emits it into a trace."""

    def __init__(self, level: TracingLevel, program: Program, outside: dict[Value, Any]) -> None:
        self.level, self.program = level, program
        self.outside = outside  # tensors from outside, by the input of the body

    def emit(
        self,
        instructions: Sequence[Instruction],
        carried: Sequence[tuple[Value, Any, Value]],
        sliced: Sequence[tuple[Value, Any, Walk]],
        stacked: Sequence[tuple[Value, Walk]],
        length: int,
        constants: Sequence[Constant] = (),
    ) -> tuple[list[Any], list[Any]]:
        """Emit the loop; its final carries and its stacked results.

        `carried` are (input, first value, next value), `sliced` are (input, array, walk), `stacked` (value, walk).
        """
        given = {value for value, *_ in (*carried, *sliced)}
        outputs = (*(new for *_, new in carried), *(value for value, _ in stacked))
        body = Program((), (*self.program.constants, *constants), tuple(instructions), outputs)
        body = drop_dead(body)
        used = {value for i in body.instructions for value in i.values} | {*outputs}
        read = [value for value in self.outside if value in used and value not in given]
        kept = [entry for entry in sliced if entry[0] in used]
        inputs = (*(value for value, *_ in carried), *(value for value, *_ in kept), *read)
        body = body.replace(inputs=inputs)
        walks = tuple([walk for *_, walk in kept])
        loop = Loop(body, length, len(carried), walks, tuple([walk for _, walk in stacked]))
        operands = [first for _, first, _ in carried] + [array for _, array, _ in kept]
        operands += [self.outside[value] for value in read]
        results = list(emit_op(self.level, LOOP, operands, {"loop": loop}))
        return results[: len(carried)], results[len(carried) :]

    def emit_back(
        self,
        instructions: Sequence[Instruction],
        carried: Sequence[tuple[Value, Any, Value | None]],
        totals: Sequence[Value],
        sliced: Sequence[tuple[Value, Any, Walk]],
        stacked: Sequence[tuple[Value, Walk]],
        length: int,
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Emit a backward loop; its final cotangents, the sums over all iterations, and its stacked results.

        `carried` are as in `emit`, with None for a next value of zero; `totals` are the values to sum up.
        """
        constants: list[Constant] = []
        following = self.program.next_id()

        def new(like: Value) -> Value:
            nonlocal following
            following += 1
            return Value(following - 1, like.shape, like.dtype)

        state: list[tuple[Value, Any, Value]] = []
        for g, first, gradient in carried:
            if gradient is None:
                gradient = new(g)
                constants.append(Constant(gradient, np.zeros(g.shape, g.dtype)))
            state.append((g, first, gradient))
        added: list[Instruction] = []
        for gradient in totals:
            total, grown = new(gradient), new(gradient)
            added.append(Instruction(TABLE["add"], (total, gradient), {}, (grown,), _last_location(instructions)))
            state.append((total, np.zeros(gradient.shape, gradient.dtype), grown))
        last, stacks = self.emit([*instructions, *added], state, sliced, stacked, length, constants)
        return last[: len(carried)], last[len(carried) :], stacks


class ScanRule(CustomRule):
    """One scan inside `jit`. Its inputs: the leaves of the carry, the rows, and what the body reads from outside."""

    def __init__(
        self, body: ScanBody, read: list[Any], steps: int, reverse: bool, forward: TracedFunction, recompute: bool
    ) -> None:
        super().__init__(RuleCall(body.f))
        self.body, self.read, self.steps, self.backwards, self.recompute = body, read, steps, reverse, recompute
        self.forward_trace = forward
        self.counts = len(body.carried), len(body.rows)
        self.joint: JointStep | None = None  # only if a tape records it

    @property
    def walk(self) -> Walk:
        """The order of the rows in the forward loop."""
        return Walk(self.steps - 1, -1) if self.backwards else Walk(0, 1)

    @property
    def walk_back(self) -> Walk:
        """The order of the rows in the backward loop."""
        return Walk(0, 1) if self.backwards else Walk(self.steps - 1, -1)

    def run(self, inputs: Arrays) -> tuple[Arrays, KeptValues]:
        """Emit the forward loop, with the residuals of the backward loop as stacked results where needed."""
        level = level_of(inputs)
        assert level is not None
        carried, rows = self.counts
        residuals: Sequence[Value]
        if self.joint is None or self.recompute:
            program = optimise(self.forward_trace.program)
            residuals = program.inputs[:carried] if self.joint is not None else ()
            outside = dict(zip(program.inputs[carried + rows :], self.forward_trace.read, strict=True))
        else:
            program, residuals = self.joint.forward, self.joint.residuals
            outside = dict(zip(self.joint.read_inputs, self.joint.read, strict=True))
        news, ys = program.outputs[:carried], program.outputs[carried : carried + len(self._specs())]
        emitter = LoopEmitter(level, program, outside)
        last, stacked = emitter.emit(
            program.instructions,
            list(zip(program.inputs[:carried], inputs[:carried], news, strict=True)),
            [
                (v, x, self.walk)
                for v, x in zip(program.inputs[carried:], inputs[carried : carried + rows], strict=False)
            ],
            [*((y, self.walk) for y in ys), *((r, Walk(0, 1)) for r in residuals)],
            self.steps,
        )
        results = [*last, *stacked[: len(ys)]]
        flags = [True] * len(results)
        form = ResultForm(
            ArrayTemplate(list(results), list(results), flags),
            tuple([Spec(x.shape, x.dtype) for x in results]),
            ArrayTemplate([], [], []),
            False,
        )
        return results, KeptValues(stacked[len(ys) :], form)

    def _specs(self) -> Sequence[Value]:
        return self.forward_trace.program.outputs[self.counts[0] :]

    def pull(self, inputs: Arrays, kept: KeptValues, cotangents: Arrays) -> Arrays:
        """Emit the backward loop; one that can be differentiated again where the cotangents are recorded."""
        if kept.saved is None or self.joint is None or any(is_recorded(g) for g in cotangents):
            return self._pull_differentiably(inputs, cotangents)
        level = level_of([*inputs, *cotangents, *kept.saved])
        if level is not None:
            return self.joint.emit_back(level, inputs, kept.saved, cotangents)
        level, batch = level_of([*inputs, *kept.saved]), batch_of(cotangents)
        if level is None or batch is None:
            return self._pull_differentiably(inputs, cotangents)
        rows = [unbatch(g, batch) for g in cotangents]  # a batch of cotangents, for a Jacobian
        found = self.joint.emit_back_in_batch(level, inputs, kept.saved, rows, batch.size)
        return [None if g is None else BatchTensor(g, batch) for g in found]

    def push(self, inputs: Arrays, kept: KeptValues, tangents: Arrays) -> Arrays:
        """Emit a loop that computes the iterations again, and their tangents."""
        batch = batch_of(tangents)
        bare = tangents if batch is None else [unbatch(t, batch) for t in tangents]
        level = level_of([*inputs, *bare])
        if level is None or any(is_recorded(x) for x in (*inputs, *tangents)):
            return super().push(inputs, kept, tangents)
        found = PushedStep(self, level, bare, None if batch is None else batch.size).emit(inputs, bare)
        return found if batch is None else [None if t is None else BatchTensor(t, batch) for t in found]

    def _pull_differentiably(self, inputs: Arrays, cotangents: Arrays) -> Arrays:
        """The cotangents by differentiable loops: one recomputes the carries, one is the backward pass."""
        body, (carried, rows) = self.body, self.counts
        read = [x for x in self.read if is_on_tape(x)]

        def forth(carry: Any, x: Any) -> Any:
            new, _ = body([*carry, *x])
            return new, carry

        _, carries = scan(forth, inputs[:carried], inputs[carried : carried + rows], self.steps, self.backwards)
        smooth = [is_differentiable(x) for x in (*body.carried, *body.rows)]
        zeros = [np.zeros(x.shape, x.dtype) for x in read]
        g_carry = [g if is_differentiable(x) else None for x, g in zip(body.carried, cotangents, strict=False)]
        g_ys = [g if is_differentiable(y) else None for y, g in zip(self._specs(), cotangents[carried:], strict=True)]

        def back(state: Any, row: Any) -> Any:
            gradients, sums = state
            before, x, g = row
            _, mine, theirs = pull_step(body, [*before, *x], read, [*gradients, *g], True)
            full = [np.zeros(v.shape, v.dtype) if m is None else m for m, v in zip(mine, (*before, *x), strict=True)]
            full = [m if flag else None for m, flag in zip(full, smooth, strict=True)]
            sums = [total if part is None else total + part for total, part in zip(sums, theirs, strict=True)]
            return (full[:carried], sums), full[carried:]

        xs = carries, inputs[carried : carried + rows], g_ys
        (first, sums), by_row = scan(back, (g_carry, zeros), xs, self.steps, not self.backwards)
        supply = iter(sums)
        return [*first, *by_row, *(next(supply) if is_on_tape(x) else None for x in self.read)]


class PushedStep:
    """One iteration and its tangents, traced together; with `size`, the tangents are of a batch."""

    def __init__(self, rule: ScanRule, level: TracingLevel, tangents: Arrays, size: int | None) -> None:
        self.rule, self.level, self.size = rule, level, size
        body, (carried, rows) = rule.body, rule.counts
        count = carried + rows
        given = [*body.carried, *body.rows]
        self.smooth = [is_differentiable(x) for x in given]
        read = [(x, t) for x, t in zip(rule.read, tangents[count:], strict=True) if is_on_tape(x)]

        def forth(values: list[Any]) -> list[Any]:
            batch = None if size is None else BatchLevel(size)
            moving = [x if batch is None else BatchTensor(x, batch) for x in values[count:]]
            by_read = [t if batch is None else BatchTensor(t, batch) for _, t in read]
            results, pushed = push_step(body, values[:count], moving, [x for x, _ in read], by_read)
            return [*results[:carried], *(t if batch is None else unbatch(t, batch) for t in pushed)]

        axis = () if size is None else (size,)
        samples = [sample(x) for x in body.carried] + [sample(x)[0] for x in body.rows]
        moving = [x for x, smooth in zip(samples, self.smooth, strict=True) if smooth]
        samples += [np.ones((*axis, *x.shape), x.dtype) for x in moving]
        traced = TracedFunction(level, forth, samples)
        self.program = optimise(traced.program)
        self.outside = dict(zip(self.program.inputs[len(samples) :], traced.read, strict=True))

    def emit(self, inputs: Arrays, tangents: Arrays) -> Arrays:
        """Emit the loop; the tangents of the last carry and of the stacked results, None for integers."""
        rule, program = self.rule, self.program
        carried, rows = rule.counts
        count = carried + rows
        moving = [t for t, smooth in zip(tangents, self.smooth, strict=False) if smooth]
        of_carry = sum(self.smooth[:carried])
        places = program.inputs[count : count + len(moving)]
        walk = rule.walk
        state = list(zip(program.inputs[:carried], inputs[:carried], program.outputs, strict=False))
        state += zip(places[:of_carry], moving[:of_carry], program.outputs[carried:], strict=False)
        along = [t if self.size is None else np.moveaxis(t, 0, 1) for t in moving[of_carry:]]
        sliced = [(v, x, walk) for v, x in zip(program.inputs[carried:count], inputs[carried:count], strict=True)]
        sliced += [(v, x, walk) for v, x in zip(places[of_carry:], along, strict=True)]
        stacked = [(value, walk) for value in program.outputs[carried + of_carry :]]
        emitter = LoopEmitter(self.level, program, self.outside)
        last, stacks = emitter.emit(program.instructions, state, sliced, stacked, rule.steps)
        stacks = [t if self.size is None else np.moveaxis(t, 1, 0) for t in stacks]
        firsts, others = iter(last[carried:]), iter(stacks)
        found: Arrays = [next(firsts) if smooth else None for smooth in self.smooth[:carried]]
        return found + [next(others) if is_differentiable(y) else None for y in rule._specs()]


class JointStep:
    """Forward and backward pass of one iteration, traced together and split in two."""

    def __init__(self, rule: ScanRule, level: TracingLevel) -> None:
        self.rule = rule
        body, (carried, rows) = rule.body, rule.counts
        self.on_tape = [x for x in rule.read if is_on_tape(x)]
        ys = rule._specs()
        self.seeds = [is_differentiable(x) for x in body.carried] + [is_differentiable(y) for y in ys]
        self.given = [*body.carried, *body.rows]
        self.missing: list[bool] = []

        def both(given: list[Any]) -> list[Any]:
            supply = iter(given[carried + rows :])
            cotangents = [next(supply) if smooth else None for smooth in self.seeds]
            results, mine, theirs = pull_step(body, given[: carried + rows], self.on_tape, cotangents, False)
            gradients = [*mine, *theirs]
            self.missing = [g is None for g in gradients]
            return [*results, *(g for g in gradients if g is not None)]

        samples = [sample(x) for x in body.carried] + [sample(x)[0] for x in body.rows]
        like = [*body.carried, *ys]
        samples += [np.ones(x.shape, x.dtype) for x, smooth in zip(like, self.seeds, strict=True) if smooth]
        traced = TracedFunction(level, both, samples)
        self.program = program = optimise(traced.program)
        self.read, self.read_inputs = traced.read, program.inputs[len(samples) :]
        count = carried + rows
        self.cotangents = program.inputs[count : len(samples)]
        results = len(like)
        dependent: set[Value] = {*self.cotangents}
        before: list[Instruction] = []
        self.after: list[Instruction] = []
        for instruction in program.instructions:
            late = any(value in dependent for value in instruction.values)
            (self.after if late else before).append(instruction)
            if late:
                dependent.update(instruction.results)
        self.gradients = program.outputs[results:]
        wanted = dict.fromkeys(value for i in self.after for value in i.values)
        wanted |= dict.fromkeys(self.gradients)
        there = {*program.inputs[carried:], *(constant.value for constant in program.constants)}
        residuals = [value for value in wanted if value not in dependent and value not in there]
        if rule.recompute:
            residuals, self.after = list(program.inputs[:carried]), list(program.instructions)
        self.residuals = residuals
        self.forward = program.replace(instructions=tuple(before), outputs=program.outputs[:results])

    @property
    def nbytes(self) -> int:
        """The bytes of residuals that an iteration keeps."""
        return sum(value.nbytes for value in self.residuals)

    def emit_back(self, level: TracingLevel, inputs: Arrays, saved: Arrays, cotangents: Arrays) -> Arrays:
        """Emit the backward loop; the cotangents of the inputs."""
        return self._emit(level, self._backward(), inputs, saved, cotangents)

    def emit_back_in_batch(
        self, level: TracingLevel, inputs: Arrays, saved: Arrays, cotangents: Arrays, size: int
    ) -> Arrays:
        """The same for a batch of `size` cotangents, with the batch axis in front."""
        carried = self.rule.counts[0]
        cotangents = [*cotangents[:carried], *(np.moveaxis(g, 0, 1) for g in cotangents[carried:])]
        found = self._emit(
            level, self._backward_in_batch(level, inputs, saved, cotangents, size), inputs, saved, cotangents
        )
        rows = range(carried, carried + self.rule.counts[1])
        return [np.moveaxis(g, 0, 1) if index in rows and g is not None else g for index, g in enumerate(found)]

    def _backward(self) -> BackwardPart:
        """The backward part of an iteration."""
        program, (carried, rows) = self.program, self.rule.counts
        gradients, g_inputs = iter(self.gradients), iter(self.cotangents)
        return BackwardPart(
            program,
            self.after,
            list(self.residuals),
            list(program.inputs[carried : carried + rows]),
            [next(g_inputs) if smooth else None for smooth in self.seeds],
            [None if missing else next(gradients) for missing in self.missing],
            dict(zip(self.read_inputs, self.read, strict=True)),
        )

    def _backward_in_batch(
        self, level: TracingLevel, inputs: Arrays, saved: Arrays, cotangents: Arrays, size: int
    ) -> BackwardPart:
        """The backward part of an iteration, traced again with a batch of cotangents."""
        one, (carried, rows) = self._backward(), self.rule.counts
        taken = [index for index, g in enumerate(one.cotangents) if g is not None]
        walked = [*saved, *inputs[carried : carried + rows], *(cotangents[i] for i in taken if i >= carried)]
        first = [sample(cotangents[i]) for i in taken if i < carried]
        count = len(saved) + rows

        def in_batch(given: list[Any]) -> list[Any]:
            batch = BatchLevel(size)
            known = dict(one.outside)
            known.update({constant.value: constant.array for constant in one.program.constants})
            known.update(zip((*one.residuals, *one.rows), given[:count], strict=True))
            supply = [BatchTensor(g, batch) for g in given[count:]]
            known.update(zip([g for g in one.cotangents if g is not None], supply, strict=True))
            for instruction in one.instructions:
                operands = [known[x] if isinstance(x, Value) else x.value for x in instruction.operands]
                results = apply_at(instruction.location, instruction.op, operands, instruction.params)
                known.update(zip(instruction.results, results if instruction.op.outputs else (results,), strict=True))
            return [unbatch(known[g], batch) for g in one.gradients if g is not None]

        samples = [sample(x)[0] for x in walked[:count]] + first + [sample(x)[0] for x in walked[count:]]
        traced = TracedFunction(level, in_batch, samples)
        program = optimise(traced.program)
        residuals, of_rows = program.inputs[: len(saved)], program.inputs[len(saved) : count]
        supply, gradients = iter(program.inputs[count : len(samples)]), iter(program.outputs)
        return BackwardPart(
            program,
            program.instructions,
            list(residuals),
            list(of_rows),
            [None if g is None else next(supply) for g in one.cotangents],
            [None if g is None else next(gradients) for g in one.gradients],
            dict(zip(program.inputs[len(samples) :], traced.read, strict=True)),
        )

    def _emit(
        self, level: TracingLevel, back: BackwardPart, inputs: Arrays, saved: Arrays, cotangents: Arrays
    ) -> Arrays:
        rule = self.rule
        carried, rows = rule.counts
        gradients, g_in = back.gradients, back.cotangents
        state = [
            (g, first, gradient)
            for g, gradient, first in zip(g_in[:carried], gradients, cotangents, strict=False)
            if g is not None
        ]
        totals = [gradient for gradient in gradients[carried + rows :] if gradient is not None]
        walk = rule.walk_back
        sliced = [(v, x, Walk(rule.steps - 1, -1)) for v, x in zip(back.residuals, saved, strict=True)]
        held = {value for value, *_ in sliced}
        sliced += [
            (v, x, walk) for v, x in zip(back.rows, inputs[carried : carried + rows], strict=True) if v not in held
        ]
        sliced += [(g, c, walk) for g, c in zip(g_in[carried:], cotangents[carried:], strict=True) if g is not None]
        by_row = gradients[carried : carried + rows]
        emitter = LoopEmitter(level, back.program, back.outside)
        stacked = [(gradient, walk) for gradient in by_row if gradient is not None]
        results = emitter.emit_back(back.instructions, state, totals, sliced, stacked, rule.steps)
        firsts, sums, parts = map(iter, results)
        found: Arrays = [None if g is None else next(firsts) for g in g_in[:carried]]
        found += [None if gradient is None else next(parts) for gradient in by_row]
        outside = iter([None if g is None else next(sums) for g in gradients[carried + rows :]])
        return found + [next(outside) if is_on_tape(x) else None for x in rule.read]


class BackwardPart(NamedTuple):
    """The backward part of an iteration: the `instructions` of `program` to run, and the roles of its values.

    `cotangents` are those of the results, carries first; `gradients` those of the carries, of the rows and of what is
    read from `outside`. None where there is no cotangent.
    """

    program: Program
    instructions: Sequence[Instruction]
    residuals: list[Value]
    rows: list[Value]
    cotangents: list[Value | None]
    gradients: list[Value | None]
    outside: dict[Value, Any]


def batch_of(cotangents: Arrays) -> BatchLevel | None:
    """The only batch level of the cotangents, if it is directly above the trace; else None."""
    levels = {g.level for g in cotangents if isinstance(g, BatchTensor)}
    if len(levels) != 1 or any(isinstance(g.value, BatchTensor) for g in cotangents if isinstance(g, BatchTensor)):
        return None
    (level,) = levels
    assert isinstance(level, BatchLevel)
    return level


def _last_location(instructions: Sequence[Instruction]) -> Any:
    return instructions[-1].location if instructions else Instruction(LOOP, (), {}, ()).location
