"""Linear systems, inverses, determinants and factorisations, beyond what the table's own tests say of each row."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt
import gradtape.ops.decompositions
import gradtape.ops.determinants
import gradtape.ops.least_squares

from .cases import parts
from .differentiation import assert_differentiates, assert_values_are_numpys, hermitian, in_the_plane

RANDOM = np.random.default_rng(5)
REGULAR = RANDOM.normal(size=(3, 3)) + 3 * np.eye(3)
STACK = RANDOM.normal(size=(2, 3, 3)) + 3 * np.eye(3)
TALL = RANDOM.normal(size=(4, 2))
WIDE = RANDOM.normal(size=(2, 4))
VECTOR = RANDOM.normal(size=3)
COLUMNS = RANDOM.normal(size=(3, 2))

FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "solve": (np.linalg.solve, (REGULAR, COLUMNS)),
    "solve a vector": (np.linalg.solve, (REGULAR, VECTOR)),
    "solve a stack against a vector": (np.linalg.solve, (STACK, VECTOR)),
    "solve one matrix against a stack": (np.linalg.solve, (REGULAR, RANDOM.normal(size=(2, 3, 1)))),
    "inv": (np.linalg.inv, (REGULAR,)),
    "inv of a stack": (np.linalg.inv, (STACK,)),
    "det": (np.linalg.det, (REGULAR,)),
    "det of a stack": (np.linalg.det, (STACK,)),
    "slogdet": (lambda a: tuple(np.linalg.slogdet(a)), (REGULAR,)),
    "cholesky": (lambda a: np.linalg.cholesky(hermitian(a)), (REGULAR,)),
    "cholesky of a stack": (lambda a: np.linalg.cholesky(hermitian(a)), (STACK,)),
    "upper cholesky": (lambda a: np.linalg.cholesky(hermitian(a), upper=True), (REGULAR,)),
    "cholesky of a triangle": (lambda a: np.linalg.cholesky(np.tril(a)), (REGULAR,)),
    "upper cholesky of a triangle": (lambda a: np.linalg.cholesky(np.triu(a), upper=True), (REGULAR,)),
    "qr": (lambda a: tuple(np.linalg.qr(a)), (REGULAR,)),
    "qr of a tall matrix": (lambda a: tuple(np.linalg.qr(a)), (TALL,)),
    "qr of a wide matrix": (lambda a: tuple(np.linalg.qr(a)), (WIDE,)),
    "qr of a stack": (lambda a: tuple(np.linalg.qr(a)), (STACK,)),
    "complete qr of a wide matrix": (lambda a: tuple(np.linalg.qr(a, mode="complete")), (WIDE,)),
    "r of a tall matrix": (lambda a: np.linalg.qr(a, mode="r"), (TALL,)),
    "pinv": (np.linalg.pinv, (REGULAR,)),
    "pinv of a tall matrix": (np.linalg.pinv, (TALL,)),
    "pinv of a wide matrix": (lambda a: np.linalg.pinv(a, rtol=1e-10), (WIDE,)),
    "pinv of a Hermitian matrix": (lambda a: np.linalg.pinv(hermitian(a), hermitian=True), (REGULAR,)),
    "lstsq": (lambda a, b: np.linalg.lstsq(a, b)[0], (TALL, RANDOM.normal(size=(4, 3)))),
    "lstsq of a vector": (lambda a, b: np.linalg.lstsq(a, b)[0], (TALL, RANDOM.normal(size=4))),
    "lstsq of a wide matrix": (lambda a, b: np.linalg.lstsq(a, b)[0], (WIDE, RANDOM.normal(size=2))),
    "distances of lstsq": (lambda a, b: np.linalg.lstsq(a, b)[1], (TALL, RANDOM.normal(size=(4, 3)))),
    "singular values of lstsq": (lambda a, b: np.linalg.lstsq(a, b)[3] * b[:2], (TALL, RANDOM.normal(size=4))),
    "matrix_power 3": (lambda a: np.linalg.matrix_power(a, 3), (REGULAR,)),
    "matrix_power 6": (lambda a: np.linalg.matrix_power(a / 3, 6), (REGULAR,)),
    "matrix_power -2": (lambda a: np.linalg.matrix_power(a, -2), (STACK,)),
    "multi_dot": (lambda *m: np.linalg.multi_dot(m), (VECTOR, COLUMNS, WIDE, TALL)),
    "multi_dot of vectors": (lambda *m: np.linalg.multi_dot(m), (VECTOR, REGULAR, VECTOR)),
    "tensorinv": (lambda a: np.linalg.tensorinv(a.reshape((3, 1, 3)), ind=1), (REGULAR,)),
    "tensorsolve": (lambda a, b: np.linalg.tensorsolve(a.reshape((3, 1, 3)), b.reshape((3, 1))), (REGULAR, VECTOR)),
    "tensorsolve along axes": (
        lambda a, b: np.linalg.tensorsolve(a.reshape((3, 3, 1)), b.reshape((3, 1)), axes=(0,)),
        (REGULAR, VECTOR),
    ),
}
every = pytest.mark.parametrize("name", FUNCTIONS)


def gradient_of(function: Any, *point: Any) -> Any:
    return gt.grad(lambda *xs: np.sum(function(*xs)), tuple(range(len(point))))(*point)


class TestEveryFunction:
    """Values, both derivatives, the second derivative and batches of each function of the list."""

    @every
    def test_value_is_numpys(self, name: str) -> None:
        """On tensors a function gives what NumPy gives on arrays, real and complex."""
        function, point = FUNCTIONS[name]
        assert_values_are_numpys(function, *point)
        assert_values_are_numpys(function, *(in_the_plane(x) for x in point))

    @every
    def test_single_precision_stays(self, name: str) -> None:
        """Results and gradients of single precision are in single precision, and right to its digits."""
        function, point = FUNCTIONS[name]
        single = tuple(x.astype(np.float32) for x in point)
        assert_values_are_numpys(function, *single, tolerance=2e-5)
        total = lambda *xs: sum(np.sum(np.real(part)) for part in parts(function(*xs)))
        numbers = tuple(range(len(point)))
        for a, b in zip(gt.grad(total, numbers)(*single), gt.grad(total, numbers)(*point), strict=True):
            assert a.dtype == np.float32
            np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-3)

    @every
    def test_derivatives(self, name: str) -> None:
        """Both modes, the second derivative and batches agree with finite differences and loops."""
        function, point = FUNCTIONS[name]
        assert_differentiates(function, *point)

    @every
    def test_derivatives_of_complex_numbers(self, name: str) -> None:
        """The same in the complex plane, with steps along both axes."""
        function, point = FUNCTIONS[name]
        assert_differentiates(function, *(in_the_plane(x) for x in point))


@settings(max_examples=30, deadline=None)
@given(
    left=st.lists(st.integers(0, 3), max_size=2),
    right=st.lists(st.integers(0, 3), max_size=2),
    n=st.integers(0, 3),
    columns=st.integers(0, 3),
    seed=st.integers(0, 99),
)
def test_solve_broadcasts_its_stacks(left: list[int], right: list[int], n: int, columns: int, seed: int) -> None:
    """Whatever stacks broadcast, the gradients of solve have the shapes of their sources and undo the stretching."""
    generator = np.random.default_rng(seed)
    try:
        stack = np.broadcast_shapes(tuple(left), tuple(right))
    except ValueError:
        left, stack = right, tuple(right)
    a = generator.normal(size=(*left, n, n)) + 4 * np.eye(n)
    b = generator.normal(size=(*right, n, columns))
    value, pull_back = gt.vjp(np.linalg.solve, a, b)
    weights = generator.normal(size=(*stack, n, columns))
    ga, gb = pull_back(weights)
    assert (value.shape, ga.shape, gb.shape) == (weights.shape, a.shape, b.shape)
    da, db = generator.normal(size=a.shape), generator.normal(size=b.shape)
    tangent = gt.jvp(np.linalg.solve, (a, b), (da, db))[1]
    assert np.sum(weights * tangent) == pytest.approx(np.sum(ga * da) + np.sum(gb * db), abs=1e-8)


@settings(max_examples=25, deadline=None)
@given(stack=st.lists(st.integers(0, 3), max_size=2), n=st.integers(0, 4), seed=st.integers(0, 99))
def test_determinants_of_any_stack(stack: list[int], n: int, seed: int) -> None:
    """det and slogdet of any stack have the values of NumPy, and gradients of the stack's shape that agree."""
    a = np.random.default_rng(seed).normal(size=(*stack, n, n)) + 3 * np.eye(n)
    assert_values_are_numpys(np.linalg.det, a)
    assert_values_are_numpys(lambda a: tuple(np.linalg.slogdet(a)), a)
    (by_det,) = gt.vjp(np.linalg.det, a)[1](1 / np.linalg.det(a))
    (by_log,) = gt.vjp(lambda a: np.linalg.slogdet(a)[1], a)[1](np.ones(tuple(stack)))
    np.testing.assert_allclose(by_det, by_log, rtol=1e-8, atol=1e-8)


class TestDeterminant:
    @pytest.mark.parametrize("rank", [0, 1, 2, 3])
    def test_gradient_is_exact_at_any_rank(self, rank: int) -> None:
        """The gradient of a determinant is the matrix of minors, however singular the matrix."""
        a = RANDOM.normal(size=(3, rank)) @ RANDOM.normal(size=(rank, 3))
        minors = [
            [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1)) for j in range(3)] for i in range(3)
        ]
        np.testing.assert_allclose(gt.grad(np.linalg.det)(a), minors, atol=1e-12)

    def test_second_derivative_at_zero(self) -> None:
        """The Hessian of a 2 by 2 determinant is constant, at the zero matrix too."""
        hessian = gt.hessian(np.linalg.det)(np.zeros((2, 2)))
        expected = np.zeros((2, 2, 2, 2))
        expected[0, 0, 1, 1] = expected[1, 1, 0, 0] = 1
        expected[0, 1, 1, 0] = expected[1, 0, 0, 1] = -1
        np.testing.assert_allclose(hessian, expected, atol=1e-15)

    def test_third_derivative(self) -> None:
        """The third derivative of a 3 by 3 determinant is the sign of permutations."""
        third = gt.jacobian(gt.hessian(np.linalg.det))(REGULAR)
        signs = np.zeros((3, 3, 3))
        for i, j, k in [(0, 1, 2), (1, 2, 0), (2, 0, 1)]:
            signs[i, j, k], signs[i, k, j] = 1, -1
        np.testing.assert_allclose(third, np.einsum("ikm,jln->ijklmn", signs, signs), atol=1e-10)

    def test_not_a_number_gives_no_error(self) -> None:
        """The gradient at a matrix that holds NaN is NaN there, and right for the other matrices of the stack."""
        a = np.stack([REGULAR, np.full((3, 3), np.nan)])
        with np.errstate(invalid="ignore"):
            (gradient,) = gt.vjp(np.linalg.det, a)[1](np.ones(2))
        np.testing.assert_allclose(gradient[0], np.linalg.det(REGULAR) * np.linalg.inv(REGULAR).T)
        assert np.isnan(gradient[1]).all()

    def test_logarithm_of_a_huge_determinant(self) -> None:
        """slogdet differentiates where the determinant itself overflows."""
        a = 1e3 * np.eye(200)
        np.testing.assert_allclose(gt.grad(lambda a: np.linalg.slogdet(a).logabsdet)(a), np.eye(200) / 1e3)

    def test_logarithm_of_a_singular_matrix(self) -> None:
        """log|det| of a singular matrix is -inf, as in NumPy; its gradient does not exist and says so."""
        sign, logarithm = np.linalg.slogdet(gt.tensor(np.ones((2, 2))))
        assert (sign.item(), logarithm.item()) == (0.0, -np.inf)
        with pytest.raises(gt.LinearAlgebraError, match=r"singular.*has no derivative"):
            gt.grad(lambda a: np.linalg.slogdet(a).logabsdet)(np.ones((2, 2)))

    def test_real_sign_is_flat(self) -> None:
        """The sign of a real determinant has the gradient zero."""
        (gradient,) = gt.vjp(lambda a: np.linalg.slogdet(a).sign, REGULAR)[1](np.float64(1.0))
        np.testing.assert_array_equal(gradient, np.zeros((3, 3)))


class TestTriangles:
    def test_hermitian_argument_gets_a_hermitian_gradient(self) -> None:
        """The gradient of cholesky at a symmetric matrix is symmetric, and at a complex Hermitian one Hermitian."""
        for a in (hermitian(REGULAR), hermitian(in_the_plane(REGULAR))):
            (gradient,) = gradient_of(lambda a: np.linalg.cholesky(a).real, a)
            np.testing.assert_array_equal(gradient, gradient.conj().T)

    def test_rounding_errors_are_not_asymmetry(self) -> None:
        """A matrix that is symmetric but for rounding is treated as symmetric."""
        a = hermitian(REGULAR)
        a[0, 1] = np.nextafter(a[0, 1], 9)
        (gradient,) = gradient_of(np.linalg.cholesky, a)
        np.testing.assert_array_equal(gradient, gradient.T)

    @pytest.mark.parametrize("upper", [False, True])
    def test_other_triangle_is_not_read(self, upper: bool) -> None:
        """What is in the triangle that NumPy does not read, NaN even, changes nothing and gets no gradient."""
        a = hermitian(REGULAR)
        hidden = np.where(np.tri(3, k=-1 if upper else 0, dtype=bool) != upper, a, np.nan)
        function = lambda a: np.linalg.cholesky(a, upper=upper)
        np.testing.assert_allclose(function(gt.tensor(hidden)).numpy(), function(a))
        (gradient,) = gradient_of(function, hidden)
        (whole,) = gradient_of(function, a)
        read = whole + whole.T - np.diag(np.diag(whole))
        np.testing.assert_allclose(gradient, np.where(np.isnan(hidden), 0, read))

    def test_batch_of_both_kinds(self) -> None:
        """Inside vmap symmetric matrices and triangles are told apart one by one."""
        batch = np.stack([hermitian(REGULAR), np.tril(hermitian(REGULAR))])
        gradient = gt.grad(lambda a: np.linalg.cholesky(a).sum())
        np.testing.assert_allclose(gt.vmap(gradient)(batch), np.stack([gradient(a) for a in batch]))


class TestQR:
    def test_dependent_columns_have_no_gradient(self) -> None:
        """A column that depends on those before it makes Q arbitrary; the error names it."""
        a = np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 1.0], [0.0, 0.0, 1.0]])
        np.testing.assert_allclose(np.linalg.qr(gt.tensor(a)).R.numpy(), np.linalg.qr(a).R)
        with pytest.raises(gt.LinearAlgebraError, match="column 1 depends on those before it"):
            gt.grad(lambda a: np.linalg.qr(a).R.sum())(a)
        with pytest.raises(gt.LinearAlgebraError, match="column 1"):
            gt.jvp(lambda a: np.linalg.qr(a).R, (a,), (a,))

    @pytest.mark.parametrize("mode", ["raw", "complete"])
    def test_modes_without_derivative_name_another(self, mode: str) -> None:
        """What has no derivative is refused when one is asked for, with the mode that has one."""
        with pytest.raises(gt.UnsupportedError, match="mode='reduced'"):
            gt.grad(lambda a: np.linalg.qr(a, mode=mode)[0].sum())(TALL)

    def test_unknown_mode(self) -> None:
        """A mode that NumPy does not have is refused with NumPy's class."""
        with pytest.raises(ValueError, match="mode='full' is not a mode"):
            np.linalg.qr(gt.tensor(TALL), mode="full")


class TestLeastSquares:
    def test_pseudo_inverse_of_deficient_rank(self) -> None:
        """Among matrices of the same rank the gradient of pinv is the change of pinv."""
        left, right = RANDOM.normal(size=(4, 2)), RANDOM.normal(size=(2, 3))
        function = lambda left, right: np.linalg.pinv(left @ right, rcond=1e-10)
        assert_differentiates(function, left, right)

    def test_least_squares_of_deficient_rank(self) -> None:
        """Among matrices of the same rank the gradient of the shortest solution is its change."""
        left, right, b = RANDOM.normal(size=(4, 2)), RANDOM.normal(size=(2, 3)), RANDOM.normal(size=(4, 2))
        function = lambda left, right, b: np.linalg.lstsq(left @ right, b, rcond=1e-10)[0]
        assert_differentiates(function, left, right, b)

    @pytest.mark.parametrize("rcond", [None, -1, 1e-3, 0.9])
    @pytest.mark.parametrize("matrix", [TALL, WIDE, np.ones((3, 2)), np.zeros((2, 2))])
    def test_all_four_results_are_numpys(self, matrix: Any, rcond: float | None) -> None:
        """Solution, distances, rank and singular values are NumPy's, whatever counts as zero."""
        b = np.arange(1.0, len(matrix) + 1)
        expected = np.linalg.lstsq(matrix, b, rcond)
        actual = np.linalg.lstsq(gt.tensor(matrix), gt.tensor(b), rcond)
        for a, e in zip(actual, expected, strict=True):
            np.testing.assert_allclose(np.asarray(a), e, atol=1e-12)

    def test_stacks_are_refused(self) -> None:
        """lstsq takes one matrix, as in NumPy, and says how to take many."""
        with pytest.raises(np.linalg.LinAlgError, match=r"shapes \(2, 3, 3\) and \(3,\)"):
            np.linalg.lstsq(gt.tensor(STACK), gt.tensor(VECTOR))

    def test_two_tolerances_are_refused(self) -> None:
        """pinv takes one tolerance, under either name."""
        with pytest.raises(ValueError, match="two names for one thing"):
            np.linalg.pinv(gt.tensor(TALL), 1e-3, rtol=1e-3)


class TestProducts:
    @pytest.mark.parametrize("n", range(-3, 9))
    def test_powers(self, n: int) -> None:
        """Every integer power is NumPy's."""
        assert_values_are_numpys(lambda a: np.linalg.matrix_power(a, n), STACK, tolerance=1e-9)

    def test_power_zero_is_constant(self) -> None:
        """The power 0 is the identity in the stack's shape and dtype, and has the gradient zero."""
        result, pull_back = gt.vjp(lambda a: np.linalg.matrix_power(a, 0) * a, STACK)
        np.testing.assert_array_equal(result, np.eye(3) * STACK)
        np.testing.assert_array_equal(pull_back(np.ones_like(STACK))[0], np.broadcast_to(np.eye(3), STACK.shape))

    def test_power_that_is_no_integer(self) -> None:
        """A power that is not an integer is refused with NumPy's class."""
        with pytest.raises(TypeError, match=r"exponent is 0\.5"):
            np.linalg.matrix_power(gt.tensor(REGULAR), 0.5)

    @settings(max_examples=20, deadline=None)
    @given(sizes=st.lists(st.integers(1, 5), min_size=3, max_size=7), seed=st.integers(0, 9))
    def test_multi_dot_of_any_chain(self, sizes: list[int], seed: int) -> None:
        """The product of any chain of matrices is NumPy's."""
        generator = np.random.default_rng(seed)
        chain = [generator.normal(size=pair) for pair in pairwise(sizes)]
        assert_values_are_numpys(lambda *m: np.linalg.multi_dot(m), *chain)

    @settings(max_examples=30, deadline=None)
    @given(sizes=st.lists(st.integers(1, 9), min_size=4, max_size=7))
    def test_multi_dot_multiplies_in_the_cheapest_order(self, sizes: list[int]) -> None:
        """No other order of multiplication takes fewer products of numbers."""
        with gt.GradientTape() as tape:
            result = np.linalg.multi_dot([tape.watch(np.ones(pair)) for pair in pairwise(sizes)])
        spent, waiting = 0, [result._node]
        while waiting:
            node = waiting.pop()
            if node.parents:
                left, right = node.parents
                spent += left.shape[0] * left.shape[1] * right.shape[1]
                waiting += [left, right]

        def least(i: int, j: int) -> int:
            """By trying every split."""
            return min((least(i, k) + least(k, j) + sizes[i] * sizes[k] * sizes[j] for k in range(i + 1, j)), default=0)

        assert spent == least(0, len(sizes) - 1)

    @pytest.mark.parametrize("arrays", [[REGULAR], [REGULAR, VECTOR, REGULAR], [STACK, REGULAR]])
    def test_multi_dot_refuses(self, arrays: list[Any]) -> None:
        """A chain of one, vectors inside and stacks are refused, and the shapes named."""
        with pytest.raises(np.linalg.LinAlgError, match=r"multi_dot: got shapes \("):
            np.linalg.multi_dot([gt.tensor(x) for x in arrays])


class TestErrors:
    @pytest.mark.parametrize(
        ("function", "matrix", "message"),
        [
            (np.linalg.inv, np.ones((2, 2)), "inv: Singular matrix"),
            (np.linalg.inv, np.ones((2, 3)), r"shape \(2, 3\) is not square"),
            (np.linalg.det, np.ones(3), r"at least two-dimensional(.|\n)*\(3,\)"),
            (np.linalg.cholesky, -np.eye(2), "cholesky: Matrix is not positive definite"),
            (np.linalg.cholesky, np.ones((2, 3)), r"shape \(2, 3\) is not square"),
            (np.linalg.slogdet, np.ones((2, 3)), r"shape \(2, 3\) is not square"),
            (lambda a: np.linalg.matrix_power(a, 2), np.ones((2, 3)), r"shape \(2, 3\)"),
            (lambda a: np.linalg.tensorsolve(a, a[0]), np.ones((2, 3)), r"shape \(2, 3\) against \(3,\)"),
        ],
    )
    def test_refusals_are_numpys(self, function: Any, matrix: Any, message: str) -> None:
        """What NumPy refuses is refused with its class, the operand's shape and the user's line."""
        with pytest.raises(np.linalg.LinAlgError):
            function(matrix)
        with pytest.raises(gt.LinearAlgebraError, match=message) as caught:
            function(gt.tensor(matrix))
        assert "test_decompositions.py" in str(caught.value)

    def test_shapes_that_do_not_fit(self) -> None:
        """solve names the shapes of both operands."""
        with pytest.raises(gt.ShapeError, match=r"\(3, 3\)(.|\n)*\(2, 1\)"):
            np.linalg.solve(gt.tensor(REGULAR), gt.tensor(np.ones(2)))

    def test_half_precision_is_refused_as_by_numpy(self) -> None:
        """NumPy has no linear algebra in half precision; neither has gradtape."""
        with pytest.raises(TypeError, match="float16 is unsupported"):
            np.linalg.inv(gt.tensor(np.eye(2, dtype=np.float16)))

    def test_integers_have_values_but_no_gradient(self) -> None:
        """Matrices of integers are solved in floating point, as in NumPy."""
        assert_values_are_numpys(np.linalg.inv, np.array([[2, 1], [1, 1]]))
        assert_values_are_numpys(np.linalg.solve, np.array([[2, 1], [1, 1]]), np.array([1, 2]))


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
@pytest.mark.parametrize("function", [np.linalg.inv, np.linalg.det, np.linalg.cholesky, np.linalg.pinv, np.linalg.qr])
def test_nothing_gives_nothing(function: Any, shape: tuple[int, ...]) -> None:
    """Of matrices without elements and stacks without matrices the results are NumPy's, and so are the gradients."""
    a = np.zeros(shape)
    assert_values_are_numpys(function, a)
    (gradient,) = gt.vjp(lambda a: np.sum(function(a)[0] if function is np.linalg.qr else function(a)), a)[1](1.0)
    assert gradient.shape == shape
