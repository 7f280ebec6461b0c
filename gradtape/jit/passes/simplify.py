"""Passes: each is a function from a program to one that computes the same in fewer or cheaper steps.

The same means: to the last bit, with NaN, infinities and signed zeros where they were. `x * 1` is `x`, but `x + 0` is
not (-0.0 + 0 is 0), `x - 0` is, and `x * 0` is left alone. The one exception is `stable_forms`, which puts an operation
that is at least as accurate everywhere in the place of two.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import (
    LOOP,
    Constant,
    Instruction,
    Literal,
    Loop,
    Operand,
    Program,
    Value,
    depends_on_values,
    operand_key,
    params_key,
    spec_of,
)
from gradtape.jit.passes.reroll.find import Found, Listing, rerolled
from gradtape.jit.passes.unstack import restack
from gradtape.jit.trace.tracer import SMALL, frozen_copy

Pass = Callable[[Program], Program]

FOLDED_AT_MOST = 1 << 20
"""Bytes of a constant that folding may make."""


class Scope:
    """What a rule may look at: how each value so far was made, and the constants; and where it makes new values."""

    def __init__(self, program: Program) -> None:
        self.made: dict[Value, Instruction] = {}  # those that are made by one of `LOOKED_AT`
        self.constants: dict[Value, np.ndarray[Any, Any]] = {c.value: c.array for c in program.constants}
        self.added: list[Constant] = []
        self.extra: list[Instruction] = []  # instructions to come before the one that is being rewritten
        self._next = program.next_id()
        self._small = {(*spec_of(a), a.tobytes()): value for value, a in self.constants.items() if a.nbytes <= SMALL}

    def maker(self, operand: Operand, *names: str) -> Instruction | None:
        """The instruction that made `operand`, if it is one of the operations `names`."""
        found = self.made.get(operand) if type(operand) is Value else None
        return found if found is not None and found.name in names else None

    def number(self, operand: Operand) -> Any:
        """The one number that `operand` is everywhere, if it is known; else None."""
        if type(operand) is Literal:
            value = operand.value
            return value if isinstance(value, bool | int | float) else None
        array = self.constants.get(operand)  # type: ignore[arg-type]
        if array is None or not array.size or array.dtype.kind not in "fiub":
            return None
        return uniform(array)

    def new_value(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Value:
        self._next += 1
        return Value(self._next - 1, shape, dtype)

    def new_constant(self, array: Any) -> Value:
        shape, dtype = spec_of(array)
        key = (shape, dtype, np.asarray(array).tobytes()) if np.asarray(array).nbytes <= SMALL else None
        if key is not None and key in self._small:
            return self._small[key]
        value = self.new_value(shape, dtype)
        if key is not None:
            self._small[key] = value
        self.added.append(Constant(value, frozen_copy(array)))
        self.constants[value] = self.added[-1].array
        return value


def uniform(array: np.ndarray[Any, Any]) -> Any:
    """The number that all elements of `array` are, bit for bit; None if they differ."""
    first = array[(slice(0, 1),) * array.ndim].reshape(())
    if array.size > 1 and any(array.strides[i] for i in range(array.ndim) if array.shape[i] > 1):
        if array.nbytes > FOLDED_AT_MOST:
            return None
        flat = np.ascontiguousarray(array).view(np.uint8).reshape(array.size, -1)
        if not (flat == flat[0]).all():
            return None
    return first.item()


Rule = Callable[[Instruction, Scope], Value | Instruction | None]


LOOKED_AT = frozenset({"getitem", "negative", "reshape", "transpose", "broadcast_to", "astype", "add", "softmax"})
"""Operations that a rule about another one may look for among its operands."""


def rewritten(program: Program, rule: Rule) -> Program:
    """`program` with each instruction replaced by what `rule` says: another one, a value that is there, or itself."""
    scope = Scope(program)
    names: dict[Value, Value] = {}
    instructions: list[Instruction] = []
    for instruction in program.instructions:
        instruction = _renamed(instruction, names)
        answer = None if instruction.effect else rule(instruction, scope)
        if scope.extra:
            instructions += scope.extra
            scope.extra.clear()
        if type(answer) is Value:
            names[instruction.result] = answer
            continue
        final = instruction if answer is None else answer
        assert isinstance(final, Instruction)
        instructions.append(final)
        if final.op.name in LOOKED_AT:
            scope.made[final.results[0]] = final
    outputs = tuple([names.get(value, value) for value in program.outputs])
    constants = (*program.constants, *scope.added)
    return Program(program.inputs, constants, tuple(instructions), outputs)


def _renamed(instruction: Instruction, names: dict[Value, Value]) -> Instruction:
    """An instruction with other names for its operands where they have got any."""
    if names:
        for x in instruction.operands:
            if x in names:
                operands = tuple([names.get(x, x) if type(x) is Value else x for x in instruction.operands])
                return instruction.replace(operands=operands)
    return instruction


def _same_form(value: Operand, result: Value) -> bool:
    return type(value) is Value and value.shape == result.shape and value.dtype == result.dtype


# -- algebra that is exact


_MAY_CHANGE_NOTHING = frozenset(
    {"positive", "identity", "stop_gradient", "conjugate", "negative", "multiply", "divide", "power", "subtract"}
)


def drop_identities(program: Program) -> Program:
    """Operations that change nothing: `+x`, `x * 1`, `x / 1`, `x - 0`, `x ** 1`, `--x`, the conjugate of a real x."""

    def rule(instruction: Instruction, scope: Scope) -> Value | Instruction | None:
        name, operands = instruction.op.name, instruction.operands
        if name not in _MAY_CHANGE_NOTHING:
            return None
        x = operands[0]
        y = operands[1] if len(operands) > 1 else None
        if len(instruction.results) != 1:
            return None
        result = instruction.result
        if name in ("positive", "identity", "stop_gradient") and _same_form(x, result):
            return x  # type: ignore[return-value]
        if name == "conjugate" and result.dtype.kind in "fiu" and _same_form(x, result):
            return x  # type: ignore[return-value]
        if name == "negative" and (inner := scope.maker(x, "negative")) is not None:
            return inner.operands[0] if _same_form(inner.operands[0], result) else None  # type: ignore[return-value]
        if y is None or not any(type(operand) is Literal or operand in scope.constants for operand in operands):
            return None
        if result.dtype.kind not in "fiu":
            return None
        one, other = scope.number(x), scope.number(y)
        if name == "multiply" and _is_one(other) and _same_form(x, result):
            return x  # type: ignore[return-value]
        if name == "multiply" and _is_one(one) and _same_form(y, result):
            return y  # type: ignore[return-value]
        if name in ("divide", "power") and _is_one(other) and _same_form(x, result):
            return x  # type: ignore[return-value]
        if name == "subtract" and _is_zero(other, result) and _same_form(x, result):
            return x  # type: ignore[return-value]
        if name == "power" and type(y) is Literal and other == 2 and result.dtype.kind == "f" and _same_form(x, result):
            return instruction.replace(op=TABLE["square"], operands=(x,))
        return None

    return rewritten(program, rule)


def _is_one(number: Any) -> bool:
    return number is not None and number == 1


def _is_zero(number: Any, result: Value) -> bool:
    """Whether taking `number` away changes nothing: 0 for integers, and for floats 0.0 but not -0.0."""
    return number is not None and number == 0 and (result.dtype.kind != "f" or math.copysign(1.0, number) > 0)


# -- layouts


_LAYOUTS = frozenset({"reshape", "transpose", "broadcast_to", "astype", "sum"})


def cancel_layouts(program: Program) -> Program:
    """Reshapes of reshapes, transposes of transposes, broadcasts of broadcasts, casts of casts, and those for nothing.

    A sum of integers over axes of length 1 is a reshape (that of -0.0 is 0.0, so floats are left alone).
    """

    def rule(instruction: Instruction, scope: Scope) -> Value | Instruction | None:
        name = instruction.op.name
        if name not in _LAYOUTS or len(instruction.operands) != 1:
            return None
        (x,), result, params = instruction.operands, instruction.result, instruction.params
        if type(x) is not Value:
            return None
        if name == "sum":
            summed = params.get("axis")
            axes = range(x.ndim) if summed is None else summed if isinstance(summed, tuple) else (summed,)
            if x.dtype == result.dtype and x.dtype.kind in "iu" and all(x.shape[axis] == 1 for axis in axes):
                return instruction.replace(op=TABLE["reshape"], params={"shape": result.shape})
            return None
        if name == "transpose":
            return _transposed(instruction, x, scope)
        if _same_form(x, result):
            return x
        inner = scope.maker(x, name)
        if inner is None or len(inner.operands) != 1 or not set(params) <= {"shape", "dtype"}:
            return None
        (source,) = inner.operands
        if type(source) is not Value or set(inner.params) != set(params):
            return None
        if name == "astype" and not _is_exact(source.dtype, x.dtype):
            return None
        return source if _same_form(source, result) else instruction.replace(operands=(source,))

    return rewritten(program, rule)


def _transposed(instruction: Instruction, x: Value, scope: Scope) -> Value | Instruction | None:
    axes = instruction.params.get("axes")
    if not isinstance(axes, tuple):
        return None
    axes = tuple(axis % x.ndim for axis in axes)
    inner = scope.maker(x, "transpose")
    if inner is not None and isinstance(inner.params.get("axes"), tuple) and type(inner.operands[0]) is Value:
        before = tuple(axis % x.ndim for axis in inner.params["axes"])
        axes, x = tuple(before[axis] for axis in axes), inner.operands[0]
        if axes != tuple(range(len(axes))):
            return instruction.replace(operands=(x,), params={"axes": axes})
    return x if axes == tuple(range(len(axes))) else None


def _is_exact(narrow: np.dtype[Any], wide: np.dtype[Any]) -> bool:
    """Whether every number of one dtype is a number of the other."""
    if not np.can_cast(narrow, wide, "safe"):
        return False
    return narrow.kind not in "iu" or wide.kind in "iu" or narrow.itemsize < wide.itemsize


def keep_broadcasts_virtual(program: Program) -> Program:
    """Operands that an elementwise operation would stretch by itself are not stretched beforehand.

    A constant that is one number everywhere is that number.
    """

    def rule(instruction: Instruction, scope: Scope) -> Value | Instruction | None:
        if len(instruction.operands) < 2 or len(instruction.results) != 1:
            return None
        if not any(x in scope.made or x in scope.constants for x in instruction.operands):
            return None
        if not (instruction.op.ufunc or instruction.op.kind == "elementwise"):
            return None
        if getattr(instruction.op.kernel, "signature", None) is not None:
            return None
        operands = list(instruction.operands)
        for index, operand in enumerate(operands):
            smaller = _before_stretching(operand, scope)
            if smaller is None:
                continue
            shapes = [x.shape for i, x in enumerate(operands) if type(x) is Value and i != index]
            if np.broadcast_shapes(smaller.shape, *shapes) == instruction.result.shape:
                operands[index] = smaller
        if all(a is b for a, b in zip(operands, instruction.operands, strict=True)):
            return None
        return instruction.replace(operands=tuple(operands))

    return rewritten(program, rule)


def _before_stretching(operand: Operand, scope: Scope) -> Value | None:
    maker = scope.maker(operand, "broadcast_to")
    if maker is not None and type(maker.operands[0]) is Value:
        return maker.operands[0]
    array = scope.constants.get(operand) if type(operand) is Value else None
    if array is None or array.ndim == 0 or not array.size or array.dtype.kind not in "fiub" or uniform(array) is None:
        return None
    return scope.new_constant(array[(slice(0, 1),) * array.ndim].reshape(()))


# -- constants, repetitions, the dead


def fold_constants(program: Program) -> Program:
    """What is computed from constants alone is computed now; a guard that is kept anyway is dropped."""
    kept = {constant.value: constant.array for constant in program.constants}
    dead = {i for i in program.guards if i.values[0] in kept and _same_bits(kept[i.values[0]], i.params["expected"])}

    def rule(instruction: Instruction, scope: Scope) -> Value | Instruction | None:
        known = scope.constants
        if any(type(x) is Value and x not in known for x in instruction.operands):
            return None
        if len(instruction.results) != 1 or depends_on_values(instruction.op):
            return None
        if instruction.result.nbytes > FOLDED_AT_MOST or not instruction.values:
            return None
        arguments = [scope.constants[x] if type(x) is Value else x.value for x in instruction.operands]  # type: ignore[union-attr]
        try:
            with np.errstate(all="ignore"):
                out = instruction.op.kernel(*arguments, **instruction.params)
        except (ValueError, TypeError, IndexError, ArithmeticError, np.linalg.LinAlgError):
            return None  # it fails when it is run, as it should
        if spec_of(out) != (instruction.result.shape, instruction.result.dtype):
            return None
        return scope.new_constant(out)

    remaining = tuple([i for i in program.instructions if i not in dead])
    return rewritten(program.replace(instructions=remaining), rule)


def _same_bits(one: Any, other: Any) -> bool:
    return spec_of(one) == spec_of(other) and np.asarray(one).tobytes() == np.asarray(other).tobytes()


def share_subexpressions(program: Program) -> Program:
    """The same operation on the same operands is done once."""
    known: dict[Any, Instruction] = {}
    names: dict[Value, Value] = {}
    instructions: list[Instruction] = []
    for instruction in program.instructions:
        instruction = _renamed(instruction, names)
        key = None if instruction.effect else _key(instruction)
        if key is not None and key in known:
            names.update(zip(instruction.results, known[key].results, strict=True))
            continue
        if key is not None:
            known[key] = instruction
        instructions.append(instruction)
    outputs = tuple([names.get(value, value) for value in program.outputs])
    return program.replace(instructions=tuple(instructions), outputs=outputs)


def _key(instruction: Instruction) -> Any:
    params = params_key(instruction.params) if instruction.params else ()
    operands = [x if type(x) is Value else operand_key(x) for x in instruction.operands]
    if params is None or None in operands:
        return None
    return instruction.op, params, *operands


def drop_dead(program: Program) -> Program:
    """What nobody uses is not computed."""
    wanted = set(program.outputs)
    kept: list[Instruction] = []
    for instruction in reversed(program.instructions):
        if instruction.effect or not wanted.isdisjoint(instruction.results):
            if instruction.op is LOOP and not all(result in wanted for result in instruction.results):
                instruction = _without_unused(instruction, wanted)
            kept.append(instruction)
            wanted.update(instruction.operands)  # type: ignore[arg-type]  # literals among them do no harm
    constants = tuple([constant for constant in program.constants if constant.value in wanted])
    return program.replace(instructions=tuple(reversed(kept)), constants=constants)


def _without_unused(instruction: Instruction, wanted: set[Value]) -> Instruction:
    """A loop that stacks, carries and reads only what somebody wants."""
    loop, body = instruction.params["loop"], instruction.params["loop"].body
    carries = range(loop.carried)
    kept = {i for i in carries if instruction.results[i] in wanted}
    stacks = [i for i in range(loop.carried, len(body.outputs)) if instruction.results[i] in wanted]
    while True:
        outputs = tuple([body.outputs[i] for i in carries if i in kept] + [body.outputs[i] for i in stacks])
        rest = drop_dead(body.replace(outputs=outputs))
        read = {value for i in rest.instructions for value in i.values} | {*outputs}
        more = {i for i in carries if body.inputs[i] in read} - kept
        if not more:
            break
        kept |= more
    walks = range(loop.carried, loop.carried + len(loop.sliced))
    chosen = sorted(kept) + [i for i in range(loop.carried, len(body.inputs)) if body.inputs[i] in read]
    smaller = Loop(
        rest.replace(inputs=tuple([body.inputs[i] for i in chosen])),
        loop.length,
        len(kept),
        tuple([loop.sliced[i - loop.carried] for i in walks if i in chosen]),
        tuple([loop.stacked[i - loop.carried] for i in stacks]),
    )
    operands = tuple([instruction.operands[i] for i in chosen])
    results = tuple([instruction.results[i] for i in (*sorted(kept), *stacks)])
    return instruction.replace(operands=operands, params={"loop": smaller}, results=results)


# -- loops


def hoist_invariants(program: Program) -> Program:
    """What is the same in all steps of a loop is computed once, before it."""
    if not any(i.op is LOOP for i in program.instructions):
        return program

    def rule(instruction: Instruction, scope: Scope) -> Value | Instruction | None:
        return _hoisted(instruction, scope) if instruction.op is LOOP else None

    return rewritten(program, rule)


def _hoisted(instruction: Instruction, scope: Scope) -> Instruction | None:
    loop, body = instruction.params["loop"], instruction.params["loop"].body
    first = loop.carried + len(loop.sliced)
    outside: dict[Value, Operand] = dict(zip(body.inputs[first:], instruction.operands[first:], strict=True))
    constants = {constant.value: constant.array for constant in body.constants}
    before = len(outside)
    rest: list[Instruction] = []
    for inner in body.instructions:
        values = inner.values
        if (
            inner.effect
            or not any(v in outside for v in values)
            or not all(v in outside or v in constants for v in values)
        ):
            rest.append(inner)
            continue
        for value in values:
            if value not in outside:
                outside[value] = scope.new_constant(constants[value])
        operands = tuple([outside[x] if type(x) is Value else x for x in inner.operands])
        results = tuple([scope.new_value(value.shape, value.dtype) for value in inner.results])
        scope.extra.append(inner.replace(operands=operands, results=results))
        outside.update(zip(inner.results, results, strict=True))
    if len(outside) == before:
        return None
    read = {value for i in rest for value in i.values} | {*body.outputs}
    invariant = [value for value in outside if value in read and value not in constants]
    inputs = (*body.inputs[:first], *invariant)
    operands = (*instruction.operands[:first], *(outside[value] for value in invariant))
    changed = dataclasses.replace(loop, body=body.replace(inputs=inputs, instructions=tuple(rest)))
    return instruction.replace(operands=operands, params={"loop": changed})


# -- stable forms


def stable_forms(program: Program) -> Program:
    """`log(1 + x)` is log1p, and the logarithm of a softmax is a log_softmax: no digits are lost on the way."""

    def rule(instruction: Instruction, scope: Scope) -> Value | Instruction | None:
        if instruction.name != "log" or instruction.result.dtype.kind != "f":
            return None
        (x,) = instruction.operands
        added = scope.maker(x, "add")
        if added is not None:
            for one, other in (added.operands, added.operands[::-1]):
                if _is_one(scope.number(one)) and _same_form(other, instruction.result):
                    return instruction.replace(op=TABLE["log1p"], operands=(other,))
        softmax = scope.maker(x, "softmax")
        if softmax is not None and "log_softmax" in TABLE:
            return instruction.replace(op=TABLE["log_softmax"], operands=softmax.operands, params=softmax.params)
        return None

    return rewritten(program, rule)


PASSES: tuple[Pass, ...] = (
    hoist_invariants,
    drop_identities,
    cancel_layouts,
    restack,
    stable_forms,
    fold_constants,
    keep_broadcasts_virtual,
    share_subexpressions,
    drop_dead,
)
"""The passes, in the order in which they are run; all of them again as long as the program shrinks."""

ROUNDS_AT_MOST = 6
LONG = 4000
"""Instructions of a program, from which its repetitions are made loops before it is simplified to the end."""
MUCH_SHORTER = 20
"""How many times shorter it has to become by that; otherwise parts of the loops were missed as they were written."""


def simplified(program: Program, after: Callable[[Program], Any] | None = None, found: Found | None = None) -> Program:
    """`program` after all passes; `after`, such as `verify`, is called with what each of them made.

    `found` are loops that were found while it was traced.

    >>> import numpy as np
    >>> from gradtape.jit import jit
    >>> step = jit(lambda x: -(-x) * 1.0 + np.exp(x) * np.exp(x))
    >>> _ = step(np.ones(3))
    >>> len(step.traced), len(step.program)
    (7, 3)
    """
    if found is not None:
        from gradtape.jit.passes.reroll.build import built

        program = built(found.listing.extended(program) or Listing(program), sorted(found.stretches))
    if len(program) > LONG:  # a long loop is found as it was written, and then there is little left to simplify
        short = rerolled(drop_dead(program))
        program = short if len(short) * MUCH_SHORTER < len(program) else program
    for _ in range(ROUNDS_AT_MOST):
        before = len(program)
        for simplify in PASSES:
            program = simplify(program)
            if after is not None:
                after(program)
        if len(program) == before:
            break
        if len(program) > LONG:  # what is left to do is done to loops, of which there is less
            program = rerolled(program)
    program = rerolled(program)
    if after is not None:
        after(program)
    return program
