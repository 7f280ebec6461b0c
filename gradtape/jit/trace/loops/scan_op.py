"""`gt.scan` inside `jit`: traced as one `Loop`, recorded on the tapes as one operation."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from gradtape.core.kept_state import bind_state
from gradtape.core.location import is_library
from gradtape.core.operation import Lifted
from gradtape.core.pytree import leaves, rebuild
from gradtape.jit.errors import Unrollable
from gradtape.jit.guards.captures import Survey
from gradtape.jit.guards.snapshot import Snapshot
from gradtape.jit.trace.loops.scan_body import (
    Function,
    ScanBody,
    TracedFunction,
    current_level,
    fill,
    is_on_tape,
    level_of,
)
from gradtape.jit.trace.loops.scan_rule import JointStep, ScanRule, sample
from gradtape.jit.trace.tracer import TracingLevel
from gradtape.loops.memory import SegmentPlan, plan_for
from gradtape.ops import concatenate
from gradtape.transforms.custom.arrays import is_recorded
from gradtape.transforms.custom.errors import definition_of
from gradtape.transforms.custom.rules import apply_flat


def trace_scan_if_tracing(
    f: Function, carry: Any, xs: Any, steps: int, reverse: bool, budget: int | None, recompute: bool
) -> tuple[Any, Any] | None:
    """The results of a scan as those of a loop of the program; None outside of `jit`, and where that cannot be done."""
    level = current_level(leaves((carry, xs)))
    if level is None:
        return None
    try:
        return trace_scan(level, f, carry, xs, steps, reverse, budget, recompute)
    except Unrollable:
        return None


def trace_scan(
    level: TracingLevel,
    f: Function,
    carry: Any,
    xs: Any,
    steps: int,
    reverse: bool,
    budget: int | None = None,
    recompute: bool = False,
) -> tuple[Any, Any] | None:
    """Trace a scan as a loop of the program; its results, or None if nothing in it is traced."""
    body = ScanBody(bind_state(f), carry, xs)
    first = steps - 1 if reverse else 0
    samples = [sample(x) for x in body.carried] + [sample(x)[first] for x in body.rows]
    forward = _trace_body(level, body, samples)
    if not forward.read and level_of([*body.carried, *body.rows]) is None:
        return None
    y = body.y
    rule = ScanRule(body, forward.read, steps, reverse, forward, recompute)
    inputs = lift_inputs(level, [*body.carried, *body.rows, *forward.read])
    if any(is_on_tape(x) and is_recorded(x) for x in inputs):
        rule.joint = JointStep(rule, level)
        if budget is not None:
            carried = sum(sample(x).nbytes for x in body.carried)
            plan = plan_for(
                rule.joint.nbytes * 3 // 2, carried, carried, steps, budget
            )  # plus half: memory of the backward pass itself
            if plan.levels:
                return _scan_in_segments(f, carry, xs, steps, reverse, plan, plan.levels)
    results = apply_flat(rule, inputs)
    count = len(body.carried)
    return fill(carry, results[:count]), fill(y, results[count:])


def lift_inputs(level: TracingLevel, values: list[Any]) -> list[Any]:
    """The inputs of a loop: tracers, and constants that are on a tape; at least one tracer, by which it is traced."""
    inputs = [x if is_on_tape(x) or isinstance(x, Lifted) else level.lift(x) for x in values]
    if not any(isinstance(x, Lifted) for x in inputs):
        inputs[0] = inputs[0] * level.lift(np.ones((), inputs[0].dtype))  # recorded on its tape, and traced
    return inputs


def _trace_body(level: TracingLevel, body: ScanBody, samples: list[Any]) -> TracedFunction:
    """The trace of one step; raises `Unrollable`, with all undone, if the user's code in it changes what is outside."""

    def step(given: list[Any]) -> list[Any]:
        return [part for parts in body(given) for part in parts]

    code = definition_of(body.f).code
    if code is not None and is_library(code.co_filename):
        return TracedFunction(level, step, samples)
    before = Snapshot(Survey(inspect.unwrap(body.f), ambient=False))
    try:
        forward = TracedFunction(level, step, samples)
    except Unrollable:
        before.restore()
        raise
    if before.restore():
        raise Unrollable("it changes what is outside of it")
    return forward


def _scan_in_segments(
    f: Function, carry: Any, xs: Any, steps: int, reverse: bool, plan: SegmentPlan, levels: int
) -> tuple[Any, Any]:
    """Nested checkpointing: a loop over segments, each a loop that keeps its first carry; then the remaining steps."""
    level = current_level(leaves((carry, xs)))
    assert level is not None
    if not levels or steps <= plan.segment:
        found = trace_scan(level, f, carry, xs, steps, reverse)
        assert found is not None  # it is on a tape, so it is traced
        return found
    size = plan.segment * plan.branching ** (levels - 1)
    count = steps // size
    if count < 2:
        return _scan_in_segments(f, carry, xs, steps, reverse, plan, levels - 1)
    whole = count * size

    def segment(carry: Any, part: Any) -> Any:
        return _scan_in_segments(f, carry, part, size, reverse, plan, levels - 1)

    def most(carry: Any) -> tuple[Any, Any]:
        grouped = [None if x is None else x[:whole].reshape((count, size, *x.shape[1:])) for x in leaves(xs)]
        found = trace_scan(level, segment, carry, rebuild(xs, grouped), count, reverse, recompute=True)
        assert found is not None
        carry, ys = found
        flat = [None if y is None else y.reshape((whole, *y.shape[2:])) for y in leaves(ys)]
        return carry, rebuild(ys, flat)

    def rest(carry: Any) -> tuple[Any, Any]:
        left = rebuild(xs, [None if x is None else x[whole:] for x in leaves(xs)])
        return _scan_in_segments(f, carry, left, steps - whole, reverse, plan, levels - 1)

    if whole == steps:
        return most(carry)
    carry, first = (rest if reverse else most)(carry)
    carry, second = (most if reverse else rest)(carry)
    parts = (second, first) if reverse else (first, second)
    columns = zip(leaves(parts[0]), leaves(parts[1]), strict=True)
    joined = [None if one is None else concatenate([one, other]) for one, other in columns]
    return carry, rebuild(first, joined)
