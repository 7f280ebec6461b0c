"""The checking mode of native code: `GRADTAPE_CHECK=memory`, or `gt.config.check = "memory"`.

A group that is compiled in this mode computes the same numbers, and also

- tests the bounds of every load and store, of every block that is copied or cleared, and of what BLAS, LAPACK and
  called kernels are handed. An access outside of its buffer is redirected to scratch memory and reported;
- fills every temporary with `POISON` at the start of its live range, and every output before the first step, so that
  memory that is read before it is written shows as NaN, or as an index far out of range;
- puts guard zones around inputs, outputs and temporaries, and compares them, and the inputs, after the call.

Anything found raises `CheckFailed`. The mode is for tests and for bug reports: code takes several times as long.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.jit.ir.program import ProgramError
from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.builder import Builder

Array = np.ndarray[Any, Any]

LONG = ir.IntType(64)
POINTER = ir.PointerType()
POISON = 0x7FF4DEAD7FF4DEAD
"""A signalling NaN as a binary64, two NaNs as binary32, and as an integer an index that is out of range."""
_QUIET = 0x0008000000000000
GUARD = 64
"""Bytes of a guard zone, before and after a buffer."""
RECORD = "gradtape_check_record"
_SCRATCH, _SCRATCH_SIZE = "gradtape_check_scratch", 4096


class CheckFailed(ProgramError):
    """Native code touched memory that it must not touch: a mistake in gradtape's compiler.

    >>> from gradtape.jit.native.emit.memory_checks import CheckFailed
    >>> issubclass(CheckFailed, RuntimeError)
    True
    """


class Region(NamedTuple):
    """The buffer of a pointer: its size in bytes, and the offset of the pointer in it, both as IR."""

    name: str
    size: Any
    offset: Any


class ModuleChecks:
    """The bounds of the pointers of one LLVM module, and the accesses that are tested in it."""

    def __init__(self, module: ir.Module) -> None:
        self.module = module
        self.accesses: list[str] = []  # the record holds the index of the failed one, counted from 1
        self.sizes: dict[str, Any] = {}  # global constants, by the name of the slot
        self.regions: dict[ir.Value, Region] = {}  # by the pointer itself, which is kept alive by that
        self.record = (ctypes.c_int64 * 2)()

    @property
    def symbols(self) -> dict[str, int]:
        """The symbols that the module imports."""
        return {RECORD: ctypes.addressof(self.record)}

    def size_of(self, function: str, slot: int) -> tuple[str, Any]:
        """The name of a slot of the block that a function belongs to, and the global constant that holds its size.

        The size is filled in by `set_size` when it is known, which may be after the code was emitted.
        """
        name = f"{block_prefix(function)}slot_{slot}"
        found = self.sizes.get(name)
        if found is None:
            found = self.sizes[name] = ir.GlobalVariable(self.module, LONG, f"gradtape_bytes_of_{name}")
            found.linkage, found.global_constant = "internal", True
        return name, found

    def set_size(self, prefix: str, slot: int, size: int) -> None:
        """Set the size in bytes of the memory in a block's slot."""
        found = self.sizes.get(f"{prefix}slot_{slot}")
        if found is not None:
            found.initializer = ir.Constant(LONG, size)

    def region(self, pointer: ir.Value) -> Region | None:
        """The buffer of a pointer; None if it is not in a buffer (a local variable, a table of pointers)."""
        return self.regions.get(pointer)

    def track(self, pointer: ir.Value, region: Region) -> Any:
        """The pointer, after its region was recorded."""
        self.regions[pointer] = region
        return pointer

    def raise_failures(self) -> None:
        """Raise a `CheckFailed` if an access failed since the last time."""
        number, offset = self.record
        if not number:
            return
        self.record[0] = 0
        raise CheckFailed(f"{self.accesses[number - 1]}: {offset} bytes from the start of the buffer.")


def block_prefix(function: str) -> str:
    """The prefix of the names of all functions of a block.

    >>> from gradtape.jit.native.emit.memory_checks import block_prefix
    >>> block_prefix("call_1_body_nest_0_finish"), block_prefix("nest_0")
    ('call_1_body_', '')
    """
    before, found, _ = function.rpartition("_body_")
    return before + found


class CheckedBuilder(Builder):
    """A builder that knows which buffer each pointer points into, and tests the bounds of each access."""

    checks_bounds = True

    @property
    def checks(self) -> ModuleChecks:
        """The checks of the module."""
        found: ModuleChecks = self.module.checks
        return found

    def gep(
        self, pointer: ir.Value, indices: Sequence[Any], inbounds: bool = False, source_etype: ir.Type | None = None
    ) -> Any:
        """An address, with its region and offset recorded for the checks of loads and stores."""
        made = super().gep(pointer, indices, inbounds, source_etype)
        if source_etype is None:
            return made
        (index,) = indices
        region = self.checks.region(pointer)
        if region is not None:
            distance = self.mul(index, LONG(_size(source_etype)))
            self.checks.track(made, region._replace(offset=self.add(region.offset, distance)))
        elif source_etype == POINTER and pointer is self.function.args[0] and isinstance(index, ir.Constant):
            self._slots[made] = index.constant
        return made

    def __init__(self, block: ir.Block) -> None:
        super().__init__(block)
        self._slots: dict[ir.Value, int] = {}  # pointers to slots of the table that the function was given

    def load(self, pointer: ir.Value, *, typ: ir.Type | None = None, align: int | None = None) -> Any:
        """A load, after a bounds check; a pointer that is loaded from a slot starts a region."""
        slot = self._slots.get(pointer)
        if slot is not None:
            made = super().load(pointer, typ=typ, align=align)
            name, size = self.checks.size_of(self.function.name, slot)
            return self.checks.track(made, Region(name, super().load(size, typ=LONG), LONG(0)))
        if typ is not None:  # else it is a local variable
            pointer = self._check_access(pointer, typ, "reads")
        return super().load(pointer, typ=typ, align=align)

    def store(self, value: ir.Value, pointer: ir.Value, align: int | None = None) -> None:
        """A store, after a bounds check."""
        super().store(value, self._check_access(pointer, value.type, "writes"), align)

    def select(self, condition: ir.Value, left: ir.Value, right: ir.Value) -> Any:
        """One of two values; of two pointers, the region of the result is selected as well."""
        made = super().select(condition, left, right)
        regions = [self.checks.region(pointer) for pointer in (left, right)]
        if made is left or made is right or not any(regions):
            return made
        # a pointer that is not tracked is a constant of the module: it has no bounds
        one, other = (found or Region("", LONG(1 << 62), LONG(0)) for found in regions)
        size = super().select(condition, one.size, other.size)
        offset = super().select(condition, one.offset, other.offset)
        return self.checks.track(made, Region(one.name or other.name, size, offset))

    def require(self, pointer: ir.Value, size: int | ir.Value, what: str) -> Any:
        """The pointer, after a check that `size` bytes behind it are in bounds."""
        region = self.checks.region(pointer)
        if region is None:
            return pointer
        length = LONG(size) if isinstance(size, int) else size
        end = super().add(region.offset, length)
        inside = self.and_(self.icmp_signed(">=", region.offset, LONG(0)), self.icmp_signed("<=", end, region.size))
        self.checks.accesses.append(f"{self.function.name} {what} {_format_size(size)} outside of {region.name}")
        record = _import_global(self.module, RECORD, ir.ArrayType(LONG, 2))
        for index, found in enumerate((LONG(len(self.checks.accesses)), region.offset)):
            address = super().gep(record, [LONG(0), LONG(index)])
            old = super().load(address, typ=LONG)
            super().store(super().select(inside, old, found), address)
        if not isinstance(size, int) or size > _SCRATCH_SIZE:
            return pointer
        return super().select(inside, pointer, self.bitcast(_scratch(self.module), POINTER))

    def _check_access(self, pointer: ir.Value, kind: ir.Type, what: str) -> Any:
        if self.checks.region(pointer) is None:
            return pointer
        return self.require(pointer, _size(kind), what)


def _format_size(size: int | ir.Value) -> str:
    return f"{size} bytes" if isinstance(size, int) else "bytes"


def _size(kind: ir.Type) -> int:
    """The bytes that a type takes in memory."""
    if isinstance(kind, ir.VectorType):
        return int(kind.count * _size(kind.element))
    if isinstance(kind, ir.IntType):
        return int(kind.width // 8)
    return {ir.FloatType: 4, ir.HalfType: 2}.get(type(kind), 8)


def _import_global(module: ir.Module, name: str, kind: ir.Type) -> Any:
    found = module.globals.get(name)
    return ir.GlobalVariable(module, kind, name) if found is None else found


def _scratch(module: ir.Module) -> Any:
    """The memory to which accesses outside of their buffers are redirected."""
    found = module.globals.get(_SCRATCH)
    if found is None:
        kind = ir.ArrayType(ir.IntType(8), _SCRATCH_SIZE)
        found = ir.GlobalVariable(module, kind, _SCRATCH)
        found.linkage, found.align, found.initializer = "internal", 64, ir.Constant(kind, bytearray(_SCRATCH_SIZE))
    return found


def emit_poison(module: ir.Module, name: str, places: Sequence[tuple[int, int]]) -> None:
    """Emit `name(buffers, begin, end)`, which fills memory with `POISON`: (slot, bytes) of each buffer."""
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER, LONG, LONG]), name)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    for slot, size in places:
        address = builder.gep(function.args[0], [LONG(slot)], source_etype=POINTER)
        pointer = builder.load(address, typ=POINTER)
        before = builder.block
        head, body, after = (builder.append_basic_block(part) for part in ("head", "body", "after"))
        builder.branch(head)
        builder.position_at_end(head)
        index = builder.phi(LONG)
        index.add_incoming(LONG(0), before)
        builder.cbranch(builder.icmp_signed("<", index, LONG(size)), body, after)
        builder.position_at_end(body)
        # the bytes of the pattern in turn, as sizes need not be multiples of eight
        shift = builder.mul(builder.urem(index, LONG(8)), LONG(8))
        byte = builder.trunc(builder.lshr(LONG(POISON), shift), ir.IntType(8))
        builder.store(byte, builder.gep(pointer, [index], source_etype=ir.IntType(8)), align=1)
        index.add_incoming(builder.add(index, LONG(1)), body)
        builder.branch(head)
        builder.position_at_end(after)
    builder.ret_void()


# -- memory with guard zones


class Guarded:
    """A copy of an array, or memory for one, in C order and with guard zones around it."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], what: str, source: Array | None = None) -> None:
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        room = -(-size // GUARD) * GUARD
        self.memory = make_poisoned(room + 3 * GUARD)
        start = GUARD + (-self.memory.ctypes.data) % GUARD
        self.array = self.memory[start : start + size].view(dtype).reshape(shape)
        self.what, self.source = what, source
        self._zones = [slice(0, start), slice(start + size, None)]
        if source is not None:
            self.array[...] = source
        self._clean = self.memory.copy()

    def check(self, is_partly_written: bool = False) -> None:
        """Raise a `CheckFailed` if a guard zone was written to, or an input was changed, or an output not written.

        An output that `is_partly_written` has elements that nothing reads.
        """
        for zone, where in zip(self._zones, ("before", "after"), strict=True):
            if not np.array_equal(self.memory[zone], self._clean[zone]):
                raise CheckFailed(f"native code wrote to memory {where} {self.what}.")
        if self.source is not None and not np.array_equal(self.memory, self._clean):
            raise CheckFailed(f"native code changed {self.what}.")
        if self.source is None and not is_partly_written and holds_poison(self.array):
            raise CheckFailed(f"{self.what} was computed from memory that had not been written.")


def make_poisoned(size: int) -> Array:
    """An array of bytes that is filled with `POISON`."""
    return np.resize(np.frombuffer(np.uint64(POISON).tobytes(), np.uint8), size).copy()


def holds_poison(array: Array) -> bool:
    """Whether an element is the poison, or the NaN that arithmetic makes of it.

    >>> import numpy as np
    >>> from gradtape.jit.native.emit.memory_checks import POISON, holds_poison
    >>> poison = np.array([POISON], np.uint64).view(float)
    >>> with np.errstate(invalid="ignore"):
    ...     holds_poison(poison), holds_poison(poison + 1.0), holds_poison(np.array([np.nan]))
    (True, True, False)
    """
    if array.dtype == np.dtype(np.float64):
        return bool(np.any((np.ravel(array).view(np.uint64) | np.uint64(_QUIET)) == np.uint64(POISON | _QUIET)))
    if array.dtype == np.dtype(np.float32):
        return bool(np.any(np.ravel(array).view(np.uint32) == np.uint32(POISON & 0xFFFFFFFF)))
    return False


def find_gaps(taken: Sequence[tuple[int, int]], size: int) -> Iterator[slice]:
    """The slices of `size` bytes that no piece (offset, length) covers.

    >>> from gradtape.jit.native.emit.memory_checks import find_gaps
    >>> list(find_gaps([(64, 10), (0, 8)], 128))
    [slice(8, 64, None), slice(74, 128, None)]
    """
    end = 0
    for offset, length in sorted(taken):
        if offset > end:
            yield slice(end, offset)
        end = max(end, offset + length)
    if end < size:
        yield slice(end, size)
