"""Matrix products inside native code, inline and through BLAS."""

import itertools

import numpy as np
import pytest

from gradtape.jit.native import blas
from gradtape.jit.native.planning import supports

from .programs import Builder, by_kernels

SIZES = [(1, 1, 1), (3, 4, 5), (1, 7, 5), (5, 7, 1), (17, 1, 9), (40, 50, 60), (1, 300, 200), (300, 200, 1)]
SIZES += [(300, 1, 200), (0, 3, 4), (3, 0, 4), (3, 4, 0), (2, 3000, 1), (1, 3000, 2)]
FORMS = ("plain", "transposed", "reversed", "vector", "strided vector")


def operand(builder, shape, form, dtype, generator):
    """An operand that is a view of an input, and the input's array."""
    if form.endswith("vector"):
        length = shape[0] * shape[1]
        x = builder.input((2 * length if form == "strided vector" else length,), dtype)
        value = builder("getitem", x, index=(slice(None, None, 2),)) if form == "strided vector" else x
    elif form == "transposed":
        x = builder.input(shape[::-1], dtype)
        value = builder("transpose", x, axes=(1, 0))
    elif form == "reversed":
        x = builder.input((shape[0], 2 * shape[1]), dtype)
        value = builder("getitem", x, index=(slice(None), slice(None, None, -2)))
    else:
        value = x = builder.input(shape, dtype)
    return value, generator.normal(size=x.shape).astype(dtype)


@pytest.mark.parametrize("size", SIZES)
def test_products_of_all_forms(size):
    """Matrices and vectors, however they lie in memory, are multiplied as NumPy does it."""
    rows, common, columns = size
    generator = np.random.default_rng(sum(size))
    forms = [(a, b) for a, b in itertools.product(FORMS, FORMS) if not ("vector" in a and "vector" in b)]
    builder, arrays, results = Builder(), [], []
    for dtype, (left, right) in itertools.product(("float64", "float32"), forms):
        if ("vector" in left and rows != 1) or ("vector" in right and columns != 1):
            continue
        x, array = operand(builder, (rows, common), left, dtype, generator)
        y, other = operand(builder, (common, columns), right, dtype, generator)
        arrays += [array, other]
        results.append(builder("matmul", x, y))
        assert supports(builder.instructions[-1])
    expected = by_kernels(builder, arrays, results)
    for found, wanted in zip(builder.group(*results)(*arrays), expected, strict=True):
        assert found.dtype == wanted.dtype
        tolerance = 1e-12 if found.dtype == np.float64 else 1e-4
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def test_products_between_loops():
    """What is computed is multiplied, and the product goes into sums and further products."""
    builder = Builder()
    x, w = builder.input((60, 50)), builder.input((50, 40))
    hidden = builder("tanh", builder("matmul", builder("sin", x), w))
    back = builder("matmul", builder("transpose", hidden, axes=(1, 0)), builder("square", x))
    results = [hidden, back, builder("sum", builder("exp", back), axis=(0,), keepdims=False)]
    generator = np.random.default_rng(0)
    arrays = [generator.normal(size=(60, 50)) * 0.1, generator.normal(size=(50, 40)) * 0.1]
    for found, wanted in zip(builder.group(*results)(*arrays), by_kernels(builder, arrays, results), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


def test_other_products_are_left_to_kernels():
    """Stacks of matrices, integers, complex numbers and mixed dtypes have no native form."""
    for left, right in [((2, 3, 4), (4, 5)), ((3,), (3,))]:
        builder = Builder()
        builder("matmul", builder.input(left), builder.input(right))
        assert not supports(builder.instructions[-1])
    for left, right in [("int64", "int64"), ("complex128", "complex128"), ("float32", "float64")]:
        builder = Builder()
        builder("matmul", builder.input((3, 3), left), builder.input((3, 3), right))
        assert not supports(builder.instructions[-1])


def test_blas_is_found_once_and_leaves_the_package_alone():
    """The functions' addresses are known, and SciPy's own module is imported afterwards as ever."""
    assert set(blas.addresses()) == set(blas.FUNCTIONS)
    import scipy.linalg.cython_blas

    assert "dgemm" in scipy.linalg.cython_blas.__pyx_capi__
