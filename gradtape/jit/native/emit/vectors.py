"""A small expression layer over `llvm_ir`: vectors of lanes with operators, so that code reads like formulas.

`Lanes` emits the vector arithmetic of one basic block. A `Vector` is a vector (or a mask, or a vector of
integers) with Python's operators. The same operation on the same operands is emitted once: `sin(x)` and `cos(x)`
of one x share their range reduction without any help from the optimiser.

No fast-math flags are set: LLVM does not reorder or contract floating-point arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from gradtape.jit.native import llvm_ir as ir

DOUBLE = ir.DoubleType()
FLOAT = ir.FloatType()
BIT = ir.IntType(1)
LONG = ir.IntType(64)

Number = float | int


class Vector:
    """A vector of lanes: floats, integers or a mask. Operators emit instructions."""

    __slots__ = ("ir", "lanes")

    def __init__(self, lanes: Lanes, value: ir.Value) -> None:
        self.lanes = lanes
        self.ir = value

    @property
    def element(self) -> Any:
        """The LLVM type of one lane."""
        kind = self.ir.type
        assert isinstance(kind, ir.VectorType), "only vectors have lanes"
        return kind.element

    @property
    def is_float(self) -> bool:
        """Whether the lanes are floating point numbers."""
        return isinstance(self.element, (ir.DoubleType, ir.FloatType))

    def _binary(self, float_name: str, integer_name: str, other: Vector | Number, swapped: bool = False) -> Vector:
        other = self.lanes.like(self, other)
        left, right = (other, self) if swapped else (self, other)
        return self.lanes.emit(float_name if self.is_float else integer_name, left, right)

    def __add__(self, other: Vector | Number) -> Vector:
        return self._binary("fadd", "add", other)

    def __radd__(self, other: Number) -> Vector:
        return self._binary("fadd", "add", other, swapped=True)

    def __sub__(self, other: Vector | Number) -> Vector:
        return self._binary("fsub", "sub", other)

    def __rsub__(self, other: Number) -> Vector:
        return self._binary("fsub", "sub", other, swapped=True)

    def __mul__(self, other: Vector | Number) -> Vector:
        return self._binary("fmul", "mul", other)

    def __rmul__(self, other: Number) -> Vector:
        return self._binary("fmul", "mul", other, swapped=True)

    def __truediv__(self, other: Vector | Number) -> Vector:
        return self._binary("fdiv", "sdiv", other)

    def __rtruediv__(self, other: Number) -> Vector:
        return self._binary("fdiv", "sdiv", other, swapped=True)

    def __neg__(self) -> Vector:
        return self.lanes.emit("fneg", self) if self.is_float else 0 - self

    def __and__(self, other: Vector | int) -> Vector:
        return self.lanes.emit("and_", self, self.lanes.like(self, other))

    def __or__(self, other: Vector | int) -> Vector:
        return self.lanes.emit("or_", self, self.lanes.like(self, other))

    def __xor__(self, other: Vector | int) -> Vector:
        return self.lanes.emit("xor", self, self.lanes.like(self, other))

    def __invert__(self) -> Vector:
        return self ^ -1

    def __lshift__(self, other: int) -> Vector:
        return self.lanes.emit("shl", self, self.lanes.like(self, other))

    def __rshift__(self, other: int) -> Vector:
        """A logical shift: zeros come in from the left."""
        return self.lanes.emit("lshr", self, self.lanes.like(self, other))

    def _compare(self, relation: str, other: Vector | Number) -> Vector:
        return self.lanes.compare(relation, self, self.lanes.like(self, other))

    def __lt__(self, other: Vector | Number) -> Vector:
        return self._compare("<", other)

    def __le__(self, other: Vector | Number) -> Vector:
        return self._compare("<=", other)

    def __gt__(self, other: Vector | Number) -> Vector:
        return self._compare(">", other)

    def __ge__(self, other: Vector | Number) -> Vector:
        return self._compare(">=", other)

    def equals(self, other: Vector | Number) -> Vector:
        """The mask of lanes that are equal (`==` keeps Python's meaning, for the sake of dictionaries)."""
        return self._compare("==", other)

    def differs(self, other: Vector | Number) -> Vector:
        """The mask of lanes that are not equal; a NaN differs from everything."""
        return self._compare("!=", other)

    @property
    def is_nan(self) -> Vector:
        """Which lanes are NaN: a NaN differs from itself."""
        return self.differs(self)


class Lanes:
    """Emits vector instructions of a fixed number of lanes at the end of a builder's block."""

    def __init__(self, builder: ir.IRBuilder, width: int, fused: bool) -> None:
        self.builder = builder
        self.width = width
        self.fused = fused
        self._seen: list[dict[Any, Vector]] = [{}]

    # -- making values ----------------------------------------------------------------------------------------

    def type(self, element: ir.Type) -> Any:
        """The LLVM type of a vector of this width."""
        return ir.VectorType(element, self.width)

    def constant(self, element: ir.Type, number: Number) -> Vector:
        """All lanes hold one number."""
        key = ("constant", str(element), repr(number))
        found = self._find(key)
        if found is None:
            vector = self.type(element)
            scalar = ir.Constant(element, number)
            found = self._keep(key, Vector(self, ir.Constant(vector, [scalar] * self.width)))
        return found

    def like(self, value: Vector, other: Vector | Number) -> Vector:
        """The number as lanes of the value's type; a value as it is."""
        if isinstance(other, Vector):
            return other
        return self.constant(value.element, float(other) if value.is_float else int(other))

    def splat(self, scalar: ir.Value) -> Vector:
        """A scalar LLVM value in all lanes."""
        undefined = ir.Constant(self.type(scalar.type), ir.Undefined)
        first = self.builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
        mask = ir.Constant(ir.VectorType(ir.IntType(32), self.width), [ir.Constant(ir.IntType(32), 0)] * self.width)
        return Vector(self, self.builder.shuffle_vector(first, undefined, mask))

    def last(self, value: Vector, count: int) -> Vector:
        """The last lanes of a vector, as a shorter one."""
        kind = ir.IntType(32)
        mask = ir.Constant(ir.VectorType(kind, count), [kind(self.width - count + i) for i in range(count)])
        shorter = Lanes(self.builder, count, self.fused)
        return Vector(shorter, self.builder.shuffle_vector(value.ir, value.ir, mask))

    # -- emitting once ----------------------------------------------------------------------------------------

    def _find(self, key: Hashable) -> Vector | None:
        for scope in reversed(self._seen):
            found: Vector | None = scope.get(key)
            if found is not None:
                return found
        return None

    def _keep(self, key: Hashable, value: Vector) -> Vector:
        self._seen[-1][key] = value
        return value

    def enter(self) -> None:
        """Start a block that the present one dominates: what is emitted there is forgotten by `leave`."""
        self._seen.append({})

    def leave(self) -> None:
        """End the block that `enter` has started, and forget the values that were emitted in it."""
        self._seen.pop()

    def once(self, key: Hashable, make: Callable[[], Any]) -> Vector:
        """The value that was emitted under this key; the first time, what `make` emits."""
        found = self._find(key)
        return self._keep(key, Vector(self, make())) if found is None else found

    def emit(self, name: str, *operands: Vector) -> Vector:
        """The builder's instruction of that name, unless the same one was emitted already."""
        key = (name, *(operand.ir for operand in operands))
        found = self._find(key)
        if found is None:
            found = self._keep(key, Vector(self, getattr(self.builder, name)(*(operand.ir for operand in operands))))
        return found

    def intrinsic(self, name: str, *operands: Vector) -> Vector:
        """A call of LLVM's intrinsic of that name, overloaded on the operands' type."""
        key = ("intrinsic", name, *(operand.ir for operand in operands))
        found = self._find(key)
        if found is None:
            kind = operands[0].ir.type
            full = f"llvm.{name}.{kind.intrinsic_name}"
            module = self.builder.module
            function = module.globals.get(full)
            if function is None:
                function = ir.Function(module, ir.FunctionType(kind, [kind] * len(operands)), full)
            found = self._keep(key, Vector(self, self.builder.call(function, [operand.ir for operand in operands])))
        return found

    def compare(self, relation: str, left: Vector, right: Vector, signed: bool = True) -> Vector:
        """The comparison of each lane; a relation with a NaN is false, except !=."""
        key = ("compare", relation, left.ir, right.ir, signed)
        found = self._find(key)
        if found is None:
            if left.is_float:
                # != is true of a NaN, every other relation is false of it
                make = self.builder.fcmp_unordered if relation == "!=" else self.builder.fcmp_ordered
            else:
                make = self.builder.icmp_signed if signed else self.builder.icmp_unsigned
            found = self._keep(key, Vector(self, make(relation, left.ir, right.ir)))
        return found

    def select(self, mask: Vector, yes: Vector | Number, no: Vector | Number) -> Vector:
        """Lane by lane, one of two values."""
        if not isinstance(yes, Vector):
            assert isinstance(no, Vector), "one of the two must be a vector, to give the number its type"
            yes = self.like(no, yes)
        return self.emit("select", mask, yes, self.like(yes, no))

    def convert(self, name: str, value: Vector, element: ir.Type) -> Vector:
        """A lane-wise conversion instruction (`fpext`, `sitofp`, `zext`, `bitcast` ...) to lanes of that type."""
        key = ("convert", name, value.ir, str(element))
        found = self._find(key)
        if found is None:
            found = self._keep(key, Vector(self, getattr(self.builder, name)(value.ir, self.type(element))))
        return found

    def bits(self, value: Vector) -> Vector:
        """The binary64 lanes as 64-bit integers."""
        return self.convert("bitcast", value, LONG)

    def from_bits(self, value: Vector) -> Vector:
        """Integers as the doubles that have these bits."""
        return self.convert("bitcast", value, DOUBLE)

    # -- arithmetic -------------------------------------------------------------------------------------------

    def absolute(self, value: Vector) -> Vector:
        """The absolute value."""
        return self.intrinsic("fabs", value)

    def copysign(self, magnitude: Vector, sign: Vector) -> Vector:
        """A magnitude with the sign of another number."""
        return self.intrinsic("copysign", magnitude, sign)

    def square_root(self, value: Vector) -> Vector:
        """The square root."""
        return self.intrinsic("sqrt", value)

    def multiply_add(self, left: Vector, right: Vector | Number, addend: Vector | Number) -> Vector:
        """`left * right + addend`: rounded once where the host has the instruction, twice where it has not."""
        right, addend = self.like(left, right), self.like(left, addend)
        return self.intrinsic("fma", left, right, addend) if self.fused else left * right + addend

    def any(self, mask: Vector) -> Any:
        """A scalar bit: does the mask hold in any lane?"""
        packed = self.builder.bitcast(mask.ir, ir.IntType(self.width))
        return self.builder.icmp_unsigned("!=", packed, ir.Constant(ir.IntType(self.width), 0))

    def polynomial(self, coefficients: Sequence[float], variable: Vector) -> Vector:
        """c0 + c1 x + c2 x**2 + ... by Estrin's scheme: pairs first, so that the chain of dependent steps is short."""
        terms: list[Vector] = [self.like(variable, c) for c in coefficients]
        power = variable
        while len(terms) > 1:
            paired = [self.multiply_add(terms[i + 1], power, terms[i]) for i in range(0, len(terms) - 1, 2)]
            if len(terms) % 2:
                paired.append(terms[-1])
            terms = paired
            if len(terms) > 1:
                power = power * power
        return terms[0]
