"""Batches of products of small matrices, computed in blocks of registers."""

import numpy as np
import pytest

import gradtape as gt
from gradtape.config import config
from gradtape.jit.native.emit.blocked_product import divide_inner, divide_outer

SHAPES = [
    ("ijk,mik->mij", (3, 10, 10), (37, 3, 10)),
    ("mij,mik->ijk", (300, 2, 10), (300, 2, 10)),
    ("mij,ijk->mik", (13, 3, 5), (3, 5, 33)),
    ("bij,bjk->bik", (2, 3, 2), (2, 2, 7)),
    ("bij,bjk->bki", (2, 41, 9), (2, 9, 43)),
    ("bij,bkj->bik", (2, 70, 131), (2, 67, 131)),
    ("bji,bjk->bik", (2, 129, 65), (2, 129, 2)),
]


@pytest.fixture
def checked():
    """Native code tests every access to memory."""
    before, config.check = config.check, "memory"
    yield
    config.check = before


def compare(function, *arrays):
    """The compiled and the eager value and gradients, relative to the sums of the magnitudes of the terms."""
    compiled, eager = gt.jit(gt.value_and_grad(function, argnums=(0, 1))), gt.value_and_grad(function, argnums=(0, 1))
    (value, found), (wanted, gradients) = compiled(*arrays), eager(*arrays)
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    for one, other in zip(found, gradients, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12 * np.max(np.abs(other)))


@pytest.mark.parametrize(("subscripts", "left", "right"), SHAPES)
def test_batched_einsum_and_its_gradients_agree_with_numpy(subscripts, left, right, checked):
    """Values and both gradients, for every order of the axes, with lengths that no block divides."""
    rng = np.random.default_rng(len(subscripts) + left[1])
    compare(lambda a, b: np.sum(np.einsum(subscripts, a, b * 2) ** 2), rng.normal(size=left), rng.normal(size=right))


def test_batched_products_of_slices_and_transposes(checked):
    """Operands are read as they lie in memory: reversed, with gaps, transposed."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(4, 22, 9)), rng.normal(size=(4, 30, 9))
    compare(lambda a, b: np.sum((a[:, ::2] * 2) @ (b * 1.5)[:, ::-1].transpose(0, 2, 1) ** 2), a, b)


def test_one_matrix_times_many_vectors_is_a_product_of_matrices(checked):
    """A matrix for each of k classes, applied to n vectors: the axis of the vectors becomes columns."""
    rng = np.random.default_rng(4)
    a, x = rng.normal(size=(3, 6, 6)), rng.normal(size=(21, 3, 6))
    compare(lambda a, x: np.sum(np.matmul(a * 2, x[..., None] * 3)[..., 0] ** 2), a, x)
    compare(lambda x, a: np.sum(np.matmul(x[:, :, None, :] * 3, a * 2) ** 2), x, a)


def test_bits_of_batched_products_do_not_depend_on_the_number_of_threads():
    """One thread and two give the same bits."""
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(16, 64, 64)), rng.normal(size=(300, 16, 64))
    product = gt.jit(lambda a, b: np.einsum("ijk,mik->mij", a * 2, b))
    before, found = config.threads, []
    for count in (1, 2):
        config.threads = count
        found.append(product(a, b))
    config.threads = before
    assert np.array_equal(*found)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 9, 31, 33, 40, 63, 64, 100, 129])
def test_blocks_cover_an_axis_once(length):
    """The blocks of both axes are next to each other, and vectors overlap inside of a block only."""
    for most in (1, 4):
        end = 0
        for piece in divide_inner(length, most):
            assert piece.start == end
            assert piece.vectors <= most
            size = piece.blocks * piece.vectors * piece.width
            end = min(length, end + size) if piece.blocks == 1 else end + size
        assert end == length
    blocks = divide_outer(length, 12)
    end = 0
    for start, rows, count in blocks:
        assert start == end
        end += rows * count
    assert end == length


@pytest.mark.parametrize("features", ["", "-avx512f,-avx2,-fma"])
@pytest.mark.parametrize(("rows", "columns", "common"), [(2, 3, 8), (5, 5, 9), (10, 10, 125), (11, 7, 40), (6, 2, 15)])
def test_products_along_contiguous_rows(rows, columns, common, features, checked, monkeypatch):
    """Where both operands are contiguous along the common axis, each product is added up once, infinities included."""
    monkeypatch.setattr(config, "native_features", features)
    rng = np.random.default_rng(rows + common)
    a, b = rng.uniform(1, 2, (3, rows, common)), rng.uniform(1, 2, (3, columns, common))
    product = gt.jit(lambda a, b: np.einsum("bij,bkj->bik", a * 2, b))
    np.testing.assert_allclose(product(a, b), np.einsum("bij,bkj->bik", a * 2, b), rtol=1e-13)
    a[1, 1, common - 8 : common - 4] = np.inf
    np.testing.assert_array_equal(np.isinf(product(a, b)), np.isinf(np.einsum("bij,bkj->bik", a, b)))
