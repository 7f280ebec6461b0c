"""Passes over factorisations: one LU for a matrix, and gradients of Cholesky factors from the parts of a cotangent."""

import numpy as np
import pytest

import gradtape as gt
from gradtape.linalg import cho_factor, cho_solve, solve_triangular

SIZE = 70
SCALE = np.array(0.7)


def count(program, name):
    return [instruction.name for instruction in program.instructions].count(name)


def covariance(scale, dtype="f8"):
    points = np.linspace(0, 3, SIZE).astype(dtype)
    return np.exp(-0.5 * (points[:, None] - points) ** 2 / scale) + np.eye(SIZE, dtype=dtype)


def heights(factor):
    return np.sum(np.log(np.diag(factor)))


def whitened(scale, y):
    factor = np.linalg.cholesky(covariance(scale))
    white = solve_triangular(factor, y, lower=True)
    return 0.5 * np.sum(white * white) + heights(factor)


def weighted(scale, y):
    """The cotangent of the solution is no multiple of it, nor that of the diagonal one of its reciprocals."""
    factor = np.linalg.cholesky(covariance(scale))
    white = solve_triangular(factor, y, lower=True)
    return np.sum(np.sin(white)) + np.sum(np.cos(np.diag(factor)))


def solved_with_lower(scale, y):
    factor = cho_factor(covariance(scale), lower=True)
    return 0.5 * np.sum(y * cho_solve(factor, y)) + heights(factor[0])


def solved_with_upper(scale, y):
    factor = cho_factor(covariance(scale))
    return 0.5 * np.sum(y * cho_solve(factor, y)) + heights(factor[0])


def without_heights(scale, y):
    return np.sum(y * cho_solve(cho_factor(covariance(scale)), y))


def only_heights(scale, y):
    return 3 * heights(np.linalg.cholesky(covariance(scale) * y[0] ** 2))


def solved_as_any_matrix(scale, y):
    """Systems with the factor, as with any matrix: that it is triangular is known."""
    factor = np.linalg.cholesky(covariance(scale))
    white = np.linalg.solve(factor, y)
    return np.sum(white * white) + np.sum(y * np.linalg.solve(factor.T, white)) + heights(factor)


def of_two_matrices(scale, y):
    """A system with the factor of another matrix is no part of the cotangent of this one."""
    first, second = (np.linalg.cholesky(covariance(x)) for x in (scale, scale + 1))
    both = solve_triangular(first, solve_triangular(second, y, lower=True), lower=True)
    return np.sum(both * both) + heights(first) + heights(second)


LIKELIHOODS = [whitened, weighted, solved_with_lower, solved_with_upper, without_heights, only_heights, of_two_matrices]
LIKELIHOODS += [solved_as_any_matrix]


@pytest.mark.parametrize("columns", [(), (3,)], ids=["one", "three"])
@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_a_likelihood_has_the_gradient_of_the_eager_call(likelihood, columns):
    """By the hyperparameter and by the data; the gradient of the factor is made of its parts."""
    y = np.random.default_rng(1).normal(size=(SIZE, *columns))
    if likelihood is only_heights:
        y = np.abs(y[..., 0] if columns else y) + 1
    compiled = gt.jit(gt.value_and_grad(likelihood, argnums=(0, 1)))
    value, gradients = gt.value_and_grad(likelihood, argnums=(0, 1))(SCALE, y)
    found, by_jit = compiled(SCALE, y)
    assert found == pytest.approx(value, rel=1e-11)
    for x, expected in zip(by_jit, gradients, strict=True):
        np.testing.assert_allclose(x, expected, rtol=1e-9, atol=1e-10)
    program = compiled.lower(SCALE, y)
    assert count(program, "cholesky_gradient_of_parts") == count(program, "cholesky") > 0
    assert count(program, "cholesky_gradient") == count(program, "solve") == count(program, "lu_factors") == 0


def test_a_factor_that_is_used_as_a_whole_keeps_its_gradient():
    """Where the cotangent has another part, nothing is taken apart."""

    def total(scale):
        factor = np.linalg.cholesky(covariance(scale))
        return heights(factor) + np.sum(np.sin(factor))

    compiled = gt.jit(gt.grad(total))
    assert compiled(SCALE) == pytest.approx(gt.grad(total)(SCALE), rel=1e-9)
    assert count(compiled.lower(SCALE), "cholesky_gradient_of_parts") == 0


def test_the_triangle_of_another_kind_is_no_part():
    """A product that is cut off above the diagonal, or below another one, is not what a system leaves."""

    def total(a, y):
        factor = np.linalg.cholesky(a)
        return solve_triangular(factor, y) @ y + solve_triangular(factor, y, lower=True, unit_diagonal=True) @ y

    a, y = covariance(0.5), np.linspace(0, 1, SIZE)
    compiled = gt.jit(gt.grad(total))
    np.testing.assert_allclose(compiled(a, y), gt.grad(total)(a, y), rtol=1e-9, atol=1e-10)


def test_single_precision_stays_single():
    """The gradient of a likelihood in single precision."""

    def likelihood(a, y):
        factor = np.linalg.cholesky(a)
        white = solve_triangular(factor, y, lower=True)
        return white @ white + heights(factor)

    a, y = covariance(np.float32(0.5), "f4"), np.linspace(0, 1, SIZE, dtype="f4")
    found, expected = gt.jit(gt.grad(likelihood))(a, y), gt.grad(likelihood)(a, y)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_a_matrix_is_factorised_once(dtype):
    """For solutions, one of them with the transpose, the inverse, the determinant, and the gradients of all."""

    def total(a, b):
        x, y = np.linalg.solve(a, b), np.linalg.solve(a.T, b)
        return np.sum(x * np.cos(y)) + np.linalg.slogdet(a)[1] + np.sum(np.linalg.inv(a) @ b)

    rng = np.random.default_rng(2)
    a = (rng.normal(size=(SIZE, SIZE)) / 5 + 3 * np.eye(SIZE)).astype(dtype)
    b = rng.normal(size=(SIZE, 2)).astype(dtype)
    compiled = gt.jit(gt.value_and_grad(total, argnums=(0, 1)))
    value, gradients = gt.value_and_grad(total, argnums=(0, 1))(a, b)
    found, by_jit = compiled(a, b)
    tolerance = 1e-10 if dtype == "f8" else 1e-3
    assert found == pytest.approx(value, rel=tolerance)
    for x, expected in zip(by_jit, gradients, strict=True):
        assert x.dtype == expected.dtype
        np.testing.assert_allclose(x, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())
    program = compiled.lower(a, b)
    assert [count(program, name) for name in ("lu_factors", "solve", "inv", "slogdet")] == [1, 0, 0, 0]


def test_a_singular_matrix_is_an_error_in_compiled_code():
    """With the message of an eager call and the line of the call."""
    step = gt.jit(gt.grad(lambda a: np.sum(np.linalg.solve(a, np.ones(SIZE)))))
    step(np.eye(SIZE))
    with pytest.raises(gt.LinearAlgebraError, match=r"Singular matrix(.|\n)*test_factors.py"):
        step(np.zeros((SIZE, SIZE)))
