"""Prepare a program for native code, before it is scheduled into groups: Program -> Program."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import Instruction, Literal, Program, Value
from gradtape.jit.native.lower import support


def prepare(program: Program) -> Program:
    """An equivalent program for native code, in which

    - constants of one element, or of equal elements, are literals,
    - instructions that are not native, but whose kernels consist of native ones, are inlined: see `inline_kernel`,
    - products of integers and floats are products of floats,
    - dot products of two vectors are a multiplication and a sum, which can be fused with their neighbours,
    - a view that both native code and a NumPy kernel read is duplicated, so that the kernel gets a view and no copy,
    - the bodies of native loops are prepared, too.
    """
    numbers = {
        constant.value: Literal(constant.array.reshape(-1)[0])
        for constant in program.constants
        if constant.value.dtype.kind in "biuf" and _is_one_number(constant.array)
    }
    next_id = program.next_id()
    instructions: list[Instruction] = []
    for instruction in _inline_kernels(program.instructions, next_id):
        next_id = max(next_id, 1 + max((value.id for value in instruction.results), default=-1))
        written = not instruction.effect and instruction.name not in support.LOOPS  # operands of a loop are values
        if numbers and written and any(value in numbers for value in instruction.values):
            operands = tuple([numbers.get(x, x) if type(x) is Value else x for x in instruction.operands])
            changed = instruction.replace(operands=operands)
            if support.supports(changed) and _keeps_result_shape(changed):
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
        if instruction.name in support.LOOPS and not instruction.effect:
            instruction = _prepare_loop_body(instruction)
        instructions.append(instruction)
    return program.replace(instructions=tuple(_duplicate_shared_views(instructions, program, next_id)))


def _inline_kernels(instructions: Iterable[Instruction], next_id: int) -> list[Instruction]:
    """Replace instructions that are not native by those that their kernels consist of, where all of them are."""
    made: list[Instruction] = []
    for instruction in instructions:
        smaller = None
        if not instruction.effect and instruction.name not in support.LOOPS and not support.supports(instruction):
            from gradtape.jit.native.lower import inline_kernel  # loaded when first needed

            smaller = _cast_operands(instruction, next_id) or inline_kernel.inline_kernel(instruction, next_id)
        for part in smaller or [instruction]:
            next_id = max(next_id, 1 + max((value.id for value in part.results), default=-1))
            made.append(part)
    return made


def _cast_operands(instruction: Instruction, next_id: int) -> list[Instruction] | None:
    """A product of integers and floats as one of floats, after conversions; None if it is not native then."""
    if instruction.name not in support.PRODUCTS or any(type(x) is not Value for x in instruction.operands):
        return None
    dtype = instruction.result.dtype
    made, operands = [], list(instruction.values)
    for number, value in enumerate(instruction.values):
        if value.dtype != dtype:
            operands[number] = Value(next_id + number, value.shape, dtype)
            cast = instruction.replace(
                op=TABLE["astype"], operands=(value,), params={"dtype": dtype}, results=(operands[number],)
            )
            made.append(cast)
    product = instruction.replace(operands=tuple(operands))
    native = all(support.supports(cast) for cast in made) and (support.supports(product) or _is_dot(product))
    return [*made, product] if made and native else None


def _is_one_number(array: np.ndarray[Any, Any]) -> bool:
    """Whether all elements have the same bits (so that -0.0 and 0.0 differ)."""
    if not array.size or array.itemsize > 8:
        return False
    if not any(stride for n, stride in zip(array.shape, array.strides, strict=True) if n > 1):
        return True  # one element, broadcast
    if not array.flags.c_contiguous:
        return False
    elements = array.reshape(-1).view(f"u{array.itemsize}")
    return bool(elements[0] == elements[-1] and np.all(elements == elements[0]))


def _keeps_result_shape(instruction: Instruction) -> bool:
    """Whether the operands that are still values broadcast to the shape of the result."""
    return np.broadcast_shapes(*[value.shape for value in instruction.values]) == instruction.result.shape


def _is_dot(instruction: Instruction) -> bool:
    if instruction.name != "matmul" or instruction.params or len(instruction.values) != 2:
        return False
    x, y = instruction.values
    return x.ndim == y.ndim == 1 and x.dtype == y.dtype == instruction.result.dtype and x.dtype.char in "fd"


def _prepare_loop_body(instruction: Instruction) -> Instruction:
    """The loop with a native body, which calls NumPy kernels where needed; unchanged if the body cannot be native."""
    from gradtape.jit.native.emit import callback  # loaded for programs with loops only

    loop = instruction.params["loop"]
    body = prepare(loop.body)
    if not all(constant.array.flags.c_contiguous for constant in body.constants):  # broadcast ones
        body = body.replace(
            constants=tuple([dataclasses.replace(c, array=frozen_in_order(c.array)) for c in body.constants])
        )
    if any(support.supports(inner) for inner in body.instructions if not inner.effect):
        inside = [
            inner if support.supports(inner) or not callback.supports(inner) else callback.as_callback(inner)
            for inner in body.instructions
        ]
        body = body.replace(instructions=tuple(inside))
    changed = instruction.replace(params={"loop": dataclasses.replace(loop, body=body)})
    return changed if support.supports(changed) else instruction


def frozen_in_order(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A read-only array in C order; the array itself if it is one."""
    if array.flags.c_contiguous:
        return array
    copy = array.copy(order="C")
    copy.flags.writeable = False
    return copy


def is_view_for_kernels(instruction: Instruction) -> bool:
    """Whether a view is the duplicate for NumPy kernels."""
    return isinstance(instruction, KernelView)


class KernelView(Instruction):
    """A view that NumPy kernels read, or that is an output: NumPy makes it, without a copy."""

    __slots__ = ()


COPIED_AT_MOST = 1 << 13
"""Elements of a view, up to which native code copies it faster than Python takes a view."""


def _find_written_outputs(instructions: list[Instruction], program: Program) -> set[Value]:
    """Views of results of native code that it writes to outputs itself.

    A reshape is written directly to the memory of the output. A small view is copied: without a NumPy kernel after it,
    the program is one native function.
    """
    makers = {value: instruction for instruction in instructions for value in instruction.results}

    def is_native(maker: Instruction | None) -> bool:
        return maker is not None and not maker.effect and support.supports(maker)

    found = set()
    for value in program.outputs:
        maker = makers.get(value)
        if maker is None or not is_native(maker) or not support.is_view(maker):
            continue
        is_reshape, root = maker.name == "reshape", maker
        while is_native(root) and support.is_view(root):
            source = root.operands[0]
            inner = makers.get(source) if type(source) is Value else None
            if inner is None:
                break
            root, is_direct = inner, root is maker
        else:
            shared = any(result in program.outputs for result in root.results)
            small = value.size <= COPIED_AT_MOST and not shared
            if is_native(root) and (small or (is_reshape and is_direct)):
                found.add(value)
    return found


def _duplicate_shared_views(instructions: list[Instruction], program: Program, next_id: int) -> list[Instruction]:
    by_code: set[Value] = set()
    by_kernels: set[Value] = set(program.outputs) - _find_written_outputs(instructions, program)
    for instruction in reversed(instructions):
        if support.is_view(instruction) and not instruction.effect and support.supports(instruction):
            for users in (by_code, by_kernels):
                if instruction.result in users:
                    users.update(instruction.values)
        else:
            native = not instruction.effect and support.supports(instruction)
            (by_code if native else by_kernels).update(instruction.values)
    names: dict[Value, Value] = {}  # view -> its duplicate for native code
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
