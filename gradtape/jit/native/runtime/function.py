"""Groups of instructions as callables: arrays in, fresh arrays out."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from gradtape.config import config
from gradtape.jit.native.emit.block import ALIGNMENT, Block
from gradtape.jit.native.emit.loops import STATUS
from gradtape.jit.native.emit.memory_checks import CheckFailed, Guarded, ModuleChecks, gaps, poisoned
from gradtape.jit.native.runtime import blas, threads
from gradtape.jit.native.runtime.llvm import Library, Machine, host

Array = np.ndarray[Any, Any]


class Group:
    """Native code for a group of instructions. Called with its inputs, it returns its outputs, always as new arrays.

    `write` is the same into arrays that are there already. Both take any arrays of the right shapes and dtypes: what is
    laid out differently from what the code expects, or overlaps an output, is copied first.
    """

    def __init__(
        self,
        instructions: Sequence[Any],
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        steps: Mapping[Any, tuple[int, ...]] | None = None,
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
        self.steps = tuple(block.plan.places[value].steps for value in self.inputs)
        self.slots, self.temporaries, self.workspace = block.count, block.temporaries, block.workspace
        self.held, self._kept = block.held, block.kept
        self._temporary_sizes = {} if self.checks is None else block.sizes
        self.status = block.slots.get(STATUS, -1)
        self.large = any(threads.worth_splitting(nest) for nest in self.nests)
        if self.large:  # each step by itself, for threads to share
            names = [name for nest in self.nests for name in (nest.name, nest.finish) if name]
        else:
            names = [block.emit_run().name]
        self.text = str(module)
        symbols = _symbols(module) | block.addresses | (self.checks.symbols if self.checks is not None else {})
        self.library: Library = self.machine.compile(self.text, names, symbols)
        if self.large:
            units = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64
            self._units = [self.library.function(nest.name, None, *units) for nest in self.nests]
            self._finish = [
                self.library.function(nest.finish, None, ctypes.c_void_p) if nest.finish else None
                for nest in self.nests
            ]
        else:
            self._run = self.library.function(*names, None, ctypes.c_void_p)
        self.constants: tuple[Array, ...] = ()
        self._plain: Group | None = None

    @property
    def has_steps(self) -> bool:
        """Whether inputs are expected in another layout than C order."""
        return bool(self._given_steps)

    @property
    def assembly(self) -> str:
        """The machine code, to be read."""
        return self.machine.assembly(self.text)

    def __call__(self, *arrays: Any) -> tuple[Array, ...]:
        fresh = {value: np.empty(value.shape, value.dtype) for value in self.written}
        given = self._checked(arrays)
        if not self._compute(given, [fresh[value] for value in self.written]):
            fresh.update(self._by_kernels(given))
        results = []
        seen = set()
        for value in self.outputs:
            array = fresh[value] if value in fresh else given[self.inputs.index(value)]
            results.append(array if value in fresh and value not in seen else np.array(array, order="C"))
            seen.add(value)
        return tuple(results)

    def write(self, arrays: Sequence[Any], outputs: Sequence[Array]) -> None:
        """Compute into given arrays, one for each output."""
        if len(outputs) != len(self.outputs):
            raise ValueError(f"{len(outputs)} arrays were given for {len(self.outputs)} outputs.")
        given = self._checked(arrays)
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
                for array, result in zip(outputs, self._by_kernels(given).values(), strict=True):
                    array[...] = result
            return
        for array, result in zip(outputs, self(*given), strict=True):
            array[...] = result

    def _checked(self, arrays: Sequence[Any]) -> list[Array]:
        if len(arrays) != len(self.inputs):
            raise ValueError(f"{len(arrays)} arrays were given for {len(self.inputs)} inputs.")
        checked = [np.asarray(array) for array in arrays]
        for array, value in zip(checked, self.inputs, strict=True):
            _check(array, value, "an input")
        return checked

    def _by_kernels(self, given: list[Array]) -> dict[Any, Array]:
        """What the kernels make of it, after native code has failed; mostly an error of theirs, which it does not word.

        They may come to another end: a matrix may be singular in one order of arithmetic, and not in another.
        """
        known: dict[Any, Any] = dict(zip(self.inputs, given, strict=True))
        with np.errstate(all="ignore"):
            for instruction in self.instructions:
                operands = [known[x] if hasattr(x, "dtype") else x.value for x in instruction.operands]
                found = instruction.op.kernel(*operands, **instruction.params)
                known.update(zip(instruction.results, found if instruction.op.outputs else [found], strict=True))
        return {value: np.array(known[value], value.dtype, order="C") for value in self.written}

    def _compute(self, given: list[Array], written: list[Array]) -> bool:
        """The loops: inputs are of the right shape and dtype, `written` are plain arrays of the group's own.

        Whether nothing failed: all positions exist, and no kernel or factorisation gave up.
        """
        if self._given_steps and not all(_has_steps(x, s) for x, s in zip(given, self.steps, strict=True)):
            if self._plain is None:
                self._plain = Group(self.instructions, self.inputs, self.outputs, machine=self.machine)
            return self._plain._compute(given, written)
        if not self._given_steps:
            given = [x if _is_plain(x) else np.array(x, order="C", dtype=x.dtype.newbyteorder("=")) for x in given]
        if self.checks is not None:
            return self._compute_checked(self.checks, given, written)
        return self._run_steps(given, written, np.empty(self.workspace + ALIGNMENT, np.uint8))

    def _compute_checked(self, checks: ModuleChecks, given: list[Array], written: list[Array]) -> bool:
        """The same on copies with guard zones; raises `CheckFailed` if native code touched what it must not touch."""
        named = [f"input {i}" for i in range(len(given))], [f"output {i}" for i in range(len(written))]
        inputs = [Guarded(x.shape, x.dtype, name, x) for x, name in zip(given, named[0], strict=True)]
        outputs = [Guarded(x.shape, x.dtype, name) for x, name in zip(written, named[1], strict=True)]
        space = poisoned(self.workspace + ALIGNMENT)
        succeeded = self._run_steps([x.array for x in inputs], [x.array for x in outputs], space)
        checks.raise_failures()
        start = -space.ctypes.data % ALIGNMENT
        clean = poisoned(self.workspace + ALIGNMENT)
        for gap in gaps(
            [(start + offset, self._temporary_sizes[slot]) for slot, offset in self.temporaries], space.size
        ):
            if not np.array_equal(space[gap], clean[gap]):
                raise CheckFailed("native code wrote to memory between its temporaries.")
        for guarded in (*inputs, *(outputs if succeeded else ())):
            guarded.check()
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
        for slot, array in self.held.items():
            buffers[slot] = array.ctypes.data
        status = ctypes.c_int64(0)
        if self.status >= 0:
            buffers[self.status] = ctypes.addressof(status)
        if not self.large:
            self._run(buffers)
            return not status.value
        for nest, units, finish in zip(self.nests, self._units, self._finish, strict=True):
            threads.run(nest, units, buffers)
            if finish is not None:
                finish(buffers)
        return not status.value


def compile_group(
    instructions: Sequence[Any],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    steps: Mapping[Any, tuple[int, ...]] | None = None,
    machine: Machine | None = None,
) -> Group:
    """Native code for instructions that `kinds.supports`; raises `Unsupported` if there is another among them.

    `inputs` are the values that the instructions read from memory, `outputs` those wanted. `steps` gives the layout of
    inputs that are not in C order: the distance of neighbours along each axis, in elements, 0 where it is stretched.

    >>> import numpy as np
    >>> from gradtape.jit.native.runtime.function import compile_group
    >>> from gradtape.jit.ir.program import Instruction, Value
    >>> from gradtape.ops.elementwise import add, multiply
    >>> x, y, z = (Value(i, (3,), np.dtype(float)) for i in range(3))
    >>> group = compile_group([Instruction(multiply, (x, x), {}, (y,)), Instruction(add, (y, x), {}, (z,))], [x], [z])
    >>> group(np.array([1.0, 2.0, 3.0]))
    (array([ 2.,  6., 12.]),)
    """
    return Group(instructions, inputs, outputs, steps, machine)


def _symbols(module: Any) -> dict[str, int]:
    """The addresses of what a module calls of others."""
    symbols: dict[str, int] = {}
    for names, addresses in ((blas.FUNCTIONS, blas.addresses), (blas.FACTORISATIONS, blas.factorisations)):
        if any(f"gradtape_{name}" in module.globals for name in names):
            symbols |= {f"gradtape_{name}": address for name, address in addresses().items()}
    return symbols


def _check(array: Array, value: Any, what: str) -> None:
    if array.shape != value.shape or array.dtype.newbyteorder("=") != value.dtype:
        raise ValueError(
            f"{what} is {array.dtype.name} of shape {array.shape}; {value.dtype.name} of shape {value.shape} is needed."
        )


def _is_plain(array: Array) -> bool:
    """In C order, aligned and in the machine's byte order: what native code reads as it is."""
    return bool(array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative)


def _has_steps(array: Array, steps: tuple[int, ...]) -> bool:
    """Whether an array is laid out in these steps (those of axes of length 1, or of no elements, do not matter)."""
    if not (array.flags.aligned and array.dtype.isnative):
        return False
    size = array.itemsize
    return array.size == 0 or all(
        n == 1 or stride == step * size for n, stride, step in zip(array.shape, array.strides, steps, strict=True)
    )
