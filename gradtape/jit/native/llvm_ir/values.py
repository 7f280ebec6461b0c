"""Constants, variables, functions and modules of LLVM IR."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from typing import Any

from gradtape.jit.native.llvm_ir.types import (
    DoubleType,
    FloatType,
    FunctionType,
    IntType,
    PointerType,
    SequenceType,
    Type,
    VoidType,
)

BIT = IntType(1)
LONG = IntType(64)
_VOID = VoidType()
_PLAIN_NAME = re.compile(r"[-a-zA-Z$._0-9]+\Z")
_BRANCH_WEIGHTS = {True: (99, 1), False: (1, 99)}  # of the branches of a condition that is likely, or unlikely


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
            self.integer = constant if type is LONG else None
        else:
            self.text = _write_constant(type, constant)
            self.integer = None


Type.constant_class = Constant


def _write_constant(kind: Type, value: Any) -> str:
    """How a constant is written, without its type."""
    if isinstance(value, Value):
        return value.text
    if value is None:
        return kind.zero
    if value is Undefined:
        return "undef"
    if isinstance(kind, SequenceType):
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
            lines += [f"  {line}" for line in block.instructions]
            lines.append(f"  {block.terminator}")
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
            arguments = [*types[:-1], *filled, types[-1], BIT]
            found = Function(self, FunctionType(_VOID, arguments), full)
        return found

    def branch_weights(self, likely: bool) -> str:
        """The metadata of a branch that is taken almost always, or almost never."""
        number = self._weights.setdefault(_BRANCH_WEIGHTS[likely], len(self._weights))
        return f", !prof !{number}"

    def __str__(self) -> str:
        parts = [f"; ModuleID = '{self.name}'", *(str(value) for value in self.globals.values())]
        parts += [
            f'!{number} = !{{!"branch_weights", i32 {yes}, i32 {no}}}' for (yes, no), number in self._weights.items()
        ]
        return "\n".join(parts) + "\n"


def _quote(name: str) -> str:
    """The name of a global, in quotes if it has other characters than those of identifiers."""
    return name if _PLAIN_NAME.match(name) else '"' + "".join(f"\\{b:02x}" for b in name.encode()) + '"'
