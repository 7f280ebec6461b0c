"""Layouts: pairs of reshapes, transposes, broadcasts and casts cancel, and operands are not broadcast beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import Instruction, Operand, Program, Value
from gradtape.jit.passes.rewrite import RewriteContext, has_same_type, rewrite, uniform_number

_LAYOUTS = frozenset({"reshape", "transpose", "broadcast_to", "astype", "sum"})


def cancel_layouts(program: Program) -> Program:
    """Reshapes of reshapes, transposes of transposes, broadcasts of broadcasts, casts of casts, and those for nothing.

    A sum of integers over axes of length 1 is a reshape (that of -0.0 is 0.0, so floats are left alone).
    """

    def rule(instruction: Instruction, context: RewriteContext) -> Value | Instruction | None:
        name = instruction.op.name
        if name not in _LAYOUTS or len(instruction.operands) != 1:
            return None
        (x,), result, params = instruction.operands, instruction.result, instruction.params
        if type(x) is not Value:
            return None
        if name == "sum":
            summed = params.get("axis")
            axes = range(x.ndim) if summed is None else summed if isinstance(summed, tuple) else (summed,)
            if x.dtype == result.dtype and x.dtype.kind in "iu" and all(x.shape[axis] == 1 for axis in axes):
                return instruction.replace(op=TABLE["reshape"], params={"shape": result.shape})
            return None
        if name == "transpose":
            return _compose_transposes(instruction, x, context)
        if has_same_type(x, result):
            return x
        inner = context.producer(x, name)
        if inner is None or len(inner.operands) != 1 or not set(params) <= {"shape", "dtype"}:
            return None
        (source,) = inner.operands
        if type(source) is not Value or set(inner.params) != set(params):
            return None
        if name == "astype" and not _is_exact_cast(source.dtype, x.dtype):
            return None
        return source if has_same_type(source, result) else instruction.replace(operands=(source,))

    return rewrite(program, rule)


def _compose_transposes(instruction: Instruction, x: Value, context: RewriteContext) -> Value | Instruction | None:
    axes = instruction.params.get("axes")
    if not isinstance(axes, tuple):
        return None
    axes = tuple(axis % x.ndim for axis in axes)
    inner = context.producer(x, "transpose")
    if inner is not None and isinstance(inner.params.get("axes"), tuple) and type(inner.operands[0]) is Value:
        before = tuple(axis % x.ndim for axis in inner.params["axes"])
        axes, x = tuple(before[axis] for axis in axes), inner.operands[0]
        if axes != tuple(range(len(axes))):
            return instruction.replace(operands=(x,), params={"axes": axes})
    return x if axes == tuple(range(len(axes))) else None


def _is_exact_cast(narrow: np.dtype[Any], wide: np.dtype[Any]) -> bool:
    """Whether every number of one dtype is a number of the other."""
    if not np.can_cast(narrow, wide, "safe"):
        return False
    return narrow.kind not in "iu" or wide.kind in "iu" or narrow.itemsize < wide.itemsize


def keep_broadcasts_virtual(program: Program) -> Program:
    """Operands that an elementwise operation would stretch by itself are not stretched beforehand.

    A constant that is one number everywhere is that number.
    """

    def rule(instruction: Instruction, context: RewriteContext) -> Value | Instruction | None:
        if len(instruction.operands) < 2 or len(instruction.results) != 1:
            return None
        if not any(x in context.producers or x in context.constants for x in instruction.operands):
            return None
        if not (instruction.op.ufunc or instruction.op.kind == "elementwise"):
            return None
        if getattr(instruction.op.kernel, "signature", None) is not None:
            return None
        operands = list(instruction.operands)
        for index, operand in enumerate(operands):
            smaller = _find_unbroadcast(operand, context)
            if smaller is None:
                continue
            shapes = [x.shape for i, x in enumerate(operands) if type(x) is Value and i != index]
            if np.broadcast_shapes(smaller.shape, *shapes) == instruction.result.shape:
                operands[index] = smaller
        if all(a is b for a, b in zip(operands, instruction.operands, strict=True)):
            return None
        return instruction.replace(operands=tuple(operands))

    return rewrite(program, rule)


def _find_unbroadcast(operand: Operand, context: RewriteContext) -> Value | None:
    producer = context.producer(operand, "broadcast_to")
    if producer is not None and type(producer.operands[0]) is Value:
        return producer.operands[0]
    array = context.constants.get(operand) if type(operand) is Value else None
    if array is None or array.ndim == 0 or not array.size or array.dtype.kind not in "fiub":
        return None
    if uniform_number(array) is None:
        return None
    return context.new_constant(array[(slice(0, 1),) * array.ndim].reshape(()))
