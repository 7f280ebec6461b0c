"""Eigenvalues, singular values and their vectors, beyond what the table's own tests say of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt
import gradtape.ops.eigen
import gradtape.ops.svd

from .cases import parts
from .differentiation import assert_differentiates, assert_values_are_numpys, hermitian, in_the_plane

RANDOM = np.random.default_rng(8)
SQUARE = RANDOM.normal(size=(3, 3)) + np.diag([1.0, 3.0, 6.0])
STACK = RANDOM.normal(size=(2, 3, 3)) + np.diag([1.0, 3.0, 6.0])
TALL = RANDOM.normal(size=(4, 2)) + np.eye(4, 2) * [1.0, 3.0]
WIDE = TALL.T.copy()
ROTATION = np.linalg.qr(RANDOM.normal(size=(3, 3))).Q
REPEATED = hermitian(ROTATION @ np.diag([1.0, 1.0, 3.0]) @ ROTATION.T)
WEIGHTS = RANDOM.normal(size=(3, 3))


def with_signs(result: Any) -> Any:
    """What a decomposition gives, with signs of vectors that the matrix alone decides.

    LAPACK may choose a sign otherwise at a point near by, in another precision and on another processor. Here a
    weighted sum of the components, which is far from zero for the matrices of this file, has a positive real part; of
    singular vectors, that of the left ones, and the right ones follow.
    """
    if not isinstance(result, tuple):
        return result
    vectors = result[1] if len(result) == 2 else result[0]
    weights = np.array([1, -2, 3, -4])[: vectors.shape[-2], None].astype(vectors.real.dtype)
    signs = np.sign(np.sum(np.real(vectors) * weights, axis=-2, keepdims=True))
    if len(result) == 2:
        return result[0], vectors * signs
    return vectors * signs, result[1], result[2] * np.swapaxes(signs, -1, -2)


FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "eigh": (lambda a: tuple(np.linalg.eigh(hermitian(a))), SQUARE),
    "eigh of a stack": (lambda a: tuple(np.linalg.eigh(hermitian(a))), STACK),
    "eigh of an upper triangle": (lambda a: tuple(np.linalg.eigh(np.triu(a), "U")), SQUARE),
    "eigh of a lower triangle": (lambda a: tuple(np.linalg.eigh(np.tril(a))), SQUARE),
    "eigvalsh": (lambda a: np.linalg.eigvalsh(hermitian(a)), SQUARE),
    "eigvalsh of an upper triangle": (lambda a: np.linalg.eigvalsh(np.triu(a), "u"), SQUARE),
    "eig": (lambda a: tuple(np.linalg.eig(a)), SQUARE),
    "eig of a stack": (lambda a: tuple(np.linalg.eig(a)), STACK),
    "eig of a turn": (lambda a: tuple(np.linalg.eig(a)), np.array([[0.5, -1.0], [2.0, 0.1]])),
    "eigvals": (np.linalg.eigvals, SQUARE),
    "svd": (lambda a: tuple(np.linalg.svd(a)), SQUARE),
    "svd of a tall matrix": (lambda a: tuple(np.linalg.svd(a, full_matrices=False)), TALL),
    "svd of a wide matrix": (lambda a: tuple(np.linalg.svd(a, full_matrices=False)), WIDE),
    "svd of a Hermitian matrix": (lambda a: tuple(np.linalg.svd(hermitian(a), hermitian=True)), SQUARE),
    "values of a Hermitian svd": (lambda a: np.linalg.svd(hermitian(a), True, False, True), SQUARE - 4 * np.eye(3)),
    "values of svd": (lambda a: np.linalg.svd(a, compute_uv=False), TALL),
    "svdvals": (np.linalg.svdvals, STACK),
}


def first_of(function: Any) -> Any:
    """The real part of the first number that `function` gives, as a function."""
    return lambda a: function(a).ravel()[0].real


every = pytest.mark.parametrize("name", FUNCTIONS)


class TestEveryFunction:
    """Values, both derivatives, the second derivative and batches of each function of the list."""

    @every
    def test_value_is_numpys(self, name: str) -> None:
        """On tensors a function gives what NumPy gives on arrays, signs and phases of vectors included."""
        function, a = FUNCTIONS[name]
        assert_values_are_numpys(function, a)
        assert_values_are_numpys(function, in_the_plane(a))

    @every
    def test_single_precision_stays(self, name: str) -> None:
        """Results and gradients of single precision are in single precision, and right to its digits."""
        function, a = FUNCTIONS[name]
        single = a.astype(np.float32)
        assert_values_are_numpys(function, single, tolerance=2e-5)
        total = lambda a: sum(np.sum(np.real(part)) for part in parts(with_signs(function(a))))
        gradient = gt.grad(total)(single)
        assert gradient.dtype == np.float32
        np.testing.assert_allclose(gradient, gt.grad(total)(a), rtol=5e-3, atol=5e-3)

    @every
    def test_derivatives(self, name: str) -> None:
        """Both modes, the second derivative and batches agree with finite differences and loops."""
        function, a = FUNCTIONS[name]
        assert_differentiates(lambda a: with_signs(function(a)), a)

    @every
    def test_derivatives_of_complex_numbers(self, name: str) -> None:
        """The same in the complex plane: the phases that LAPACK chooses are differentiated too."""
        function, a = FUNCTIONS[name]
        assert_differentiates(lambda a: with_signs(function(a)), in_the_plane(a), tolerance=1e-5)


@settings(max_examples=25, deadline=None)
@given(
    stack=st.lists(st.integers(0, 2), max_size=2),
    rows=st.integers(0, 4),
    columns=st.integers(0, 4),
    turned=st.booleans(),
    seed=st.integers(0, 99),
)
def test_svd_puts_any_matrix_together_again(stack: list[int], rows: int, columns: int, turned: bool, seed: int) -> None:
    """U S Vh is the matrix, so that its derivative is the identity, whatever the shape."""
    a = np.random.default_rng(seed).normal(size=(*stack, rows, columns))
    a = in_the_plane(a) if turned else a

    def together(a: Any) -> Any:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return (u * s[..., None, :]) @ vh

    value, pull_back = gt.vjp(together, a)
    weights = in_the_plane(a, seed) if turned else np.cos(a)
    np.testing.assert_allclose(value, a, atol=1e-10)
    np.testing.assert_allclose(pull_back(weights)[0], weights, atol=1e-6)


@settings(max_examples=25, deadline=None)
@given(stack=st.lists(st.integers(0, 2), max_size=2), n=st.integers(0, 4), seed=st.integers(0, 99))
def test_eigenvectors_put_any_hermitian_matrix_together_again(stack: list[int], n: int, seed: int) -> None:
    """V diag(w) V^H is the matrix, so that its derivative is the identity, whatever the stack."""
    a = hermitian(in_the_plane(np.random.default_rng(seed).normal(size=(*stack, n, n))))

    def together(a: Any) -> Any:
        w, v = np.linalg.eigh(a)
        return (v * w[..., None, :]) @ np.swapaxes(np.conj(v), -1, -2)

    value, pull_back = gt.vjp(together, a)
    weights = hermitian(in_the_plane(np.cos(a.real), seed))
    np.testing.assert_allclose(value, a, atol=1e-10)
    np.testing.assert_allclose(pull_back(weights)[0], weights, atol=1e-6)


class TestRepeatedEigenvalues:
    def test_functions_of_the_values_are_smooth(self) -> None:
        """The sum of eigenvalues has the identity as gradient, at the identity and elsewhere, by every function."""
        for a in (np.eye(3), REPEATED):
            for function in (np.linalg.eigvalsh, lambda a: np.linalg.eigh(a)[0]):
                np.testing.assert_allclose(gt.grad(lambda a, f=function: np.sum(f(a)))(a), np.eye(3), atol=1e-14)
            for function in (np.linalg.eigvals, lambda a: np.linalg.eig(a)[0]):
                np.testing.assert_allclose(gt.grad(lambda a, f=function: np.sum(f(a).real))(a), np.eye(3), atol=1e-13)

    def test_symmetric_functions_of_the_values_are_smooth(self) -> None:
        """The sum of cubes of eigenvalues has the gradient of tr(a^3), 3 a^2, where two of them are equal."""
        gradient = gt.grad(lambda a: np.sum(np.linalg.eigvalsh(a) ** 3))(REPEATED)
        np.testing.assert_allclose(gradient, 3 * REPEATED @ REPEATED, atol=1e-12)

    def test_forward_mode_of_the_values(self) -> None:
        """The tangent of the sum of eigenvalues is the trace of the tangent."""
        direction = hermitian(WEIGHTS)
        tangent = gt.jvp(lambda a: np.sum(np.linalg.eigvalsh(a)), (np.eye(3),), (direction,))[1]
        assert tangent == pytest.approx(np.trace(direction))

    def test_projection_on_all_vectors_of_a_value_is_smooth(self) -> None:
        """The projection on the space of a repeated eigenvalue has the gradient that finite differences find."""

        def projection(a: Any) -> Any:
            v = np.linalg.eigh(a)[1][:, :2]
            return np.sum(WEIGHTS * (v @ v.T))

        direction = hermitian(np.cos(WEIGHTS))
        ahead, behind = projection(REPEATED + 1e-6 * direction), projection(REPEATED - 1e-6 * direction)
        assert np.sum(gt.grad(projection)(REPEATED) * direction) == pytest.approx((ahead - behind) / 2e-6, rel=1e-6)

    def test_vectors_of_other_values_are_smooth(self) -> None:
        """The eigenvector of a simple eigenvalue, and the value itself, have gradients beside a repeated one."""

        def loss(a: Any) -> Any:
            values, vectors = with_signs(np.linalg.eigh(a))
            return np.sum(WEIGHTS[0] * vectors[:, 2]) + values[2] ** 2

        direction = hermitian(np.cos(WEIGHTS))
        difference = (loss(REPEATED + 1e-6 * direction) - loss(REPEATED - 1e-6 * direction)) / 2e-6
        assert np.sum(gt.grad(loss)(REPEATED) * direction) == pytest.approx(difference, rel=1e-6)

    @pytest.mark.parametrize("matrix", [np.eye(3), REPEATED, np.eye(3) * 1j], ids=["identity", "rotated", "complex"])
    def test_single_vectors_have_no_gradient(self, matrix: Any) -> None:
        """One vector of a repeated eigenvalue does not exist by itself: the error names the pair and the ways out."""
        matrix = hermitian(matrix + np.eye(3))
        with pytest.raises(gt.LinearAlgebraError, match="eigenvalues 0 and 1 are equal") as caught:
            gt.grad(lambda a: np.sum(WEIGHTS * np.linalg.eigh(a)[1].real))(matrix)
        assert "np.linalg.eigvalsh" in str(caught.value)
        assert "test_eigen.py" in str(caught.value)

    @pytest.mark.parametrize("matrix", [REPEATED, np.eye(3)], ids=["rotated", "identity"])
    def test_function_of_the_matrix_is_refused_rather_than_wrong(self, matrix: Any) -> None:
        """V f(w) V^H has a derivative between equal eigenvalues that the vectors cannot tell: no number is made up."""

        def squared(a: Any) -> Any:
            w, v = np.linalg.eigh(a)
            return (v * w**2) @ v.T

        with pytest.raises(gt.LinearAlgebraError, match="are equal"):
            gt.grad(lambda a: squared(a)[1, 2])(matrix)
        with pytest.raises(gt.LinearAlgebraError, match="are equal"):
            gt.jacobian(squared)(matrix)

    @pytest.mark.parametrize("function", [np.linalg.eigvalsh, lambda a: np.linalg.eigh(a)[0]])
    def test_second_derivative_is_refused_rather_than_wrong(self, function: Any) -> None:
        """The second derivative of a function of eigenvalues would need what the vectors cannot tell."""
        with pytest.raises(gt.LinearAlgebraError, match="are equal"):
            gt.hessian(lambda a: np.sum(function(a) ** 2))(np.eye(2))
        with pytest.raises(gt.LinearAlgebraError, match="are equal"):
            gt.hvp(lambda a: np.sum(function(a) ** 2), np.eye(2), np.array([[0.0, 1.0], [1.0, 0.0]]))

    def test_forward_mode_of_vectors_says_so_too(self) -> None:
        """Tangents of eigenvectors of a repeated eigenvalue do not exist either."""
        with pytest.raises(gt.LinearAlgebraError, match="are equal"):
            gt.jvp(lambda a: np.linalg.eigh(a)[1], (np.eye(2),), (np.ones((2, 2)),))

    def test_one_matrix_of_a_batch(self) -> None:
        """Inside vmap a single repeated eigenvalue in the batch is found."""
        gradient = gt.grad(lambda a: np.sum(WEIGHTS[:2, :2] * np.linalg.eigh(a)[1]))
        with pytest.raises(gt.LinearAlgebraError, match="are equal"):
            gt.vmap(gradient)(np.stack([np.diag([1.0, 2.0]) + 0.1, np.eye(2)]))

    def test_general_matrix_with_a_repeated_eigenvalue(self) -> None:
        """Single vectors of a repeated eigenvalue of eig have no gradient; the error names the pair."""
        with pytest.raises(gt.LinearAlgebraError, match=r"gradient of eig does not exist(.|\n)*equal"):
            gt.grad(lambda a: np.sum(np.linalg.eig(a)[1] * WEIGHTS))(np.eye(3))

    def test_defective_matrix(self) -> None:
        """Eigenvalues of a matrix with too few eigenvectors do not change smoothly."""
        with pytest.raises(gt.LinearAlgebraError, match="defective"):
            gt.grad(lambda a: np.linalg.eigvals(a)[0])(np.array([[1.0, 1.0], [0.0, 1.0]]))


class TestPhases:
    def test_free_phase_matters_to_no_one(self) -> None:
        """Where LAPACK's choice of phase jumps, gradients that do not depend on it are exact."""
        a = np.diag([1.0, 2.0]).astype(complex)  # the first component of the second eigenvector is zero
        loss = lambda a: np.sum(np.abs(np.linalg.eigh(a)[1][:, 1] - 0.0) ** 2 * np.array([1.0, 3.0]))
        np.testing.assert_allclose(gt.grad(loss)(a), np.zeros((2, 2)), atol=1e-15)

    def test_free_phase_that_matters_has_no_gradient(self) -> None:
        """Where LAPACK's choice of phase jumps, a gradient that depends on it does not exist."""
        a = np.diag([1.0, 2.0]).astype(complex)
        with pytest.raises(gt.LinearAlgebraError, match="eigenvector 1 that is real by convention is zero"):
            gt.grad(lambda a: np.sum(np.linalg.eigh(a)[1].imag))(a)

    def test_eigenvalues_of_a_real_matrix_are_as_numpy_has_them(self) -> None:
        """eig and eigvals are complex where NumPy's are (2.5: always), tangents too; the gradient stays real."""
        functions = [np.linalg.eigvals, lambda a: np.linalg.eig(a)[0], lambda a: np.linalg.eig(a)[1]]
        for a in (np.diag([1.0, 2.0]), np.array([[0.0, 1.0], [-1.0, 0.0]])):
            for function in functions:
                expected = function(a).dtype
                assert function(gt.tensor(a)).dtype == gt.vmap(function)(a[None]).dtype == expected
                assert [part.dtype for part in gt.jvp(function, (a,), (np.ones((2, 2)),))] == [expected] * 2
                assert gt.jit(function)(a).dtype == expected
                result, pull_back = gt.vjp(function, a)
                assert result.dtype == expected
                for gradient in (pull_back(np.zeros_like(result))[0], gt.jit(gt.grad(first_of(function)))(a)):
                    assert gradient.dtype == a.dtype


class TestSingularValues:
    def test_values_at_the_identity_are_smooth_together(self) -> None:
        """The sum of equal singular values has a gradient."""
        for function in (np.linalg.svdvals, lambda a: np.linalg.svd(a)[1]):
            np.testing.assert_allclose(gt.grad(lambda a, f=function: np.sum(f(a)))(2 * np.eye(3)), np.eye(3))

    def test_orthogonal_factor_is_smooth_where_values_are_equal(self) -> None:
        """U Vh does not depend on the choice of vectors: its gradient is exact at a multiple of the identity."""

        def polar(a: Any) -> Any:
            u, _, vh = np.linalg.svd(a)
            return np.sum(WEIGHTS * (u @ vh))

        expected = (WEIGHTS - WEIGHTS.T) / 4
        np.testing.assert_allclose(gt.grad(polar)(2 * np.eye(3)), expected, atol=1e-14)

    def test_single_vectors_of_equal_values_have_no_gradient(self) -> None:
        """The error names the singular values that are equal."""
        with pytest.raises(gt.LinearAlgebraError, match="singular values 0 and 1 are equal"):
            gt.grad(lambda a: np.sum(WEIGHTS * np.linalg.svd(a)[0]))(np.eye(3))

    def test_vectors_of_a_zero_value_have_no_gradient(self) -> None:
        """The left vector of a zero singular value of a tall matrix is arbitrary; the error says which."""
        a = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
        with pytest.raises(gt.LinearAlgebraError, match="singular value 1 is zero"):
            gt.grad(lambda a: np.sum(WEIGHTS[:, :2] * np.linalg.svd(a, full_matrices=False)[0]))(a)

    def test_zero_singular_values_are_flat(self) -> None:
        """A singular value has a kink at 0, where its gradient is 0: the smallest subgradient of the nuclear norm."""
        a = np.diag([2.0, 0.0])
        np.testing.assert_allclose(gt.grad(lambda a: np.sum(np.linalg.svdvals(a)))(a), np.diag([1.0, 0.0]))
        np.testing.assert_allclose(gt.grad(lambda a: np.sum(np.linalg.svd(a)[1]))(a), np.diag([1.0, 0.0]))

    def test_tangents_of_zero_singular_values(self) -> None:
        """Forward mode finds the slope zero at a zero singular value too."""
        tangent = gt.jvp(np.linalg.svdvals, (np.diag([2.0, 0.0]),), (np.ones((2, 2)),))[1]
        np.testing.assert_allclose(tangent, [1.0, 0.0])

    def test_what_is_the_same_for_every_choice_is_smooth_at_zero(self) -> None:
        """At the zero matrix, a cotangent that no common rotation of the vectors changes gives the gradient zero."""
        symmetric = hermitian(WEIGHTS)

        def loss(a: Any) -> Any:
            u, _, vh = np.linalg.svd(a)
            return np.sum(symmetric * (u - vh.T))

        np.testing.assert_array_equal(gt.grad(loss)(np.zeros((3, 3))), np.zeros((3, 3)))

    def test_orthogonal_factor_of_the_zero_matrix_has_no_gradient(self) -> None:
        """The zero matrix has no direction: any orthogonal factor will do, and the error says so."""

        def polar(a: Any) -> Any:
            u, _, vh = np.linalg.svd(a)
            return np.sum(WEIGHTS * (u @ vh))

        with pytest.raises(gt.LinearAlgebraError, match=r"singular value \d is zero"):
            gt.grad(polar)(np.zeros((3, 3)))

    def test_full_matrices_of_a_tracked_matrix(self) -> None:
        """The completed basis has no derivative: a gradient that depends on it is refused, with the way out."""
        with pytest.raises(gt.UnsupportedError, match="full_matrices=False"):
            gt.grad(lambda a: np.sum(np.linalg.svd(a)[0]))(TALL)

    def test_full_matrices_of_an_untracked_matrix(self) -> None:
        """Where no gradient is wanted, the full matrices are NumPy's."""
        assert_values_are_numpys(lambda a: tuple(np.linalg.svd(a)), TALL)
        assert_values_are_numpys(lambda a: tuple(np.linalg.svd(a)), np.stack([WIDE, WIDE]))


class TestArguments:
    def test_hermitian_argument_gets_a_hermitian_gradient(self) -> None:
        """The gradient of eigh at a Hermitian matrix is Hermitian, vectors included."""
        for a in (hermitian(SQUARE), hermitian(in_the_plane(SQUARE))):
            gradient = gt.grad(lambda a: np.sum(WEIGHTS * np.linalg.eigh(a)[1].real))(a)
            np.testing.assert_array_equal(gradient, gradient.conj().T)

    def test_results_have_names(self) -> None:
        """Results are named tuples with NumPy's names."""
        a = gt.tensor(hermitian(SQUARE))
        assert np.linalg.eigh(a)._fields == ("eigenvalues", "eigenvectors")
        assert np.linalg.eig(a)._fields == ("eigenvalues", "eigenvectors")
        assert np.linalg.svd(a)._fields == ("U", "S", "Vh")

    def test_unknown_triangle(self) -> None:
        """A triangle that is neither lower nor upper is refused with NumPy's class."""
        with pytest.raises(ValueError, match="UPLO='X' names no triangle"):
            np.linalg.eigh(gt.tensor(SQUARE), "X")

    @pytest.mark.parametrize("function", [np.linalg.eigh, np.linalg.eigvalsh, np.linalg.eig, np.linalg.eigvals])
    def test_matrices_that_are_not_square(self, function: Any) -> None:
        """NumPy's class, and the shape."""
        with pytest.raises(np.linalg.LinAlgError, match=r"shape \(4, 2\) is not square"):
            function(gt.tensor(TALL))

    @pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
    @pytest.mark.parametrize("function", [np.linalg.eigvalsh, np.linalg.eigvals, np.linalg.svdvals])
    def test_nothing_gives_nothing(self, function: Any, shape: tuple[int, ...]) -> None:
        """Of matrices without elements and stacks without matrices the results are NumPy's, and so are gradients."""
        assert_values_are_numpys(function, np.zeros(shape))
        (gradient,) = gt.vjp(lambda a: np.sum(function(a).real), np.zeros(shape))[1](1.0)
        assert gradient.shape == shape


REAL, TURNING = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([[0.0, 1.0], [-1.0, 0.0]])


@pytest.mark.parametrize("batch", [np.stack([REAL, REAL.T + 1]), np.stack([REAL, TURNING]), np.stack([TURNING] * 2)])
@pytest.mark.parametrize(
    "function",
    [np.linalg.eigvals, lambda a: np.linalg.eig(a)[0], lambda a: np.linalg.eig(a)[1]],
    ids=["eigvals", "w", "v"],
)
def test_eigenvalues_of_a_batch_have_the_dtype_of_a_loop(function: Any, batch: Any) -> None:
    """Mapped, compiled, or both: results are real or complex as those of a loop are (NumPy 2.5: always complex)."""
    expected = np.stack([function(a) for a in batch])
    compiled = gt.jit(gt.vmap(function))
    for found in (gt.vmap(function)(batch), compiled(batch), compiled(batch), gt.jit(function)(batch)):
        assert found.dtype == expected.dtype
        assert np.allclose(np.abs(found), np.abs(expected))
