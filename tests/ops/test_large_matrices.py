"""Systems, inverses, determinants and Cholesky factors of matrices that LAPACK factorises in blocks."""

import gc
import weakref

import numpy as np
import pytest

import gradtape as gt
from gradtape.ops import shared_factors
from gradtape.ops.cholesky_gradient import pull_cholesky

SIZE = 100
KINDS = {"real": 0.0, "complex": 1.0}


def matrix(seed, imaginary=0.0, rows=SIZE, columns=SIZE):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, columns)) / 10
    return x + imaginary * 1j * rng.normal(size=(rows, columns)) / 10 if imaginary else x


def solved(a, b):
    """A solution, and one with the conjugate transpose."""
    a = a + 2 * np.eye(SIZE)
    both = np.linalg.solve(a, b), np.linalg.solve(np.conj(a).T, b)
    return sum(np.sum(np.real(x * np.conj(x))) for x in both)


def inverted(a, b):
    a = a + 2 * np.eye(SIZE)
    return np.sum(np.real(np.linalg.inv(a) @ b * np.conj(b)))


def determined(a, b):
    """The determinant, its sign and its logarithm, and a solution with the same matrix."""
    a = a / 10 + np.eye(SIZE)
    sign, size = np.linalg.slogdet(a)
    return np.real(sign * b[0, 0]) + size + np.abs(np.linalg.det(a)) + np.sum(np.real(np.linalg.solve(a, b)))


def factorised(a, b):
    """The likelihood of a Gaussian process, and something that depends on all of the factor."""
    positive = a @ np.conj(a).T + 2 * np.eye(SIZE)
    lower = np.linalg.cholesky(positive)
    white = gt.linalg.solve_triangular(lower, b, lower=True)
    heights = np.sum(np.log(np.real(np.diagonal(lower))))
    return heights + np.sum(np.real(white * np.conj(white))) + np.sum(np.cos(np.real(lower)) + np.sin(np.imag(lower)))


FUNCTIONS = [solved, inverted, determined, factorised]


def along(function, a, b, direction, step=1e-5):
    return (function(a + step * direction, b) - function(a - step * direction, b)) / (2 * step)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_derivatives_of_both_modes_agree_with_differences(function, kind):
    """Gradient and tangent along a direction, and the change of the gradient, are those of differences."""
    imaginary = KINDS[kind]
    a, b, direction, other = (matrix(seed, imaginary, columns=n) for seed, n in enumerate((SIZE, 2, SIZE, SIZE)))
    expected = along(function, a, b, direction)
    gradient = gt.grad(function)(a, b)
    assert gradient.shape == a.shape
    assert gradient.dtype == a.dtype
    assert np.sum(np.real(np.conj(gradient) * direction)) == pytest.approx(expected, rel=1e-6)
    assert gt.jvp(lambda a: function(a, b), (a,), (direction,))[1] == pytest.approx(expected, rel=1e-6)

    def slope(a, b):
        return np.sum(np.real(np.conj(gt.grad(function)(a, b)) * other))

    curvature = along(slope, a, b, direction)
    scale = np.abs(curvature) + 1e-3
    by_reverse = np.sum(np.real(np.conj(gt.grad(slope)(a, b)) * direction))
    assert abs(by_reverse - curvature) < 1e-5 * scale
    assert abs(gt.jvp(lambda a: slope(a, b), (a,), (direction,))[1] - curvature) < 1e-5 * scale


@pytest.mark.parametrize("function", FUNCTIONS)
def test_compiled_and_mapped_gradients_are_the_eager_ones(function):
    """jit and vmap give the value and the gradient of single eager calls."""
    a, b = np.stack([matrix(1), matrix(2)]), matrix(3, columns=2)
    eager = [gt.value_and_grad(function)(x, b) for x in a]
    compiled = gt.jit(gt.value_and_grad(function))
    for x, (value, gradient) in zip(a, eager, strict=True):
        for _ in range(2):
            found = compiled(x, b)
            assert found[0] == pytest.approx(value, rel=1e-11)
            np.testing.assert_allclose(found[1], gradient, rtol=1e-8, atol=1e-11 * np.abs(gradient).max())
    mapped = gt.vmap(gt.grad(function), in_axes=(0, None))(a, b)
    np.testing.assert_allclose(mapped, [g for _, g in eager], rtol=1e-8, atol=1e-11 * np.abs(mapped).max())


def test_values_and_dtypes_are_those_of_numpy():
    """Also in single precision, for a transposed matrix and for one that is part of another."""
    wide = (matrix(1, columns=2 * SIZE) + 2 * np.eye(SIZE, 2 * SIZE)).astype("f4")
    for a in (wide[:, :SIZE], wide[:, :SIZE].T, wide[:, :SIZE].copy(), wide[:, :SIZE].astype("c16")):
        b = np.ones((SIZE, 2), a.dtype)
        for function, arguments in [
            (np.linalg.solve, (a, b)),
            (np.linalg.inv, (a,)),
            (np.linalg.det, (a,)),
            (np.linalg.slogdet, (a,)),
            (np.linalg.cholesky, (a @ np.conj(a).T,)),
        ]:
            found, expected = function(*(gt.tensor(x) for x in arguments)), function(*arguments)
            pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
            for x, y in pairs:
                assert x.shape == y.shape
                assert x.dtype == y.dtype
                np.testing.assert_allclose(x.numpy(), y, rtol=3e-3 if a.dtype == "f4" else 1e-10, atol=1e-5)


def test_factors_are_not_used_for_another_matrix():
    """A matrix that was changed in place, by one element, is factorised again."""
    a, b = matrix(1) + 2 * np.eye(SIZE), np.ones(SIZE)
    for place in ((0, 0), (SIZE - 1, 1), (1, SIZE - 1)):
        gt.grad(lambda a: np.sum(np.linalg.solve(a, b)))(a)
        a[place] += 1e-9
        np.testing.assert_array_equal(
            np.linalg.solve(gt.tensor(a), b).numpy(), np.linalg.solve(gt.tensor(a.copy()), b).numpy()
        )


def test_factors_are_kept_no_longer_than_the_matrix():
    """What is kept of a matrix is dropped with it."""
    a = matrix(1) + 2 * np.eye(SIZE)
    found = shared_factors.factors_of(a)
    assert found is not None
    assert shared_factors.factors_of(a)[0] is found[0]
    assert shared_factors.factors_of(a.T)[1] == "T"
    kept = weakref.ref(found[0])
    del a, found
    gc.collect()
    assert kept() is None


def test_a_singular_matrix_is_refused():
    """It has no inverse; its determinant is 0, with the gradient of a determinant."""
    a = np.eye(SIZE)
    a[0, 0] = 0
    for function in (np.linalg.inv, lambda a: np.linalg.solve(a, np.ones(SIZE))):
        with pytest.raises(gt.LinearAlgebraError, match="Singular matrix"):
            function(gt.tensor(a))
    assert np.linalg.det(gt.tensor(a)).item() == 0
    gradient = gt.grad(np.linalg.det)(a)
    assert gradient[0, 0] == pytest.approx(1)
    assert np.abs(gradient).sum() == pytest.approx(1)
    with pytest.raises(gt.LinearAlgebraError, match="positive definite"):
        np.linalg.cholesky(gt.tensor(-np.eye(SIZE)))


def test_only_the_triangle_of_other_than_symmetric_matrices_gets_a_gradient():
    """The factor of a matrix of which one triangle is right has the gradient in that triangle."""
    positive = matrix(1) @ matrix(1).T + 2 * np.eye(SIZE)
    given = np.tril(positive)
    whole = gt.grad(lambda a: np.sum(np.cos(np.linalg.cholesky(a))))(positive)
    lower = gt.grad(lambda a: np.sum(np.cos(np.linalg.cholesky(a))))(given)
    np.testing.assert_allclose(lower, np.tril(2 * whole) - np.diag(np.diagonal(whole)), rtol=1e-9, atol=1e-12)
    compiled = gt.jit(gt.grad(lambda a: np.sum(np.cos(np.linalg.cholesky(a)))))
    for argument, expected in ((given, lower), (positive, whole)):
        np.testing.assert_allclose(compiled(argument), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_gradient_of_a_large_factor_is_its_formula(kind):
    """Blocks of halves of the rows give l^-H s l^-1 / 2, with s from the lower triangle of l^H g."""
    size = 250
    g = matrix(1, KINDS[kind], size, size)
    factor = np.tril(matrix(2, KINDS[kind], size, size)) + 2 * np.eye(size)
    product = np.tril(np.conj(factor).T @ g)
    middle = product + np.conj(product).T - np.diag(np.real(np.diagonal(product)))
    middle -= 1j * np.diag(np.imag(np.diagonal(middle))) if KINDS[kind] else 0
    np.fill_diagonal(middle, np.real(np.diagonal(product)))
    inverse = np.linalg.inv(factor)
    expected = np.conj(inverse).T @ middle @ inverse / 2
    np.testing.assert_allclose(pull_cholesky(g, factor), expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())
