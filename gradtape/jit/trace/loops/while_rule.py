"""Gradient rule of a traced while loop: one operation on the tapes, one `WHILE` of the program in each direction.

The forward loop stacks the carries before all accepted steps, as far as derivatives need them. The backward loop reads
them from the last row to the first, repeats the forward part of each step, and pulls the cotangents back through it.
For tangents, a loop from the first row to the last pushes them through all steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.batch import BatchLevel, BatchTensor, unbatch
from gradtape.core.graph import Spec
from gradtape.core.pytree import leaves
from gradtape.core.rules import TABLE
from gradtape.jit.errors import Untraceable
from gradtape.jit.ir.program import Constant, Instruction, Literal, Program, Value, Walk
from gradtape.jit.ir.while_loop import CONTROLS, ROW, WHILE, WhileLoop
from gradtape.jit.passes import optimise
from gradtape.jit.passes.dce import drop_dead
from gradtape.jit.trace.loops.scan_body import (
    Arrays,
    TracedFunction,
    emit_op,
    fill,
    is_differentiable,
    is_on_tape,
    level_of,
    pull_step,
    push_step,
)
from gradtape.jit.trace.loops.scan_rule import LoopEmitter, batch_of, sample
from gradtape.jit.trace.tracer import TracingLevel
from gradtape.loops.while_loop import Attempts
from gradtape.transforms.custom.arrays import ArrayTemplate, is_recorded, zeros_like
from gradtape.transforms.custom.errors import RuleCall
from gradtape.transforms.custom.rules import CustomRule, KeptValues, ResultForm

_ROW_TYPE = np.dtype(np.int64)


class AttemptsBody:
    """The steps of a while loop as functions of flat lists of the leaves of the carry."""

    def __init__(self, attempts: Attempts) -> None:
        self.attempts, self.carry = attempts, attempts.carry
        self.carried = [x for x in leaves(attempts.carry) if x is not None]

    def attempt(self, given: list[Any]) -> list[Any]:
        """One attempt: condition, row and leaves of the carry before it; the same after it."""
        _, row, *flat = given
        new, accepted = self.attempts.attempt(fill(self.carry, flat), None)
        goes_on = self.attempts.condition(new)
        following = row + (1 if accepted is True else np.where(accepted, 1, 0))
        return [goes_on, following, *self._leaves(new)]

    def __call__(self, given: list[Any]) -> tuple[list[Any], list[Any]]:
        """One accepted attempt: leaves of the carry before it; after it, and nothing that is stacked."""
        new, _ = self.attempts.attempt(fill(self.carry, given), True)
        return self._leaves(new), []

    def _leaves(self, carry: Any) -> list[Any]:
        return [x for x in leaves(carry) if x is not None]


class WhileEmitter(LoopEmitter):
    """Assembles a `WHILE`; the first two of the carried values are the condition and the row."""

    def emit(
        self,
        instructions: Sequence[Instruction],
        carried: Sequence[tuple[Value, Any, Value]],
        sliced: Sequence[tuple[Value, Any, Walk]],
        stacked: Sequence[tuple[Value, Walk]],
        length: int,
        constants: Sequence[Constant] = (),
    ) -> tuple[list[Any], list[Any]]:
        """Emit the loop, with `length` rows; its final carries and its stacks. Walks mean nothing: rows are carried."""
        given = {value for value, *_ in (*carried, *sliced)}
        outputs = (*(new for *_, new in carried), *(value for value, _ in stacked))
        body = drop_dead(Program((), (*self.program.constants, *constants), tuple(instructions), outputs))
        used = {value for i in body.instructions for value in i.values} | {*outputs}
        read = [value for value in self.outside if value in used and value not in given]
        kept = [entry for entry in sliced if entry[0] in used]
        inputs = (*(value for value, *_ in carried), *(value for value, *_ in kept), *read)
        loop = WhileLoop(body.replace(inputs=inputs), len(carried), len(kept), len(stacked), length)
        operands = [first for _, first, _ in carried] + [array for _, array, _ in kept]
        operands += [self.outside[value] for value in read]
        results = list(emit_op(self.level, WHILE, operands, {"loop": loop}))
        return results[: len(carried)], results[len(carried) :]


class WhileRule(CustomRule):
    """One while loop inside `jit`. Its inputs: the leaves of the carry, and what the body reads from outside.

    Its results: the leaves of the last carry, the number of accepted steps, and whether it ended for lack of rows.
    """

    begins: Any  # the condition before the first step

    def __init__(self, level: TracingLevel, body: AttemptsBody) -> None:
        super().__init__(RuleCall(body.attempts.attempt))
        self.body = body
        samples = [np.asarray(True), np.asarray(0), *(sample(x) for x in body.carried)]
        self.forward_trace = TracedFunction(level, body.attempt, samples)
        self.read = self.forward_trace.read
        self.program = optimise(self.forward_trace.program)
        self.rows = 0
        self.stacked: list[int] = []  # the numbers of the carried values that are stacked

    def keep_carries(self, rows: int) -> None:
        """Stack the carries before up to `rows` accepted steps, as far as what is differentiable depends on them."""
        level = level_of([*self.body.carried, *self.read])
        assert level is not None
        smooth = [index for index, x in enumerate(self.body.carried) if is_differentiable(x)]

        def step(given: list[Any]) -> list[Any]:
            new, _ = self.body(given)
            return [new[index] for index in smooth]

        program = optimise(TracedFunction(level, step, [sample(x) for x in self.body.carried]).program)
        used = {value for i in program.instructions for value in i.values}
        self.stacked = [i for i in range(len(self.body.carried)) if program.inputs[i] in used]
        self.rows = rows

    def count_steps(self, begins: Any) -> int:
        """How many accepted steps the traced call takes."""
        program = self.program
        carried = CONTROLS + len(self.body.carried)
        loop = WhileLoop(program, carried)
        given = [np.asarray(sample(begins)), np.asarray(0), *(sample(x) for x in (*self.body.carried, *self.read))]
        return int(loop.evaluator.call(*given)[ROW])

    def run(self, inputs: Arrays) -> tuple[Arrays, KeptValues]:
        """Emit the forward loop, with the stacks of carries where they are needed."""
        level = level_of([*inputs, self.begins])
        assert level is not None
        program, count = self.program, len(self.body.carried)
        carried = CONTROLS + count
        emitter = WhileEmitter(level, program, dict(zip(program.inputs[carried:], inputs[count:], strict=True)))
        first = [self.begins, np.asarray(0), *inputs[:count]]
        (goes_on, steps, *last), stacks = emitter.emit(
            program.instructions,
            list(zip(program.inputs, first, program.outputs, strict=False)),
            [],
            [(program.inputs[CONTROLS + index], Walk(0, 1)) for index in self.stacked],
            self.rows,
        )
        results = [*last, steps, goes_on]
        form = ResultForm(
            ArrayTemplate(list(results), list(results), [True] * len(results)),
            tuple([Spec(x.shape, x.dtype) for x in results]),
            ArrayTemplate([], [], []),
            False,
        )
        return results, KeptValues([steps, *stacks], form)

    # -- derivatives

    def pull(self, inputs: Arrays, kept: KeptValues, cotangents: Arrays) -> Arrays:
        """Emit the backward loop."""
        level, batch, (steps, *stacks), given = self._open(inputs, kept, cotangents[: len(self.body.carried)])
        count, size = len(self.body.carried), None if batch is None else batch.size
        on_tape = [x for x in self.read if is_on_tape(x)]
        smooth = [is_differentiable(x) for x in self.body.carried]
        missing: list[bool] = []

        def back(carry: list[Any], moving: list[Any], inner: BatchLevel | None) -> list[Any]:
            seeds = iter(moving)
            cotangents = [next(seeds) if flag else None for flag in smooth]
            _, mine, theirs = pull_step(self.body, carry, on_tape, cotangents, False)
            found = [g for g, flag in zip(mine, smooth, strict=True) if flag] + theirs
            missing[:] = [g is None for g in found]
            return [g for g in found if g is not None]

        step = LinearStep(level, self, back, [x for x in self.body.carried if is_differentiable(x)], size)
        supply = iter(step.results)
        gradients = [None if flag else next(supply) for flag in missing]
        state = list(zip(step.moving, given, gradients, strict=False))
        totals = [g for g in gradients[len(step.moving) :] if g is not None]
        last, sums = step.emit_back(steps, stacks, state, totals, self.rows)
        wrapped = [x if batch is None else BatchTensor(x, batch) for x in (*last, *sums)]
        found, of_read = iter(wrapped[: len(last)]), iter(wrapped[len(last) :])
        by_read = iter([None if g is None else next(of_read) for g in gradients[len(step.moving) :]])
        return [next(found) if flag else None for flag in smooth] + [
            next(by_read) if is_on_tape(x) else None for x in self.read[: len(inputs) - count]
        ]

    def push(self, inputs: Arrays, kept: KeptValues, tangents: Arrays) -> Arrays:
        """Emit a loop that pushes the tangents through all steps."""
        level, batch, (steps, *stacks), given = self._open(inputs, kept, tangents)
        size = None if batch is None else batch.size
        count = len(self.body.carried)
        smooth = [is_differentiable(x) for x in self.body.carried]
        read = [
            (x, tangent)
            for x, tangent in zip(self.read, tangents[count:], strict=True)
            if is_on_tape(x) and tangent is not None
        ]
        outside = [tangent if batch is None else unbatch(tangent, batch) for _, tangent in read]

        def forth(carry: list[Any], moving: list[Any], inner: BatchLevel | None) -> list[Any]:
            by_read = [t if inner is None else BatchTensor(t, inner) for t in outside]
            return push_step(self.body, carry, moving, [x for x, _ in read], by_read)[1]

        step = LinearStep(level, self, forth, [x for x in self.body.carried if is_differentiable(x)], size)
        state = list(zip(step.moving, given, step.results, strict=True))
        last = iter(step.emit_forth(steps, stacks, state, self.rows))
        moved = [next(last) if flag else None for flag in smooth]
        moved = [x if x is None or batch is None else BatchTensor(x, batch) for x in moved]
        found = [zeros_like(own) if x is None else x for x, own in zip(moved, self.body.carried, strict=True)]
        return [*found, np.zeros((), _ROW_TYPE), np.zeros((), bool)]

    def _open(
        self, inputs: Arrays, kept: KeptValues, moving: Arrays
    ) -> tuple[TracingLevel, BatchLevel | None, Arrays, Arrays]:
        """The trace, the batch that `moving` is of, what was kept, and `moving` of the carry without its batch."""
        if kept.saved is None or any(is_recorded(x) for x in moving if x is not None):
            raise Untraceable(
                "it takes a second derivative of gt.while_loop or of an adaptive solver of differential equations, "
                "which is not compiled. Differentiate once inside jit, or take the second derivative without jit"
            )
        batch = batch_of([x for x in moving if x is not None])
        flat = [x for x, own in zip(moving, self.body.carried, strict=False) if is_differentiable(own)]
        owners = [x for x in self.body.carried if is_differentiable(x)]
        filled = [zeros_like(own) if x is None else x for x, own in zip(flat, owners, strict=True)]
        bare = filled if batch is None else [unbatch(x, batch) for x in filled]
        level = level_of([*inputs, *bare, *kept.saved])
        if level is None:
            raise Untraceable(
                "it maps over the derivative of gt.while_loop or of an adaptive solver of differential equations, "
                "which is not compiled. Take vmap outside of jit, or a loop over the examples"
            )
        return level, batch, kept.saved, bare


class LinearStep:
    """A linear function of what moves (tangents or cotangents) at one step, traced; and loops over all steps of it.

    `function(carry, moving, batch)` gets the carry before a step; with `size`, `moving` and the results are of a batch.
    """

    def __init__(
        self, level: TracingLevel, rule: WhileRule, function: Callable[..., list[Any]], like: Arrays, size: int | None
    ) -> None:
        carried = rule.body.carried
        count = len(carried)

        def traced(given: list[Any]) -> list[Any]:
            batch = None if size is None else BatchLevel(size)
            moving = given[count:] if batch is None else [BatchTensor(x, batch) for x in given[count:]]
            found = function(given[:count], moving, batch)
            return found if batch is None else [unbatch(x, batch) for x in found]

        axis = () if size is None else (size,)
        samples = [sample(x) for x in carried] + [np.ones((*axis, *x.shape), x.dtype) for x in like]
        found = TracedFunction(level, traced, samples)
        self.level, self.rule = level, rule
        self.program = program = optimise(found.program)
        self.outside = dict(zip(program.inputs[len(samples) :], found.read, strict=True))
        self.carry, self.moving = program.inputs[:count], program.inputs[count : len(samples)]
        self.results = list(program.outputs)
        # `LoopEmitter.emit_back` takes ids from the next one on: one for each cotangent, and two for each total
        self._next = program.next_id() + len(program.inputs) + 2 * len(program.outputs)

    def _new(self, dtype: Any) -> Value:
        self._next += 1
        return Value(self._next, (), np.dtype(dtype))

    def emit_back(
        self,
        steps: Any,
        stacks: Arrays,
        state: Sequence[tuple[Value, Any, Value | None]],
        totals: list[Value],
        rows: int,
    ) -> tuple[list[Any], list[Any]]:
        """Emit the loop from the last row to the first; the cotangents before it, and the sums of `totals`."""
        goes_on, row, following, holds = self._new(bool), self._new(_ROW_TYPE), self._new(_ROW_TYPE), self._new(bool)
        control = [
            Instruction(TABLE["subtract"], (row, Literal(1)), {}, (following,)),
            Instruction(TABLE["greater_equal"], (following, Literal(0)), {}, (holds,)),
        ]
        first = [emit_op(self.level, TABLE["greater"], (steps, np.asarray(0)), {})]
        first.append(emit_op(self.level, TABLE["subtract"], (steps, np.asarray(1)), {}))
        carried = [(goes_on, first[0], holds), (row, first[1], following), *state]
        emitter = WhileEmitter(self.level, self.program, self.outside)
        last, sums, _ = emitter.emit_back(
            [*self.program.instructions, *control], carried, totals, self._rows(stacks), [], rows
        )
        return last[CONTROLS:], sums

    def emit_forth(self, steps: Any, stacks: Arrays, state: Sequence[tuple[Value, Any, Value]], rows: int) -> list[Any]:
        """Emit the loop from the first row to the last; the tangents after it."""
        goes_on, row, following, holds = self._new(bool), self._new(_ROW_TYPE), self._new(_ROW_TYPE), self._new(bool)
        count = self._new(_ROW_TYPE)
        control = [
            Instruction(TABLE["add"], (row, Literal(1)), {}, (following,)),
            Instruction(TABLE["less"], (following, count), {}, (holds,)),
        ]
        begins = emit_op(self.level, TABLE["greater"], (steps, np.asarray(0)), {})
        carried = [(goes_on, begins, holds), (row, np.asarray(0), following), *state]
        emitter = WhileEmitter(self.level, self.program, {**self.outside, count: steps})
        last, _ = emitter.emit([*self.program.instructions, *control], carried, self._rows(stacks), [], rows)
        return last[CONTROLS:]

    def _rows(self, stacks: Arrays) -> list[tuple[Value, Any, Walk]]:
        return [(self.carry[i], stack, Walk(0, 1)) for i, stack in zip(self.rule.stacked, stacks, strict=True)]
