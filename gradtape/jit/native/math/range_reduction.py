"""Range reduction of angles to at most pi/4, for any finite argument: the first step of sin, cos and tan.

x = k * pi/2 + r with |r| <= pi/4 (and a little). Up to 2**28 the multiple of pi/2 is subtracted with pi/2 in three
parts (161 bits; the nearest a binary64 number of that size comes to a multiple of pi/2 is about 2**-62, so that more
than 53 good bits are left). Beyond, the loop takes a rare branch to a function that multiplies
the 53-bit integer of x with the 256 bits of 2/pi that matter to it (Payne and Hanek), with LLVM's wide integers.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from gradtape.jit.native import llvm_ir as ir
from gradtape.jit.native.emit.vectors import DOUBLE, LONG, Vector
from gradtape.jit.native.math.double_float import Maths, Pair

POINTER = ir.PointerType()
INT32 = ir.IntType(32)

# pi/2 = HALF_PI[0] + HALF_PI[1] + HALF_PI[2], each part the nearest binary64 number to what the former leave
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
TWO_OVER_PI = 0.6366197723675814
LARGE = 2.0**28

PADDING = 64  # zero bits before 2/pi, for arguments whose window begins before the binary point
TABLE_BITS = 1408  # 64 + 1024 (largest exponent) + 256 (window), and some to spare
SLOW_NAME = "gradtape_quarter_turns"


@cache
def two_over_pi_bits() -> int:
    """`PADDING` zero bits and then the binary digits of 2/pi, as one integer of `TABLE_BITS` bits.

    pi by Machin's formula, pi/4 = 4 atan(1/5) - atan(1/239), with integers.
    """
    digits = TABLE_BITS + 64

    def inverse_tangent(n: int) -> int:
        term = (1 << digits) // n
        total, divisor, sign = term, 1, 1
        while term:
            term //= n * n
            divisor += 2
            sign = -sign
            total += sign * (term // divisor)
        return total

    pi = 4 * (4 * inverse_tangent(5) - inverse_tangent(239))
    return (2 << (digits + TABLE_BITS - PADDING)) // pi


def reduce_angle(maths: Maths, x: Vector) -> tuple[Pair, Vector]:
    """The rest r as a pair, and the number of quarter turns as an integer, of which the two lowest bits matter."""
    turns, quadrant = maths.rounded(x, TWO_OVER_PI)
    if maths.fused:
        first = maths.multiply_add(turns, -HALF_PI[0], x)
    else:
        product, rest = maths.exact_product(turns, HALF_PI[0])
        first = (x - product) - rest
    # exact either way: a multiple of 2**-53 (or of x's last place), of at most 1, has few enough bits
    high: Vector
    low: Vector | None
    if maths.single:
        high, low = maths.multiply_add(turns, -HALF_PI[1], first), None
    else:
        product, rest = maths.exact_product(turns, HALF_PI[1])
        high, low = maths.exact_sum(first, -product)
        high, low = maths.ordered_pair(high, maths.multiply_add(turns, -HALF_PI[2], low - rest))
    return _or_slowly(maths, x, (high, low), quadrant)


def _or_slowly(maths: Maths, x: Vector, rest: Pair, quadrant: Vector) -> tuple[Pair, Vector]:
    """The same, with the slow function in lanes whose argument is large; the branch is taken if there is one."""
    builder = maths.builder
    large = ~(maths.absolute(x) <= LARGE)
    before = builder.block
    slow = builder.append_basic_block("large.angle")
    after = builder.append_basic_block("angle")
    builder.cbranch(maths.any(large), slow, after)
    builder.position_at_end(slow)
    maths.enter()
    slow_rest, slow_quadrant = _slow_lanes(maths, x)
    chosen = [maths.select(large, slow_rest[0], rest[0])]
    normal = [rest[0]]
    if rest[1] is not None:
        assert slow_rest[1] is not None
        chosen.append(maths.select(large, slow_rest[1], rest[1]))
        normal.append(rest[1])
    chosen.append(maths.select(large, slow_quadrant, quadrant))
    normal.append(quadrant)
    maths.leave()
    end_of_slow = builder.block
    builder.branch(after)
    builder.position_at_end(after)
    merged = []
    for one, other in zip(normal, chosen, strict=True):
        phi = builder.phi(one.ir.type)
        phi.add_incoming(one.ir, before)
        phi.add_incoming(other.ir, end_of_slow)
        merged.append(Vector(maths, phi))
    return (merged[0], merged[1] if len(merged) == 3 else None), merged[-1]


def _slow_lanes(maths: Maths, x: Vector) -> tuple[Pair, Vector]:
    """The slow function, lane by lane."""
    builder = maths.builder
    function = slow_function(builder.module)
    outputs = [ir.Constant(maths.type(element), ir.Undefined) for element in (DOUBLE, DOUBLE, LONG)]
    for lane in range(maths.width):
        index = ir.Constant(INT32, lane)
        result = builder.call(function, [builder.extract_element(x.ir, index)])
        for i in range(3):
            outputs[i] = builder.insert_element(outputs[i], builder.extract_value(result, i), index)
    high, low, quadrant = (Vector(maths, output) for output in outputs)
    half_pi = maths.constant_pair(x, HALF_PI[0], HALF_PI[1])
    return maths.pair_times_pair((high, None if maths.single else low), half_pi), quadrant


def slow_function(module: Any) -> Any:
    """A function of one number that returns x * 2/pi modulo 4: a fraction (-1/2 to 1/2) as a pair, and an integer."""
    found = module.globals.get(SLOW_NAME)
    if found is not None:
        return found
    wide = ir.IntType(256)
    result_type = ir.LiteralStructType([DOUBLE, DOUBLE, LONG])
    function = ir.Function(module, ir.FunctionType(result_type, [DOUBLE]), SLOW_NAME)
    function.linkage = "internal"
    function.attributes.add("noinline")
    function.attributes.add("cold")
    builder = ir.IRBuilder(function.append_basic_block())

    def number(value: int, kind: Any = LONG) -> Any:
        return ir.Constant(kind, value)

    def double_with_exponent(exponent: Any) -> Any:
        return builder.bitcast(builder.shl(builder.add(exponent, number(1023)), number(52)), DOUBLE)

    argument = function.args[0]
    bits = builder.bitcast(argument, LONG)
    biased = builder.and_(builder.lshr(bits, number(52)), number(0x7FF))
    finite = builder.icmp_unsigned("<", biased, number(0x7FF))
    # valid for |x| >= 2**28 only: for other exponents, whose results are not used, avoid reads outside of the table
    inside = builder.and_(finite, builder.icmp_unsigned(">=", biased, number(1023 + 28)))
    exponent = builder.sub(builder.select(inside, biased, number(1023 + 28)), number(1075))
    integer = builder.or_(builder.and_(bits, number((1 << 52) - 1)), number(1 << 52))
    # digits of 2/pi before place exponent - 2 contribute whole multiples of 4
    skipped = builder.add(exponent, number(PADDING - 2))
    position = builder.sub(number(TABLE_BITS - 256), skipped)
    address = builder.gep(_table(module), [builder.lshr(position, number(3))], source_etype=ir.IntType(8))
    loaded = builder.load(address, typ=ir.IntType(320), align=1)
    shift = builder.zext(builder.and_(position, number(7)), ir.IntType(320))
    window = builder.trunc(builder.lshr(loaded, shift), wide)
    product = builder.mul(window, builder.zext(integer, wide))
    rounded = builder.lshr(builder.add(product, number(1 << 253, wide)), number(254, wide))
    fraction = builder.sub(product, builder.shl(rounded, number(254, wide)))
    negative = builder.icmp_signed("<", fraction, number(0, wide))
    magnitude = builder.select(negative, builder.neg(fraction), fraction)
    zeros = builder.ctlz(magnitude, number(0, ir.IntType(1)))
    normal = builder.shl(magnitude, zeros)
    leading = builder.trunc(builder.lshr(normal, number(203, wide)), LONG)
    following = builder.and_(builder.trunc(builder.lshr(normal, number(150, wide)), LONG), number((1 << 53) - 1))
    scale = builder.sub(number(-51), builder.trunc(zeros, LONG))
    high = builder.fmul(builder.uitofp(leading, DOUBLE), double_with_exponent(scale))
    low = builder.fmul(builder.uitofp(following, DOUBLE), double_with_exponent(builder.sub(scale, number(53))))
    flip = builder.xor(negative, builder.icmp_signed("<", bits, number(0)))
    high = builder.select(flip, builder.fneg(high), high)
    low = builder.select(flip, builder.fneg(low), low)
    quadrant = builder.trunc(rounded, LONG)
    quadrant = builder.select(builder.icmp_signed("<", bits, number(0)), builder.neg(quadrant), quadrant)
    high = builder.select(finite, high, ir.Constant(DOUBLE, float("nan")))
    result = ir.Constant(result_type, ir.Undefined)
    for i, value in enumerate((high, low, quadrant)):
        result = builder.insert_value(result, value, i)
    builder.ret(result)
    return function


def _table(module: Any) -> Any:
    """The digits of 2/pi as constant bytes, lowest first."""
    name = "gradtape_two_over_pi"
    found = module.globals.get(name)
    if found is None:
        digits = bytearray(two_over_pi_bits().to_bytes(TABLE_BITS // 8 + 8, "little"))
        kind = ir.ArrayType(ir.IntType(8), len(digits))
        found = ir.GlobalVariable(module, kind, name)
        found.linkage = "internal"
        found.global_constant = True
        found.initializer = ir.Constant(kind, digits)
    return found
