"""Functions of matrices and triangular systems, beyond what the table's own tests say of each row."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt
from gradtape.ops.matrix_functions import (
    cho_factor,
    cho_solve,
    expm,
    logm,
    lu,
    solve_sylvester,
    sqrtm,
)
from gradtape.ops.triangular import solve_triangular

from .cases import assert_close, parts
from .differentiation import assert_differentiates, hermitian, in_the_plane

ROOT = Path(__file__).parent.parent.parent
RANDOM = np.random.default_rng(6)
REGULAR = RANDOM.normal(size=(3, 3)) + 4 * np.eye(3)
STACK = RANDOM.normal(size=(2, 3, 3)) + 4 * np.eye(3)
OTHER = RANDOM.normal(size=(2, 2)) + 3 * np.eye(2)
COLUMNS = RANDOM.normal(size=(3, 2))
VECTOR = RANDOM.normal(size=3)


def by_cholesky(library: Any, lower: bool) -> Any:
    return lambda a, b: library.cho_solve(library.cho_factor(hermitian(a), lower), b)


class Ours:
    """The functions of gradtape under SciPy's names."""

    cho_factor, cho_solve = staticmethod(cho_factor), staticmethod(cho_solve)


FUNCTIONS: dict[str, tuple[Any, Any, tuple[Any, ...]]] = {
    "expm": (expm, scipy.linalg.expm, (REGULAR / 3,)),
    "expm of a stack": (expm, scipy.linalg.expm, (STACK / 3,)),
    "logm": (logm, scipy.linalg.logm, (REGULAR,)),
    # a real root is complex to SciPy 1.15 if the matrix has complex eigenvalues
    "sqrtm": (sqrtm, lambda a: np.real_if_close(scipy.linalg.sqrtm(a)), (REGULAR,)),
    "solve_sylvester": (solve_sylvester, scipy.linalg.solve_sylvester, (REGULAR, OTHER, COLUMNS)),
    "lu": (lu, scipy.linalg.lu, (REGULAR,)),
    "lu of a tall matrix": (lu, scipy.linalg.lu, (RANDOM.normal(size=(4, 2)),)),
    "lu of a wide matrix": (lu, scipy.linalg.lu, (RANDOM.normal(size=(2, 4)),)),
    "lu of a stack": (lu, scipy.linalg.lu, (STACK,)),
    "permuted lu": (lambda a: lu(a, permute_l=True), lambda a: scipy.linalg.lu(a, permute_l=True), (REGULAR[::-1],)),
    "cho_solve": (by_cholesky(Ours, False), by_cholesky(scipy.linalg, False), (REGULAR, COLUMNS)),
    "cho_solve from below": (by_cholesky(Ours, True), by_cholesky(scipy.linalg, True), (REGULAR, VECTOR)),
}
for _trans in (0, 1, 2, "N", "T", "C"):
    for _lower in (False, True):
        for _unit in (False, True):
            _how = {"trans": _trans, "lower": _lower, "unit_diagonal": _unit}
            FUNCTIONS[f"solve_triangular {_how}"] = (
                lambda a, b, how=_how: solve_triangular(a, b, **how),
                lambda a, b, how=_how: scipy.linalg.solve_triangular(a, b, **how),
                (REGULAR, VECTOR if _lower else COLUMNS),
            )
every = pytest.mark.parametrize("name", FUNCTIONS)


class TestEveryFunction:
    """Values, both derivatives, the second derivative and batches of each function of the list."""

    @every
    @pytest.mark.parametrize("kind", ["real", "complex"])
    def test_value_is_scipys(self, name: str, kind: str) -> None:
        """On tensors a function gives what SciPy gives on arrays, in the same dtype."""
        ours, reference, point = FUNCTIONS[name]
        arrays = point if kind == "real" else tuple(in_the_plane(x) for x in point)
        actual, expected = parts(ours(*map(gt.tensor, arrays))), parts(reference(*arrays))
        assert [a.dtype for a in actual] == [b.dtype for b in expected]
        assert_close([a.numpy() for a in actual], expected, 1e-10)

    @every
    def test_single_precision_stays(self, name: str) -> None:
        """Results and gradients of single precision are in single precision, and right to its digits."""
        ours, _, point = FUNCTIONS[name]
        total = lambda *xs: sum(np.sum(part) for part in parts(ours(*xs)))
        numbers = tuple(range(len(point)))
        singles = tuple(x.astype(np.float32) for x in point)
        assert {part.dtype for part in parts(ours(*map(gt.tensor, singles)))} == {np.dtype(np.float32)}
        for a, b in zip(gt.grad(total, numbers)(*singles), gt.grad(total, numbers)(*point), strict=True):
            assert a.dtype == np.float32
            np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-3)

    @every
    def test_derivatives(self, name: str) -> None:
        """Both modes, the second derivative and batches agree with finite differences and loops."""
        ours, _, point = FUNCTIONS[name]
        assert_differentiates(ours, *point)

    @every
    def test_derivatives_of_complex_numbers(self, name: str) -> None:
        """The same in the complex plane, with steps along both axes."""
        ours, _, point = FUNCTIONS[name]
        assert_differentiates(ours, *(in_the_plane(x) for x in point))


class TestFunctionsOfMatrices:
    def test_exponential_against_scipys_derivative(self) -> None:
        """The forward derivative of expm is SciPy's Fréchet derivative."""
        direction = np.cos(REGULAR)
        tangent = gt.jvp(expm, (REGULAR,), (direction,))[1]
        np.testing.assert_allclose(tangent, scipy.linalg.expm_frechet(REGULAR, direction)[1], rtol=1e-12)

    @pytest.mark.parametrize("size", [1e-12, 1e12])
    def test_size_of_the_cotangent_does_not_matter(self, size: float) -> None:
        """A huge or tiny cotangent gives the gradient of a plain one, scaled, to all digits."""
        for function in (expm, logm, sqrtm):
            pull_back = gt.vjp(function, REGULAR)[1]
            (plain,), (scaled,) = pull_back(COLUMNS @ COLUMNS.T), pull_back(size * (COLUMNS @ COLUMNS.T))
            np.testing.assert_allclose(scaled / size, plain, rtol=1e-9, atol=1e-12)

    def test_logarithm_undoes_the_exponential(self) -> None:
        """The derivative of logm(expm(a)) is the identity."""
        a = REGULAR / 4
        value, pull_back = gt.vjp(lambda a: logm(expm(a)), a)
        assert_close([value, *pull_back(np.cos(a))], [a, np.cos(a)], 1e-10)

    def test_square_undoes_the_root(self) -> None:
        """The derivative of sqrtm(a) @ sqrtm(a) is the identity."""

        def squared(a: Any) -> Any:
            root = sqrtm(a)
            return root @ root

        value, pull_back = gt.vjp(squared, REGULAR)
        assert_close([value, *pull_back(np.cos(REGULAR))], [REGULAR, np.cos(REGULAR)], 1e-10)

    @pytest.mark.parametrize("function", [expm, logm, sqrtm])
    def test_equal_eigenvalues_are_no_obstacle(self, function: Any) -> None:
        """At a multiple of the identity, where eigenvectors have no derivative, functions of a matrix have theirs."""
        slope = {"expm": np.exp(2.0), "logm": 0.5, "sqrtm": 0.5 / np.sqrt(2.0)}[function.__name__]
        weights = np.cos(REGULAR)
        np.testing.assert_allclose(gt.vjp(function, 2 * np.eye(3))[1](weights)[0], slope * weights, atol=1e-12)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_complex_eigenvalues_leave_the_root_real(self, dtype: Any) -> None:
        """A real matrix without negative eigenvalues has a real root, in stacks too; with one it is complex."""
        turned = np.array([[3.0, -2.0, 0.0], [2.0, 3.0, 0.0], [0.0, 0.0, 4.0]], dtype)
        negative = turned * np.array([1.0, 1.0, -1.0], dtype)
        for matrix in (turned, np.stack([turned, turned.T])):
            root = sqrtm(gt.tensor(matrix))
            assert root.dtype == dtype
            np.testing.assert_allclose((root @ root).numpy(), matrix, atol=100 * np.finfo(dtype).eps)
        assert sqrtm(gt.tensor(negative)).dtype.kind == "c"

    @pytest.mark.parametrize("function", [logm, sqrtm])
    def test_negative_eigenvalues_make_it_complex(self, function: Any) -> None:
        """Of a real matrix with negative eigenvalues the result is complex and the gradient real."""
        a = np.diag([-2.0, 3.0]) + 0.1
        reference = getattr(scipy.linalg, function.__name__)
        np.testing.assert_allclose(function(gt.tensor(a)).numpy(), reference(a), atol=1e-12)
        assert function(gt.tensor(a)).dtype == np.complex128
        gradient = gt.grad(lambda a: np.sum(np.abs(function(a)) ** 2))(a)
        assert gradient.dtype == np.float64
        direction = np.array([[0.3, 1.0], [-0.5, 0.2]])
        sizes = [np.sum(np.abs(reference(a + step * direction)) ** 2) for step in (1e-6, -1e-6)]
        assert np.sum(gradient * direction) == pytest.approx((sizes[0] - sizes[1]) / 2e-6, rel=1e-6)

    @pytest.mark.parametrize("n", [2, 3, 7])
    def test_logarithm_of_a_singular_matrix(self, n: int) -> None:
        """A singular matrix has no logarithm, however its eigenvalue of zero is rounded: refused, with the shape."""
        rotation = np.linalg.qr(np.random.default_rng(n).normal(size=(n, n))).Q
        for matrix in (np.ones((n, n)), (rotation * np.arange(float(n))) @ rotation.T):
            with pytest.raises(gt.LinearAlgebraError, match=rf"logm: the matrix is singular(.|\n)*\({n}, {n}\)"):
                logm(gt.tensor(matrix))

    @pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")  # SciPy's own, of the value
    def test_root_of_a_singular_matrix_has_no_gradient(self) -> None:
        """The square root has an infinite slope at a singular matrix, and says so."""
        with pytest.raises(gt.LinearAlgebraError, match="gradient of sqrtm does not exist"):
            gt.grad(lambda a: np.sum(np.cos(COLUMNS[:2]) * sqrtm(a)))(np.diag([1.0, 0.0]))


class TestSylvester:
    @settings(max_examples=20, deadline=None)
    @given(stack=st.lists(st.integers(0, 2), max_size=2), n=st.integers(1, 3), m=st.integers(1, 3))
    def test_solves_stacks(self, stack: list[int], n: int, m: int) -> None:
        """a x + x b is q for every stack, so that the derivative of a x + x b with respect to q is the identity."""
        generator = np.random.default_rng(n + 10 * m)
        a, b = generator.normal(size=(n, n)) + 4 * np.eye(n), generator.normal(size=(m, m)) + 4 * np.eye(m)
        q = generator.normal(size=(*stack, n, m))

        def back(q: Any) -> Any:
            x = solve_sylvester(a, b, q)
            return a @ x + x @ b

        value, pull_back = gt.vjp(back, q)
        assert_close([value, *pull_back(np.cos(q))], [q, np.cos(q)], 1e-9)

    def test_without_a_single_solution(self) -> None:
        """Where a and -b share an eigenvalue there is no one solution."""
        with pytest.raises(gt.LinearAlgebraError, match="eigenvalue in common"):
            solve_sylvester(gt.tensor(np.eye(2)), gt.tensor(-np.eye(2)), gt.tensor(np.ones((2, 2))))


class TestTriangular:
    @pytest.mark.parametrize("lower", [False, True])
    def test_other_triangle_is_not_read(self, lower: bool) -> None:
        """What is in the other triangle changes nothing and gets no gradient."""
        hidden = np.where(np.tri(3, dtype=bool) if lower else np.tri(3, dtype=bool).T, REGULAR, np.nan)
        value, pull_back = gt.vjp(lambda a: solve_triangular(a, VECTOR, lower=lower), hidden)
        np.testing.assert_allclose(value, scipy.linalg.solve_triangular(np.nan_to_num(hidden), VECTOR, lower=lower))
        (gradient,) = pull_back(VECTOR)
        np.testing.assert_array_equal(gradient[np.isnan(hidden)], 0.0)
        assert np.isfinite(gradient).all()

    def test_stacks(self) -> None:
        """A stack against one right-hand side is solved matrix by matrix."""
        expected = np.stack([scipy.linalg.solve_triangular(a, COLUMNS) for a in STACK])
        np.testing.assert_allclose(solve_triangular(gt.tensor(STACK), COLUMNS).numpy(), expected)

    def test_unknown_transposition(self) -> None:
        """A transposition that SciPy does not have is refused with the ones it has."""
        with pytest.raises(ValueError, match=r"trans=3(.|\n)*'N'"):
            solve_triangular(gt.tensor(REGULAR), VECTOR, trans=3)

    def test_zero_on_the_diagonal(self) -> None:
        """A triangle with a zero on its diagonal is singular."""
        with pytest.raises(gt.LinearAlgebraError, match=r"solve_triangular: .*singular"):
            solve_triangular(gt.tensor(np.diag([1.0, 0.0])), np.ones(2))


class TestFactors:
    @pytest.mark.parametrize("lower", [False, True])
    def test_cholesky_factor(self, lower: bool) -> None:
        """The factor is SciPy's in its triangle and zero in the other, and knows which it is."""
        a = hermitian(in_the_plane(REGULAR))
        factor, below = cho_factor(gt.tensor(a), lower)
        triangle = np.tril if lower else np.triu
        np.testing.assert_allclose(factor.numpy(), triangle(scipy.linalg.cho_factor(a, lower)[0]))
        assert below is lower

    @pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 3)])
    def test_permutation_as_indices(self, shape: tuple[int, ...]) -> None:
        """With p_indices the permutation is SciPy's, and puts the matrix together."""
        a = np.random.default_rng(0).normal(size=shape)
        p, low, up = lu(gt.tensor(a), p_indices=True)
        np.testing.assert_array_equal(p.numpy(), scipy.linalg.lu(a, p_indices=True)[0])
        np.testing.assert_allclose(np.take_along_axis((low @ up).numpy(), p.numpy()[..., None], axis=-2), a)

    def test_factors_of_a_singular_matrix_have_no_gradient(self) -> None:
        """Elimination without a pivot is arbitrary, and says so."""
        with pytest.raises(gt.LinearAlgebraError, match="gradient of lu does not exist"):
            gt.grad(lambda a: np.sum(lu(a)[1]))(np.zeros((2, 2)))


@pytest.mark.parametrize("function", [expm, logm, sqrtm])
@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
def test_nothing_gives_nothing(function: Any, shape: tuple[int, ...]) -> None:
    """Matrices without elements and stacks without matrices have results and gradients without elements."""
    value, pull_back = gt.vjp(function, np.zeros(shape))
    assert value.shape == shape
    assert pull_back(np.zeros(shape))[0].shape == shape


@pytest.mark.parametrize("function", [expm, logm, sqrtm, lambda a: solve_triangular(a, np.ones(2))])
def test_matrices_that_are_not_square(function: Any) -> None:
    """What SciPy refuses is refused with its class and the shape."""
    with pytest.raises(ValueError, match=r"shape \(2, 3\)"):
        function(gt.tensor(np.ones((2, 3))))


def test_scipy_waits_until_needed() -> None:
    """Importing the module does not import SciPy; the first call does."""
    code = (
        "import sys, gradtape.ops.matrix_functions as m; before = 'scipy' in sys.modules; m.expm([[0.0]]);"
        "print(before, 'scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == ["False", "True"]
