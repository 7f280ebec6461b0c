"""Inlined kernels: the operations that a kernel consists of, against the kernel."""

import importlib
import pkgutil

import numpy as np
import pytest

import gradtape as gt
import gradtape.ops
from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import Instruction, Value
from gradtape.jit.native.lower import support
from gradtape.jit.native.lower.inline_kernel import inline_kernel
from tests.ops.cases import cases

for module in pkgutil.iter_modules(gradtape.ops.__path__):
    importlib.import_module(f"gradtape.ops.{module.name}")

TAKEN_APART = [
    *("outer", "roll", "vecdot", "sinc", "nan_to_num", "fix", "leaky_relu", "prelu", "hardtanh", "hardsigmoid", "elu"),
    *("hardswish", "hardshrink", "softshrink", "threshold", "silu", "gelu by tanh", "softsign", "tanhshrink", "huber"),
    *("binary cross entropy", "standardise", "scale and shift", "is_hermitian", "attention weights", "normal hazard"),
    "length",
]

SUMMED = {"vecdot", "standardise", "length"}
"""Rows whose kernel adds up products in one call of NumPy, in an order that depends on the processor."""


def instruction_of(op, arrays, params):
    """The instruction of a row for these arrays, and what its kernel makes of them."""
    found = op.kernel(*arrays, **params)
    found = found if op.outputs else (found,)
    values = [Value(i, x.shape, x.dtype) for i, x in enumerate(arrays)]
    results = [Value(len(values) + i, np.shape(x), np.asarray(x).dtype) for i, x in enumerate(found)]
    return Instruction(op, tuple(values), params, tuple(results)), found


@pytest.mark.parametrize("name", TAKEN_APART)
def test_the_parts_of_a_row_give_what_its_kernel_gives(name):
    """The kernels of the smaller instructions give the same bits as the kernel of the row, for its own samples.

    Where a kernel adds up in an order of its own, they give the same numbers up to the rounding of a few additions.
    """
    count = 0
    for case in cases(TABLE[name]):
        arrays = [np.asarray(array) for array in case.arrays]
        instruction, expected = instruction_of(TABLE[name], arrays, case.params)
        parts = inline_kernel(instruction, 100)
        if parts is None:
            continue
        count += 1
        known = dict(zip(instruction.values, arrays, strict=True))
        for part in parts:
            assert support.supports(part)
            operands = [known[x] if type(x) is Value else x.value for x in part.operands]
            known[part.result] = np.asarray(part.op.kernel(*operands, **part.params))
            assert (known[part.result].shape, known[part.result].dtype) == (part.result.shape, part.result.dtype)
        for result, array in zip(instruction.results, expected, strict=True):
            if name in SUMMED:
                scale = np.max(np.abs(array), initial=1.0)
                np.testing.assert_allclose(known[result], array, rtol=0, atol=64 * np.finfo(array.dtype).eps * scale)
            else:
                assert np.array_equal(known[result], array, equal_nan=array.dtype.kind == "f")
    assert count


@pytest.mark.parametrize("name", ["sort", "eigh", "fft", "checked labels", "count of what is not nan"])
def test_kernels_that_look_at_numbers_are_left_alone(name):
    """A row whose kernel is no composition is not taken apart."""
    for case in cases(TABLE[name]) if name in TABLE else ():
        arrays = [np.asarray(array) for array in case.arrays]
        assert inline_kernel(instruction_of(TABLE[name], arrays, case.params)[0], 100) is None


def agree(function, *arguments, tolerance=1e-12, twice=True):
    """Compiled and eager agree: value, gradient, and (`twice`) the gradient of a function of the gradient."""
    numbers = tuple(range(len(arguments)))
    pairs = [(gt.jit(gt.value_and_grad(function, numbers)), gt.value_and_grad(function, numbers))]

    def slope(*x):
        return sum(np.sum(np.sin(g)) for g in gt.grad(function, numbers)(*x))

    if twice:
        pairs.append((gt.jit(gt.grad(slope)), gt.grad(slope)))
    for compiled, eager in pairs:
        for found, expected in zip(flat(compiled(*arguments)), flat(eager(*arguments)), strict=True):
            assert found.dtype == expected.dtype
            scale = np.max(np.abs(expected), initial=1e-3, where=np.isfinite(expected))
            np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


def flat(tree):
    return [x for part in tree for x in flat(part)] if isinstance(tree, tuple | list) else [np.asarray(tree)]


def positive(x):
    return x * x + 0.3


def joined(x, y):
    """Vectors and matrices of others."""
    rolled = np.roll(x, 2) * y * np.roll(np.sin(y), -1)
    return np.sum(np.sin(np.outer(x, y))) + np.sum(np.vecdot(np.sin(x[None] * y[:, None]), y)) + np.sum(rolled)


def running(x, y):
    """What goes along an axis."""
    products, largest = np.cumprod(1 + 0.1 * x), np.maximum.accumulate(np.sin(x))
    return np.sum((np.cumsum(np.sin(x)) * products + largest) * y) + np.sum(np.sin(x)[np.argmax(x)] * y * np.argmin(y))


def stepped(x, y):
    """Remainders and rounding."""
    return np.sum(np.remainder(x * 5, 1.3) * np.sin(y) + np.round(x, 1) * x + np.fix(y * 3) * np.sin(x))


def entropies(x, y):
    """Logarithms with care at their ends."""
    s = gt.special
    first = s.xlogy(x, positive(y)) + s.entr(positive(x)) + s.logit(s.expit(x)) * s.log_expit(y)
    return np.sum(first + s.ndtr(x) * s.log_ndtr(y) + gt.nn.functional.gelu(x) * gt.nn.functional.elu(y))


def gammas(x, y):
    """The gamma function's logarithm and its derivatives."""
    return np.sum(gt.special.gammaln(positive(x)) * np.sin(y) + gt.special.digamma(positive(y)) * x)


def labels(x, y):
    """Labels and rows of tables."""
    picked = gt.nn.functional.embedding(np.array([1, 0, 1]), np.outer(x, np.sin(y)))
    return gt.nn.functional.cross_entropy(np.sin(x[:, None] * y), np.arange(7) % 5) + np.sum(picked**2)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("function", [joined, running, stepped, entropies, gammas, labels])
def test_compiled_rows_agree_with_eager_ones(function, dtype):
    """Value, gradient and, in double precision, second order of what has become native are the eager ones."""
    generator = np.random.default_rng(3)
    x, y = (generator.normal(size=7).astype(dtype) for _ in range(2))
    double = dtype == "float64"
    agree(function, x, y, tolerance=1e-11 if double else 2e-5, twice=double)


SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.25, 7.5, -7.5, 1e300, -3.0])


@pytest.mark.parametrize("shape", [(12,), (), (0,), (3, 4)])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: [np.cumsum(x), np.cumprod(x), np.roll(x, 1), np.outer(x, x), np.round(x, 1)],
        lambda x: [x % 0.7, x // 0.7, np.fmod(x, 0.7), np.heaviside(x, 0.5), np.signbit(x), x % 0.0, x // -0.0],
        lambda x: [np.maximum.accumulate(np.atleast_1d(x)), np.fmin.accumulate(np.atleast_1d(x))],
        lambda x: [gt.special.xlogy(x, x), gt.special.entr(x), gt.special.log_expit(x), gt.special.ndtr(x)],
    ],
)
def test_special_values_and_odd_shapes(function, shape):
    """NaN, infinities and signed zeros, arrays of no elements and of no dimensions give what they give without jit."""
    x = SPECIAL[: int(np.prod(shape))].reshape(shape)
    with np.errstate(all="ignore"):
        expected = function(x)
        found = gt.jit(function)(x)
    for one, other in zip(found, expected, strict=True):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-13)
        if np.asarray(other).dtype.kind == "f":
            assert np.array_equal(np.signbit(one), np.signbit(other), equal_nan=True) or np.isnan(other).any()


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_remainders_of_whole_numbers(dtype):
    """Division by zero and by -1, which stops the machine, gives what NumPy gives."""
    limits = np.iinfo(dtype)
    x = np.array([limits.min, limits.max, 7, 0, 5, limits.min, 9, 3], dtype)
    y = np.array([2, 3, 4, 5, 0, 1, 2, 0], dtype)
    if limits.min:
        y[0], y[1], y[5] = -1, -3, -2
    with np.errstate(all="ignore"):
        expected = [x % y, x // y, np.fmod(x, y)]
        answers = gt.jit(lambda x, y: [x % y, x // y, np.fmod(x, y)])(x, y)
    for found, wanted in zip(answers, expected, strict=True):
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("axis", [None, 0, 1, 2])
def test_positions_of_the_largest(axis):
    """The first of several, and the first NaN, along any axis and in rows of any length."""
    generator = np.random.default_rng(1)
    x = generator.integers(-3, 3, (3, 5, 9)).astype(float)
    x[1, 2, 3] = x[2, 2, 3] = np.nan
    found = gt.jit(lambda x: [np.argmax(x, axis), np.argmin(x, axis), np.argmin(x * 1.0, axis)])(x)
    for one, other in zip(found, [np.argmax(x, axis), np.argmin(x, axis), np.argmin(x, axis)], strict=True):
        assert np.array_equal(one, other)


def test_a_label_out_of_range_is_an_error_in_a_later_call_too():
    """A label that is no class stops a compiled call with the message of an eager one."""
    step = gt.jit(gt.grad(lambda x, labels: gt.nn.functional.cross_entropy(np.sin(x), labels)))
    step(np.ones((2, 3)), np.array([0, 2]))
    with pytest.raises(gt.IndexingError, match="there are 3 classes"):
        step(np.ones((2, 3)), np.array([0, 3]))
    with pytest.raises(gt.IndexingError, match="there are 3 classes"):
        step(np.ones((2, 3)), np.array([-1, 0]))
