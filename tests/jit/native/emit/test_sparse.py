"""Products of sparse matrices in native code."""

import numpy as np
import pytest
import scipy.sparse

import gradtape as gt

MAKERS = {
    "few in a row": lambda rng: scipy.sparse.random_array((7, 5), density=0.3, rng=rng, format="csr"),
    "many in a row": lambda rng: scipy.sparse.random_array((6, 90), density=0.5, rng=rng, format="csr"),
    "columns": lambda rng: scipy.sparse.random_array((40, 9), density=0.4, rng=rng, format="csc"),
    "not sorted": lambda rng: scipy.sparse.csr_array(
        (rng.normal(size=5), np.array([3, 0, 3, 1, 1]), np.array([0, 3, 3, 5])), shape=(3, 4)
    ),
}


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("columns", [(), (1,), (3,), (11,)], ids=str)
@pytest.mark.parametrize("name", MAKERS)
def test_a_product_and_its_gradient_are_native(name, columns, dtype):
    """Of a constant matrix in rows or in columns, with a vector and with several columns, as SciPy gives them."""
    rng = np.random.default_rng(3)
    matrix = MAKERS[name](rng).astype(dtype)
    x = rng.normal(size=(matrix.shape[1], *columns)).astype(dtype)
    tolerance = 1e-12 if dtype == "f8" else 1e-4

    def total(x):
        return np.sum(np.sin(matrix @ x))

    compiled = gt.jit(gt.value_and_grad(total))
    value, gradient = compiled(x)
    product = matrix.toarray() @ x
    assert value == pytest.approx(np.sum(np.sin(product)), rel=tolerance)
    assert gradient.dtype == x.dtype
    np.testing.assert_allclose(gradient, matrix.toarray().T @ np.cos(product), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(gradient, gt.grad(total)(x), rtol=tolerance, atol=tolerance)
    assert "NumPy kernel" not in compiled.stage("scheduled")


def test_a_matrix_that_changes_is_multiplied_as_it_is():
    """A captured matrix whose values or places were changed after the first call."""
    matrix = scipy.sparse.csr_array(np.diag([1.0, 2.0, 3.0]))
    compiled = gt.jit(gt.grad(lambda x: np.sum((matrix @ x) ** 2)))
    x = np.ones(3)
    np.testing.assert_allclose(compiled(x), [2, 8, 18])
    matrix.data[1] = 5.0
    np.testing.assert_allclose(compiled(x), [2, 50, 18])
    matrix.indices[:] = [1, 0, 2]
    np.testing.assert_allclose(compiled(x), [50, 2, 18])


def test_second_order_batches_and_tensors_for_values():
    """Hessians, mapped products, and derivatives by the values of the matrix agree with eager ones."""
    matrix = scipy.sparse.csr_array(np.array([[1.0, 0, 2], [0, 3, 0]]))
    x = np.array([0.5, -1.0, 2.0])

    def total(x):
        return np.sum(np.sin(matrix @ x))

    np.testing.assert_allclose(gt.jit(gt.hessian(total))(x), gt.hessian(total)(x), rtol=1e-12, atol=1e-14)
    many = np.stack([x, 2 * x, x - 1])
    mapped = gt.jit(gt.vmap(gt.grad(total)))
    np.testing.assert_allclose(mapped(many), [gt.grad(total)(row) for row in many], rtol=1e-12)

    def by_values(values, x):
        own = gt.scipy.sparse.csr_array((values, np.array([0, 2, 1]), np.array([0, 2, 3])), shape=(2, 3))
        return np.sum(np.cos(own @ x))

    values = np.array([1.0, 2.0, 3.0])
    found = gt.jit(gt.grad(by_values, argnums=(0, 1)))(values, x)
    for one, expected in zip(found, gt.grad(by_values, argnums=(0, 1))(values, x), strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-12)


def test_threads_do_not_change_the_bits():
    """Each row is added up by one thread, in one order."""
    rng = np.random.default_rng(4)
    matrix = scipy.sparse.random_array((3000, 500), density=0.1, rng=rng, format="csr")
    x = rng.normal(size=500)
    step = gt.jit(lambda x: matrix @ np.sin(x))
    first = step(x)
    assert all(np.array_equal(step(x), first) for _ in range(3))
    np.testing.assert_allclose(first, matrix @ np.sin(x), rtol=1e-9, atol=1e-12)
