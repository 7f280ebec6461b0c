"""The IR that is written as text is what LLVM reads: every instruction of the builder, constants, and mistakes."""

from __future__ import annotations

import ctypes
import math
import struct
from typing import Any

import llvmlite.binding as llvm
import pytest

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.runtime.llvm import host

LONG, DOUBLE, FLOAT, BIT, POINTER = ir.IntType(64), ir.DoubleType(), ir.FloatType(), ir.IntType(1), ir.PointerType()
BINARY = ["add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and_", "or_", "xor"]
EXPECTED = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "udiv": lambda x, y: x // y,
    "sdiv": lambda x, y: x // y,
    "urem": lambda x, y: x % y,
    "srem": lambda x, y: x % y,
    "shl": lambda x, y: x << y,
    "lshr": lambda x, y: x >> y,
    "ashr": lambda x, y: x >> y,
    "and_": lambda x, y: x & y,
    "or_": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
}


def start(result: ir.Type, *arguments: ir.Type) -> tuple[ir.Function, ir.IRBuilder]:
    """A function in a module of its own, and a builder in it."""
    function = ir.Function(ir.Module("test"), ir.FunctionType(result, arguments), "function")
    return function, ir.IRBuilder(function.append_basic_block("entry"))


def compiled(function: ir.Function, result: Any, *arguments: Any) -> Any:
    """The function in memory."""
    return host().compile(str(function.module), ["function"]).function("function", result, *arguments)


def integer_function(function: ir.Function) -> Any:
    return compiled(function, ctypes.c_int64, *[ctypes.c_int64] * len(function.args))


@pytest.mark.parametrize("name", BINARY)
def test_integer_arithmetic(name: str) -> None:
    function, builder = start(LONG, LONG, LONG)
    builder.ret(getattr(builder, name)(*function.args))
    assert integer_function(function)(37, 5) == EXPECTED[name](37, 5)


@pytest.mark.parametrize("name", ["fadd", "fsub", "fmul", "fdiv", "frem"])
def test_float_arithmetic(name: str) -> None:
    function, builder = start(DOUBLE, DOUBLE, DOUBLE)
    builder.ret(getattr(builder, name)(*function.args))
    expected = {"fadd": 9.5, "fsub": 5.5, "fmul": 15.0, "fdiv": 3.75, "frem": 1.5}[name]
    assert compiled(function, ctypes.c_double, ctypes.c_double, ctypes.c_double)(7.5, 2.0) == expected


@pytest.mark.parametrize("relation", ["<", "<=", ">", ">=", "==", "!="])
def test_comparisons(relation: str) -> None:
    function, builder = start(LONG, LONG, LONG)
    x, y = function.args
    signed, unsigned = builder.icmp_signed(relation, x, y), builder.icmp_unsigned(relation, x, y)
    numbers = [builder.sitofp(value, DOUBLE) for value in (x, y)]
    ordered, unordered = builder.fcmp_ordered(relation, *numbers), builder.fcmp_unordered(relation, *numbers)
    total: ir.Value = LONG(0)
    for weight, bit in enumerate((signed, unsigned, ordered, unordered)):
        total = builder.add(total, builder.shl(builder.zext(bit, LONG), LONG(weight)))
    builder.ret(total)
    run = integer_function(function)
    for left, right in [(1, 2), (2, 1), (3, 3), (-1, 2)]:
        plain = eval(f"{left} {relation} {right}")
        without_sign = eval(f"{left % 2**64} {relation} {right % 2**64}")
        assert run(left, right) == 13 * plain + 2 * without_sign


def test_only_unordered_comparisons_hold_of_nan() -> None:
    function, builder = start(LONG, DOUBLE)
    (x,) = function.args
    unordered, ordered = builder.fcmp_unordered("!=", x, x), builder.fcmp_ordered("!=", x, x)
    builder.ret(builder.zext(builder.and_(unordered, builder.not_(ordered)), LONG))
    run = compiled(function, ctypes.c_int64, ctypes.c_double)
    assert [run(math.nan), run(1.0)] == [1, 0]


def test_vectors_structures_and_conversions_are_what_llvm_reads() -> None:
    function, builder = start(LONG, DOUBLE, LONG, POINTER)
    x, n, p = function.args
    lanes = ir.VectorType(DOUBLE, 4)
    vector = builder.insert_element(ir.Constant(lanes, ir.Undefined), x, ir.IntType(32)(0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), 4), [0, 0, 0, 0])
    vector = builder.shuffle_vector(vector, ir.Constant(lanes, ir.Undefined), mask)
    vector = builder.fneg(builder.fadd(vector, ir.Constant(lanes, [ir.Constant(DOUBLE, i) for i in range(4)])))
    smaller = builder.fcmp_ordered("<", vector, ir.Constant(lanes, None))
    chosen = builder.select(smaller, vector, ir.Constant(lanes, None))
    last = builder.extract_element(chosen, ir.IntType(32)(3))
    pair = builder.insert_value(ir.Constant(ir.LiteralStructType([DOUBLE, LONG]), ir.Undefined), last, 0)
    pair = builder.insert_value(pair, builder.neg(n), 1)
    narrow = builder.fpext(builder.fptrunc(builder.extract_value(pair, 0), FLOAT), DOUBLE)
    total = builder.add(builder.fptosi(narrow, LONG), builder.extract_value(pair, 1))
    total = builder.add(total, builder.sext(builder.trunc(n, ir.IntType(8)), LONG))
    total = builder.add(total, builder.fptoui(builder.uitofp(n, DOUBLE), LONG))
    total = builder.add(total, builder.bitcast(builder.bitcast(n, DOUBLE), LONG))
    total = builder.add(total, builder.ptrtoint(builder.inttoptr(builder.ptrtoint(p, LONG), POINTER), LONG))
    builder.ret(builder.add(total, builder.ctlz(n, BIT(0))))
    run = compiled(function, ctypes.c_int64, ctypes.c_double, ctypes.c_int64, ctypes.c_void_p)
    assert run(2.0, 7, 1000) == -5 - 7 + 7 + 7 + 7 + 1000 + 61


def test_memory_loops_and_branches() -> None:
    """The sum of the squares of the even numbers in a table, through a local array, a loop, a switch and branches."""
    function, builder = start(LONG, POINTER, LONG)
    pointer, count = function.args
    totals = builder.alloca(ir.ArrayType(LONG, 2))
    totals.align = 64
    for i in range(2):
        builder.store(LONG(0), builder.gep(totals, [LONG(0), LONG(i)], inbounds=True))
    before, entry = builder.block, builder.block
    head, body, after = (builder.append_basic_block(name) for name in ("head", "body", "after"))
    builder.branch(head)
    builder.position_at_end(head)
    index = builder.phi(LONG)
    index.add_incoming(LONG(0), before)
    builder.cbranch(builder.icmp_signed("<", index, count), body, after)
    builder.position_at_end(body)
    with builder.goto_block(entry):  # a local variable that is made in the entry, although that has its end
        square = builder.alloca(LONG)
    value = builder.load(builder.gep(pointer, [index], source_etype=LONG), typ=LONG, align=8)
    with builder.if_else(builder.icmp_signed(">", value, LONG(100)), likely=False) as (yes, no):
        with yes:
            builder.store(LONG(0), square)
        with no:
            builder.store(builder.mul(value, value), square)
    even, done = builder.append_basic_block("even"), builder.append_basic_block("done")
    builder.switch(builder.and_(value, LONG(1)), done).add_case(LONG(0), even)
    builder.position_at_end(even)
    place = builder.gep(totals, [LONG(0), LONG(1)])
    builder.atomic_rmw("add", place, builder.load(square), "seq_cst")
    with builder.if_then(builder.icmp_signed("<", value, LONG(0)), likely=True):
        builder.store(LONG(-1), place)
    builder.branch(done)
    builder.position_at_end(done)
    index.add_incoming(builder.add(index, LONG(1)), builder.block)
    builder.branch(head)
    builder.position_at_end(after)
    builder.ret(builder.load(builder.gep(totals, [LONG(0), LONG(1)])))
    numbers = (ctypes.c_int64 * 5)(2, 3, 4, 200, 6)
    assert compiled(function, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(numbers, 5) == 4 + 16 + 36


def test_globals_and_calls() -> None:
    """Constant tables, bytes, copies and fills by LLVM's intrinsics, functions of the module and of addresses."""
    module = ir.Module("test")
    table = ir.GlobalVariable(module, ir.ArrayType(LONG, 3), "a table")
    table.linkage, table.global_constant, table.align = "internal", True, 32
    table.initializer = ir.Constant(table.value_type, [5, 6, 7])
    text = ir.GlobalVariable(module, ir.ArrayType(ir.IntType(8), 3), "text")
    text.linkage, text.initializer = "internal", ir.Constant(text.value_type, bytearray(b'a"\xff'))
    double = ir.Function(module, ir.FunctionType(LONG, [LONG]), "double")
    double.linkage = "internal"
    double.attributes.add("noinline")
    double.attributes.alignstack = 64
    inside = ir.IRBuilder(double.append_basic_block())
    inside.ret(inside.add(double.args[0], double.args[0]))
    function = ir.Function(module, ir.FunctionType(LONG, [LONG]), "function")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    copy = builder.alloca(table.value_type)
    builder.call(module.declare_intrinsic("llvm.memcpy", [POINTER, POINTER, LONG]), [copy, table, LONG(24), BIT(0)])
    fill = module.declare_intrinsic("llvm.memset", (POINTER, LONG))
    builder.call(fill, [copy, ir.IntType(8)(0), LONG(8), BIT(0)])
    total = builder.call(double, [builder.load(builder.gep(copy, [LONG(0), function.args[0]]))])
    again = builder.inttoptr(builder.ptrtoint(double, LONG), double.ftype.as_pointer())
    byte = builder.load(builder.gep(text, [LONG(0), function.args[0]]))
    builder.ret(builder.add(builder.call(again, [total]), builder.zext(byte, LONG)))
    run = integer_function(function)
    assert [run(i) for i in range(3)] == [ord("a"), 24 + ord('"'), 28 + 255]
    with pytest.raises(ValueError, match="two globals with the name 'double'"):
        ir.Function(module, double.ftype, "double")


@pytest.mark.parametrize("number", [0.1, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1e308])
@pytest.mark.parametrize("kind", [DOUBLE, FLOAT])
def test_constants_have_the_bits_of_the_number(number: float, kind: ir.Type) -> None:
    letter = "d" if kind is DOUBLE else "f"
    if kind is FLOAT and 1e38 < number < math.inf:
        with pytest.raises(OverflowError):
            ir.Constant(kind, number)
        return
    (expected,) = struct.unpack(f"<{letter}", struct.pack(f"<{letter}", number))
    function, builder = start(kind)
    builder.ret(ir.Constant(kind, number))
    found = compiled(function, ctypes.c_double if kind is DOUBLE else ctypes.c_float)()
    assert struct.pack("<d", found) == struct.pack("<d", expected)


def test_mistakes_are_refused() -> None:
    function, builder = start(LONG, LONG, DOUBLE)
    with pytest.raises(ValueError, match="operands of add have the types i64 and double"):
        builder.add(*function.args)
    with pytest.raises(ValueError, match="operands of icmp have the types i64 and double"):
        builder.icmp_signed("<", *function.args)
    with pytest.raises(ValueError, match="was called with 1 arguments; it has 2"):
        builder.call(function, function.args[:1])
    with pytest.raises(TypeError, match="no constant of the type half"):
        ir.Constant(ir.HalfType(), 1.0)
    builder.ret(LONG(0))
    with pytest.raises(AssertionError, match="a block has one end"):
        builder.ret(LONG(0))
    unfinished, _ = start(LONG)
    with pytest.raises(RuntimeError):
        llvm.parse_assembly(str(unfinished.module))
