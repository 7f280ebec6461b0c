"""Random convolutions, poolings and tiled loops for `fuzz`."""

from __future__ import annotations

from unittest import mock

import numpy as np
from hypothesis import strategies as st

from gradtape.jit.native.lower.support import supports
from gradtape.jit.native.schedule import tiling
from gradtape.ops.convolution_ops import Geometry
from gradtape.ops.pooling_ops import Windows

from .programs import Builder, by_kernels


@st.composite
def convolutions(draw):
    """The three rows of one random geometry, and arrays for them."""
    axes, groups = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    lengths = {"stride": 3, "dilation": 3, "taps": 4, "outputs": 24 if axes == 1 else 7}
    found = {name: tuple(draw(st.integers(1, most)) for _ in range(axes)) for name, most in lengths.items()}
    low = tuple(draw(st.integers(0, 3)) for _ in range(axes))
    rows = zip(found["stride"], found["dilation"], found["taps"], found["outputs"], low, strict=True)
    # any number of inputs from those that all outputs meet, less the padding behind, to some that none meets
    reach = [s * (n - 1) + d * (t - 1) + 1 - a for s, d, t, n, a in rows]
    inputs = tuple(max(1, length + draw(st.integers(-2, 2))) for length in reach)
    geometry = Geometry(found["stride"], found["dilation"], low, inputs, found["taps"], found["outputs"], groups)
    n, c, o = (draw(st.integers(1, most)) for most in (9, 5, 6))
    x, w, y = (n, groups * c, *inputs), (groups * o, c, *found["taps"]), (n, groups * o, *found["outputs"])
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    dtype = draw(st.sampled_from(["float32", "float64"]))
    builder, arrays = Builder(), []
    for name, pair in (("convolve images", (x, w)), ("spread images", (y, w)), ("correlate images", (x, y))):
        builder(name, *[builder.input(shape, dtype) for shape in pair], geometry=geometry)
        arrays += [generator.normal(size=shape).astype(dtype) for shape in pair]
    return builder, arrays


def assert_agrees(builder, arrays):
    """All results are those of the kernels: integers and what is taken exactly, sums to some ulp of the magnitudes."""
    assert all(map(supports, builder.instructions))
    results = [instruction.results[0] for instruction in builder.instructions]
    magnitudes = by_kernels(builder, [np.abs(array) for array in arrays], results)
    found = builder.group(*results)(*arrays)
    for one, wanted, scale in zip(found, by_kernels(builder, arrays, results), magnitudes, strict=True):
        assert one.dtype == wanted.dtype
        if one.dtype.kind == "f":
            assert (np.abs(one - wanted) <= 32 * np.finfo(one.dtype).eps * scale).all()
        else:
            assert np.array_equal(one, wanted)


@st.composite
def poolings(draw):
    """The largest of random windows and where they are, what is put back, sums and shares; and an array."""
    windows = []
    for _ in range(draw(st.integers(1, 3))):
        length, size, step = draw(st.integers(2, 20)), draw(st.integers(1, 4)), draw(st.integers(1, 2))
        if draw(st.booleans()):
            count = draw(st.integers(1, length))
            longest = max(-(-(q + 1) * length // count) - q * length // count for q in range(count))
            windows.append(Windows(length, count, longest, 0, 1, 0))
            continue
        stride, start = draw(st.integers(1, 4)), -draw(st.integers(0, size // 2))
        outputs = max(1, (length - start - step * (size - 1) - 1) // stride + 1)
        windows.append(Windows(length, outputs, size, stride, step, start))
    windows = tuple(along if along.counts().all() else Windows(along.length, 1, 1, 1, 1, 0) for along in windows)
    shape = tuple(along.length for along in windows)
    dtype = draw(st.sampled_from(["float32", "float64"]))
    builder = Builder()
    x = builder.input((draw(st.integers(1, 3)), *shape), dtype)
    where = builder("positions of the largest", x, windows=windows)
    largest = builder("take from windows", x, where, shape=shape, repeats=True)
    builder("put into windows", largest, where, shape=shape, repeats=True)
    total = builder("sums over windows", x, windows=windows)
    builder("shares of windows", total, windows=windows)
    if not all(map(supports, builder.instructions)):
        builder.instructions.pop()
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    return builder, [np.abs(np.round(generator.normal(size=x.shape) * 3)).astype(dtype)]


def tiled(check):
    """The same check, with loops cut into tiles of a few elements."""

    def run(*case):
        with mock.patch.multiple(tiling, LARGE=8, SHORTEST=4, LONGEST=8):
            check(*case)

    return run
