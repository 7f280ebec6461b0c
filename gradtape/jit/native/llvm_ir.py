"""LLVM IR as text: types, values, functions, and a builder that writes each instruction when it is emitted.

The names are those of `llvmlite.ir`, of which this is the part that gradtape emits. That package makes an object with
operands for every instruction, and formats all of them at the end; half of the time from a plan to a module in memory
was spent there. Here an instruction is a line of text from the start, and a value is a type and a name. What may still
change after it was emitted (the edges of a phi, the cases of a switch, the alignment of a local variable) is an object
until the module is printed. Mistakes that the text has are found by LLVM, which parses and verifies every module.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

_PLAIN_NAME = re.compile(r"[-a-zA-Z$._0-9]+\Z")
_BRANCH_WEIGHTS = {True: (99, 1), False: (1, 99)}  # of the branches of a condition that is likely, or unlikely

# -- types


class Type:
    """A type; `text` is how it is written. Types with the same text are equal."""

    __slots__ = ("intrinsic_name", "text", "zero")
    _made: ClassVar[dict[Any, Any]] = {}

    def __init__(self, text: str, zero: str = "0", intrinsic_name: str = "") -> None:
        self.text = text
        self.zero = zero
        self.intrinsic_name = intrinsic_name

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Type) and self.text == other.text)

    def __hash__(self) -> int:
        return hash(self.text)

    def __call__(self, value: Any) -> Constant:
        """A constant of this type."""
        return Constant(self, value)

    def as_pointer(self) -> PointerType:
        """A pointer that knows that it points to a value of this type."""
        return PointerType(self)


class VoidType(Type):
    """The type of a function without a result."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("void")


class IntType(Type):
    """An integer of `width` bits; there is one object for each width.

    >>> from gradtape.jit.native.llvm_ir import IntType
    >>> IntType(64) is IntType(64), str(IntType(1)), IntType(64)(5).operand
    (True, 'i1', 'i64 5')
    """

    __slots__ = ("width",)
    width: int

    def __new__(cls, width: int) -> IntType:
        found: IntType | None = cls._made.get(width)
        if found is None:
            found = cls._made[width] = super().__new__(cls)
            Type.__init__(found, f"i{width}", intrinsic_name=f"i{width}")
            found.width = width
        return found

    def __init__(self, width: int) -> None:  # the attributes were set when the object was made
        pass


class DoubleType(Type):
    """A binary64 number."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("double", "0.0", "f64")


class FloatType(Type):
    """A binary32 number."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("float", "0.0", "f32")


class HalfType(Type):
    """A binary16 number."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("half", "0.0", "f16")


class PointerType(Type):
    """An address; `pointee` is the type of what is there, if it is known. LLVM does not tell such pointers apart."""

    __slots__ = ("pointee",)

    def __init__(self, pointee: Type | None = None) -> None:
        super().__init__("ptr", "null", "p0")
        self.pointee = pointee


class _Sequence(Type):
    """Elements of one type, next to each other."""

    __slots__ = ("count", "element")
    brackets: ClassVar[tuple[str, str]]

    def __init__(self, element: Type, count: int) -> None:
        opening, closing = self.brackets
        super().__init__(f"{opening}{count} x {element.text}{closing}", "zeroinitializer")
        self.element = element
        self.count = count


class ArrayType(_Sequence):
    """An array in memory."""

    __slots__ = ()
    brackets = ("[", "]")


class VectorType(_Sequence):
    """A vector of lanes."""

    __slots__ = ()
    brackets = ("<", ">")

    def __init__(self, element: Type, count: int) -> None:
        super().__init__(element, count)
        self.intrinsic_name = f"v{count}{element.intrinsic_name}"


class LiteralStructType(Type):
    """A structure without a name."""

    __slots__ = ("elements",)

    def __init__(self, elements: Sequence[Type]) -> None:
        super().__init__("{" + ", ".join(element.text for element in elements) + "}", "zeroinitializer")
        self.elements = tuple(elements)


class FunctionType(Type):
    """The result and the arguments of a function."""

    __slots__ = ("args", "return_type")

    def __init__(self, return_type: Type, args: Sequence[Type]) -> None:
        super().__init__(f"{return_type.text} ({', '.join(argument.text for argument in args)})")
        self.return_type = return_type
        self.args = tuple(args)


_BIT = IntType(1)
_INT32 = IntType(32)
_LONG = IntType(64)
_VOID = VoidType()

# -- values


class Value:
    """What an instruction can have as an operand: its type, and how it is written (`%.12`, `@name`, `3`)."""

    __slots__ = ("type", "text")  # noqa: RUF023  the order of the arguments
    integer: int | None = None
    """The number, of a constant of 64 bits."""

    def __init__(self, type: Type, text: str) -> None:
        self.type = type
        self.text = text

    @property
    def operand(self) -> str:
        """The value with its type."""
        return f"{self.type.text} {self.text}"


class _Undefined:
    """The value of a constant that has none."""


Undefined = _Undefined()


class Constant(Value):
    """A constant: a number, a list of them, bytes, None for zeros or the null pointer, or `Undefined`.

    >>> from gradtape.jit.native.llvm_ir import Constant, DoubleType, FloatType, IntType, VectorType
    >>> Constant(DoubleType(), 0.1).operand, Constant(FloatType(), 0.1).operand
    ('double 0x3fb999999999999a', 'float 0x3fb99999a0000000')
    >>> Constant(VectorType(IntType(32), 2), [0, 1]).operand
    '<2 x i32> <i32 0, i32 1>'
    """

    __slots__ = ("constant", "integer")

    def __init__(self, type: Type, constant: Any) -> None:
        self.type = type
        self.constant = constant
        if isinstance(type, IntType) and isinstance(constant, int):
            self.text = str(int(constant))
            self.integer = constant if type is _LONG else None
        else:
            self.text = _write_constant(type, constant)
            self.integer = None


def _write_constant(kind: Type, value: Any) -> str:
    """How a constant is written, without its type."""
    if isinstance(value, Value):
        return value.text
    if value is None:
        return kind.zero
    if value is Undefined:
        return "undef"
    if isinstance(kind, _Sequence):
        if isinstance(value, bytes | bytearray):
            return 'c"' + "".join(f"\\{byte:02x}" for byte in value) + '"' if any(value) else kind.zero
        opening, closing = kind.brackets
        element = kind.element
        return opening + ", ".join([f"{element.text} {_write_constant(element, x)}" for x in value]) + closing
    if isinstance(kind, IntType):
        return str(int(value))
    if isinstance(kind, FloatType):  # written as the binary64 number that is equal to it
        (value,) = struct.unpack("<f", struct.pack("<f", value))
    elif not isinstance(kind, DoubleType):
        raise TypeError(f"no constant of the type {kind} can be written for {value!r}.")
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}"


class GlobalVariable(Value):
    """A variable of a module, or one that the module imports if it has neither initializer nor linkage."""

    __slots__ = ("align", "global_constant", "initializer", "linkage", "name", "value_type")

    def __init__(self, module: Module, value_type: Type, name: str) -> None:
        super().__init__(PointerType(value_type), f"@{_quote(name)}")
        self.name = name
        self.value_type = value_type
        self.linkage = ""
        self.global_constant = False
        self.initializer: Constant | None = None
        self.align: int | None = None
        module.add_global(self)

    def __str__(self) -> str:
        kind = "constant" if self.global_constant else "global"
        if self.initializer is not None:
            value = self.initializer.operand
        else:
            value = f"{self.value_type} undef" if self.linkage else f"{self.value_type}"
        linkage = self.linkage or ("external" if self.initializer is None else "")
        align = "" if self.align is None else f", align {self.align}"
        return f"{self.text} = {linkage} {kind} {value}{align}"


class Attributes(set[str]):
    """The attributes of a function."""

    alignstack = 0
    """The alignment of the stack frame in bytes, if it is more than that of the platform."""

    def __str__(self) -> str:
        return " ".join([*sorted(self), *([f"alignstack({self.alignstack})"] if self.alignstack else [])])


class Function(Value):
    """A function; without a basic block, it is a declaration.

    >>> from gradtape.jit.native import llvm_ir as ir
    >>> long, module = ir.IntType(64), ir.Module("example")
    >>> square = ir.Function(module, ir.FunctionType(long, [long]), "square")
    >>> builder = ir.IRBuilder(square.append_basic_block("entry"))
    >>> builder.ret(builder.mul(square.args[0], square.args[0]))
    >>> print(square)
    define i64 @square(i64 %.1) {
    entry.2:
    %.3 = mul i64 %.1, %.1
    ret i64 %.3
    }
    """

    __slots__ = ("args", "attributes", "blocks", "count", "ftype", "linkage", "module", "name")

    def __init__(self, module: Module, ftype: FunctionType, name: str) -> None:
        super().__init__(PointerType(ftype), f"@{_quote(name)}")
        self.module = module
        self.name = name
        self.ftype = ftype
        self.linkage = ""
        self.attributes = Attributes()
        self.blocks: list[Block] = []
        self.count = len(ftype.args)  # names are numbered: arguments, blocks and values
        self.args = tuple([Value(kind, f"%.{i}") for i, kind in enumerate(ftype.args, 1)])
        module.add_global(self)

    def append_basic_block(self, name: str = "") -> Block:
        """A new basic block, after all others."""
        self.count += 1
        block = Block(self, f"{name}.{self.count}")
        self.blocks.append(block)
        return block

    def __str__(self) -> str:
        linkage = f" {self.linkage}" if self.linkage else ""
        attributes = f" {self.attributes}" if self.attributes or self.attributes.alignstack else ""
        if not self.blocks:
            arguments = ", ".join([kind.text for kind in self.ftype.args])
            return f"declare{linkage} {self.ftype.return_type} {self.text}({arguments}){attributes}"
        arguments = ", ".join([argument.operand for argument in self.args])
        lines = [f"define{linkage} {self.ftype.return_type} {self.text}({arguments}){attributes} {{"]
        for block in self.blocks:
            lines.append(f"{block.name}:")
            lines += [line if type(line) is str else str(line) for line in block.instructions]
            lines.append(str(block.terminator))
        lines.append("}")
        return "\n".join(lines)


class Block:
    """A basic block of a function: its instructions, and the branch or return that ends it."""

    __slots__ = ("function", "instructions", "name", "terminator")

    def __init__(self, function: Function, name: str) -> None:
        self.function = function
        self.name = name
        self.instructions: list[Any] = []  # text, or an object that is printed at the end
        self.terminator: Any = None

    @property
    def is_terminated(self) -> bool:
        """Whether the block has its end."""
        return self.terminator is not None


class Module:
    """Functions and variables that are compiled together; `globals` has them by name.

    >>> from gradtape.jit.native import llvm_ir as ir
    >>> module = ir.Module("example")
    >>> power = ir.Function(module, ir.FunctionType(ir.DoubleType(), [ir.DoubleType()] * 2), "pow")
    >>> module.globals["pow"] is power
    True
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.globals: dict[str, Any] = {}
        self.checks: Any = None
        """The memory checks of the module, in the checking mode."""
        self.code_of_loops: Any = None
        """The code that the bodies of all loops share, if there are many of them."""
        self._weights: dict[tuple[int, int], int] = {}

    def add_global(self, value: GlobalVariable | Function) -> None:
        """Add a function or a variable, whose name has to be new."""
        if value.name in self.globals:
            raise ValueError(f"the module {self.name!r} has two globals with the name {value.name!r}.")
        self.globals[value.name] = value

    def declare_intrinsic(self, name: str, types: Sequence[Type]) -> Function:
        """LLVM's `llvm.memcpy` or `llvm.memset`, for pointers and a size of the given types."""
        full = ".".join([name, *(kind.intrinsic_name for kind in types)])
        found: Function | None = self.globals.get(full)
        if found is None:
            filled = {"llvm.memset": [IntType(8)], "llvm.memcpy": []}[name]
            arguments = [*types[:-1], *filled, types[-1], _BIT]
            found = Function(self, FunctionType(_VOID, arguments), full)
        return found

    def branch_weights(self, likely: bool) -> str:
        """The metadata of a branch that is taken almost always, or almost never."""
        number = self._weights.setdefault(_BRANCH_WEIGHTS[likely], len(self._weights))
        return f", !prof !{number}"

    def __str__(self) -> str:
        parts = [str(value) for value in self.globals.values()]
        parts += [
            f'!{number} = !{{!"branch_weights", i32 {yes}, i32 {no}}}' for (yes, no), number in self._weights.items()
        ]
        return "\n".join(parts) + "\n"


def _quote(name: str) -> str:
    """The name of a global, in quotes if it has other characters than those of identifiers."""
    return name if _PLAIN_NAME.match(name) else '"' + "".join(f"\\{b:02x}" for b in name.encode()) + '"'


# -- instructions that may be changed after they were emitted


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


# -- the builder


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
        result: Type = VectorType(_BIT, kind.count) if isinstance(kind, VectorType) else _BIT
        return self.define(result, f"{opcode} {relation} {kind.text} {left.text}, {right.text}")

    def select(self, condition: Value, left: Value, right: Value) -> Any:
        """One of two values."""
        return self.define(left.type, f"select {condition.operand}, {left.operand}, {right.operand}")

    def ctlz(self, value: Value, zero_is_poison: Value) -> Any:
        """The number of zero bits before the first one."""
        name = f"llvm.ctlz.{value.type.intrinsic_name}"
        found = self.module.globals.get(name)
        if found is None:
            found = Function(self.module, FunctionType(value.type, [value.type, _BIT]), name)
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
            assert isinstance(inner, _Sequence), "an index goes into an array or a vector"
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
