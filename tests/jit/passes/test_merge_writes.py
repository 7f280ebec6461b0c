"""What is added to a part that was just set is computed before it is set: the same bits, fewer writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import Constant, Instruction, Program, Value
from gradtape.jit.passes.merge_writes import merge_writes

FLOAT = np.dtype(float)
PART = (slice(2, 5),)


def build(*rows: tuple[str, tuple[Any, ...], dict[str, Any], tuple[int, ...]], outputs: tuple[int, ...]) -> Program:
    """A program of an array `0`, two parts `1` and `2` and the constant zero `3`; values are named by numbers."""
    values = {n: Value(n, shape, FLOAT) for n, shape in enumerate(((6,), (3,), (3,), ()))}
    location = gt.jit(lambda x: x + 1.0).lower(np.ones(2)).instructions[0].location
    made = []
    for number, (name, operands, params, shape) in enumerate(rows, 4):
        values[number] = Value(number, shape, FLOAT)
        made.append(Instruction(TABLE[name], tuple([values[n] for n in operands]), params, (values[number],), location))
    zero = Constant(values[3], np.zeros(()))
    return Program((values[0], values[1], values[2]), (zero,), tuple(made), tuple([values[n] for n in outputs]))


def names(program: Program) -> list[str]:
    return [instruction.name for instruction in program.instructions]


def test_what_is_added_to_a_part_that_was_set_is_added_before() -> None:
    """Two additions to what was set are sums, in their order, and one write."""
    index = {"index": PART}
    program = build(
        ("set", (0, 1), index, (6,)),
        ("add_at", (4, 2), index, (6,)),
        ("add_at", (5, 1), index, (6,)),
        outputs=(6,),
    )
    merged = merge_writes(program)
    assert names(merged) == ["add", "add", "set"]
    assert merged.instructions[1].operands[0] is merged.instructions[0].result
    assert merged.outputs == program.outputs


def test_what_is_added_to_zero_is_set() -> None:
    """A part that was set to zero becomes what is added to it."""
    index = {"index": PART}
    merged = merge_writes(build(("set", (0, 3), index, (6,)), ("add_at", (4, 2), index, (6,)), outputs=(5,)))
    assert names(merged) == ["set"]
    assert merged.instructions[0].operands[1] is merged.inputs[2]


def test_part_that_is_put_back_is_not_written() -> None:
    """What was read of a part, which is set to zero and to which it is added again, stays where it is."""
    index = {"index": PART}
    program = build(
        ("getitem", (0,), index, (3,)),
        ("set", (0, 3), index, (6,)),
        ("add_at", (5, 4), index, (6,)),
        outputs=(6,),
    )
    merged = merge_writes(program)
    assert names(merged) == []
    assert merged.outputs == (program.inputs[0],)


def test_sum_with_an_array_that_is_zero_elsewhere_is_added_to_the_part() -> None:
    """`add` of a scatter, on either side, to the part that was set; order of the additions as it was."""
    index = {"index": PART}
    program = build(
        ("set", (0, 3), index, (6,)),
        ("scatter", (1,), {**index, "shape": (6,)}, (6,)),
        ("add", (4, 5), {}, (6,)),
        ("scatter", (2,), {**index, "shape": (6,)}, (6,)),
        ("add", (7, 6), {}, (6,)),
        outputs=(8,),
    )
    merged = merge_writes(program)
    assert names(merged) == ["add", "set"]
    assert merged.instructions[0].operands == (program.inputs[1], program.inputs[2])
    another = build(
        ("set", (0, 3), index, (6,)),
        ("scatter", (1,), {"index": (slice(1, 4),), "shape": (6,)}, (6,)),
        ("add", (4, 5), {}, (6,)),
        outputs=(6,),
    )
    assert merge_writes(another) is another


@pytest.mark.parametrize(
    ("rows", "outputs"),
    [
        ([("set", (0, 1), {"index": PART}, (6,)), ("add_at", (4, 2), {"index": (slice(1, 4),)}, (6,))], (5,)),
        ([("set", (0, 1), {"index": PART}, (6,)), ("add_at", (4, 2), {"index": PART}, (6,))], (4, 5)),
        ([("set", (0, 1), {"index": PART}, (6,)), ("add_at", (4, 3), {"index": PART}, (6,))], (5,)),
        ([("set", (0, 1), {"index": (np.array([2, 3, 4]),)}, (6,)), ("add_at", (4, 2), {"index": PART}, (6,))], (5,)),
        ([("add_at", (0, 1), {"index": PART}, (6,)), ("add_at", (4, 2), {"index": PART}, (6,))], (5,)),
    ],
    ids=["another part", "the first version is an output", "a broadcast number", "index arrays", "two additions"],
)
def test_other_writes_stay(rows: list[Any], outputs: tuple[int, ...]) -> None:
    """Writes to other parts, versions that are needed, broadcast values, and additions whose order would change."""
    program = build(*rows, outputs=outputs)
    assert merge_writes(program) is program


def test_loop_with_a_moving_row_is_merged() -> None:
    """In the body of a loop, too, where the index is an operand: the gradient equals that of eager mode."""

    def accumulate(x: Any) -> Any:
        for i in range(1, 30):
            x[i] = x[i] * 0.5
            x[i] += np.sin(x[i - 1])
        return np.sum(x * x)

    x = np.linspace(0.1, 1.0, 30)
    step = gt.value_and_grad(accumulate)
    compiled = gt.jit(step)
    for _ in range(2):
        found, expected = compiled(x.copy()), step(x.copy())
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)
