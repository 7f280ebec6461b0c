"""An IR builder that folds integer constants.

Half of the address arithmetic adds zero or multiplies by one. LLVM would fold it, too, but parsing and removing such an
instruction takes ten times as long as not emitting it.
"""

from __future__ import annotations

from typing import Any

from gradtape.jit.native import llvm_ir as ir

_LONG = ir.IntType(64)


class Builder(ir.IRBuilder):
    """Like its base class, but the result of an operation may be one of its operands or a constant.

    >>> from gradtape.jit.native import llvm_ir as ir
    >>> from gradtape.jit.native.emit.builder import Builder
    >>> kind = ir.IntType(64)
    >>> function = ir.Function(ir.Module(), ir.FunctionType(kind, [kind]), "function")
    >>> (x,), builder = function.args, Builder(function.append_basic_block())
    >>> builder.add(builder.mul(x, kind(1)), kind(0)) is x
    True
    >>> builder.mul(kind(6), kind(7)).constant
    42
    """

    checks_bounds = False  # of each access, in the checking mode

    def add(self, left: ir.Value, right: ir.Value) -> Any:
        """The sum; folded if both are constants, or one is 0."""
        one, other = left.integer, right.integer
        if one == 0:
            return right
        if other == 0:
            return left
        return super().add(left, right) if one is None or other is None else _LONG(one + other)

    def sub(self, left: ir.Value, right: ir.Value) -> Any:
        """The difference; folded if both are constants, or the right one is 0."""
        one, other = left.integer, right.integer
        if other == 0:
            return left
        return super().sub(left, right) if one is None or other is None else _LONG(one - other)

    def mul(self, left: ir.Value, right: ir.Value) -> Any:
        """The product; folded if both are constants, or one is 0 or 1."""
        one, other = left.integer, right.integer
        if one == 1 or other == 0:
            return right
        if other == 1 or one == 0:
            return left
        return super().mul(left, right) if one is None or other is None else _LONG(one * other)

    def udiv(self, left: ir.Value, right: ir.Value) -> Any:
        """The quotient; folded if both are constants, or the divisor is 1."""
        one, other = left.integer, right.integer
        if other == 1:
            return left
        return super().udiv(left, right) if one is None or other is None else _LONG(one // other)

    def load_masked(self, pointer: ir.Value, mask: ir.Value, kind: ir.VectorType, align: int) -> Any:
        """Load the lanes of a vector that are set in `mask`; the others are zeros, and not accessed."""
        name = f"llvm.masked.load.v{kind.count}{kind.element.intrinsic_name}.p0"
        found = self.module.globals.get(name)
        if found is None:
            arguments = [ir.PointerType(), ir.IntType(32), ir.VectorType(ir.IntType(1), kind.count), kind]
            found = ir.Function(self.module, ir.FunctionType(kind, arguments), name)
        return self.call(found, [pointer, ir.Constant(ir.IntType(32), align), mask, ir.Constant(kind, None)])

    def require(self, pointer: ir.Value, size: int | ir.Value, what: str) -> Any:
        """The pointer, at which `size` bytes are about to be accessed. Tested in the checking mode only."""
        return pointer

    def select(self, condition: ir.Value, left: ir.Value, right: ir.Value) -> Any:
        """One of two values; folded if the condition is a constant."""
        if isinstance(condition, ir.Constant) and isinstance(condition.type, ir.IntType):
            return left if condition.constant else right
        return super().select(condition, left, right)

    def icmp_signed(self, relation: str, left: ir.Value, right: ir.Value) -> Any:
        """The comparison; folded if both are constants."""
        one, other = left.integer, right.integer
        if one is None or other is None or relation not in ("<", ">"):
            return super().icmp_signed(relation, left, right)
        return ir.IntType(1)(int(one < other if relation == "<" else one > other))


def start_builder(block: ir.Block) -> Builder:
    """A builder at the end of a basic block: one that tests all accesses if its module is compiled in checking mode."""
    if block.function.module.checks is None:
        return Builder(block)
    from gradtape.jit.native.emit.memory_checks import CheckedBuilder

    return CheckedBuilder(block)
