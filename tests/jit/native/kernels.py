"""Vector functions as NumPy-like functions, and how far they are from the truth."""

from __future__ import annotations

import ctypes
import platform
from functools import cache

import mpmath
import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.elementwise import EMITTERS, Elements
from gradtape.jit.native.emit.vectors import DOUBLE, FLOAT, Lanes, Vector
from gradtape.jit.native.math import erf
from gradtape.jit.native.math.double_float import Maths
from gradtape.jit.native.runtime.llvm import Machine, host

FUNCTIONS = erf.FUNCTIONS
LONG, POINTER, WIDTH = ir.IntType(64), ir.PointerType(), 8
BINARY = frozenset({"power", "atan2", "logaddexp", "logaddexp2"})


@cache
def oldest():
    """The instruction sets that every x86-64 has, and nothing else; the host itself where that is not its kind."""
    return Machine(cpu="x86-64") if platform.machine().lower() in ("x86_64", "amd64") else host()


def machine_named(name):
    return host() if name == "host" else oldest()


@cache
def native(name, dtype, machine="host"):
    """The vector function of that name on arrays of one dimension."""
    inputs = 2 if name in BINARY else 1

    def emit(lanes, operands):
        maths = Maths(lanes, dtype == "float32")
        if dtype == "float64":
            return FUNCTIONS[name](maths, *operands)
        wide = [maths.convert("fpext", operand, DOUBLE) for operand in operands]
        return maths.convert("fptrunc", FUNCTIONS[name](maths, *wide), FLOAT)

    return _kernel(emit, inputs, dtype, machine_named(machine))


@cache
def native_operation(name, inputs, dtype, machine="host"):
    """The emitter of an elementwise operation of the table on arrays of one dimension."""

    def emit(lanes, operands):
        if name == "polygamma":  # its order, which is 1 in vector code, comes first
            operands = [None, *operands]
        return EMITTERS[name][1](Elements(lanes), np.dtype(dtype), operands, {})

    return _kernel(emit, inputs, dtype, machine_named(machine))


def _kernel(emit, inputs, dtype, target):
    """What `emit` makes of lanes, as a function of arrays of one dimension."""
    module = ir.Module()
    element = FLOAT if dtype == "float32" else DOUBLE
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER] * (inputs + 1) + [LONG]), "kernel")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    entry, loop, done = builder.block, builder.append_basic_block("loop"), builder.append_basic_block("done")
    builder.branch(loop)
    builder.position_at_end(loop)
    index = builder.phi(LONG)
    index.add_incoming(ir.Constant(LONG, 0), entry)
    lanes = Lanes(builder, WIDTH, target.fused)
    operands = []
    for argument in function.args[:inputs]:
        address = builder.gep(argument, [index], source_etype=element)
        operands.append(Vector(lanes, builder.load(address, typ=lanes.type(element), align=4)))
    result = emit(lanes, operands)
    builder.store(result.ir, builder.gep(function.args[inputs], [index], source_etype=element), align=4)
    following = builder.add(index, ir.Constant(LONG, WIDTH))
    index.add_incoming(following, builder.block)
    builder.cbranch(builder.icmp_unsigned("<", following, function.args[-1]), loop, done)
    builder.position_at_end(done)
    builder.ret_void()
    text = str(module)
    call = target.compile(text, ["kernel"]).function("kernel", None, *[ctypes.c_void_p] * (inputs + 1), ctypes.c_int64)

    def compute(*arrays):
        arrays = [np.asarray(array, dtype) for array in arrays]
        size = arrays[0].size
        padded = -(-size // WIDTH) * WIDTH
        arrays = [np.concatenate([array, np.ones(padded - size, dtype)]) for array in arrays]
        out = np.empty(padded, dtype)
        call(*[array.ctypes.data for array in arrays], out.ctypes.data, padded)
        return out[:size]

    compute.assembly = lambda: target.assembly(text)
    return compute


REFERENCES = {
    "acos": mpmath.acos,
    "acosh": mpmath.acosh,
    "asin": mpmath.asin,
    "asinh": mpmath.asinh,
    "atan": mpmath.atan,
    "atan2": mpmath.atan2,
    "atanh": mpmath.atanh,
    "cbrt": lambda x: mpmath.cbrt(abs(x)) * mpmath.sign(x),
    "cos": mpmath.cos,
    "cosh": mpmath.cosh,
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "erfcx": lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
    "exp": mpmath.exp,
    "exp2": lambda x: mpmath.power(2, x),
    "expm1": mpmath.expm1,
    "gammaln": lambda x: mpmath.re(mpmath.loggamma(x)),
    "log": mpmath.log,
    "log10": lambda x: mpmath.log(x, 10),
    "log1p": mpmath.log1p,
    "log2": lambda x: mpmath.log(x, 2),
    "ndtr": lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
    "power": mpmath.power,
    "psi": mpmath.digamma,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "sin": mpmath.sin,
    "sinh": mpmath.sinh,
    "softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
    "tan": mpmath.tan,
    "tanh": mpmath.tanh,
    "trigamma": lambda x: mpmath.polygamma(1, x),
}


def ulps(result, exact, dtype):
    """The distance of a float from an exact number, in units of the last place that the exact number has."""
    limits = np.finfo(dtype)
    with mpmath.workprec(200):  # of a difference of numbers of 53 digits and more
        if abs(exact) >= mpmath.mpf(float(limits.max)) * (1 + mpmath.mpf(2) ** -(limits.nmant + 2)):
            return 0.0 if np.isinf(result) and (result > 0) == (exact > 0) else np.inf
        if not np.isfinite(result):
            return np.inf
        exponent = max(mpmath.frexp(exact)[1] - 1, int(limits.minexp)) if exact else int(limits.minexp)
        return float(abs(mpmath.mpf(float(result)) - exact) / mpmath.mpf(2) ** (exponent - int(limits.nmant)))
