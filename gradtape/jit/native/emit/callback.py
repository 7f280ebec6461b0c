"""Calls of NumPy kernels from native loops, so that one instruction without native form does not prevent a native loop.

Only the bodies of loops have such instructions. Elsewhere a kernel runs between two groups, which costs less.
"""

from __future__ import annotations

import _thread
import ctypes
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.jit.ir.kernels import call_silently
from gradtape.jit.ir.program import Instruction, Value
from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.call_emitter import CallEmitter
from gradtape.jit.native.emit.loops import LONG, POINTER, STATUS, CallCode
from gradtape.jit.native.lower.ir import CALLBACK, AnyInstruction, ArrayValue
from gradtape.jit.native.schedule.layout import bytes_of

if TYPE_CHECKING:
    from gradtape.jit.native.emit.block import Block

WORK = 10_000
"""The estimated work of a call, in elements of light loops."""


class Callback(Instruction):
    """An instruction whose NumPy kernel native code calls."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name under which the lowering of callbacks is registered, whatever the operation is."""
        return CALLBACK


def as_callback(instruction: Instruction) -> Instruction:
    """The instruction as a `Callback`."""
    return Callback(instruction.op, instruction.operands, instruction.params, instruction.results, instruction.location)


def supports(instruction: Instruction) -> bool:
    """Whether native code can call the kernel: the values are numbers in memory, and not empty."""
    values = (*instruction.values, *instruction.results)
    return not instruction.effect and all(has_bytes(value.dtype) and 0 not in value.shape for value in values)


def has_bytes(dtype: np.dtype[Any]) -> bool:
    """Whether elements of this dtype can be copied as bytes: numbers and truth values in the machine's byte order."""
    return dtype.isnative and dtype.kind in "biufc"


class CallbackEmitter(CallEmitter):
    """Emits `name(buffers, begin, end)`: passes the addresses of operands and results to a Python function."""

    def __init__(self, block: Block, name: str, instruction: AnyInstruction) -> None:
        super().__init__(block, name, instruction)
        self.function = _build_callback(instruction.params["instruction"], instruction.values)
        self.symbol = f"{name}_kernel"
        self.address = int(ctypes.cast(self.function, ctypes.c_void_p).value or 0)

    def emit(self) -> int:
        """Emits the function; a measure of its work, in elements of light loops."""
        self.start_function()
        builder = self.builder
        buffers = [(x, self.buffer(self.plan.layouts[x].root)) for x in self.instruction.values]
        buffers += [(x, self.buffer(x)) for x in self.instruction.results]
        given = [builder.require(address, bytes_of(x), "hands a kernel") for x, address in buffers]
        kernel = ir.Function(self.module, ir.FunctionType(LONG, [POINTER] * len(given)), self.symbol)
        failed = builder.icmp_unsigned("!=", builder.call(kernel, given), self.number(0))
        with builder.if_then(failed, likely=False):
            builder.store(self.number(1), self.buffer(STATUS))
        builder.ret_void()
        return WORK


def _build_callback(instruction: Instruction, values: Sequence[ArrayValue]) -> Any:
    """A C function of the addresses of operands and results; it returns 0 on success."""
    kernel, params, several = instruction.op.kernel, instruction.params, instruction.op.outputs
    results = instruction.results
    literals = [None if type(x) is Value else x for x in instruction.operands]
    sizes = [math.prod(value.shape) * value.dtype.itemsize for value in (*values, *results)]
    count = len(values)
    pool: list[tuple[list[Any], list[int]]] = []  # arrays and their addresses, for reuse by later calls

    def fresh() -> tuple[list[Any], list[int]]:
        arrays = [np.empty(value.shape, value.dtype) for value in (*values, *results)]
        return arrays, [array.ctypes.data for array in arrays]

    def run(*arrays: np.ndarray[Any, Any]) -> tuple[Any, ...]:
        supply = iter(arrays)
        operands = [next(supply) if x is None else x.value for x in literals]  # type: ignore[union-attr]
        found = kernel(*operands, **params)
        return tuple(found) if several else (found,)

    def call(*addresses: int) -> int:
        try:
            own = pool.pop() if pool else fresh()
            arrays, places = own
            for place, address, size in zip(places[:count], addresses, sizes, strict=False):
                ctypes.memmove(place, address, size)
            found = call_silently(run, arrays[:count])
            for array, result, value in zip(arrays[count:], found, results, strict=True):
                if np.shape(result) != value.shape or getattr(result, "dtype", value.dtype) != value.dtype:
                    return 1
                array[...] = result
            for place, address, size in zip(places[count:], addresses[count:], sizes[count:], strict=True):
                ctypes.memmove(address, place, size)
            pool.append(own)
        except Exception:  # the caller runs the kernels again without native code, and they raise there
            return 1
        except BaseException:  # KeyboardInterrupt: raised again when native code has returned
            _thread.interrupt_main()
            return 1
        return 0

    kind: Callable[..., Any] = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * len(sizes))
    return kind(call)


def emit_call(block: Block, name: str, instruction: AnyInstruction) -> CallCode:
    """Emit the call of a kernel. The block keeps the C function alive, and its address for the linker."""
    emitter = CallbackEmitter(block, name, instruction)
    work = emitter.emit()
    block.addresses[emitter.symbol] = emitter.address
    block.kept.append(emitter.function)
    return CallCode(work)
