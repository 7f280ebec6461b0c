"""Matrix products inside native code, inline and through BLAS."""

import itertools

import numpy as np
import pytest

from gradtape.jit.native.lower.support import supports
from gradtape.jit.native.runtime import blas

from ..programs import Builder, by_kernels

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
    """Products of vectors, of integers, of complex numbers and of mixed dtypes have no native form."""
    builder = Builder()
    builder("matmul", builder.input((3,)), builder.input((3,)))
    assert not supports(builder.instructions[-1])
    for left, right in [("int64", "int64"), ("complex128", "complex128"), ("float32", "float64")]:
        builder = Builder()
        builder("matmul", builder.input((3, 3), left), builder.input((3, 3), right))
        assert not supports(builder.instructions[-1])


STACKS = [
    ((2, 3, 4), (4, 5)), ((2, 30, 40), (40, 50)), ((5, 3, 4), (5, 4, 2)), ((3, 1, 20, 30), (4, 30, 20)),
    ((4,), (3, 4, 2)), ((3, 2, 4), (4,)), ((2, 60, 80), (80,)), ((90,), (2, 90, 60)), ((0, 3, 4), (4, 5)),
    ((2, 3, 0), (0, 5)), ((1, 2, 2), (2, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), STACKS)
def test_stacks_of_matrices(left, right):
    """Stacks of matrices are multiplied pair by pair, stretched as NumPy stretches them, however they lie in memory."""
    generator = np.random.default_rng(len(left) + len(right))
    builder = Builder()
    x, y = builder.input(left), builder.input(right)
    turned = builder.input((*right[:-2], *right[:-3:-1]) if len(right) > 1 else right)
    axes = (*range(len(right) - 2), len(right) - 1, len(right) - 2) if len(right) > 1 else (0,)
    results = [builder("matmul", x, y), builder("matmul", x, builder("transpose", turned, axes=axes))]
    assert all(map(supports, builder.instructions))
    arrays = [generator.normal(size=value.shape) for value in builder.inputs]
    for found, wanted in zip(builder.group(*results)(*arrays), by_kernels(builder, arrays, results), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


SUBSCRIPTS = [
    ("kij,nkj->nki", (3, 4, 4), (50, 3, 4)), ("nki,nkj->kij", (50, 3, 20), (50, 3, 10)),
    ("ij,jk->ki", (30, 40), (40, 20)), ("nki,kij->nkj", (200, 3, 10), (3, 10, 10)),
    ("bij,bjk->kbi", (3, 30, 40), (3, 40, 20)), ("ij,ij->i", (4, 5), (4, 5)), ("ij,j->i", (4, 5), (5,)),
    ("bij,bjk->ikb", (3, 3, 4), (3, 4, 2)), ("ij,kl->ijkl", (2, 3), (4, 5)), ("ij,ji->", (3, 4), (4, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("subscripts", "left", "right"), SUBSCRIPTS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_einsum(subscripts, left, right, dtype):
    """Products that `einsum` spells are those of NumPy."""
    generator = np.random.default_rng(3)
    builder = Builder()
    result = builder("einsum", builder.input(left, dtype), builder.input(right, dtype), subscripts=subscripts)
    assert supports(builder.instructions[-1])
    arrays = [generator.normal(size=value.shape).astype(dtype) for value in builder.inputs]
    (found,) = builder.group(result)(*arrays)
    assert found.dtype == dtype
    tolerance = 1e-12 if dtype == "float64" else 2e-5
    np.testing.assert_allclose(found, np.einsum(subscripts, *arrays), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]), ("ii->i", [(3, 3)]), ("ij,kl->ik", [(2, 3), (4, 5)]),
     ("ijk,ijl->kl", [(3, 4, 5), (3, 4, 6)])],
)  # fmt: skip
def test_other_subscripts_are_left_to_numpy(subscripts, shapes):
    """Three operands, diagonals, sums of one operand alone and several common axes have no native form."""
    builder = Builder()
    builder("einsum", *[builder.input(shape) for shape in shapes], subscripts=subscripts)
    assert not supports(builder.instructions[-1])


def test_blas_is_found_once_and_leaves_the_package_alone():
    """The functions' addresses are known, and SciPy's own module is imported afterwards as ever."""
    assert set(blas.addresses()) == set(blas.FUNCTIONS)
    import scipy.linalg.cython_blas

    assert "dgemm" in scipy.linalg.cython_blas.__pyx_capi__
