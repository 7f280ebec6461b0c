"""The rules of lowered instructions and of plans, each broken once."""

import numpy as np
import pytest

from gradtape.jit.ir.program import ProgramError
from gradtape.jit.native.lower.ir import CHECK_INDEX, CONSTANT, GATHER, PART, SCATTER_ADD, LoweredNumber, LoweredValue
from gradtape.jit.native.lower.ir import LoweredInstruction as Lowered
from gradtape.jit.native.lower.support import WINDOW_READ, ZERO_OUTSIDE
from gradtape.jit.native.schedule.fusion import FusionPlan
from gradtape.jit.native.schedule.verify import verify_instructions, verify_plan, verify_workspace

from ..programs import Builder

DOUBLE, INTEGER = np.dtype(float), np.dtype(np.int64)


def made(*shape, dtype=DOUBLE):
    return LoweredValue(shape, dtype)


def broken():
    """Instructions that break a rule, the inputs, the output, and words of the message."""
    x, y, z, k = made(4), made(4), made(6), made(4, dtype=INTEGER)
    window = {"window": ((1, 5),)}
    seen = made(6)
    return {
        "an operand that is not there": ([Lowered((y,), (x,), "sin", {})], (), x, "read before it is there"),
        "a value that is made twice": ([Lowered((x,), (y,), "sin", {})] * 2, (x,), y, "made twice"),
        "an output that is not made": ([], (x,), y, "is not made"),
        "an operand that is an object": ([Lowered((x, 2.0), (y,), "add", {})], (x,), y, "neither a value nor a number"),
        "another shape": ([Lowered((x, LoweredNumber(1.0)), (z,), "add", {})], (x,), z, r"not \(4,\)"),
        "a dtype without a native form": (
            [Lowered((x,), (o := made(4, dtype=np.dtype(complex)),), "sin", {})], (x,), o, "no native form",
        ),
        "a part that is missing": (
            [Lowered((x,), (z,), PART, {"index": (slice(0, 4),)})], (x,), z, "are missing",
        ),
        "a part that is written twice": (
            [Lowered((x,), (z,), PART, {"index": (slice(i, i + 4),)}) for i in (0, 2)], (x,), z, "written twice",
        ),
        "a window that is too large": (
            [Lowered((x,), (z,), WINDOW_READ, {"window": ((0, 5),)})], (x,), z, "not as large as",
        ),
        "a window over the edge": ([Lowered((x,), (z,), WINDOW_READ, {"window": ((3, 7),)})], (x,), z, "over the edge"),
        "a window of a window": (
            [Lowered((x,), (seen,), WINDOW_READ, window), Lowered((seen,), (z,), WINDOW_READ, {"window": ((0, 6),)})],
            (x,), z, "through another one",
        ),
        "zero outside of another window": (
            [
                Lowered((x,), (seen,), WINDOW_READ, window),
                Lowered((seen,), (z,), ZERO_OUTSIDE, {"window": ((0, 4),), "leaf": seen}),
            ],
            (x,), z, "not computed from that window",
        ),
        "a sum of another shape": ([Lowered((x,), (y,), "sum", {"axis": None})], (x,), y, r"not \(\)"),
        "a slice of another shape": ([Lowered((x,), (y,), "getitem", {"index": (slice(1, 4),)})], (x,), y, r"\(3,\)"),
        "a scatter of another shape": (
            [Lowered((x,), (z,), "scatter", {"index": (slice(0, 5),)})], (x,), z, "the part has the shape",
        ),
        "positions that are floats": ([Lowered((x,), (y,), CHECK_INDEX, {"length": 3})], (x,), y, "not integers"),
        "elements along two axes": (
            [Lowered((k,), (y,), GATHER, {"table": (t := made(2, 2))})], (k, t), y, "along several axes",
        ),
        "fewer positions than elements": (
            [Lowered((z, k), (y,), SCATTER_ADD, {"adds": True})], (z, k), y, "one position for each element",
        ),
        "an array that is another one": ([Lowered((), (x,), CONSTANT, {"array": np.zeros(3)})], (), x, r"not \(3,\)"),
    }  # fmt: skip


@pytest.mark.parametrize("name", broken())
def test_a_broken_rule_is_named(name):
    """Instructions that break a rule are refused, with the stage after which they did."""
    instructions, inputs, output, words = broken()[name]
    with pytest.raises(ProgramError, match=rf"after testing: .*{words}"):
        verify_instructions(instructions, inputs, [output], "testing")


def plan_of_two_nests():
    """A sum, and what is computed from it."""
    builder = Builder()
    x = builder.input((5,))
    total = builder("sum", builder("sin", x), axis=None, keepdims=True)
    result = builder("multiply", x, total)
    return FusionPlan(builder.instructions, builder.inputs, [result]), total, result


def test_a_read_before_the_write_is_refused():
    """A nest that runs before the one that makes what it reads is refused."""
    plan, _, _ = plan_of_two_nests()
    for nest in plan.nests:
        nest.level = -nest.level
    with pytest.raises(ProgramError, match="read before it is written"):
        verify_plan(plan)


def test_a_read_outside_of_a_buffer_is_refused():
    """A value that lies elsewhere than its buffer is refused."""
    plan, _, _ = plan_of_two_nests()
    (x,) = plan.inputs
    plan.layouts[x] = plan.layouts[x]._replace(offset=2)
    with pytest.raises(ProgramError, match=r"elements 2 to 6 of .*, which has 5, are accessed"):
        verify_plan(plan)


def test_an_output_that_is_not_written_is_refused():
    """A plan has to write its outputs."""
    plan, _, _ = plan_of_two_nests()
    plan.nests.pop()
    with pytest.raises(ProgramError, match="is not written"):
        verify_plan(plan)


def test_temporaries_that_are_needed_at_once_do_not_share_memory():
    """Memory is shared by those that are never needed at the same time, and by one that is written over the other."""
    lives, pieces = {"a": (0, 2), "b": (2, 3)}, {"a": (0, 64), "b": (32, 64)}
    with pytest.raises(ProgramError, match="share memory"):
        verify_workspace(lives, pieces, {})
    verify_workspace(lives, pieces, {"a": "b"})
    verify_workspace({"a": (0, 1), "b": (2, 3)}, pieces, {})
