"""A program as native code likes it: numbers in the code, dot products as sums, and views where they are needed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import Instruction, Literal, Program, Value
from gradtape.jit.native.lower import support


def prepared(program: Program) -> Program:
    """The same program, to be given to native code, in which

    - constants that are one number, or the same one everywhere, are written into the code,
    - what is not native, but made of what is, is taken apart: see `unfolding`,
    - products of two vectors are multiplications and sums, which go together with what is around them,
    - a view that native code and a kernel both look at is there twice, so that the kernel gets no copy,
    - the bodies of native loops are prepared, too.
    """
    numbers = {
        constant.value: Literal(constant.array.reshape(-1)[0])
        for constant in program.constants
        if constant.value.dtype.kind in "biuf" and _is_one_number(constant.array)
    }
    next_id = program.next_id()
    instructions: list[Instruction] = []
    for instruction in _taken_apart(program.instructions, next_id):
        next_id = max(next_id, 1 + max((value.id for value in instruction.results), default=-1))
        written = not instruction.effect and instruction.name != support.LOOP  # a loop's operands are values
        if numbers and written and any(value in numbers for value in instruction.values):
            operands = tuple([numbers.get(x, x) if type(x) is Value else x for x in instruction.operands])
            changed = instruction.replace(operands=operands)
            if support.supports(changed) and _has_its_shape(changed):
                instruction = changed
        if _is_dot(instruction):
            x, _ = instruction.values
            product = Value(next_id, x.shape, x.dtype)
            next_id += 1
            multiplied = instruction.replace(op=TABLE["multiply"], results=(product,))
            params = {"axis": None, "keepdims": False}
            summed = instruction.replace(op=TABLE["sum"], operands=(product,), params=params)
            instructions += [multiplied, summed]
            continue
        if instruction.name == support.LOOP and not instruction.effect:
            instruction = _with_prepared_body(instruction)
        instructions.append(instruction)
    return program.replace(instructions=tuple(_with_views_apart(instructions, program, next_id)))


def _taken_apart(instructions: Iterable[Instruction], next_id: int) -> list[Instruction]:
    """The instructions, with those that are not native replaced by smaller ones that are."""
    made: list[Instruction] = []
    for instruction in instructions:
        smaller = None
        if not instruction.effect and instruction.name != support.LOOP and not support.supports(instruction):
            from gradtape.jit.native.lower import inline_kernel  # by those who have such an instruction

            smaller = inline_kernel.unfolded(instruction, next_id)
        for part in smaller or [instruction]:
            next_id = max(next_id, 1 + max((value.id for value in part.results), default=-1))
            made.append(part)
    return made


def _is_one_number(array: np.ndarray[Any, Any]) -> bool:
    """Whether all elements have the same bits."""
    if not array.size or not array.flags.c_contiguous or array.itemsize > 8:
        return False
    elements = array.reshape(-1).view(f"u{array.itemsize}")
    return bool(elements[0] == elements[-1] and np.all(elements == elements[0]))


def _has_its_shape(instruction: Instruction) -> bool:
    """Whether the shape of the result follows from the operands that are values."""
    return np.broadcast_shapes(*[value.shape for value in instruction.values]) == instruction.result.shape


def _is_dot(instruction: Instruction) -> bool:
    if instruction.name != "matmul" or instruction.params or len(instruction.values) != 2:
        return False
    x, y = instruction.values
    return x.ndim == y.ndim == 1 and x.dtype == y.dtype == instruction.result.dtype and x.dtype.char in "fd"


def _with_prepared_body(instruction: Instruction) -> Instruction:
    """The loop with a body that is native, by calls of kernels where it has to be; as it is if there is no such one."""
    from gradtape.jit.native.emit import callback  # by those who have a loop

    loop = instruction.params["loop"]
    body = prepared(loop.body)
    if any(support.supports(inner) for inner in body.instructions if not inner.effect):
        inside = [
            inner if support.supports(inner) or not callback.supports(inner) else callback.called_back(inner)
            for inner in body.instructions
        ]
        body = body.replace(instructions=tuple(inside))
    changed = instruction.replace(params={"loop": dataclasses.replace(loop, body=body)})
    return changed if support.supports(changed) else instruction


def is_view_for_kernels(instruction: Any) -> bool:
    """Whether a view was set apart for kernels."""
    return isinstance(instruction, KernelView)


class KernelView(Instruction):
    """A view that kernels look at, or that is handed out: NumPy makes it, without a copy."""

    __slots__ = ()


def _made_in_place(instructions: list[Instruction]) -> set[Value]:
    """Reshapes of what native code has just made: those it can make where the result is wanted."""
    makers = {value: instruction for instruction in instructions for value in instruction.results}
    found = set()
    for instruction in instructions:
        maker = makers.get(instruction.operands[0]) if instruction.name == "reshape" else None  # type: ignore[arg-type]
        if maker is not None and not maker.effect and not support.is_view(maker) and support.supports(maker):
            found.add(instruction.result)
    return found


def _with_views_apart(instructions: list[Instruction], program: Program, next_id: int) -> list[Instruction]:
    by_code: set[Value] = set()
    by_kernels: set[Value] = set(program.outputs) - _made_in_place(instructions)
    for instruction in reversed(instructions):
        if support.is_view(instruction) and not instruction.effect and support.supports(instruction):
            for users in (by_code, by_kernels):
                if instruction.result in users:
                    users.update(instruction.values)
        else:
            native = not instruction.effect and support.supports(instruction)
            (by_code if native else by_kernels).update(instruction.values)
    names: dict[Value, Value] = {}  # what native code knows a view as, where kernels have it, too
    made: list[Instruction] = []
    for instruction in instructions:
        native = not instruction.effect and support.supports(instruction)
        own = instruction
        if native and names and any(value in names for value in instruction.values):
            operands = tuple([names.get(x, x) if type(x) is Value else x for x in instruction.operands])
            own = instruction.replace(operands=operands)
        if not (native and support.is_view(instruction)) or instruction.result not in by_kernels:
            made.append(own)
            continue
        fields = {field.name: getattr(instruction, field.name) for field in dataclasses.fields(Instruction)}
        made.append(KernelView(**fields))
        if instruction.result in by_code:
            twin = Value(next_id, instruction.result.shape, instruction.result.dtype)
            next_id += 1
            names[instruction.result] = twin
            made.append(own.replace(results=(twin,)))
    return made
