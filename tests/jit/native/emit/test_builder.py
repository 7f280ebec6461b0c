"""Integer constants are folded by the builder: no instruction is emitted."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

import pytest

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.builder import Builder
from gradtape.jit.native.runtime.llvm import host

LONG = ir.IntType(64)
NUMBERS = (0, 1, 7, 12)


def arithmetic(builder: Any, x: Any, y: Any) -> list[Any]:
    """Everything that may be left out, as whole numbers."""
    relations = [builder.icmp_signed(relation, x, y) for relation in ("<", ">", "==")]
    chosen = [builder.select(relation, x, y) for relation in relations]
    divided = [] if isinstance(y, ir.Constant) and y.constant == 0 else [builder.udiv(x, y)]
    return [builder.add(x, y), builder.sub(x, y), builder.mul(x, y), *chosen, *divided]


def results(make: Any, x: int, y: int, known: tuple[bool, bool]) -> list[int]:
    """What the code for a pair of numbers gives, with one, both or none of them written into it."""
    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(LONG, [LONG, LONG, LONG]), "run")
    builder = make(function.append_basic_block())
    operands = [LONG(n) if is_known else arg for n, is_known, arg in zip((x, y), known, function.args, strict=False)]
    values = arithmetic(builder, *operands)
    chosen = values[0]
    for number, value in enumerate(values):
        chosen = builder.select(builder.icmp_signed("==", function.args[2], LONG(number)), value, chosen)
    builder.ret(chosen)
    run = host().compile(str(module), ["run"]).function("run", ctypes.c_int64, *[ctypes.c_int64] * 3)
    return [run(x, y, number) for number in range(len(values))]


@pytest.mark.parametrize("known", [(True, True), (True, False), (False, True)])
def test_what_is_left_out_would_change_nothing(known: tuple[bool, bool]) -> None:
    """Code without the instructions whose results are known gives what the code with all of them gives."""
    for x, y in itertools.product(NUMBERS, NUMBERS):
        if y:
            assert results(Builder, x, y, known) == results(ir.IRBuilder, x, y, known)


def test_nothing_is_written_for_numbers_that_are_known() -> None:
    """Arithmetic of constants, and with the number that changes nothing, leaves no instruction."""
    function = ir.Function(ir.Module(), ir.FunctionType(LONG, [LONG]), "run")
    block = function.append_basic_block()
    builder, (x,) = Builder(block), function.args
    assert builder.add(LONG(3), LONG(4)).constant == 7
    assert builder.select(builder.icmp_signed("<", LONG(3), LONG(4)), x, LONG(0)) is x
    for kept in (builder.add(x, LONG(0)), builder.sub(x, LONG(0)), builder.mul(LONG(1), x), builder.udiv(x, LONG(1))):
        assert kept is x
    assert not block.instructions
