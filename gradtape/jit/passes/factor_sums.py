"""Factors that do not vary along the axes of a sum are taken out of it: `sum(p * c * e)` is `sum(p * c) * e`.

Gradients of arrays that are broadcast are sums of products, of which many factors have no more axes than the result:
outside of the sum they are multiplied once for each element of the result. Likewise `sum(a @ w)` over the rows of `a`
is `sum(a) @ w`, which is one product of matrices less.

Terms are rounded in another order, with the same bound of the error, relative to the sum of magnitudes. A sum of sums
is taken apart only if its parts are products and so were rounded before they are added: `sum(x - y)` stays what it is,
since `sum(x) - sum(y)` may lose digits. For the range of exponents it is done in double precision only; and where
arrays are large, since small programs gain nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import LOOP, Instruction, Literal, Operand, Program, Value
from gradtape.jit.passes.cse import share_subexpressions
from gradtape.jit.passes.dce import drop_dead

LARGE = 1 << 13
"""Elements of the operand of a sum from which on it is looked at."""
DEEPEST = 12
"""Instructions of a product that are looked through."""
_SUMS = frozenset({"sum", "mean"})
_CONTRACTIONS = frozenset({"einsum", "matmul"})
_VIEWS = frozenset({"reshape", "getitem", "transpose", "flip", "diagonal", "broadcast_to"})
_DOUBLE = np.dtype(np.float64)
Axes = tuple[int, ...]


def factor_sums(program: Program) -> Program:
    """Take factors out of the sums of large products, if the program has less to compute then.

    >>> import numpy as np, gradtape as gt
    >>> step = gt.jit(gt.grad(lambda e, x: np.sum((x * e) ** 2)))
    >>> program = step.lower(np.ones(10), np.ones((1000, 10)))
    >>> [(i.name, i.result.shape) for i in program.instructions][-3:]
    [('sum', (10,)), ('multiply', (10,)), ('multiply', (10,))]
    """
    if not any(_is_large_sum(instruction) for instruction in program.instructions):
        return program
    changed = drop_dead(share_subexpressions(_Factoring(program).run()))
    return changed if estimate_work(changed) < estimate_work(program) else program


def estimate_work(program: Program) -> int:
    """The elements that the instructions go through, and the multiplications of products."""
    return sum(_work_of(instruction) for instruction in program.instructions)


def _work_of(instruction: Instruction) -> int:
    if instruction.op is LOOP or instruction.name in _VIEWS:
        return 0
    sizes = [value.size for value in (*instruction.values, *instruction.results)]
    if instruction.name in _CONTRACTIONS and len(instruction.values) == 2:
        left, right, out = sizes
        return math.isqrt(left * right * out)  # exact for two matrices, roughly so for batches
    return max(sizes, default=0)


def _is_large_sum(instruction: Instruction) -> bool:
    """Whether an instruction adds up a large array of doubles."""
    if instruction.effect or instruction.name not in _SUMS or set(instruction.params) - {"axis", "keepdims"}:
        return False
    operand = instruction.operands[0]
    return (
        type(operand) is Value
        and operand.dtype == instruction.result.dtype == _DOUBLE
        and operand.size >= LARGE
        and operand.size > instruction.result.size
    )


class _Factors(NamedTuple):
    """A product: a number, factors that do not vary along the axes of a sum, divisors like that, and the others."""

    scale: float
    constant: list[Value]
    divisors: list[Value]
    varying: list[Value]


class _Factoring:
    """Rewrites the sums of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.next_id = program.next_id()
        self.makers = {i.results[0]: i for i in program.instructions if len(i.results) == 1 and not i.effect}
        self.numbers = {x.value: x.array.reshape(-1)[0] for x in program.constants if x.value.size == 1}
        self.made: list[Instruction] = []
        self.known: dict[Any, Value] = {}

    def run(self) -> Program:
        names: dict[Value, Value] = {}
        for instruction in self.program.instructions:
            if any(value in names for value in instruction.values):
                operands = tuple([names.get(x, x) if type(x) is Value else x for x in instruction.operands])
                instruction = instruction.replace(operands=operands)
            self.site = instruction
            found = None
            if _is_large_sum(instruction):
                found = self.rewrite_sum(instruction)
            elif instruction.name in _CONTRACTIONS and not instruction.effect:
                found = self.rewrite_contraction(instruction)
            if found is None:
                self.made.append(instruction)
            else:
                names[instruction.result] = found
        outputs = tuple([names.get(value, value) for value in self.program.outputs])
        return self.program.replace(instructions=tuple(self.made), outputs=outputs)

    # -- new instructions

    def write(self, name: str, operands: Sequence[Operand], shape: tuple[int, ...], /, **params: Any) -> Value:
        """A new instruction, at the line of the one that is rewritten; the same one is written once."""
        key = (name, shape, *[repr(x.value) if isinstance(x, Literal) else x for x in operands], repr(params))
        if key not in self.known:
            value = Value(self.next_id, shape, _DOUBLE)
            self.next_id += 1
            instruction = self.site.replace(op=TABLE[name], operands=tuple(operands), params=params, results=(value,))
            self.made.append(instruction)
            self.makers[value] = instruction
            self.known[key] = value
        return self.known[key]

    def multiply(self, left: Value, right: Value) -> Value:
        return self.write("multiply", (left, right), np.broadcast_shapes(left.shape, right.shape))

    def reshape(self, value: Value, shape: tuple[int, ...]) -> Value:
        return value if value.shape == shape else self.write("reshape", (value,), shape, shape=shape)

    def product(self, factors: Sequence[Value]) -> Value:
        """The product of factors: small ones first, and those that were computed last, which are shared most."""
        first, *rest = sorted(factors, key=lambda value: (value.size, -value.id))
        for value in rest:
            first = self.multiply(first, value)
        return first

    def scaled(self, value: Value, scale: float) -> Value:
        return value if scale == 1.0 else self.write("multiply", (value, Literal(scale)), value.shape)

    # -- sums

    def rewrite_sum(self, instruction: Instruction) -> Value | None:
        """The result of a sum in another form; None if nothing is taken out of it."""
        operand, result = instruction.values[0], instruction.result
        axis = instruction.params.get("axis")
        axes = tuple(range(operand.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        found = self.add_up(operand, tuple(sorted(a % operand.ndim for a in axes)), instruction.name)
        return None if found is None else self.reshape(found, result.shape)

    def add_up(self, value: Value, axes: Axes, name: str) -> Value | None:
        """The sum (or the mean) of a value along axes, without these; None if nothing is taken out of it."""
        if value.dtype != _DOUBLE:
            return None
        maker = self.makers.get(value)
        if maker is not None and maker.name in _CONTRACTIONS:
            return self.add_up_contraction(maker, axes, name)
        if maker is not None and maker.name in ("add", "subtract") and len(set(maker.values)) == 2:
            if any(x.shape != value.shape for x in maker.values):
                return None
            before = len(self.made)
            parts = [self.add_up(x, axes, name) for x in maker.values]
            if None in parts:
                self._forget(before)
                return None
            return self.write(maker.name, [x for x in parts if x is not None], _without(value.shape, axes))
        found = self.factors(value, value.shape, axes)
        if found.scale == 1.0 and not found.constant and not found.divisors:
            return None
        core = self.product(found.varying)
        kept = _without(_pad(core.shape, value.ndim), axes)
        total = self.add_up(core, axes, name) if core.shape == value.shape and len(found.varying) == 1 else None
        if total is None:
            own = tuple(axis - value.ndim + core.ndim for axis in axes)
            assert min(own) >= 0
            total = self.write(name, (core,), _without(core.shape, own), axis=own, keepdims=False)
        total = self.scaled(self.reshape(total, kept) if total.size == math.prod(kept) else total, found.scale)
        for factor in sorted(found.constant, key=lambda x: (x.size, x.id)):
            total = self.multiply(total, self.reshape(factor, _without(_pad(factor.shape, value.ndim), axes)))
        for divisor in found.divisors:
            by = self.reshape(divisor, _without(_pad(divisor.shape, value.ndim), axes))
            total = self.write("divide", (total, by), np.broadcast_shapes(total.shape, by.shape))
        return total

    def _forget(self, count: int) -> None:
        """Drop the instructions that were written after the first `count`."""
        dropped = {instruction.result for instruction in self.made[count:]}
        del self.made[count:]
        self.known = {key: value for key, value in self.known.items() if value not in dropped}

    def add_up_contraction(self, product: Instruction, axes: Axes, name: str) -> Value | None:
        """The sum of a product of matrices along an axis of one of them: the product with the sum of that one."""
        labels = _labels(product)
        if labels is None:
            return None
        *given, out = labels
        summed = {out[axis] for axis in axes}
        for number in (0, 1):
            mine, other = given[number], given[1 - number]
            if not summed <= set(mine) or summed & set(other):
                continue
            operand = product.values[number]
            own = tuple(axis for axis, label in enumerate(mine) if label in summed)
            total = self.add_up(operand, own, name)
            if total is None:
                total = self.write(name, (operand,), _without(operand.shape, own), axis=own, keepdims=False)
            short = ["".join(x for x in part if x not in summed) for part in (mine, out)]
            parts = [short[0], other] if number == 0 else [other, short[0]]
            if not all(parts):
                return None
            values = (total, product.values[1]) if number == 0 else (product.values[0], total)
            subscripts = f"{','.join(parts)}->{short[1]}"
            return self.write("einsum", values, _without(product.result.shape, axes), subscripts=subscripts)
        return None

    def rewrite_contraction(self, product: Instruction) -> Value | None:
        """A product whose operands are multiplied by numbers, where its result is smaller than they are."""
        if product.result.dtype != _DOUBLE or len(product.values) != 2 or len(product.operands) != 2:
            return None
        if any(x.dtype != _DOUBLE for x in product.values):
            return None
        scale, operands = 1.0, []
        for operand in product.values:
            if operand.size < LARGE or operand.size <= product.result.size:
                operands.append(operand)
                continue
            found = self.factors(operand, operand.shape, ())
            if found.scale == 1.0 or found.divisors:
                operands.append(operand)
                continue
            scale *= found.scale
            operands.append(self.product(found.varying))
        if scale == 1.0 or any(new.shape != old.shape for new, old in zip(operands, product.values, strict=True)):
            return None
        return self.scaled(self.write(product.name, operands, product.result.shape, **product.params), scale)

    # -- factors

    def factors(self, value: Value, shape: tuple[int, ...], axes: Axes, depth: int = DEEPEST) -> _Factors:
        """The factors of a value that is broadcast to a shape; those that are the same along all axes are constant."""
        if value in self.numbers and (found := _as_factor(self.numbers[value])) is not None:
            return found
        if axes and all(n == 1 for axis, n in enumerate(_pad(value.shape, len(shape))) if axis in axes):
            return _Factors(1.0, [value], [], [])
        maker = self.makers.get(value)
        if maker is None or value.dtype != _DOUBLE or not depth:
            return _Factors(1.0, [], [], [value])
        depth -= 1
        if maker.name == "reshape" and [n for n in maker.values[0].shape if n > 1] == [n for n in value.shape if n > 1]:
            inner = self.factors(maker.values[0], maker.values[0].shape, (), depth)
            if inner.scale != 1.0 and not inner.divisors:
                return _Factors(inner.scale, [], [], [self.reshape(self.product(inner.varying), value.shape)])
            return _Factors(1.0, [], [], [value])
        if maker.name == "negative":
            found = self.factors(maker.values[0], shape, axes, depth)
            return found._replace(scale=-found.scale)
        if maker.name == "add" and len(maker.values) == 2 and maker.values[0] is maker.values[1]:
            found = self.factors(maker.values[0], shape, axes, depth)
            return found._replace(scale=2.0 * found.scale)
        if maker.name == "multiply":
            parts = [self._factors_of(x, shape, axes, depth) for x in maker.operands]
            if None not in parts:
                left, right = (x for x in parts if x is not None)
                lists = [one + other for one, other in zip(left[1:], right[1:], strict=True)]
                return _Factors(left.scale * right.scale, *lists)
        if maker.name == "divide" and len(maker.values) == 2:
            below = self.factors(maker.values[1], shape, axes, depth)
            if below == _Factors(1.0, [maker.values[1]], [], []):
                above = self.factors(maker.values[0], shape, axes, depth)
                return above._replace(divisors=[*above.divisors, maker.values[1]])
        return _Factors(1.0, [], [], [value])

    def _factors_of(self, operand: Operand, shape: tuple[int, ...], axes: Axes, depth: int) -> _Factors | None:
        if type(operand) is Value:
            return self.factors(operand, shape, axes, depth) if operand.dtype == _DOUBLE else None
        return _as_factor(operand.value)  # type: ignore[union-attr]


def _as_factor(number: Any) -> _Factors | None:
    """A number as a factor; None for zero, infinities and NaN, which are not moved."""
    plain = isinstance(number, int | float | np.floating) and not isinstance(number, bool | np.bool_)
    return _Factors(float(number), [], [], []) if plain and math.isfinite(number) and number != 0 else None


def _pad(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    return (1,) * (rank - len(shape)) + tuple(shape)


def _without(shape: tuple[int, ...], axes: Axes) -> tuple[int, ...]:
    return tuple([n for axis, n in enumerate(shape) if axis not in axes])


def _labels(product: Instruction) -> tuple[str, str, str] | None:
    """The labels of the axes of the operands and of the result of a product; None where they are repeated."""
    if len(product.values) != 2 or len(product.operands) != 2:
        return None
    if product.name == "matmul":
        left, right = product.values
        return ("ij", "jk", "ik") if left.ndim == right.ndim == 2 and not product.params else None
    subscripts = product.params.get("subscripts")
    if set(product.params) != {"subscripts"} or not isinstance(subscripts, str) or "->" not in subscripts:
        return None
    given, out = subscripts.replace(" ", "").split("->")
    parts = (*given.split(","), out)
    if len(parts) != 3 or not all(part.isalpha() and len(set(part)) == len(part) for part in parts):
        return None
    for part, value in zip(parts, (*product.values, product.result), strict=True):
        if len(part) != value.ndim or value.dtype != _DOUBLE:
            return None
    lengths: dict[str, int] = {}
    for part, value in zip(parts, product.values, strict=False):
        for label, length in zip(part, value.shape, strict=True):
            if lengths.setdefault(label, length) != length:  # an axis of length 1 that is broadcast
                return None
    return parts[0], parts[1], parts[2]
