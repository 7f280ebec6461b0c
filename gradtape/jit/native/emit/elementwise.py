"""The table of elementwise emitters: one for each elementwise operation, on vectors of lanes.

`supports(instruction)` says whether an instruction has an emitter for its dtypes; `emit(lanes, instruction, operands)`
emits it. The dtypes are those of NumPy: operands are converted to the common dtype first, and Python numbers are weak.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.elementwise_composed import COMPOSED, PARTS, signbit
from gradtape.jit.native.emit.vectors import BIT, DOUBLE, FLOAT, Lanes, Vector
from gradtape.jit.native.lower.ir import AnyInstruction, AnyOperand, is_value
from gradtape.jit.native.math.double_float import Maths

DType = np.dtype[Any]

_BOOL, _SINGLE, _DOUBLE = np.dtype(bool), np.dtype(np.float32), np.dtype(np.float64)


def has_type(dtype: DType) -> bool:
    """Whether elements of this dtype can be lanes: real numbers and truth values in the machine's byte order."""
    return dtype.isnative and (dtype.kind in "biu" or dtype in (_SINGLE, _DOUBLE))


def is_index(dtype: DType) -> bool:
    """Whether elements of this dtype are positions that fit into 64 bits with a sign."""
    return dtype.isnative and (dtype.kind == "i" or (dtype.kind == "u" and dtype.itemsize < 8))


def lane_type(dtype: DType) -> Any:
    """The LLVM type of a lane. Truth values are single bits in lanes, and bytes in memory."""
    if dtype == _DOUBLE:
        return DOUBLE
    if dtype == _SINGLE:
        return FLOAT
    return BIT if dtype == _BOOL else ir.IntType(8 * dtype.itemsize)


def memory_type(dtype: DType) -> Any:
    """The LLVM type of an element in memory; booleans are bytes there."""
    return ir.IntType(8) if dtype == _BOOL else lane_type(dtype)


class Elements:
    """Lanes together with the two precisions of vector maths.

    Vector functions are emitted inline, so that they share common subexpressions. Those that are `outlined`, because
    they are used often, become one function of the module, which is called.
    """

    def __init__(self, lanes: Lanes, outlined: frozenset[str] = frozenset()) -> None:
        self.lanes = lanes
        self.outlined = outlined
        self.double = Maths(lanes, single=False)
        self.single = Maths(lanes, single=True)

    def function(self, name: str, dtype: DType, *operands: Vector) -> Vector:
        """A function of `native.math` on lanes of either precision."""
        if name in self.outlined:
            code = self._outlined(name, dtype, len(operands))
            key = ("call", code.name, *(operand.ir for operand in operands))
            return self.lanes.once(key, lambda: self.lanes.builder.call(code, [operand.ir for operand in operands]))
        from gradtape.jit.native.math import binary32  # loaded when first needed
        from gradtape.jit.native.math.erf import FUNCTIONS

        if dtype == _SINGLE and name in binary32.FUNCTIONS:
            return binary32.FUNCTIONS[name](self.lanes, *operands)
        if dtype == _DOUBLE:
            return FUNCTIONS[name](self.double, *operands)
        wide = [self.lanes.convert("fpext", operand, DOUBLE) for operand in operands]
        return self.lanes.convert("fptrunc", FUNCTIONS[name](self.single, *wide), FLOAT)

    def _outlined(self, name: str, dtype: DType, count: int) -> Any:
        """The function of the module that computes a vector function."""
        lanes, kind = self.lanes, self.lanes.type(lane_type(dtype))
        full_name = f"vector_{name}_{dtype.name}_{lanes.width}"
        found = lanes.builder.module.globals.get(full_name)
        if found is None:
            found = ir.Function(lanes.builder.module, ir.FunctionType(kind, [kind] * count), full_name)
            found.linkage = "internal"
            found.attributes.add("noinline")
            inside = Lanes(ir.IRBuilder(found.append_basic_block("entry")), lanes.width, lanes.fused)
            result = Elements(inside).function(name, dtype, *[Vector(inside, argument) for argument in found.args])
            inside.builder.ret(result.ir)
        return found

    def constant(self, dtype: DType, number: float) -> Vector:
        """A number in all lanes, rounded to the dtype."""
        with np.errstate(over="ignore"):
            value = dtype.type(number)
        if dtype.kind == "f":
            return self.lanes.constant(lane_type(dtype), float(value))
        return self.lanes.constant(lane_type(dtype), int(value))

    def cast(self, value: Vector, given: DType, wanted: DType) -> Vector:
        """The conversion that `astype` makes."""
        if given == wanted:
            return value
        lanes, kind = self.lanes, lane_type(wanted)
        if wanted == _BOOL:
            return value.differs(0)
        if wanted.kind == "f":
            if given.kind == "f":
                return lanes.convert("fpext" if wanted == _DOUBLE else "fptrunc", value, kind)
            return lanes.convert("sitofp" if given.kind == "i" else "uitofp", value, kind)
        if given.kind == "f":
            # out of range is undefined in LLVM; NumPy leaves the machine's answer, the lowest integer
            low, high = -(2.0 ** (8 * wanted.itemsize - 1)), 2.0 ** (8 * wanted.itemsize - 1)
            inside = (value >= low) & (value < high)
            whole = lanes.convert("fptosi", lanes.select(inside, value, 0.0), kind)
            return lanes.select(inside, whole, lanes.constant(kind, int(low)))
        if given.itemsize > wanted.itemsize:
            return lanes.convert("trunc", value, kind)
        if given.itemsize == wanted.itemsize and given != _BOOL:
            return value
        return lanes.convert("sext" if given.kind == "i" else "zext", value, kind)


Emitter = Callable[[Elements, DType, Sequence[Vector], dict[str, Any]], Vector]


def _maths(name: str) -> Emitter:
    return lambda e, dtype, operands, params: e.function(name, dtype, *operands)


def _simple(make: Callable[..., Vector]) -> Emitter:
    return lambda e, dtype, operands, params: make(*operands)


def _intrinsic(name: str) -> Emitter:
    return lambda e, dtype, operands, params: e.lanes.intrinsic(name, *operands)


def maximum(e: Elements, dtype: DType, x: Vector, y: Vector) -> Vector:
    """The larger, and NaN if either is."""
    keep = e.lanes.compare(">=", x, y, signed=dtype.kind == "i")
    return e.lanes.select(keep | x.is_nan if dtype.kind == "f" else keep, x, y)


def minimum(e: Elements, dtype: DType, x: Vector, y: Vector) -> Vector:
    """The smaller of two numbers, NaN if one is NaN, as `np.minimum`."""
    keep = e.lanes.compare("<=", x, y, signed=dtype.kind == "i")
    return e.lanes.select(keep | x.is_nan if dtype.kind == "f" else keep, x, y)


def _ignoring_nan(relation: str) -> Emitter:
    def emit(e: Elements, dtype: DType, operands: Sequence[Vector], params: dict[str, Any]) -> Vector:
        x, y = operands
        keep = e.lanes.compare(relation, x, y, signed=dtype.kind == "i")
        return e.lanes.select(keep | y.is_nan if dtype.kind == "f" else keep, x, y)

    return emit


def _absolute(e: Elements, dtype: DType, operands: Sequence[Vector], params: dict[str, Any]) -> Vector:
    (x,) = operands
    if dtype.kind == "f":
        return e.lanes.absolute(x)
    return x if dtype.kind in "bu" else e.lanes.select(x < 0, -x, x)


def _sign(e: Elements, dtype: DType, operands: Sequence[Vector], params: dict[str, Any]) -> Vector:
    (x,) = operands
    if dtype.kind == "u":
        return e.lanes.select(x.differs(0), e.constant(dtype, 1), 0)
    one = e.lanes.select(x > 0, e.constant(dtype, 1), e.lanes.select(x < 0, e.constant(dtype, -1), 0))
    return e.lanes.select(x.is_nan, x, one) if dtype.kind == "f" else one


def _clip(e: Elements, dtype: DType, operands: Sequence[Vector], params: dict[str, Any]) -> Vector:
    x, low, high = operands
    return minimum(e, dtype, maximum(e, dtype, x, low), high)


def _hypot(e: Elements, dtype: DType, operands: Sequence[Vector], params: dict[str, Any]) -> Vector:
    """sqrt(x**2 + y**2), scaled so that the squares neither overflow nor vanish; infinite if either is."""
    lanes = e.lanes
    single = dtype == _SINGLE
    x, y = (lanes.absolute(lanes.convert("fpext", v, DOUBLE) if single else v) for v in operands)
    larger = lanes.select(x > y, x, y)
    one = lanes.like(x, 1.0)
    down = lanes.select(larger > 2.0**500, lanes.like(x, 2.0**-600), lanes.select(larger < 2.0**-450, 2.0**600, one))
    up = lanes.select(larger > 2.0**500, lanes.like(x, 2.0**600), lanes.select(larger < 2.0**-450, 2.0**-600, one))
    a, b = x * down, y * down
    root = lanes.square_root(a * a + b * b) * up
    root = lanes.select(x.equals(math.inf) | y.equals(math.inf), math.inf, root)
    return lanes.convert("fptrunc", root, FLOAT) if single else root


def _power(e: Elements, dtype: DType, operands: Sequence[Vector], params: dict[str, Any]) -> Vector:
    x, y = operands
    return e.function("power", dtype, x, y)


def _small_power(e: Elements, dtype: DType, x: Vector, exponent: float) -> Vector | None:
    """x to a small constant power by products, reciprocals and square roots; None for other exponents."""
    from gradtape.jit.native.math.roots import EXPONENTS, small_power  # loaded when first needed

    if exponent not in EXPONENTS:
        return None
    if dtype == _DOUBLE or exponent in (0.5, 1, 2):  # these are rounded once, in any precision
        return small_power(e.double, x, exponent)
    wide = small_power(e.single, e.lanes.convert("fpext", x, DOUBLE), exponent)
    return e.lanes.convert("fptrunc", wide, FLOAT)


def _where(e: Elements, dtype: DType, operands: Sequence[Vector], params: dict[str, Any]) -> Vector:
    return e.lanes.select(*operands)


def _relation(relation: str) -> Emitter:
    def emit(e: Elements, dtype: DType, operands: Sequence[Vector], params: dict[str, Any]) -> Vector:
        left, right = operands
        return e.lanes.compare(relation, left, right, signed=dtype.kind == "i")

    return emit


_FLOAT = "f"
_ARITHMETIC = "iuf"
_ANY = "biuf"

_VECTOR_NAMES = {"arccos": "acos", "arcsin": "asin", "arctan": "atan", "arctan2": "atan2"}
_VECTOR_NAMES |= {"arccosh": "acosh", "arcsinh": "asinh", "arctanh": "atanh"}
_PARTS = {"float_power": ["power"], **PARTS}
_VECTORISED = [*_VECTOR_NAMES, "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "log", "log10", "log1p"]
_VECTORISED += ["erfcx", "gammaln", "log2", "logaddexp", "logaddexp2", "ndtr", "psi", "sigmoid", "sin", "sinh"]
_VECTORISED += ["softplus", "tan", "tanh"]

# name: (kinds of the dtype it is computed in, emitter). The dtype it is computed in is the result's.
EMITTERS: dict[str, tuple[str, Emitter]] = {
    "add": (_ARITHMETIC, _simple(lambda x, y: x + y)),
    "subtract": (_ARITHMETIC, _simple(lambda x, y: x - y)),
    "multiply": (_ARITHMETIC, _simple(lambda x, y: x * y)),
    "divide": (_FLOAT, _simple(lambda x, y: x / y)),
    "negative": (_ARITHMETIC, _simple(lambda x: -x)),
    "positive": (_ANY, _simple(lambda x: x)),
    "stop_gradient": (_ANY, _simple(lambda x: x)),
    "broadcast_to": (_ANY, _simple(lambda x: x)),
    "astype": (_ANY, _simple(lambda x: x)),
    "conjugate": (_ARITHMETIC, _simple(lambda x: x)),
    "reciprocal": (_FLOAT, _simple(lambda x: 1.0 / x)),
    "square": (_ARITHMETIC, _simple(lambda x: x * x)),
    "sqrt": (_FLOAT, _intrinsic("sqrt")),
    "root of squares": (_FLOAT, _intrinsic("sqrt")),
    "fabs": (_FLOAT, _intrinsic("fabs")),
    "absolute": (_ARITHMETIC, _absolute),
    "copysign": (_FLOAT, _intrinsic("copysign")),
    "floor": (_FLOAT, _intrinsic("floor")),
    "ceil": (_FLOAT, _intrinsic("ceil")),
    "trunc": (_FLOAT, _intrinsic("trunc")),
    "rint": (_FLOAT, _intrinsic("rint")),
    "sign": (_ARITHMETIC, _sign),
    "maximum": (_ARITHMETIC, lambda e, dtype, operands, params: maximum(e, dtype, *operands)),
    "minimum": (_ARITHMETIC, lambda e, dtype, operands, params: minimum(e, dtype, *operands)),
    "fmax": (_ARITHMETIC, _ignoring_nan(">=")),
    "fmin": (_ARITHMETIC, _ignoring_nan("<=")),
    "clip": (_ARITHMETIC, _clip),
    "where": (_ANY, _where),
    "power": (_FLOAT, _power),
    "float_power": (_FLOAT, _power),
    "hypot": (_FLOAT, _hypot),
    "deg2rad": (_FLOAT, lambda e, dtype, x, params: x[0] * float(dtype.type(np.pi / 180))),
    "rad2deg": (_FLOAT, lambda e, dtype, x, params: x[0] * float(dtype.type(180 / np.pi))),
    "relu": (_FLOAT, lambda e, dtype, x, params: maximum(e, dtype, x[0], e.constant(dtype, 0))),
    "bitwise_and": ("biu", _simple(lambda x, y: x & y)),
    "bitwise_or": ("biu", _simple(lambda x, y: x | y)),
    "bitwise_xor": ("biu", _simple(lambda x, y: x ^ y)),
    "invert": ("biu", _simple(lambda x: ~x)),
    "polygamma": (_FLOAT, lambda e, dtype, x, params: e.function("trigamma", dtype, x[1])),  # the first, and no other
    **COMPOSED,
} | {name: (_FLOAT, _maths(_VECTOR_NAMES.get(name, name))) for name in _VECTORISED}

# name: emitter. The result is a truth value; it is computed in the dtype that the operands have in common.
RELATIONS: dict[str, Emitter] = {
    "equal": _relation("=="),
    "not_equal": _relation("!="),
    "less": _relation("<"),
    "less_equal": _relation("<="),
    "greater": _relation(">"),
    "greater_equal": _relation(">="),
    "isnan": lambda e, dtype, x, params: x[0].is_nan,
    "isinf": lambda e, dtype, x, params: e.lanes.absolute(x[0]).equals(math.inf),
    "isfinite": lambda e, dtype, x, params: e.lanes.absolute(x[0]) < math.inf,
    "isneginf": lambda e, dtype, x, params: x[0].equals(-math.inf),
    "isposinf": lambda e, dtype, x, params: x[0].equals(math.inf),
    "signbit": signbit,
}
_ONLY_FLOATS = frozenset({"isnan", "isinf", "isfinite", "isneginf", "isposinf", "signbit"})

# name: emitter on truth values
LOGIC: dict[str, Callable[..., Vector]] = {
    "logical_and": lambda x, y: x & y,
    "logical_or": lambda x, y: x | y,
    "logical_xor": lambda x, y: x ^ y,
    "logical_not": lambda x: ~x,
}

OUTLINE = 4  # uses from which on a vector function is emitted once and called


def find_outlined(instructions: Sequence[Any]) -> frozenset[str]:
    """The vector functions to be emitted once and called, to limit the time to compile.

    >>> from types import SimpleNamespace
    >>> from gradtape.jit.native.emit.elementwise import find_outlined
    >>> find_outlined([SimpleNamespace(name="arctan")] * 9 + [SimpleNamespace(name="exp")])
    frozenset({'atan'})
    """
    counts: Counter[str] = Counter()
    for name in [instruction.name for instruction in instructions if instruction.name in HEAVY]:
        counts.update(_PARTS.get(name, [_VECTOR_NAMES.get(name, name)]))
    return frozenset(name for name, count in counts.items() if count >= OUTLINE)


HEAVY = frozenset({*_VECTORISED, "power", *_PARTS})
"""Operations that take tens of machine instructions: their results are stored rather than computed twice."""


IN_BINARY32 = frozenset({"erf", "exp", "sigmoid", "tanh"})
"""Those of them that are computed in binary32 for numbers of that dtype: see `math.binary32`."""


def is_wide(instructions: Sequence[AnyInstruction]) -> bool:
    """Whether no heavy operation and no operand needs lanes of 64 bits."""
    return all(
        (instruction.name in IN_BINARY32 or instruction.name not in HEAVY)
        and all(x.dtype.itemsize <= 4 for x in (*instruction.values, *instruction.results))
        for instruction in instructions
    )


def _dtypes(instruction: AnyInstruction) -> list[Any]:
    """The dtypes of the operands; Python numbers themselves, since their type is weak."""
    return [x.dtype if is_value(x) else x.value for x in instruction.operands]


def _is_number(value: object) -> bool:
    return isinstance(value, bool | int | float | np.generic) and not isinstance(value, np.complexfloating)


def supports(instruction: AnyInstruction) -> bool:
    """Whether the instruction is elementwise, with an emitter for its dtypes and parameters."""
    if len(instruction.results) != 1:
        return False
    name, dtype = instruction.name, instruction.results[0].dtype
    if not has_type(dtype):
        return False
    for operand in instruction.operands:
        if not (has_type(operand.dtype) if is_value(operand) else _is_number(operand.value)):
            return False
    if instruction.params and name not in ("broadcast_to", "astype"):
        return False
    if not instruction.values:
        return False
    if name in EMITTERS:
        if name == "polygamma" and not _is_literal(instruction.operands[0], 1):
            return False
        if name in ("broadcast_to", "astype", "where"):
            return not any(_lossy(x.dtype, dtype) for x in instruction.values)
        return dtype.kind in EMITTERS[name][0] and len(instruction.operands) <= 3
    if name in RELATIONS:
        return dtype == _BOOL and _relation_dtype(instruction) is not None
    return name in LOGIC and dtype == _BOOL


def _is_literal(operand: AnyOperand, number: int) -> bool:
    return not is_value(operand) and bool(operand.value == number)


def _lossy(given: DType, wanted: DType) -> bool:
    """Whether a cast is one of floats to integers (other than int64), whose results out of range vary."""
    return given.kind == "f" and wanted.kind in "iu" and wanted not in (np.dtype(np.int64),)


def _relation_dtype(instruction: AnyInstruction) -> DType | None:
    """The dtype a comparison is made in; None where NumPy does better than a common dtype (int64 with uint64)."""
    kinds = [k for k in _dtypes(instruction) if isinstance(k, np.dtype)]
    if any(k.kind == "u" for k in kinds) and any(k.kind in "if" for k in kinds):
        return None
    try:
        found = np.result_type(*_dtypes(instruction))
    except (OverflowError, TypeError):
        return None
    if instruction.name in _ONLY_FLOATS and found.kind != "f":
        return None
    if found.kind in "iu" and any(
        not isinstance(k, np.dtype) and (isinstance(k, float) or not _fits(k, found)) for k in _dtypes(instruction)
    ):
        return None
    return found if has_type(found) else None


def _fits(number: float, dtype: DType) -> bool:
    limits = np.iinfo(dtype)
    return bool(limits.min <= number <= limits.max)


def emit(elements: Elements, instruction: AnyInstruction, operands: Sequence[Vector | None]) -> Vector:
    """Emit the instruction on lanes. An operand that is None is a Python number of the instruction."""
    name, result = instruction.name, instruction.results[0].dtype

    def convert_operand(i: int, dtype: DType) -> Vector:
        operand, value = instruction.operands[i], operands[i]
        if not is_value(operand):
            return elements.constant(dtype, operand.value)
        assert value is not None
        return elements.cast(value, operand.dtype, dtype)

    count = range(len(operands))
    if name in RELATIONS:
        dtype = _relation_dtype(instruction)
        assert dtype is not None
        return RELATIONS[name](elements, dtype, [convert_operand(i, dtype) for i in count], {})
    if name in LOGIC:
        return LOGIC[name](*[convert_operand(i, _BOOL) for i in count])
    if name == "where":
        return elements.lanes.select(convert_operand(0, _BOOL), convert_operand(1, result), convert_operand(2, result))
    if name in ("power", "float_power") and not is_value(exponent := instruction.operands[1]):
        found = _small_power(elements, result, convert_operand(0, result), float(exponent.value))
        if found is not None:
            return found
    return EMITTERS[name][1](elements, result, [convert_operand(i, result) for i in count], instruction.params)


__all__ = ["EMITTERS", "HEAVY", "Elements", "emit", "has_type", "lane_type", "memory_type", "supports"]
