"""The check of a program against the specification at the top of `gradtape.jit.ir.program`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gradtape.core.shapes import Shape
from gradtape.jit.ir.program import (
    GUARD,
    LOOP,
    Instruction,
    Literal,
    Program,
    ProgramError,
    Value,
    Walk,
    depends_on_values,
    params_key,
    show_param,
    spec_of,
)
from gradtape.jit.ir.while_loop import WHILE, verify_while


def verify(program: Program, run: bool = True) -> Program:
    """`program`, if it keeps the specification; raises a `ProgramError` that names the instruction if not.

    With `run`, every kernel is called on arrays of ones, and the results' shapes and dtypes are compared.

    >>> import numpy as np
    >>> from gradtape.jit import jit
    >>> from gradtape.jit.ir.verify import verify
    >>> step = jit(lambda x: x + 1.0)
    >>> verify(step.lower(np.ones(3))) is step.program
    True
    """
    defined: set[Value] = set()
    ids: set[int] = set()

    def define(value: Value, what: str | Instruction) -> None:
        if value.id in ids:
            raise ProgramError(f"{_called(what)} {value!r} is defined twice")
        if min(value.shape, default=0) < 0 or not isinstance(value.dtype, np.dtype):
            raise ProgramError(f"{_called(what)} {value!r} has no shape and dtype")
        defined.add(value)
        ids.add(value.id)

    for value in program.inputs:
        define(value, "the input")
    for constant in program.constants:
        define(constant.value, "the constant")
        if spec_of(constant.array) != (constant.value.shape, constant.value.dtype):
            raise ProgramError(f"the constant {constant.value!r} holds {show_param(constant.array)}")
    for instruction in program.instructions:
        for operand in instruction.operands:
            if type(operand) is Value and operand not in defined:
                raise ProgramError(f"{operand!r} is used before it is defined, in {instruction!r}")
            if type(operand) is not Value and type(operand) is not Literal:
                raise ProgramError(f"an operand is neither a value nor a literal, in {instruction!r}")
        for result in instruction.results:
            define(result, instruction)
        params_key(instruction.params)
        if instruction.op is GUARD:
            _verify_guard(instruction)
        elif instruction.op is LOOP:
            _verify_loop(instruction, run)
        elif instruction.op is WHILE:
            verify_while(instruction)
            verify(instruction.params["loop"].body, run)
        elif run and not instruction.effect and not depends_on_values(instruction.op):
            _verify_kernel(instruction)
    for value in program.outputs:
        if value not in defined:
            raise ProgramError(f"the output {value!r} is not defined")
    return program


def _called(what: str | Instruction) -> str:
    return what if isinstance(what, str) else f"in {what!r}:"


def _verify_guard(instruction: Instruction) -> None:
    if len(instruction.operands) != 1 or instruction.results or not instruction.effect:
        raise ProgramError(f"a guard has one operand, no result and an effect: {instruction!r}")
    (operand,) = instruction.values
    if spec_of(instruction.params["expected"]) != (operand.shape, operand.dtype):
        raise ProgramError(f"a guard expects what {operand!r} cannot be: {instruction!r}")


def _verify_loop(instruction: Instruction, run: bool) -> None:
    loop, values = instruction.params["loop"], instruction.values
    inputs, outputs = loop.body.inputs, loop.body.outputs
    counts = len(instruction.operands), len(values), len(outputs), len(instruction.results)
    if counts != (len(inputs), len(inputs), loop.carried + len(loop.stacked), len(outputs)):
        raise ProgramError(f"a loop has other operands or results than its body, in {instruction!r}")
    if len(inputs) < loop.carried + len(loop.sliced) or loop.length < 1 or loop.effect != instruction.effect:
        raise ProgramError(f"a loop is not what it says about itself, in {instruction!r}")
    walks = {index + loop.carried: walk for index, walk in enumerate(loop.sliced)}
    for index, (inner, outer) in enumerate(zip(inputs, values, strict=True)):
        walk = walks.get(index)
        if (outer.shape if walk is None else outer.shape[1:]) != inner.shape or outer.dtype != inner.dtype:
            raise ProgramError(f"the body reads {outer!r} as {inner!r}, in {instruction!r}")
        if walk is not None:
            _verify_walk(walk, loop.length, outer.shape[:1], instruction)
    for inner, outer in zip(inputs[: loop.carried], outputs[: loop.carried], strict=True):
        if (inner.shape, inner.dtype) != (outer.shape, outer.dtype):
            raise ProgramError(f"{inner!r} is carried as {outer!r}, in {instruction!r}")
    if [(value.shape, value.dtype) for value in instruction.results] != loop.result_specs():
        raise ProgramError(f"the results have other shapes or dtypes than the body's, in {instruction!r}")
    for walk in loop.stacked:
        if walk not in ((0, 1), (loop.length - 1, -1)):
            raise ProgramError(f"a stacked output does not fill its rows, in {instruction!r}")
    verify(loop.body, run)


def _verify_walk(walk: Walk, length: int, rows: Shape, instruction: Instruction) -> None:
    ends = walk.start, walk.start + walk.step * (length - 1)
    if not rows or not all(0 <= end < rows[0] for end in ends):
        raise ProgramError(f"a slice leaves its array, in {instruction!r}")


def _verify_kernel(instruction: Instruction) -> None:
    arguments = [_dummy(x) if type(x) is Value else x.value for x in instruction.operands]  # type: ignore[union-attr]
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out = instruction.op.kernel(*arguments, **instruction.params)
    except (ValueError, TypeError, IndexError, ArithmeticError, np.linalg.LinAlgError):
        return  # ones are not in its domain: what it makes of them says nothing about the program
    outs = tuple(out) if instruction.op.outputs else (out,)
    if len(outs) != len(instruction.results):
        raise ProgramError(f"the kernel has {len(outs)} results, in {instruction!r}")
    for found, result in zip(outs, instruction.results, strict=True):
        shape, dtype = spec_of(found)
        if (shape, dtype) != (result.shape, result.dtype):
            text = f"{dtype.name}[{','.join(map(str, shape))}]"
            raise ProgramError(f"the kernel gives {text}, in {instruction!r}")


def _dummy(value: Value) -> np.ndarray[Any, Any]:
    """An array like `value` that holds one element in memory, for finding out what a kernel makes of such arrays."""
    return np.broadcast_to(np.ones((), value.dtype), value.shape)
