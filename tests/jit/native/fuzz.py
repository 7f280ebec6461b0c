"""Random programs, fused with other instructions at random, on arrays of every layout, against the NumPy kernels.

Run for longer than the tests do: `python -m tests.jit.native.fuzz --minutes 10`.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings

import numpy as np
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from gradtape.config import config
from gradtape.jit.ir.program import LOOP, Instruction, Loop, Program, Value, Walk
from gradtape.jit.ir.verify import verify
from gradtape.jit.native.lower.support import REDUCTIONS, supports
from gradtape.jit.native.runtime import entry
from gradtape.jit.native.runtime.function import compile_function
from gradtape.jit.runtime.runner import Runner

from .images import assert_agrees, convolutions, poolings, tiled
from .programs import Builder, assert_close, by_kernel, native_steps

UNARY = [
    "negative", "square", "sqrt", "absolute", "sign", "floor", "ceil", "trunc", "rint", "exp", "exp2", "expm1", "log",
    "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "cbrt",
    "sigmoid", "softplus", "relu", "erf", "erfc", "isnan", "isfinite", "isinf", "reciprocal", "deg2rad", "rad2deg",
    "logical_not", "arcsinh", "arccosh", "arctanh", "entr", "log_expit", "signbit", "gammaln",
]  # fmt: skip
BINARY = [
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "fmin", "arctan2", "copysign", "hypot",
    "logaddexp", "power", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and",
    "logical_or", "logical_xor", "remainder", "fmod", "floor_divide", "heaviside", "logaddexp2", "xlogy", "xlog1py",
]  # fmt: skip
OF_TWO = frozenset({*BINARY, "float_power", "bitwise_and", "bitwise_or", "bitwise_xor"})
NUMBERS = [0.5, -1.5, 2, 3, 0, 1e3]
INDICES = st.sampled_from(
    [0, -1, slice(None), slice(1, None), slice(None, -1), slice(None, None, -1), slice(1, None, 2), None, Ellipsis]
)
TEMPERATE = st.sampled_from(["float64", "float32", "int64", "int32", "bool", "uint8"])


def laid_out(array, how, generator):
    """The same numbers in another layout: strides, byte order, alignment, or shared between elements."""
    if not array.ndim and how in ("reversed", "transposed"):
        return array
    if how == "reversed":
        return np.ascontiguousarray(array[..., ::-1])[..., ::-1]
    if how == "transposed":
        return np.ascontiguousarray(array.T).T
    if how == "every other":
        wide = np.zeros((*array.shape, 2), array.dtype)
        wide[..., 0] = array
        return wide[..., 0]
    if how == "swapped":
        return array.astype(array.dtype.newbyteorder())
    if how == "unaligned":
        room = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
        room[...] = array
        return room
    if how == "stretched" and array.ndim and array.shape[0]:
        return np.broadcast_to(array[:1], array.shape)
    if how == "read-only":
        array = array.copy()
        array.flags.writeable = False
    return array


LAYOUTS = ["plain", "reversed", "transposed", "every other", "swapped", "unaligned", "stretched", "read-only"]


def numbers(shape, dtype, generator):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.asarray(generator.random(shape) < 0.5)
    if kind in "iu":
        return np.asarray(generator.integers(0 if kind == "u" else -20, 20, shape)).astype(dtype)
    found = generator.normal(size=shape) * generator.choice([1e-3, 1.0, 30.0], shape)
    special = generator.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 1e-310, 1e300], shape)
    with np.errstate(all="ignore"):
        return np.asarray(np.where(generator.random(shape) < 0.05, special, found)).astype(dtype)


def _kernel_fails(instruction):
    """Whether there is nothing to compare with: negative powers of integers raise, unsigned integers wrap around."""
    if instruction.name == "softplus":
        return instruction.values[0].dtype.kind == "u"
    return instruction.name == "power" and instruction.result.dtype.kind != "f"


def _join(builder, draw, value):
    """Several arrays in one: the same one twice, parts of it, or whatever fits."""
    operand = draw(value)
    others = [x for x in builder.values if (x.shape, x.dtype) == (operand.shape, operand.dtype)]
    parts = [draw(st.sampled_from(others)) for _ in range(draw(st.integers(1, 4)))]
    if draw(st.booleans()):
        builder("stack", *parts, axis=draw(st.integers(0, len(operand.shape))))
    else:
        builder("concatenate", *parts, axis=draw(st.integers(0, max(0, len(operand.shape) - 1))))


def _pick(builder, draw, operand, generator):
    """Elements one by one, by an array that is known, or put back where they are from."""
    rank = len(operand.shape)
    axis = draw(st.integers(0, max(0, rank - 1)))
    if not rank or not operand.shape[axis]:
        raise IndexError
    numbers = generator.integers(-operand.shape[axis], operand.shape[axis], draw(st.sampled_from([0, 1, 5, 40])))
    index = (*[slice(None)] * axis, numbers)
    picked = builder("getitem", operand, index=index)
    if draw(st.booleans()):
        builder("scatter", picked, index=index, shape=operand.shape)


@st.composite
def programs(draw, most=12, native=True):
    """A random program over one shape and what broadcasts to it, and arrays for it in random layouts.

    With `native`, all of it has a native form; otherwise some instructions are left to their kernels.
    """
    shape = draw(st.lists(st.sampled_from([0, 1, 2, 3, 5, 8, 17, 40]), max_size=3).map(tuple))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    builder, arrays = Builder(), []
    for _ in range(draw(st.integers(1, 3))):
        own = tuple(n if draw(st.integers(0, 3)) else 1 for n in shape)[draw(st.integers(0, len(shape))) :]
        own = own if arrays else shape
        dtype = draw(TEMPERATE)
        arrays.append(laid_out(numbers(own, dtype, generator), draw(st.sampled_from(LAYOUTS)), generator))
        builder.input(own, dtype)
    for _ in range(draw(st.integers(1, most))):
        value = st.sampled_from(builder.values)
        kind = draw(st.integers(0, 17))
        count = len(builder.instructions)
        try:
            if kind < 4:
                builder(draw(st.sampled_from(UNARY)), draw(value))
            elif kind < 8:
                other = draw(value) if draw(st.integers(0, 2)) else draw(st.sampled_from(NUMBERS))
                builder(draw(st.sampled_from(BINARY)), draw(value), other)
            elif kind == 10:
                builder("getitem", draw(value), index=tuple(draw(st.lists(INDICES, max_size=3))))
            elif kind == 11:
                operand = draw(value)
                name = draw(st.sampled_from(["transpose", "reshape", "flip", "scatter"]))
                rank = len(operand.shape)
                larger = tuple(2 * n + 1 for n in operand.shape)
                builder(
                    name,
                    operand,
                    **{
                        "transpose": {"axes": tuple(draw(st.permutations(range(rank))))},
                        "reshape": {"shape": (-1, *operand.shape[:1]) if operand.size else (0,)},
                        "flip": {"axis": tuple(range(rank))[:1]},
                        "scatter": {"index": tuple(slice(1, None, 2) for _ in operand.shape), "shape": larger},
                    }[name],
                )
            elif kind == 14:
                operand = draw(value)
                larger = tuple(n + 2 for n in operand.shape)
                starts = [[draw(st.integers(0, 2)) for _ in operand.shape] for _ in range(3)]
                parts = [
                    builder(
                        "scatter",
                        operand,
                        index=tuple(slice(a, a + n) for a, n in zip(start, operand.shape, strict=True)),
                        shape=larger,
                    )
                    for start in starts
                ]
                builder("add", builder("multiply", parts[0], parts[1]), parts[2])
            elif kind == 12:
                builder("matmul", draw(value), draw(value))
            elif kind == 15:
                _join(builder, draw, value)
            elif kind == 16:
                _pick(builder, draw, draw(value), generator)
            elif kind == 17:
                operand, name = draw(value), draw(st.sampled_from(["softmax", "log_softmax", "logsumexp"]))
                axes = tuple(range(len(operand.shape)))[draw(st.integers(0, 2)) :]
                if operand.dtype.kind != "f":
                    raise TypeError
                builder(name, operand, axis=axes, **({"keepdims": draw(st.booleans())} if name == "logsumexp" else {}))
            elif kind == 13 and not native:
                builder(draw(st.sampled_from(["cumsum", "cumprod"])), draw(value), axis=0)
            elif kind == 8:
                builder("where", draw(value), draw(value), draw(value))
            else:
                operand = draw(value)
                axes = draw(st.none() | st.sets(st.integers(0, max(0, len(operand.shape) - 1)), max_size=3))
                axes = None if axes is None else tuple(sorted(a for a in axes if a < len(operand.shape)))
                builder(draw(st.sampled_from(sorted(REDUCTIONS))), operand, axis=axes, keepdims=draw(st.booleans()))
        except (TypeError, ValueError, IndexError):  # NumPy has no such operation, or the shapes do not go together
            fails = True
        else:
            fails = _kernel_fails(builder.instructions[-1])
        made = builder.instructions[count:]
        if made and (fails or (native and not all(map(supports, made)))):
            del builder.instructions[count:], builder.values[-len(made) :]
    return builder, arrays


def needed(builder, output):
    """The instructions that `output` depends on, and the inputs among them."""
    wanted, kept = {output}, []
    for instruction in reversed(builder.instructions):
        if instruction.results[0] in wanted:
            kept.append(instruction)
            wanted.update(instruction.values)
    return kept[::-1], [value for value in builder.inputs if value in wanted]


def assert_same_alone_and_together(builder, arrays):
    """Every value has the same bits alone as with all others around it."""
    everything = [instruction.results[0] for instruction in builder.instructions]
    together = entry.entry(builder.group(*everything))(*arrays) if everything else ()
    for value, found in zip(everything, together, strict=True):
        instructions, inputs = needed(builder, value)
        given_arrays = [array for array, own in zip(arrays, builder.inputs, strict=True) if own in inputs]
        for stored in ([value], [i.results[0] for i in instructions]):
            alone = entry.entry(compile_function(instructions, inputs, stored))(*given_arrays)[-1]
            kind = f"i{alone.itemsize}" if alone.dtype.kind == "f" else alone.dtype
            same = (alone.view(kind) == found.view(kind)) | ((alone != alone) & (found != found))
            assert same.all()


def assert_agrees_with_kernels(builder, arrays):
    """Every value of a program, run as `jit` runs it, is what its kernel makes of the operands."""
    # a program knows the byte order of its inputs: here, that of the machine
    arrays = [array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("=")) for array in arrays]
    everything = tuple(instruction.results[0] for instruction in builder.instructions)
    program = Program(tuple(builder.inputs), (), tuple(builder.instructions), everything)
    runner = Runner(program, native_steps(program))
    found = dict(zip(everything, map(np.asarray, runner(*arrays)), strict=True))
    known = dict(zip(builder.inputs, arrays, strict=True)) | found
    for instruction in builder.instructions:
        (result,) = instruction.results
        assert_close(instruction, found[result], by_kernel(instruction, known), known)
    again = [np.asarray(x) for x in runner(*arrays)]
    assert [x.tobytes() for x in again] == [x.tobytes() for x in found.values()]


@st.composite
def loops(draw, sums=True):
    """A loop over a random body: two carried values, a walk along rows, one more input, and a stack."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.lists(st.sampled_from([1, 2, 3, 9, 20]), max_size=2).map(tuple))
    length = draw(st.integers(1, 5))
    body = Builder()
    first, second, row, other = (body.input(shape) for _ in range(4))
    values = [first, second, row, other]
    for _ in range(draw(st.integers(1, 6))):
        value = st.sampled_from(values)
        if draw(st.booleans()):
            values.append(body(draw(st.sampled_from(["sin", "tanh", "negative", "floor"])), draw(value)))
        else:
            values.append(body(draw(st.sampled_from(["add", "multiply", "maximum"])), draw(value), draw(value)))
    if sums and draw(st.booleans()):
        values.append(body("add", values[-1], body("sum", values[-1], axis=None, keepdims=True)))
    outputs = tuple(draw(st.sampled_from(values)) for _ in range(3))
    walk = draw(st.sampled_from([Walk(0, 1), Walk(length - 1, -1), Walk(2, 0)]))
    stack = draw(st.sampled_from([Walk(0, 1), Walk(length - 1, -1)]))
    program = Program(tuple(body.inputs), (), tuple(body.instructions), outputs)
    loop = Loop(program, length, 2, (walk,), (stack,))
    arrays = [generator.normal(size=shape), generator.normal(size=shape), generator.normal(size=(length + 2, *shape))]
    arrays.append(generator.normal(size=shape))
    return loop, [laid_out(array, draw(st.sampled_from(LAYOUTS)), generator) for array in arrays]


def assert_loop_is_its_steps(loop, arrays):
    """A native loop gives the bits that its native body gives when it is called step by step."""
    inputs = [Value(i, array.shape, np.dtype(float)) for i, array in enumerate(arrays)]
    results = tuple(Value(10 + i, shape, dtype) for i, (shape, dtype) in enumerate(loop.result_specs()))
    instruction = Instruction(LOOP, tuple(inputs), {"loop": loop}, results)
    assert supports(instruction)
    verify(Program(tuple(inputs), (), (instruction,), results))
    found = entry.entry(compile_function([instruction], inputs, results))(*arrays)
    body = Runner(loop.body, native_steps(loop.body))
    first, second, rows, other = (np.array(array, float) for array in arrays)
    stack = np.empty((loop.length, *first.shape))
    (walk,), (stacked,) = loop.sliced, loop.stacked
    for step in range(loop.length):
        first, second, row = body(first, second, rows[walk.start + walk.step * step], other)
        stack[stacked.start + stacked.step * step] = row
    for one, expected in zip(found, (first, second, stack), strict=True):
        assert one.tobytes() == np.asarray(expected).tobytes()


CHECKS = {
    "agrees with the kernels": (programs(native=False), assert_agrees_with_kernels),
    "same bits in any company": (programs(), assert_same_alone_and_together),
    "loops are their steps": (loops(), assert_loop_is_its_steps),
    "loops in tiles are their steps": (loops(sums=False), tiled(assert_loop_is_its_steps)),
    "convolutions": (convolutions(), assert_agrees),
    "poolings": (poolings(), assert_agrees),
}


def run(strategy, check, number, examples):
    """`check` on so many programs of `strategy`, those that belong to the seed `number`."""

    @seed(number)
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def checked(case):
        check(*case)

    checked()


def fuzz(minutes: float, start: int) -> None:
    """Check random programs until the time is up; the first that fails is made small and shown."""
    end = time.monotonic() + 60 * minutes
    count = 0
    for number in itertools.count(start):
        for name, (strategy, check) in CHECKS.items():
            if time.monotonic() > end:
                print(f"{count} programs, nothing found; the next seed is {number}")
                return
            run(strategy, check, number, 50)
            count += 50
            print(f"seed {number}: {name}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", RuntimeWarning)  # of NumPy's, about means of nothing
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    given_arguments = parser.parse_args()
    config.check = "memory"
    fuzz(given_arguments.minutes, given_arguments.seed)
