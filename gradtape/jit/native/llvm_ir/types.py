"""The types of LLVM IR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from gradtape.jit.native.llvm_ir.values import Constant


class Type:
    """A type; `text` is how it is written. Types with the same text are equal."""

    __slots__ = ("intrinsic_name", "text", "zero")
    _made: ClassVar[dict[Any, Any]] = {}
    constant_class: ClassVar[type[Constant]]  # set where that class is, which needs the types

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
        return self.constant_class(self, value)

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

    def __init__(self, width: int) -> None:
        """The attributes were set in `__new__`, once for each width."""


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


class SequenceType(Type):
    """Elements of one type, next to each other."""

    __slots__ = ("count", "element")
    brackets: ClassVar[tuple[str, str]]

    def __init__(self, element: Type, count: int) -> None:
        opening, closing = self.brackets
        super().__init__(f"{opening}{count} x {element.text}{closing}", "zeroinitializer")
        self.element = element
        self.count = count


class ArrayType(SequenceType):
    """An array in memory."""

    __slots__ = ()
    brackets = ("[", "]")


class VectorType(SequenceType):
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
