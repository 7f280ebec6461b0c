"""LLVM IR as text: types, values, functions, and a builder that writes each instruction when it is emitted.

The names are those of `llvmlite.ir`, of which this is the part that gradtape emits. That package makes an object with
operands for every instruction, and formats all of them at the end; half of the time from a plan to a module in memory
was spent there. Here an instruction is a line of text from the start, and a value is a type and a name. What may still
change after it was emitted (the edges of a phi, the cases of a switch, the alignment of a local variable) is an object
until the module is printed. Mistakes that the text has are found by LLVM, which parses and verifies every module.
"""

from gradtape.jit.native.llvm_ir.builder import Alloca, IRBuilder, Phi, Switch
from gradtape.jit.native.llvm_ir.types import (
    ArrayType,
    DoubleType,
    FloatType,
    FunctionType,
    HalfType,
    IntType,
    LiteralStructType,
    PointerType,
    Type,
    VectorType,
    VoidType,
)
from gradtape.jit.native.llvm_ir.values import Block, Constant, Function, GlobalVariable, Module, Undefined, Value

__all__ = [
    "Alloca",
    "ArrayType",
    "Block",
    "Constant",
    "DoubleType",
    "FloatType",
    "Function",
    "FunctionType",
    "GlobalVariable",
    "HalfType",
    "IRBuilder",
    "IntType",
    "LiteralStructType",
    "Module",
    "Phi",
    "PointerType",
    "Switch",
    "Type",
    "Undefined",
    "Value",
    "VectorType",
    "VoidType",
]
