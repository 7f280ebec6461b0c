"""`gt.while_loop` inside `jit`, and loops of attempts: traced as one `WHILE`, one operation on the tapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.pytree import leaves
from gradtape.jit.errors import Unrollable
from gradtape.jit.trace.loops.scan_body import current_level, fill, is_on_tape, level_of
from gradtape.jit.trace.loops.scan_op import lift_inputs
from gradtape.jit.trace.loops.while_rule import AttemptsBody, WhileRule
from gradtape.jit.trace.tracer import TracingLevel
from gradtape.loops.while_loop import Attempts, TracedAttempts
from gradtape.transforms.custom.arrays import is_recorded
from gradtape.transforms.custom.rules import apply_flat

FEWEST_ROWS = 64
"""How many carries can be kept for a gradient at least."""


def trace_attempts_if_tracing(attempts: Attempts, rows: int | None) -> TracedAttempts | None:
    """The results of a while loop as those of a loop of the program; None outside of `jit`, or where that is not
    possible."""
    level = current_level(leaves(attempts.carry))
    if level is None:
        return None
    try:
        return trace_attempts(level, attempts, rows)
    except Unrollable:
        return None


def trace_attempts(level: TracingLevel, attempts: Attempts, rows: int | None) -> TracedAttempts | None:
    """Trace a while loop; None if nothing in it is traced."""
    body = AttemptsBody(attempts)
    begins = attempts.condition(attempts.carry)
    rule = WhileRule(level, body)
    if not rule.read and level_of([*body.carried, begins]) is None:
        return None
    inputs = lift_inputs(level, [*body.carried, *rule.read])
    if any(is_on_tape(x) and is_recorded(x) for x in inputs):
        kept = rows or _rows_for(rule, begins)
        rule.keep_carries(kept)
    rule.begins = level.lift(np.asarray(begins)) if isinstance(begins, bool) else begins
    *last, accepted, is_full = apply_flat(rule, inputs)
    if rule.rows and rows is None and is_full:  # a guard: more steps are traced again, with more rows
        raise AssertionError("a while loop has fewer rows than steps")
    return TracedAttempts(fill(attempts.carry, last), accepted, is_full)


def _rows_for(rule: WhileRule, begins: Any) -> int:
    """How many rows to keep carries in: several times as many as this call takes steps."""
    steps = rule.count_steps(begins)
    return max(FEWEST_ROWS, 1 << (2 * steps).bit_length())
