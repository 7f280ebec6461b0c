"""Operations whose results are flat almost everywhere: rounding, signs, comparison, logic and bits.

They have no derivative to speak of. What goes in here leaves the tape, and a gradient that is asked for across one of
them is None, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.batch import batch_elementwise
from gradtape.core.operation import Lifted, Op
from gradtape.core.rules import constant
from gradtape.core.tensor import plain
from gradtape.core.typing import Array, Draw, TensorLike
from gradtape.numpy_dispatch.protocols import COMPOSED, answers
from gradtape.ops.arguments import as_value, write_result_into
from gradtape.ops.conversion import absolute, direction
from gradtape.ops.documentation import flat

__all__ = [
    "allclose",
    "array_equal",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "equal",
    "floor",
    "floor_divide",
    "gcd",
    "greater",
    "greater_equal",
    "heaviside",
    "invert",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "lcm",
    "left_shift",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
    "right_shift",
    "rint",
    "round",
    "sign",
    "signbit",
    "trunc",
]


def _row(kernel: Callable[..., Any], what: str, example: str, **details: Any) -> Op:
    return constant(kernel, batch=batch_elementwise, doc=flat(what, example), **details)


# -- rounding and signs


_sign = constant(lambda x: np.sign(x), name="sign", batch=batch_elementwise, domain=[None])


def sign(x: TensorLike) -> Any:
    """-1, 0 or 1, which is flat, so no gradient passes; of a complex number x / |x|, which has one.

    >>> import gradtape as gt
    >>> gt.sign(gt.tensor([-2.0, 0.0]))
    Tensor([-1.,  0.])
    """
    x = as_value(x)
    return direction(x, absolute(x)) if x.dtype.kind == "c" else _sign(x)


COMPOSED[np.sign] = sign
floor: Op = _row(np.floor, "The largest integer that is not above", "floor([-1.5, 1.5]) -> [-2.,  1.]")
ceil: Op = _row(np.ceil, "The smallest integer that is not below", "ceil([-1.5, 1.5]) -> [-1.,  2.]")
trunc: Op = _row(np.trunc, "The integer part", "trunc([-1.5, 1.5]) -> [-1.,  1.]")
rint: Op = _row(np.rint, "The nearest integer, the even one of two", "rint([0.5, 1.7]) -> [0., 2.]")
floor_divide: Op = _row(np.floor_divide, "The floor of the quotient", "floor_divide([-3.5, 3.5], 2.0) -> [-2.,  1.]")
heaviside: Op = _row(
    np.heaviside, "0 below zero, 1 above, and the second argument at zero", "heaviside([-1.0, 0.0], 0.5) -> [0. , 0.5]"
)
signbit: Op = _row(np.signbit, "Whether the sign is negative, of -0.0 too", "signbit([-0.0, 1.0]) -> [ True, False]")

_round = constant(
    lambda x, decimals: np.round(x, decimals),
    name="round",
    batch=batch_elementwise,
    samples=lambda draw: [((draw(2, 3),), {"decimals": 1}), ((draw(),), {"decimals": 0})],
)


@answers(np.round, np.around)
def round(x: TensorLike, decimals: int = 0, out: Array | None = None) -> Any:
    """`x` rounded to `decimals` places. It is flat almost everywhere, so no gradient passes.

    >>> import gradtape as gt
    >>> gt.round(gt.tensor([0.4, 1.6]))
    Tensor([0., 2.])
    """
    if out is not None:
        return write_result_into(out, round, x, decimals)
    return _round(x, decimals=decimals)


# -- tests of one element

isnan: Op = _row(np.isnan, "Whether it is not a number", "isnan([1.0, float('nan')]) -> [False,  True]")
isinf: Op = _row(np.isinf, "Whether it is infinite", "isinf([1.0, float('inf')]) -> [False,  True]")
isfinite: Op = _row(np.isfinite, "Whether it is a finite number", "isfinite([1.0, float('inf')]) -> [ True, False]")
isneginf: Op = _row(
    lambda x: np.isneginf(x),
    "Whether it is minus infinity",
    "isneginf([1.0, -float('inf')]) -> [False,  True]",
    name="isneginf",
    domain=[None],
    answers=[np.isneginf],
)
isposinf: Op = _row(
    lambda x: np.isposinf(x),
    "Whether it is plus infinity",
    "isposinf([1.0, float('inf')]) -> [False,  True]",
    name="isposinf",
    domain=[None],
    answers=[np.isposinf],
)

# -- comparison and logic

equal: Op = _row(np.equal, "Whether x = y", "equal([1.0, 2.0], 2.0) -> [False,  True]")
not_equal: Op = _row(np.not_equal, "Whether x and y differ", "not_equal([1.0, 2.0], 2.0) -> [ True, False]")
less: Op = _row(np.less, "Whether x < y", "less([1.0, 2.0], 2.0) -> [ True, False]")
less_equal: Op = _row(np.less_equal, "Whether x <= y", "less_equal([1.0, 3.0], 2.0) -> [ True, False]")
greater: Op = _row(np.greater, "Whether x > y", "greater([1.0, 3.0], 2.0) -> [False,  True]")
greater_equal: Op = _row(np.greater_equal, "Whether x >= y", "greater_equal([1.0, 2.0], 2.0) -> [False,  True]")
logical_and: Op = _row(np.logical_and, "Whether both hold", "logical_and([1.0, 0.0], True) -> [ True, False]")
logical_or: Op = _row(np.logical_or, "Whether one or both hold", "logical_or([1.0, 0.0], False) -> [ True, False]")
logical_xor: Op = _row(
    np.logical_xor, "Whether one and only one holds", "logical_xor([1.0, 0.0], True) -> [False,  True]"
)
logical_not: Op = _row(np.logical_not, "Whether it does not hold", "logical_not([1.0, 0.0]) -> [False,  True]")

# -- bits


def _bits(count: int) -> Any:
    """Samples of small integers and of booleans."""

    def samples(draw: Draw) -> list[Any]:
        whole = tuple(np.floor(4 + 2 * draw(2, 3)).astype(int) for _ in range(count))
        broadcast = (np.array([1, 2, 3]), np.array([[1], [2]]))[:count]
        return [(whole, {}), (broadcast, {})]

    return samples


bitwise_and: Op = _row(np.bitwise_and, "The bits set in both", "bitwise_and([6, 3], 5) -> [4, 1]", samples=_bits(2))
bitwise_or: Op = _row(np.bitwise_or, "The bits set in one or both", "bitwise_or([6, 3], 5) -> [7, 7]", samples=_bits(2))
bitwise_xor: Op = _row(np.bitwise_xor, "The bits set in only one", "bitwise_xor([6, 3], 5) -> [3, 6]", samples=_bits(2))
invert: Op = _row(np.invert, "The bits that are not set", "invert([True, False]) -> [False,  True]", samples=_bits(1))
left_shift: Op = _row(np.left_shift, "The bits moved up", "left_shift([1, 3], 2) -> [ 4, 12]", samples=_bits(2))
right_shift: Op = _row(np.right_shift, "The bits moved down", "right_shift([4, 12], 2) -> [1, 3]", samples=_bits(2))

gcd: Op = _row(np.gcd, "The greatest common divisor", "gcd([12, 18], 8) -> [4, 2]", samples=_bits(2))
lcm: Op = _row(np.lcm, "The least common multiple", "lcm([4, 6], 6) -> [12,  6]", samples=_bits(2))
bitwise_count: Op = _row(
    np.bitwise_count, "How many bits are set", "bitwise_count([6, 7]) -> [2, 3], dtype=uint8", samples=_bits(1)
)

# -- within a tolerance

_isclose = constant(
    lambda a, b, **how: np.isclose(a, b, **how),
    name="isclose",
    batch=batch_elementwise,
    samples=lambda draw: [((draw(2, 3), draw(3)), {"rtol": 0.5, "atol": 0.5, "equal_nan": False})],
)


@answers(np.isclose)
def isclose(a: TensorLike, b: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Where two arrays agree within a tolerance.

    >>> import gradtape as gt
    >>> gt.isclose(gt.tensor([1.0, 2.0]), [1.0, 2.1])
    Tensor([ True, False])
    """
    return _isclose(a, b, rtol=plain(rtol), atol=plain(atol), equal_nan=equal_nan)


@answers(np.allclose)
def allclose(a: TensorLike, b: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether two arrays agree within a tolerance.

    >>> import gradtape as gt
    >>> gt.allclose(gt.tensor([1.0]), [1.0])
    True
    """
    if isinstance(a, Lifted) or isinstance(b, Lifted):
        return bool(isclose(a, b, rtol, atol, equal_nan).all())
    return np.allclose(plain(a), plain(b), plain(rtol), plain(atol), equal_nan)


@answers(np.array_equal)
def array_equal(a: TensorLike, b: TensorLike, equal_nan: bool = False) -> bool:
    """Whether two arrays have the same shape and elements.

    >>> import gradtape as gt
    >>> gt.array_equal(gt.tensor([1.0]), [1.0])
    True
    """
    if isinstance(a, Lifted) or isinstance(b, Lifted):
        one, other = as_value(a), as_value(b)
        return one.shape == other.shape and are_all_equal(one, other, equal_nan)
    return np.array_equal(plain(a), plain(b), equal_nan=equal_nan)


def are_all_equal(a: Any, b: Any, equal_nan: bool = False) -> bool:
    """Whether all elements are equal, for tensors of an interpreter: `jit` looks at the answer, not at the elements."""
    same = equal(a, b)
    if equal_nan:
        same = logical_or(same, logical_and(not_equal(a, a), not_equal(b, b)))
    return bool(same.all())


# the names of the array API standard
bitwise_invert = invert
bitwise_left_shift = left_shift
bitwise_right_shift = right_shift
