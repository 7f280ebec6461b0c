"""Factorisations in native code, and native loops that call kernels without native form."""

import threading

import numpy as np
import pytest

import gradtape as gt

from ..lower.test_inline_kernel import agree


def symmetric(x):
    return x @ np.swapaxes(x, -1, -2) + 2 * np.eye(x.shape[-1], dtype=x.dtype)


def solved(x, y):
    """Linear equations with one right side and with several, and an inverse."""
    a = symmetric(x)
    one = np.linalg.solve(a, y[..., 0, :][..., None])
    return np.sum(np.sin(np.linalg.solve(a, y)) + one + np.cos(np.linalg.inv(a + 0.1 * y)))


def determined(x, y):
    """Determinants and their logarithms."""
    sign, logarithm = np.linalg.slogdet(x + y)
    return np.sum(logarithm * sign + np.sin(0.1 * np.linalg.det(x)))


def halved(x, y):
    """Cholesky's factor and triangles of each kind."""
    factor = np.linalg.cholesky(symmetric(x))
    if x.ndim > 2:
        return np.sum(np.sin(factor) * y)
    found = gt.linalg.solve_triangular(factor, y, lower=True, trans=1)
    other = gt.linalg.solve_triangular(factor.T, y[:, :1], unit_diagonal=True)
    return np.sum(np.sin(factor) * found * other)


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (1, 1), (2, 2), (5, 5), (7, 7), (3, 7, 7)])
@pytest.mark.parametrize("function", [solved, determined, halved])
def test_factorisations_agree_with_eager_ones(function, shape):
    """Value, gradient and second order of one matrix; value and gradient of a stack."""
    generator = np.random.default_rng(5)
    x, y = (generator.normal(size=shape) for _ in range(2))
    agree(function, x, y, tolerance=1e-9, twice=shape == (3, 3))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("size", [2, 3, 6])
def test_small_matrices_need_exchanges_of_rows(size, dtype):
    """Small elements on the diagonal, and rows of very different sizes, in registers as by LAPACK."""
    a = np.roll(np.diag(np.geomspace(1e-2, 1e2, size)) + 1e-3, 1, axis=0)
    a, b = a.astype(dtype), np.linspace(1, 2, 2 * size).reshape(size, 2).astype(dtype)
    tolerance = 1e-11 if dtype == "f8" else 1e-4
    for function in (np.linalg.solve, lambda a, b: np.linalg.inv(a), lambda a, b: np.linalg.slogdet(a)[0] + b):
        found, expected = gt.jit(lambda a, b, function=function: function(a * 1, b))(a, b), function(a, b)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())
    np.testing.assert_allclose(gt.jit(lambda a: np.linalg.slogdet(a * 1)[1])(a), np.linalg.slogdet(a)[1], rtol=1e-5)
    huge = gt.jit(lambda a: np.linalg.inv(a * 1))(np.eye(size, dtype=dtype) * 1e30)
    np.testing.assert_allclose(np.diagonal(huge), 1e-30, rtol=1e-5)


@pytest.mark.parametrize("function", [solved, halved])
def test_factorisations_in_single_precision(function):
    """The same, to the digits that single precision has."""
    generator = np.random.default_rng(6)
    x, y = (generator.normal(size=(4, 4)).astype("float32") for _ in range(2))
    found, expected = gt.jit(gt.grad(function))(x, y), gt.grad(function)(x, y)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())


def test_a_stack_against_one_matrix():
    """One matrix for many right sides, and one right side for many matrices."""
    generator = np.random.default_rng(7)
    a, b = symmetric(generator.normal(size=(3, 3))), generator.normal(size=(5, 3, 2))
    solve = gt.jit(lambda a, b: np.linalg.solve(a, np.sin(b)))
    np.testing.assert_allclose(solve(a, b), np.linalg.solve(a, np.sin(b)), rtol=1e-12)
    many = symmetric(generator.normal(size=(4, 3, 3)))
    np.testing.assert_allclose(solve(many, b[:1]), np.linalg.solve(many, np.sin(b[:1])), rtol=1e-12)


def test_nan_in_a_matrix():
    """NaN gives NaN, as it does without jit."""
    x = np.eye(3)
    x[1, 1] = np.nan
    assert np.isnan(gt.jit(lambda x: np.sum(np.linalg.solve(np.exp(x), np.ones((3, 1)))))(x))


@pytest.mark.parametrize(("name", "looped"), [("solve", False), ("solve", True), ("inv", True), ("cholesky", True)])
def test_a_matrix_without_factors_is_an_error(name, looped):
    """The error of an eager call, with its line, in the first call and in a later one, in a loop and outside."""

    def total(x):
        found = 0.0
        for i in range(12 if looped else 1):
            a = np.cos(x) * (1.0 + i)
            arguments = (a, np.ones((2, 1))) if name == "solve" else (a,)
            found = found + np.sum(getattr(np.linalg, name)(*arguments))
        return found

    step = gt.jit(gt.value_and_grad(total))
    good = np.array([[0.1, 1.2], [1.2, 0.3]])
    np.testing.assert_allclose(step(good)[0], total(good))
    for _ in range(2):
        with pytest.raises(gt.LinearAlgebraError, match=r"test_factor.py:\d+"):
            step(np.zeros((2, 2)) if name != "cholesky" else np.full((2, 2), 3.0))
    np.testing.assert_allclose(step(good)[1], gt.grad(total)(good))


def test_singular_determinants():
    """The determinant of a singular matrix is zero, and its logarithm -inf with a sign of zero."""
    sign, logarithm = gt.jit(lambda x: np.linalg.slogdet(np.exp2(x)))(np.ones((3, 3)))  # of twos: nothing is rounded
    assert (sign, logarithm) == (0.0, -np.inf)
    assert gt.jit(lambda x: np.linalg.det(np.exp2(x)))(np.ones((3, 3))) == 0.0


def steps(x, body, count=20):
    for _ in range(count):
        x = body(x)
    return np.sum(x * x)


BODIES = {
    "sort": lambda x: np.sort(np.sin(x)) * 0.9 + 0.1 * x,
    "fft": lambda x: np.fft.ifft(np.fft.fft(x) * np.exp(-0.01 * np.arange(6))).real + 0.01 * np.sin(x),
    "eigh": lambda x: np.linalg.eigh(np.diag(np.arange(6.0)) + np.outer(x, x))[0] * 0.05 + 0.5 * x,
    "bessel": lambda x: gt.special.j0(x) * 0.5 + 0.3 * np.cos(x),
}


@pytest.mark.filterwarnings("ignore:.*GT702")  # loops around kernels are what is tested
@pytest.mark.parametrize("name", sorted(BODIES))
def test_loops_around_kernels(name):
    """A loop with a kernel in it is the eager loop."""
    x = np.random.default_rng(8).normal(size=6)
    compiled = gt.jit(gt.value_and_grad(lambda x: steps(x, BODIES[name])))
    value, gradient = gt.value_and_grad(lambda x: steps(x, BODIES[name]))(x)
    for _ in range(2):
        found = compiled(x)
        np.testing.assert_allclose(found[0], value, rtol=1e-11)
        np.testing.assert_allclose(found[1], gradient, rtol=1e-8, atol=1e-9 * np.abs(gradient).max())


@pytest.mark.filterwarnings("ignore:.*GT702")  # loops around kernels are what is tested
def test_a_kernel_that_raises_in_a_loop():
    """What a kernel raises in the middle of a native loop is raised as without jit, and a later call is right."""

    def total(x):
        for _ in range(20):
            x = np.linalg.eigh(np.outer(x, x) + np.diag(np.arange(3.0)))[0] * 0.3
        return np.sum(x)

    compiled, good = gt.jit(total), np.array([0.1, 0.2, 0.3])
    expected = total(good)
    np.testing.assert_allclose(compiled(good), expected)
    with pytest.raises(np.linalg.LinAlgError):
        compiled(np.array([np.nan, 1.0, np.inf]))
    np.testing.assert_allclose(compiled(good), expected)


@pytest.mark.filterwarnings("ignore:.*GT702")  # loops around kernels are what is tested
def test_kernels_in_loops_from_several_threads():
    """Threads that run one loop at the same time have each its own numbers."""
    compiled = gt.jit(lambda x: steps(x, BODIES["sort"], 40))
    inputs = [np.random.default_rng(i).normal(size=6) for i in range(4)]
    expected = [compiled(x) for x in inputs]
    wrong = []

    def work(number):
        wrong.extend(number for _ in range(15) if compiled(inputs[number]) != expected[number])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
