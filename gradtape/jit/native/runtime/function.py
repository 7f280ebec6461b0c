"""A compiled group of instructions as a Python callable: arrays in, new arrays out."""

from __future__ import annotations

import ctypes
import itertools
import weakref
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from gradtape.config import config
from gradtape.jit.ir.program import Instruction, Value
from gradtape.jit.ir.while_loop import find_partly_written
from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.block import Block
from gradtape.jit.native.emit.loops import STATUS
from gradtape.jit.native.emit.memory_checks import CheckFailed, Guarded, ModuleChecks, find_gaps, make_poisoned
from gradtape.jit.native.lower.ir import ArrayValue, is_value
from gradtape.jit.native.runtime import blas
from gradtape.jit.native.runtime.llvm import Library, Machine, host
from gradtape.jit.native.runtime.pool import PARALLEL, pool
from gradtape.jit.native.schedule.workspace import ALIGNMENT

Array = np.ndarray[Any, Any]


class Arena:
    """A cell for the address of the workspace that a function keeps from call to call, which it frees in the end.

    A call takes the workspace out and puts it back: concurrent calls have their own.
    """

    def __init__(self) -> None:
        self._cell = ctypes.c_void_p()
        self.address = ctypes.addressof(self._cell)
        weakref.finalize(self, _free, self._cell).atexit = False

    def __deepcopy__(self, memo: dict[int, Any]) -> Arena:
        return Arena()  # memory has one owner


def _free(cell: ctypes.c_void_p) -> None:
    free = ctypes.pythonapi.PyMem_RawFree
    free.restype, free.argtypes = None, (ctypes.c_void_p,)
    free(cell)


class NativeFunction:
    """Native code for a group of instructions. Called with its inputs, it returns its outputs, always as new arrays.

    `write` computes into given arrays. Both take any arrays of the right shapes and dtypes: an array whose layout
    differs from what the code expects, or that overlaps an output, is copied first.
    """

    def __init__(
        self,
        instructions: Sequence[Instruction],
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        steps: Mapping[ArrayValue, tuple[int, ...]] | None = None,
        machine: Machine | None = None,
    ) -> None:
        self.instructions, self.inputs, self.outputs = tuple(instructions), tuple(inputs), tuple(outputs)
        self.machine = machine or host()
        self._given_steps = dict(steps or {})
        module = ir.Module("gradtape")
        self.checks = module.checks = ModuleChecks(module) if config.check == "memory" else None
        if self.checks is not None:
            self._given_steps = {}
        block = Block(module, self.machine, self.instructions, self.inputs, self.outputs, self._given_steps)
        self.written, self.nests = block.written, block.codes
        self.steps = tuple(block.plan.layouts[value].steps for value in self.inputs)
        self.slots, self.temporaries, self.workspace = block.count, block.temporaries, block.workspace
        self.loop_copies = block.loop_copies
        self.constant_arrays, self._kept = block.constant_arrays, block.kept
        self._temporary_sizes = {} if self.checks is None else block.sizes
        self.status = block.slots.get(STATUS, -1)
        name = block.emit_run().name
        self.text = str(module)
        symbols = (
            _symbols(module, self.machine) | block.addresses | (self.checks.symbols if self.checks is not None else {})
        )
        self.library: Library = self.machine.compile(self.text, [name], symbols)
        self._run = self.library.function(name, None, ctypes.c_void_p)
        self.arena = Arena()
        self.constants: tuple[Array, ...] = ()
        self._plain: NativeFunction | None = None

    @property
    def has_steps(self) -> bool:
        """Whether inputs are expected in other layouts than C order."""
        return bool(self._given_steps)

    @property
    def assembly(self) -> str:
        """The assembly, for reading."""
        return self.machine.assembly(self.text)

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        fresh = {value: np.empty(value.shape, value.dtype) for value in self.written}
        given = self._check_inputs(arrays)
        if not self._compute(given, [fresh[value] for value in self.written]):
            fresh.update(self._run_kernels(given))
        results = []
        seen = set()
        for value in self.outputs:
            array = fresh[value] if value in fresh else given[self.inputs.index(value)]
            results.append(array if value in fresh and value not in seen else np.array(array, order="C"))
            seen.add(value)
        return tuple(results)

    def write(self, arrays: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Compute into given arrays, one for each output."""
        if len(outputs) != len(self.outputs):
            raise ValueError(f"{len(outputs)} arrays were given for {len(self.outputs)} outputs.")
        given = self._check_inputs(arrays)
        for array, value in zip(outputs, self.outputs, strict=True):
            _check(array, value, "an output")
            if not array.flags.writeable:
                raise ValueError("an output is read-only; an array that can be written to is needed.")
        others = list(itertools.combinations(outputs, 2))
        direct = (
            self.written == self.outputs
            and all(_is_plain(x) for x in outputs)
            and not any(np.may_share_memory(x, y) for x in given for y in outputs)
            and not any(np.may_share_memory(x, y) for x, y in others)
        )
        if direct:
            if not self._compute(given, list(outputs)):
                for array, result in zip(outputs, self._run_kernels(given).values(), strict=True):
                    array[...] = result
            return
        for array, result in zip(outputs, self(*given), strict=True):
            array[...] = result

    def _check_inputs(self, arrays: Sequence[Array]) -> list[Array]:
        if len(arrays) != len(self.inputs):
            raise ValueError(f"{len(arrays)} arrays were given for {len(self.inputs)} inputs.")
        checked = [np.asarray(array) for array in arrays]
        for array, value in zip(checked, self.inputs, strict=True):
            _check(array, value, "an input")
        return checked

    def _run_kernels(self, given: list[Array]) -> dict[Any, Array]:
        """Run the NumPy kernels after native code has failed: mostly, they raise the error with its message.

        They may also succeed: a matrix can be singular in one order of arithmetic, and not in another.
        """
        known: dict[Any, Any] = dict(zip(self.inputs, given, strict=True))
        with np.errstate(all="ignore"):
            for instruction in self.instructions:
                operands = [known[x] if is_value(x) else x.value for x in instruction.operands]
                found = instruction.op.kernel(*operands, **instruction.params)
                known.update(zip(instruction.results, found if instruction.op.outputs else [found], strict=True))
        return {value: np.array(known[value], value.dtype, order="C") for value in self.written}

    def _compute(self, given: list[Array], written: list[Array]) -> bool:
        """Run the code. Inputs have the right shapes and dtypes; `written` are new arrays in C order.

        False if it failed: an index was out of range, or a kernel or factorisation failed.
        """
        if self._given_steps and not all(_has_steps(x, s) for x, s in zip(given, self.steps, strict=True)):
            if self._plain is None:
                self._plain = NativeFunction(self.instructions, self.inputs, self.outputs, machine=self.machine)
            return self._plain._compute(given, written)
        if not self._given_steps:
            given = [x if _is_plain(x) else np.array(x, order="C", dtype=x.dtype.newbyteorder("=")) for x in given]
        if self.checks is not None:
            return self._compute_checked(self.checks, given, written)
        return self._run_steps(given, written, np.empty(self.workspace + ALIGNMENT, np.uint8))

    def _compute_checked(self, checks: ModuleChecks, given: list[Array], written: list[Array]) -> bool:
        """Run the code on copies with guard zones; raise `CheckFailed` if it accessed memory that it must not."""
        named = [f"input {i}" for i in range(len(given))], [f"output {i}" for i in range(len(written))]
        inputs = [Guarded(x.shape, x.dtype, name, x) for x, name in zip(given, named[0], strict=True)]
        outputs = [Guarded(x.shape, x.dtype, name) for x, name in zip(written, named[1], strict=True)]
        space = make_poisoned(self.workspace + ALIGNMENT)
        succeeded = self._run_steps([x.array for x in inputs], [x.array for x in outputs], space)
        checks.raise_failures()
        start = -space.ctypes.data % ALIGNMENT
        clean = make_poisoned(self.workspace + ALIGNMENT)
        for gap in find_gaps(
            [(start + offset, self._temporary_sizes[slot]) for slot, offset in self.temporaries], space.size
        ):
            if not np.array_equal(space[gap], clean[gap]):
                raise CheckFailed("native code wrote to memory between its temporaries.")
        for guarded in inputs:
            guarded.check()
        partly_written = find_partly_written(self.instructions)
        for value, guarded in zip(self.written, outputs, strict=True) if succeeded else ():
            guarded.check(value in partly_written)
        for array, guarded in zip(written, outputs, strict=True):
            array[...] = guarded.array
        return succeeded

    def _run_steps(self, given: list[Array], written: list[Array], space: Array) -> bool:
        buffers = (ctypes.c_void_p * max(1, self.slots))()
        for i, array in enumerate([*given, *written]):
            buffers[i] = array.ctypes.data
        start = -(-space.ctypes.data // ALIGNMENT) * ALIGNMENT
        for slot, offset in self.temporaries:
            buffers[slot] = start + offset
        for slot, array in self.constant_arrays.items():
            buffers[slot] = array.ctypes.data
        status = ctypes.c_int64(0)
        if self.status >= 0:
            buffers[self.status] = ctypes.addressof(status)
        self._run(buffers)
        return not status.value


def compile_function(
    instructions: Sequence[Instruction],
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    steps: Mapping[ArrayValue, tuple[int, ...]] | None = None,
    machine: Machine | None = None,
) -> NativeFunction:
    """Compile instructions; raise `Unsupported` if `lower.support.supports` is false for one of them.

    `inputs` are the values that the instructions read from memory, `outputs` those wanted. `steps` gives the strides of
    inputs that are not in C order, in elements; 0 along axes over which an input is broadcast.

    >>> import numpy as np
    >>> from gradtape.jit.native.runtime.function import compile_function
    >>> from gradtape.jit.ir.program import Instruction, Value
    >>> from gradtape.ops.elementwise import add, multiply
    >>> x, y, z = (Value(i, (3,), np.dtype(float)) for i in range(3))
    >>> instructions = [Instruction(multiply, (x, x), {}, (y,)), Instruction(add, (y, x), {}, (z,))]
    >>> compile_function(instructions, [x], [z])(np.array([1.0, 2.0, 3.0]))
    (array([ 2.,  6., 12.]),)
    """
    return NativeFunction(instructions, inputs, outputs, steps, machine)


def _symbols(module: ir.Module, machine: Machine) -> dict[str, int]:
    """Symbol -> address of what a module calls: BLAS, LAPACK, and the thread pool, whose helpers are started."""
    symbols: dict[str, int] = {}
    if PARALLEL in module.globals:
        pool().start_helpers()
        symbols[PARALLEL] = pool().library.address(PARALLEL)
    for names, addresses in ((blas.FUNCTIONS, blas.addresses), (blas.FACTORISATIONS, blas.factorisations)):
        if any(f"gradtape_{name}" in module.globals for name in names):
            symbols |= {f"gradtape_{name}": address for name, address in addresses().items()}
    products = "".join([letter for letter in "ds" if f"gradtape_{letter}gemm" in module.globals])
    if products:
        own = import_module("gradtape.jit.native.emit.gemm").find_addresses(machine, products)
        symbols |= {f"gradtape_{name}": address for name, address in own.items()}
    return symbols


def _check(array: Array, value: Value, what: str) -> None:
    if array.shape != value.shape or array.dtype.newbyteorder("=") != value.dtype:
        raise ValueError(
            f"{what} is {array.dtype.name} of shape {array.shape}; {value.dtype.name} of shape {value.shape} is needed."
        )


def _is_plain(array: Array) -> bool:
    """Whether native code can read an array without a copy: C order, aligned, native byte order."""
    return bool(array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative)


def _has_steps(array: Array, steps: tuple[int, ...]) -> bool:
    """Whether an array has these strides (those of axes of length 1, or of empty arrays, do not matter)."""
    if not (array.flags.aligned and array.dtype.isnative):
        return False
    size = array.itemsize
    return array.size == 0 or all(
        n == 1 or stride == step * size for n, stride, step in zip(array.shape, array.strides, steps, strict=True)
    )
