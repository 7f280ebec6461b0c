"""Matrix products by the functions that are emitted for machines with vectors of 512 bits."""

import ctypes

import numpy as np
import pytest

import gradtape as gt
from gradtape.config import config
from gradtape.jit.native.emit.gemm import PRECISIONS, find_addresses, supports
from gradtape.jit.native.runtime.llvm import Machine, host

pytestmark = pytest.mark.skipif(not supports(host()), reason="the machine has no AVX-512")

SHAPES = [(1, 1, 1), (3, 2, 0), (8, 8, 8), (49, 9, 17), (24, 5, 193), (97, 12, 400), (145, 33, 257), (290, 21, 30)]


@pytest.fixture
def checked():
    """Native code tests every access to memory."""
    before, config.check = config.check, "memory"
    yield
    config.check = before


def multiply(letter, flags, sizes, numbers, arrays):
    """Call the function as BLAS is called; arrays are stored by columns, as the rows of what is given here."""
    dtype = PRECISIONS[letter]
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 13)(find_addresses(host(), letter)[f"{letter}gemm"])
    integers = [np.array([x], np.int32) for x in (*sizes, *(array.shape[1] for array in arrays))]
    one, two = (np.array([x], dtype) for x in numbers)
    letters = [np.frombuffer(flag.encode(), np.uint8) for flag in flags]
    left, right, out = arrays
    order = [*letters, *integers[:3], one, left, integers[3], right, integers[4], two, out, integers[5]]
    function(*[array.ctypes.data for array in order])


@pytest.mark.parametrize("letter", ["d", "s"])
@pytest.mark.parametrize("flags", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize("numbers", [(1.0, 0.0), (-0.5, 1.0), (2.0, -3.0)])
def test_products_of_all_flags(letter, flags, numbers):
    """Any sizes, transposes, scales and distances of columns; nothing else is read or written."""
    dtype, rng = PRECISIONS[letter], np.random.default_rng(7)
    for rows, columns, common in SHAPES:
        left, right, out = (
            rng.normal(size=shape).astype(dtype) for shape in ((rows, common), (common, columns), (rows, columns))
        )
        arrays = []
        for matrix, flag in zip((left, right, out), (*flags, "N"), strict=True):
            stored = matrix.T if flag == "N" else matrix
            array = np.full((stored.shape[0], stored.shape[1] + 3), np.nan, dtype)
            array[:, :-3] = stored
            arrays.append(array)
        if numbers[1] == 0.0:
            arrays[2][...] = np.nan
        multiply(letter, flags, (rows, columns, common), numbers, arrays)
        expected = numbers[0] * (left.astype(float) @ right.astype(float)) + numbers[1] * out.astype(float)
        tolerance = (1e-13 if letter == "d" else 1e-5) * max(1, common)
        np.testing.assert_allclose(arrays[2][:, :-3].T, expected, rtol=0, atol=tolerance)
        assert np.isnan(arrays[2][:, -3:]).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(300, 130, 170), (70, 500, 130), (1100, 9, 150), (7, 1201, 150)])
def test_large_products_and_their_gradients(dtype, shape, checked):
    """Values and gradients are NumPy's, whichever parts threads compute, with every access tested."""
    rows, columns, common = shape
    rng = np.random.default_rng(rows)
    a, b = (rng.normal(size=size).astype(dtype) for size in ((rows, common), (common, columns)))

    def loss(a, b):
        return np.sum(np.tanh((a * 0.5) @ (b * 0.25)) ** 2)

    compiled, eager = (make(gt.value_and_grad(loss, argnums=(0, 1))) for make in (gt.jit, lambda function: function))
    (value, found), (wanted, expected) = compiled(a, b), eager(a, b)
    tolerance = 1e-10 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(value, wanted, rtol=tolerance)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * np.max(np.abs(other)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bits_of_large_products_do_not_depend_on_the_number_of_threads(dtype):
    """Parts are chosen by the shapes alone, and no element is added up in parts."""
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=size).astype(dtype) for size in ((333, 270), (270, 301)))
    before, found = config.threads, []
    try:
        for threads in (1, 2, 3):
            config.threads = threads
            found.append(gt.jit(lambda a, b: (a @ b, b.T @ a.T))(a, b))
    finally:
        config.threads = before
    for other in found[1:]:
        assert all(np.array_equal(x, y) for x, y in zip(found[0], other, strict=True))


def test_machines_without_the_instructions_call_blas():
    """There are no addresses then, and products are those of SciPy's BLAS."""
    assert find_addresses(Machine(features="-avx512f"), "ds") == {}
