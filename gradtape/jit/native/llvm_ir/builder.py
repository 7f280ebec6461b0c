"""The builder of LLVM IR: an instruction is a line of text as soon as it is emitted.

What may still change after it was emitted (the edges of a phi, the cases of a switch, the alignment of a local
variable) is an object until the module is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from gradtape.jit.native.llvm_ir.types import (
    FunctionType,
    LiteralStructType,
    PointerType,
    SequenceType,
    Type,
    VectorType,
)
from gradtape.jit.native.llvm_ir.values import BIT, Block, Constant, Function, Module, Value


class Phi(Value):
    """A value that depends on the block from which control came."""

    __slots__ = ("incomings",)

    def __init__(self, type: Type, text: str) -> None:
        super().__init__(type, text)
        self.incomings: list[tuple[Value, Block]] = []

    def add_incoming(self, value: Value, block: Block) -> None:
        """The value that it has if control comes from that block."""
        self.incomings.append((value, block))

    def __str__(self) -> str:
        pairs = ", ".join([f"[{value.text}, %{block.name}]" for value, block in self.incomings])
        return f"{self.text} = phi {self.type.text} {pairs}"


class Alloca(Value):
    """A local variable, or `size` of them."""

    __slots__ = ("align", "allocated", "size")

    def __init__(self, allocated: Type, size: Value | None, text: str) -> None:
        super().__init__(PointerType(allocated), text)
        self.allocated = allocated
        self.size = size
        self.align: int | None = None

    def __str__(self) -> str:
        size = "" if self.size is None else f", {self.size.operand}"
        align = "" if self.align is None else f", align {self.align}"
        return f"{self.text} = alloca {self.allocated.text}{size}{align}"


class Switch:
    """A branch to one of several blocks, by the value of an integer."""

    def __init__(self, value: Value, default: Block) -> None:
        self.value = value
        self.default = default
        self.cases: list[tuple[Value, Block]] = []

    def add_case(self, value: Value, block: Block) -> None:
        """The block to which control goes if the integer has this value."""
        self.cases.append((value, block))

    def __str__(self) -> str:
        cases = " ".join([f"{value.operand}, label %{block.name}" for value, block in self.cases])
        return f"switch {self.value.operand}, label %{self.default.name} [{cases}]"


def _binary(opcode: str) -> Callable[[IRBuilder, Any, Any], Value]:
    def emit(self: IRBuilder, left: Value, right: Value) -> Value:
        kind = left.type
        if kind is not right.type and kind != right.type:
            raise ValueError(f"the operands of {opcode} have the types {kind} and {right.type}.")
        return self.define(kind, f"{opcode} {kind.text} {left.text}, {right.text}")

    emit.__doc__ = f"Emit the instruction `{opcode}`."
    return emit


def _conversion(opcode: str) -> Callable[[IRBuilder, Any, Type], Any]:
    def emit(self: IRBuilder, value: Value, kind: Type) -> Any:
        if value.type == kind and not isinstance(kind, PointerType):
            return value
        return self.define(kind, f"{opcode} {value.operand} to {kind.text}")

    emit.__doc__ = f"Emit the conversion `{opcode}`; a value that has the type already is returned."
    return emit


_SIGNED = {"<": "slt", "<=": "sle", ">": "sgt", ">=": "sge", "==": "eq", "!=": "ne"}
_UNSIGNED = {"<": "ult", "<=": "ule", ">": "ugt", ">=": "uge", "==": "eq", "!=": "ne"}
_FLOAT = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}


class IRBuilder:
    """Writes instructions at the end of a basic block."""

    def __init__(self, block: Block) -> None:
        self.position_at_end(block)

    @property
    def module(self) -> Module:
        """The module of the block."""
        return self.function.module

    def position_at_end(self, block: Block) -> None:
        """Continue at the end of a block, before the branch or return that ends it."""
        self.block = block
        self.function = block.function
        self._lines = block.instructions

    @contextmanager
    def goto_block(self, block: Block) -> Iterator[None]:
        """Emit at the end of another block, then come back."""
        before = self.block
        self.position_at_end(block)
        yield
        self.position_at_end(before)

    def append_basic_block(self, name: str = "") -> Block:
        """A new block of the function; the builder stays where it is."""
        return self.function.append_basic_block(name)

    def _name(self) -> str:
        self.function.count += 1
        return f"%.{self.function.count}"

    def define(self, kind: Type, code: str) -> Value:
        """Emit an instruction that has a result."""
        function = self.function
        function.count += 1
        name = f"%.{function.count}"
        self._lines.append(f"{name} = {code}")
        return Value(kind, name)

    # -- arithmetic

    shl, lshr, ashr = _binary("shl"), _binary("lshr"), _binary("ashr")
    add, sub, mul = _binary("add"), _binary("sub"), _binary("mul")
    udiv, sdiv, urem, srem = _binary("udiv"), _binary("sdiv"), _binary("urem"), _binary("srem")
    fadd, fsub, fmul, fdiv, frem = (_binary(name) for name in ("fadd", "fsub", "fmul", "fdiv", "frem"))
    and_, or_, xor = _binary("and"), _binary("or"), _binary("xor")
    trunc, zext, sext = _conversion("trunc"), _conversion("zext"), _conversion("sext")
    fptrunc, fpext, bitcast = _conversion("fptrunc"), _conversion("fpext"), _conversion("bitcast")
    fptoui, uitofp, fptosi, sitofp = (_conversion(name) for name in ("fptoui", "uitofp", "fptosi", "sitofp"))
    ptrtoint, inttoptr = _conversion("ptrtoint"), _conversion("inttoptr")

    def fneg(self, value: Value) -> Value:
        """The number with the other sign."""
        return self.define(value.type, f"fneg {value.operand}")

    def neg(self, value: Value) -> Any:
        """The integer with the other sign."""
        return self.sub(Constant(value.type, 0), value)

    def not_(self, value: Value) -> Any:
        """The integer with all bits inverted."""
        return self.xor(value, Constant(value.type, -1))

    def icmp_signed(self, relation: str, left: Value, right: Value) -> Any:
        """The comparison of integers or pointers."""
        return self._compare("icmp", _SIGNED[relation], left, right)

    def icmp_unsigned(self, relation: str, left: Value, right: Value) -> Any:
        """The comparison of integers without a sign, or of pointers."""
        return self._compare("icmp", _UNSIGNED[relation], left, right)

    def fcmp_ordered(self, relation: str, left: Value, right: Value) -> Any:
        """The comparison of numbers; false of a NaN."""
        return self._compare("fcmp", "o" + _FLOAT[relation], left, right)

    def fcmp_unordered(self, relation: str, left: Value, right: Value) -> Any:
        """The comparison of numbers; true of a NaN."""
        return self._compare("fcmp", "u" + _FLOAT[relation], left, right)

    def _compare(self, opcode: str, relation: str, left: Value, right: Value) -> Value:
        kind = left.type
        if kind is not right.type and kind != right.type:
            raise ValueError(f"the operands of {opcode} have the types {kind} and {right.type}.")
        result: Type = VectorType(BIT, kind.count) if isinstance(kind, VectorType) else BIT
        return self.define(result, f"{opcode} {relation} {kind.text} {left.text}, {right.text}")

    def select(self, condition: Value, left: Value, right: Value) -> Any:
        """One of two values."""
        return self.define(left.type, f"select {condition.operand}, {left.operand}, {right.operand}")

    def ctlz(self, value: Value, zero_is_poison: Value) -> Any:
        """The number of zero bits before the first one."""
        name = f"llvm.ctlz.{value.type.intrinsic_name}"
        found = self.module.globals.get(name)
        if found is None:
            found = Function(self.module, FunctionType(value.type, [value.type, BIT]), name)
        return self.call(found, [value, zero_is_poison])

    # -- memory

    def alloca(self, kind: Type, size: Value | None = None) -> Any:
        """A local variable of the function, or `size` of them."""
        made = Alloca(kind, size, self._name())
        self._lines.append(made)
        return made

    def load(self, pointer: Value, *, typ: Type | None = None, align: int | None = None) -> Any:
        """What is in memory at an address."""
        kind = _pointee(pointer) if typ is None else typ
        suffix = "" if align is None else f", align {align}"
        return self.define(kind, f"load {kind.text}, ptr {pointer.text}{suffix}")

    def store(self, value: Value, pointer: Value, align: int | None = None) -> None:
        """Write to memory at an address."""
        suffix = "" if align is None else f", align {align}"
        self._lines.append(f"store {value.type.text} {value.text}, ptr {pointer.text}{suffix}")

    def gep(
        self, pointer: Value, indices: Sequence[Value], inbounds: bool = False, source_etype: Type | None = None
    ) -> Any:
        """The address of an element; `source_etype` is the type of what the first index counts."""
        kind = _pointee(pointer) if source_etype is None else source_etype
        inner = kind
        for _ in indices[1:]:
            assert isinstance(inner, SequenceType), "an index goes into an array or a vector"
            inner = inner.element
        word = "getelementptr inbounds" if inbounds else "getelementptr"
        where = ", ".join([index.operand for index in indices])
        return self.define(PointerType(inner), f"{word} {kind.text}, ptr {pointer.text}, {where}")

    def atomic_rmw(self, operation: str, pointer: Value, value: Value, ordering: str) -> Any:
        """Change memory in one step that no thread can come between; what was there before."""
        return self.define(value.type, f"atomicrmw {operation} ptr {pointer.text}, {value.operand} {ordering}")

    # -- vectors and structures

    def extract_element(self, vector: Value, index: Value) -> Any:
        """A lane of a vector."""
        assert isinstance(vector.type, VectorType), "only vectors have lanes"
        return self.define(vector.type.element, f"extractelement {vector.operand}, {index.operand}")

    def insert_element(self, vector: Value, value: Value, index: Value) -> Any:
        """The vector with another value in a lane."""
        return self.define(vector.type, f"insertelement {vector.operand}, {value.operand}, {index.operand}")

    def shuffle_vector(self, left: Value, right: Value, mask: Value) -> Any:
        """Lanes of two vectors, by the numbers in `mask`."""
        assert isinstance(left.type, VectorType), "only vectors have lanes"
        assert isinstance(mask.type, VectorType), "the numbers of lanes are a vector"
        kind = VectorType(left.type.element, mask.type.count)
        return self.define(kind, f"shufflevector {left.operand}, {right.operand}, {mask.operand}")

    def extract_value(self, structure: Value, index: int) -> Any:
        """An element of a structure."""
        assert isinstance(structure.type, LiteralStructType), "only structures have elements of several types"
        return self.define(structure.type.elements[index], f"extractvalue {structure.operand}, {index}")

    def insert_value(self, structure: Value, value: Value, index: int) -> Any:
        """The structure with another value in an element."""
        return self.define(structure.type, f"insertvalue {structure.operand}, {value.operand}, {index}")

    # -- control

    def call(self, function: Value, arguments: Sequence[Value]) -> Any:
        """Call a function, or the address of one whose type is known."""
        kind = _pointee(function)
        assert isinstance(kind, FunctionType), "only functions are called"
        if len(arguments) != len(kind.args):
            raise ValueError(f"{function.text} was called with {len(arguments)} arguments; it has {len(kind.args)}.")
        given = ", ".join([argument.operand for argument in arguments])
        code = f"call {kind.return_type.text} {function.text}({given})"
        if kind.return_type.text == "void":
            self._lines.append(code)
            return None
        return self.define(kind.return_type, code)

    def phi(self, kind: Type) -> Phi:
        """A value that depends on the block from which control came."""
        made = Phi(kind, self._name())
        self._lines.append(made)
        return made

    def branch(self, target: Block) -> None:
        """Go to a block."""
        self._terminate(f"br label %{target.name}")

    def cbranch(self, condition: Value, yes: Block, no: Block, likely: bool | None = None) -> None:
        """Go to one of two blocks."""
        weights = "" if likely is None else self.module.branch_weights(likely)
        self._terminate(f"br i1 {condition.text}, label %{yes.name}, label %{no.name}{weights}")

    def switch(self, value: Value, default: Block) -> Switch:
        """Go to one of several blocks, which are added as cases."""
        made = Switch(value, default)
        self._terminate(made)
        return made

    def ret(self, value: Value) -> None:
        """Return a value."""
        self._terminate(f"ret {value.operand}")

    def ret_void(self) -> None:
        """Return."""
        self._terminate("ret void")

    def _terminate(self, code: str | Switch) -> None:
        assert self.block.terminator is None, "a block has one end"
        self.block.terminator = code

    @contextmanager
    def if_then(self, condition: Value, likely: bool | None = None) -> Iterator[Block]:
        """Emit what is done only if a condition holds; `likely` tells LLVM how often it does."""
        inside, after = self.append_basic_block("if"), self.append_basic_block("endif")
        self.cbranch(condition, inside, after, likely)
        self.position_at_end(inside)
        yield after
        if not self.block.is_terminated:
            self.branch(after)
        self.position_at_end(after)

    @contextmanager
    def if_else(self, condition: Value, likely: bool | None = None) -> Iterator[tuple[Any, Any]]:
        """Emit both branches of a condition: `with builder.if_else(c) as (yes, no)`, then `with yes:`, `with no:`."""
        inside, otherwise, after = (self.append_basic_block(name) for name in ("if", "else", "endif"))
        self.cbranch(condition, inside, otherwise, likely)
        yield self._branch(inside, after), self._branch(otherwise, after)
        self.position_at_end(after)

    @contextmanager
    def _branch(self, block: Block, after: Block) -> Iterator[Block]:
        self.position_at_end(block)
        yield block
        if not self.block.is_terminated:
            self.branch(after)


def _pointee(pointer: Value) -> Type:
    """The type of what a pointer points to, which has to be known."""
    kind = pointer.type
    assert isinstance(kind, PointerType), "only pointers point to something"
    assert kind.pointee is not None, "the type behind the pointer has to be given"
    return kind.pointee
