"""Virtual scatters: gradients of slices that are not materialised; and constants of equal elements."""

import numpy as np
import pytest

import gradtape as gt
from gradtape.core.pytree import leaves
from gradtape.core.rules import TABLE
from gradtape.jit.ir.program import Constant, Instruction, Literal, Program, Value
from gradtape.jit.native.lower.prepare import prepare
from gradtape.jit.native.runtime.llvm import Machine
from gradtape.jit.runtime.runner import Runner

from ..programs import Builder, by_kernels, native_steps

# the shape, and what each of two slices takes of it
SLICES = [
    ((500,), (slice(None, -1),), (slice(1, None),)),
    ((40, 100), (slice(None, -1), slice(None, -1)), (slice(1, None), slice(1, None))),
    ((7, 60), (slice(2, None), slice(1, -2)), (slice(None, -2), slice(None, -3))),
    ((5, 6, 50), (slice(None), slice(1, None), slice(2, None)), (slice(None), slice(None, -1), slice(None, -2))),
]


def stencil(builder, shape, first, second, dtype):
    """What a gradient of slices looks like: sums of scatters of differences, none of which is zero at zero."""
    x = builder.input(shape, dtype)
    near, far = builder("getitem", x, index=first), builder("getitem", x, index=second)
    rest = builder("subtract", 1.0, near)
    gap = builder("subtract", far, builder("square", near))
    slope = builder("multiply", builder("multiply", 100.0, gap), builder("divide", 2.0, near))
    parts = [
        builder("scatter", value, index=index, shape=shape)
        for value, index in ((rest, first), (slope, first), (gap, second))
    ]
    return builder("add", builder("add", parts[0], parts[1]), parts[2]), builder("sum", gap, axis=None, keepdims=False)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", SLICES, ids=lambda case: str(case[0]))
def test_operands_of_virtual_scatters_are_computed_again(case, dtype):
    """Sums of scatters have the bits that they have step by step, at the edges, too, and nothing is stored for them."""
    builder = Builder()
    gradient, total = stencil(builder, *case, dtype)
    array = np.random.default_rng(0).uniform(0.5, 1.5, case[0]).astype(dtype)
    array.flat[[0, -1]] = np.inf, np.nan
    group = builder.group(gradient, total)
    found, _ = group(array)
    (expected,) = by_kernels(builder, [array], [gradient])
    np.testing.assert_array_equal(found, expected, strict=True)
    assert group.workspace < array.nbytes / 2


@pytest.mark.parametrize("check", ["off", "memory"])
@pytest.mark.parametrize("features", ["", "-avx512f,-avx2,-fma"])
@pytest.mark.parametrize("size", [4, 7, 17, 90])
def test_edges_of_windows(size, features, check, monkeypatch):
    """Vectors that are inside of a window in some lanes only read nothing outside, and have the bits of the kernels."""
    monkeypatch.setattr(gt.config, "check", check)
    for dtype, wide in (("float64", size), ("float32", 3 * size)):
        builder = Builder()
        shapes = [(5, size), (5, wide)]
        x = builder.input((3, size - 2), dtype)
        scatters = [
            builder("scatter", builder("subtract", 1.0, x), index=(rows, slice(start, start + size - 2)), shape=shape)
            for shape in shapes
            for rows in (slice(0, 3), slice(2, 5))
            for start in (0, shape[1] - size + 1, shape[1] - size + 2)
        ]
        sums = [builder("add", builder("add", *scatters[i : i + 2]), scatters[i + 2]) for i in (0, 3, 6, 9)]
        array = np.random.default_rng(0).normal(size=(3, size - 2)).astype(dtype)
        group = builder.group(*sums, machine=Machine(features=features) if features else None)
        for found, expected in zip(group(array), by_kernels(builder, [array], sums), strict=True):
            np.testing.assert_array_equal(found, expected, strict=True)


def test_one_value_in_arrays_of_two_shapes():
    """The same elements at the same place of a longer array are another value."""
    builder = Builder()
    x, y, z = builder.input((100,)), builder.input((102,)), builder.input((104,))
    value = builder("subtract", 1.0, x)
    results = [
        builder("add", other, builder("scatter", value, index=(slice(1, 101),), shape=other.shape)) for other in (y, z)
    ]
    arrays = [np.arange(float(length)) for length in (100, 102, 104)]
    for found, wanted in zip(builder.group(*results)(*arrays), by_kernels(builder, arrays, results), strict=True):
        np.testing.assert_array_equal(found, wanted, strict=True)


def repeated_differences(x, w):
    """Differences of differences: in the gradient, scatters of what was computed from scatters."""
    return np.sum(w * np.diff(np.diff(x, axis=0) ** 2, axis=0) ** 2)


def sorted_products(x, w):
    """Products of neighbours, of products of neighbours, summed and sorted."""
    v = x[:-1] * x[1:]
    return np.sum(np.sort(np.sum(v[:-1] * v[1:] * w, axis=0)) ** 2)


@pytest.mark.parametrize("shape", [(4, 2), (7, 40), (50, 3)])
@pytest.mark.parametrize("function", [repeated_differences, sorted_products])
def test_no_window_read_of_a_window_read(function, shape):
    """Gradients of slices of what was computed from slices are those of eager code, of first and second order."""
    x, w = np.linspace(0.3, 1.5, shape[0] * shape[1]).reshape(shape), np.linspace(1.0, 2.0, shape[1])
    first = gt.value_and_grad(function, argnums=(0, 1))
    second = gt.grad(lambda x, w: np.sum(gt.grad(function)(x, w) * np.cos(x)))
    for derivative in (first, second):
        for found, wanted in zip(leaves(gt.jit(derivative)(x, w)), leaves(derivative(x, w)), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def test_what_takes_long_is_stored():
    """A value that is seen through many windows, or takes a function to compute, is in memory."""
    for name, count in (("square", 9), ("exp", 1)):
        builder = Builder()
        x = builder.input((400,))
        value = builder(name, builder("add", builder("getitem", x, index=(slice(8, None),)), 1.0))
        total = builder("scatter", value, index=(slice(None, -8),), shape=(400,))
        for start in range(1, count):
            part = builder("scatter", value, index=(slice(start, start + 392),), shape=(400,))
            total = builder("add", total, part)
        total = builder("add", total, x)
        array = np.random.default_rng(1).normal(size=400)
        group = builder.group(total)
        np.testing.assert_allclose(group(array)[0], by_kernels(builder, [array], [total])[0], rtol=1e-14)
        assert group.workspace >= value.nbytes


@pytest.mark.parametrize(
    ("array", "is_one"),
    [
        (np.full((3, 4), 2.5), True),
        (np.full((3, 4), np.nan), True),
        (np.array([[0.0, -0.0, 0.0, 0.0]]), False),
        (np.full((2, 3, 4), 2.5), True),  # but it gives the result its shape
        (np.zeros((3, 4), bool), True),
    ],
)
def test_constants_that_are_one_number(array, is_one):
    """A constant that is the same everywhere is written into the code, unless something depends on its shape."""
    x, constant = Value(0, (3, 4), np.dtype(float)), Value(1, array.shape, array.dtype)
    result = Value(2, np.broadcast_shapes((3, 4), array.shape), np.dtype(float))
    instruction = Instruction(TABLE["add"], (x, constant), {}, (result,))
    program = Program((x,), (Constant(constant, array),), (instruction,), (result,))
    (changed,) = prepare(program).instructions
    assert (type(changed.operands[1]) is Literal) == (is_one and result.shape == (3, 4))
    given = np.arange(12.0).reshape(3, 4)
    (found,) = Runner(program, native_steps(program))(given)
    np.testing.assert_array_equal(found, given + array, strict=True)
