"""Convolutions in native code: all geometries, all derivatives, and the same bits however the work is divided."""

import numpy as np
import pytest

import gradtape as gt
from gradtape.jit.native.lower.support import supports
from gradtape.jit.native.runtime import threads
from gradtape.jit.native.runtime.pool import pool
from gradtape.nn import functional
from gradtape.ops.convolution_ops import Geometry

from ..kernels import oldest
from ..programs import Builder, by_kernels

CONVOLVE, SPREAD, CORRELATE = "convolve images", "spread images", "correlate images"
NAMES = (CONVOLVE, SPREAD, CORRELATE)

# examples, input and output channels of a group, geometry
CASES = {
    "one axis": (2, 2, 3, Geometry((1,), (1,), (0,), (4,), (3,), (2,), 1)),
    "stride, dilation and groups": (3, 4, 9, Geometry((2, 3), (2, 1), (1, 2), (9, 11), (3, 4), (3, 4), 2)),
    "a stride longer than the kernel": (2, 1, 2, Geometry((3,), (1,), (0,), (11,), (2,), (3,), 1)),
    "one channel a group": (8, 1, 1, Geometry((1, 1), (1, 1), (2, 2), (12, 12), (5, 5), (12, 12), 6)),
    "several examples in a row": (33, 3, 7, Geometry((1, 1), (1, 1), (1, 1), (9, 9), (3, 3), (9, 9), 1)),
    "many terms": (2, 70, 5, Geometry((1, 1), (1, 1), (1, 1), (6, 6), (3, 3), (6, 6), 1)),
    "few examples of many channels": (2, 34, 67, Geometry((2, 1), (1, 1), (1, 1), (9, 14), (3, 3), (5, 14), 2)),
    "one tap": (2, 6, 5, Geometry((2, 2), (1, 1), (0, 0), (7, 7), (1, 1), (4, 4), 1)),
    "long rows": (2, 2, 2, Geometry((1,), (1,), (1,), (1500,), (3,), (1500,), 1)),
    "three axes": (2, 3, 2, Geometry((1, 2, 1), (1, 1, 2), (1, 0, 2), (6, 7, 8), (3, 2, 3), (6, 3, 8), 1)),
}


def shapes(case):
    n, c, o, geometry = CASES[case]
    groups = geometry.groups
    x, w = (n, groups * c, *geometry.inputs), (groups * o, c, *geometry.taps)
    y = n, groups * o, *geometry.outputs
    return {CONVOLVE: (x, w), SPREAD: (y, w), CORRELATE: (x, y)}, geometry


def program(case, dtype):
    """All three of a case, and arrays for them."""
    pairs, geometry = shapes(case)
    generator = np.random.default_rng(len(case))
    builder, arrays, results = Builder(), [], []
    for name in NAMES:
        arrays += [generator.normal(size=shape).astype(dtype) for shape in pairs[name]]
        results.append(builder(name, *[builder.input(shape, dtype) for shape in pairs[name]], geometry=geometry))
    return builder, arrays, results


def assert_close(builder, arrays, results, found):
    """Within some ulp of the sum of magnitudes."""
    magnitudes = by_kernels(builder, [np.abs(array) for array in arrays], results)
    for one, wanted, scale in zip(found, by_kernels(builder, arrays, results), magnitudes, strict=True):
        assert one.dtype == wanted.dtype
        assert (np.abs(one - wanted) <= 16 * np.finfo(one.dtype).eps * scale).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES)
def test_convolutions_agree_with_their_kernels(case, dtype):
    """Each of the three, for every geometry and both precisions, is what its NumPy kernel gives."""
    builder, arrays, results = program(case, dtype)
    assert all(supports(instruction) for instruction in builder.instructions)
    assert_close(builder, arrays, results, builder.group(*results)(*arrays))


def test_convolutions_without_instruction_sets():
    """The oldest machine computes the same, to rounding."""
    builder, arrays, results = program("stride, dilation and groups", "float32")
    assert_close(builder, arrays, results, builder.group(*results, machine=oldest())(*arrays))


@pytest.mark.production
@pytest.mark.parametrize("case", ["several examples in a row", "one channel a group", "few examples of many channels"])
def test_how_the_work_is_divided_makes_no_difference(case, monkeypatch):
    """One call for all units gives the bits of many calls, by different threads."""
    monkeypatch.setattr(threads, "WORTH", 0)  # as if it were large
    monkeypatch.setattr(gt.config, "threads", 1)
    builder, arrays, results = program(case, "float32")
    group = builder.group(*results)
    expected = group(*arrays)
    assert all(nest.units > 1 for nest in group.nests)
    monkeypatch.setattr(gt.config, "threads", 5)
    before = pool().regions
    found = group(*arrays)
    assert pool().regions == before + len(group.nests)
    assert [array.tobytes() for array in found] == [array.tobytes() for array in expected]


def test_operands_in_any_layout():
    """Channels last, seen as channels first, is copied and convolved; stretched kernels are, too."""
    generator = np.random.default_rng(0)
    images, kernel = generator.normal(size=(2, 6, 7, 3)), generator.normal(size=(4, 3, 3, 1))

    def convolved(images, kernel):
        wide = np.broadcast_to(kernel, (4, 3, 3, 2))
        return functional.conv2d(np.moveaxis(images, -1, 1), wide, stride=(1, 2), padding=1)

    compiled = gt.jit(convolved)
    found = compiled(images, kernel)
    np.testing.assert_allclose(found, convolved(gt.tensor(images), kernel).numpy(), rtol=1e-13, atol=1e-13)
    assert compiled.source.count("kernel") == 0


def test_second_derivatives_of_a_convolution():
    """Hessian-vector products of a convolution and its transpose are those without `jit`."""
    generator = np.random.default_rng(1)
    x, w, v = generator.normal(size=(2, 2, 9)), generator.normal(size=(3, 2, 4)), generator.normal(size=(3, 2, 4))

    def loss(w):
        y = functional.conv1d(x, w, stride=2, padding=1)
        return np.sum(np.tanh(functional.conv_transpose1d(y, w, stride=2)) ** 2)

    def product(w, v):
        return gt.jvp(gt.grad(loss), (w,), (v,))[1]

    np.testing.assert_allclose(gt.jit(product)(w, v), product(w, v), rtol=1e-11, atol=1e-12)


def test_convolutions_in_a_loop():
    """A loop whose steps convolve is native, and gives what its steps give."""
    kernel = np.array([[[0.25, 0.5, 0.25]]])

    def smoothed(x):
        for _ in range(60):
            x = np.tanh(functional.conv1d(x, kernel, padding=1))
        return np.sum(x * x)

    compiled = gt.jit(gt.value_and_grad(smoothed))
    x = np.random.default_rng(2).normal(size=(3, 1, 20))
    value, gradient = compiled(x)
    expected_value, expected = gt.value_and_grad(smoothed)(x)
    np.testing.assert_allclose(value, expected_value, rtol=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=1e-11, atol=1e-14)
    assert "kernel" not in compiled.source
    assert compiled.program.instructions[0].name == "loop"


@pytest.mark.parametrize("dtype", ["complex128", "int64"])
def test_other_numbers_are_left_to_the_kernel(dtype):
    """Complex numbers and integers are convolved by NumPy, between native stretches."""
    x, w = np.arange(12).reshape(1, 2, 6).astype(dtype), np.arange(12).reshape(2, 2, 3).astype(dtype)
    compiled = gt.jit(lambda x, w: functional.conv1d(x, w, padding=1) + 1)
    np.testing.assert_array_equal(compiled(x, w), functional.conv1d(x, w, padding=1) + 1)
    assert "kernel" in compiled.source
