"""`gradtape.scipy.linalg`: values as SciPy's, derivatives against finite differences, and every public name."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import gradtape as gt
from gradtape.errors import LinearAlgebraError, OperandError, UnsupportedError
from gradtape.scipy import linalg

RANDOM = np.random.default_rng(16)
A = RANDOM.normal(size=(3, 3)) + 3 * np.diag([1.0, 2.0, 3.0])
B = RANDOM.normal(size=(3, 3)) + 4 * np.eye(3)
S = A @ A.T  # symmetric and definite
TALL, WIDE = RANDOM.normal(size=(4, 2)), RANDOM.normal(size=(2, 4))
V, W = RANDOM.normal(size=3), RANDOM.normal(size=(3, 2))
ROTATING = np.array([[0.3, -1.0, 0.2], [1.2, 0.5, 0.4], [0.1, -0.3, 2.0]])
BAND = np.array([[0.0, 0.3, -0.4, 0.2], [4.0, 5.0, 4.5, 6.0], [0.5, -0.6, 0.7, 0.0]])
HALF = np.array([[4.0, 5.0, 4.5], [0.5, -0.6, 0.0]])
SMALL = A / 8


def with_signs(values: Any, vectors: Any) -> Any:
    """Eigenvectors whose sign LAPACK may choose, with a sign that does not change nearby."""
    return values, vectors * np.sign(np.sum(vectors * np.array([[3.0], [2.0], [1.0]]), axis=0))


def sym(a: Any) -> Any:
    return (a + np.swapaxes(a, -1, -2)) / 2


Case = tuple[Callable[..., Any], tuple[Any, ...]]

CASES: dict[str, Case] = {
    "solve": (lambda la, a, b: la.solve(a, b), (A, V)),
    "solve transposed": (lambda la, a, b: la.solve(a, b, transposed=True), (A, W)),
    "solve pos": (lambda la, a, b: la.solve(sym(a), b, assume_a="pos"), (S, W)),
    "solve sym, lower": (lambda la, a, b: la.solve(a, b, assume_a="sym", lower=True), (A, V)),
    "solve triangular": (lambda la, a, b: la.solve(np.triu(a), b, assume_a="upper triangular"), (A, V)),
    "solve diagonal": (lambda la, a, b: la.solve(a * np.eye(3), b, assume_a="diagonal"), (A, W)),
    "solve tridiagonal": (lambda la, a, b: la.solve(a, b, assume_a="tridiagonal"), (A, W)),
    "inv": (lambda la, a: la.inv(a), (A,)),
    "det": (lambda la, a: la.det(a), (A,)),
    "norm": (lambda la, a: la.norm(a, 2), (A,)),
    "solve_triangular": (lambda la, a, b: la.solve_triangular(a, b, "T", True), (A, V)),
    "cho_solve": (lambda la, a, b: la.cho_solve(la.cho_factor(sym(a)), b), (S, V)),
    "cho_solve, lower": (lambda la, a, b: la.cho_solve(la.cho_factor(sym(a), lower=True), b), (S, W)),
    "cholesky": (lambda la, a: la.cholesky(sym(a)), (S,)),
    "lu_solve": (lambda la, a, b: la.lu_solve(la.lu_factor(a), b), (A[::-1], V)),
    "lu_solve, trans": (lambda la, a, b: la.lu_solve(la.lu_factor(a), b, trans=1), (A[::-1], W)),
    "lu_factor": (lambda la, a: la.lu_factor(a)[0], (A[[2, 0, 1]],)),
    "lu_factor of a wide matrix": (lambda la, a: la.lu_factor(a)[0], (WIDE,)),
    "lu_factor of a tall matrix": (lambda la, a: la.lu_factor(a)[0], (TALL,)),
    "lu": (lambda la, a: la.lu(a, permute_l=True), (A[::-1],)),
    "qr": (lambda la, a: la.qr(a), (A,)),
    "qr, r": (lambda la, a: la.qr(a, mode="r")[0], (TALL,)),
    "qr, economic": (lambda la, a: la.qr(a, mode="economic"), (TALL,)),
    "qr, pivoting": (lambda la, a: la.qr(a, mode="economic", pivoting=True)[:2], (TALL,)),
    "rq": (lambda la, a: la.rq(a), (A,)),
    "rq, economic": (lambda la, a: la.rq(a, mode="economic"), (WIDE,)),
    "qr_multiply": (lambda la, a, c: la.qr_multiply(a, c, "left"), (TALL, WIDE[:, :2])),
    "svd": (lambda la, a: la.svd(a), (A,)),
    "svd, economic": (lambda la, a: la.svd(a, full_matrices=False), (TALL,)),
    "svd, gesvd": (lambda la, a: la.svd(a, full_matrices=False, lapack_driver="gesvd"), (WIDE,)),
    "svdvals": (lambda la, a: la.svdvals(a), (WIDE,)),
    "orth": (lambda la, a: la.orth(a), (TALL,)),
    "subspace_angles": (lambda la, a, b: la.subspace_angles(a, b), (TALL, TALL[::-1] + 0.3)),
    "procrustes": (
        lambda la, a, b: la.orthogonal_procrustes(a, b),
        (RANDOM.normal(size=(5, 3)), RANDOM.normal(size=(5, 3))),
    ),
    "ldl": (lambda la, a: la.ldl(sym(a))[:2], (S,)),
    "ldl of blocks": (lambda la, a: la.ldl(sym(a), lower=False)[:2], (S / 20 + np.eye(3)[::-1] * 3,)),
    "polar": (lambda la, a: la.polar(a), (A,)),
    "polar, tall, left": (lambda la, a: la.polar(a, side="left"), (TALL,)),
    "polar, wide, right": (lambda la, a: la.polar(a), (WIDE,)),
    "schur": (lambda la, a: la.schur(a), (A,)),
    "schur with a block": (lambda la, a: la.schur(a), (ROTATING,)),
    "schur, sorted": (lambda la, a: la.schur(a, sort="rhp")[:2], (ROTATING - np.eye(3),)),
    "hessenberg": (lambda la, a: la.hessenberg(a, calc_q=True), (RANDOM.normal(size=(4, 4)),)),
    "matrix_balance": (lambda la, a: la.matrix_balance(a)[0], (A * np.array([1.0, 100.0, 0.01]),)),
    "eigh": (lambda la, a: with_signs(*la.eigh(sym(a))), (S,)),
    "eigh, ev, upper": (lambda la, a: la.eigh(sym(a), lower=False, driver="ev"), (S,)),
    "eigh, b": (lambda la, a, b: la.eigh(sym(a), sym(b)), (S, B)),
    "eigh, b, type 3": (lambda la, a, b: la.eigh(sym(a), sym(b), type=3), (S, B)),
    "eigh, subset": (lambda la, a: la.eigh(sym(a), subset_by_index=[1, 2], eigvals_only=True), (S,)),
    "eigvalsh": (lambda la, a: la.eigvalsh(sym(a), subset_by_value=[5.0, np.inf]), (S,)),
    "eigvalsh, b": (lambda la, a, b: la.eigvalsh(sym(a), sym(b)), (S, B)),
    "eig": (lambda la, a: la.eig(a, left=True), (A,)),
    "eig, complex": (lambda la, a: la.eig(a, left=True), (ROTATING,)),
    "eigvals, b": (lambda la, a, b: la.eigvals(a, b), (ROTATING, B)),
    "eigvals": (lambda la, a: la.eigvals(a), (ROTATING,)),
    "eigvals_banded": (lambda la, ab: la.eigvals_banded(ab, lower=True), (HALF,)),
    "eig_banded": (lambda la, ab: la.eig_banded(ab, eigvals_only=True, select="i", select_range=(0, 1)), (HALF[::-1],)),
    "eigh_tridiagonal": (lambda la, d, e: la.eigh_tridiagonal(d, e), (np.array([1.0, 2.0, 4.0]), V[:2])),
    "eigvalsh_tridiagonal": (lambda la, d, e: la.eigvalsh_tridiagonal(d, e, "i", (0, 1)), (np.arange(3.0), V[:2])),
    "solve_banded": (lambda la, ab, b: la.solve_banded((1, 1), ab, b), (BAND, RANDOM.normal(size=(4, 2)))),
    "solveh_banded": (lambda la, ab, b: la.solveh_banded(ab, b, lower=True), (HALF, V)),
    "solveh_banded, upper": (lambda la, ab, b: la.solveh_banded(ab[::-1], b), (HALF, W)),
    "cholesky_banded": (lambda la, ab: la.cholesky_banded(ab, lower=True), (HALF,)),
    "cho_solve_banded": (lambda la, ab, b: la.cho_solve_banded((la.cholesky_banded(ab[::-1]), False), b), (HALF, V)),
    "solve_toeplitz": (lambda la, c, b: la.solve_toeplitz(c, b), (np.array([5.0, 1.0, -0.5]), V)),
    "solve_toeplitz of both": (lambda la, c, r, b: la.solve_toeplitz((c, r), b), (np.array([5.0, 1.0, -0.5]), V, W)),
    "matmul_toeplitz": (lambda la, c, r, x: la.matmul_toeplitz((c, r), x), (V[:2], V, W)),
    "solve_circulant": (lambda la, c, b: la.solve_circulant(c, b), (np.array([5.0, 1.0, -0.5]), W)),
    "lstsq": (lambda la, a, b: [la.lstsq(a, b)[i] for i in (0, 1, 3)], (TALL, RANDOM.normal(size=4))),
    "pinv": (lambda la, a: la.pinv(a), (TALL,)),
    "pinvh": (lambda la, a: la.pinvh(sym(a)), (S,)),
    "solve_sylvester": (lambda la, a, b, q: la.solve_sylvester(a, b, q), (A, B[:2, :2], W)),
    "continuous lyapunov": (lambda la, a, q: la.solve_continuous_lyapunov(a, q), (A, B)),
    "solve_lyapunov": (lambda la, a, q: la.solve_lyapunov(a, q), (A, B)),
    "discrete lyapunov": (lambda la, a, q: la.solve_discrete_lyapunov(a, q), (SMALL, B)),
    "discrete lyapunov, bilinear": (lambda la, a, q: la.solve_discrete_lyapunov(a, q, "bilinear"), (SMALL, B)),
    "continuous riccati": (
        lambda la, a, b, q, r, e, s: la.solve_continuous_are(a, b, sym(q), sym(r), e, s, balanced=False),
        (-A / 4, W, np.eye(3) + S / 20, np.array([[2.0, 0.3], [0.3, 1.0]]), B / 3, 0.1 * W[::-1]),
    ),
    "discrete riccati": (
        lambda la, a, b, q, r: la.solve_discrete_are(a, b, sym(q), sym(r)),
        (A / 8, W, np.eye(3) + S / 20, np.array([[2.0, 0.3], [0.3, 1.0]])),
    ),
    "expm": (lambda la, a: la.expm(a), (SMALL,)),
    "expm_frechet": (lambda la, a, e: la.expm_frechet(a, e), (SMALL, B)),
    "logm": (lambda la, a: la.logm(a), (B,)),
    "sqrtm": (lambda la, a: la.sqrtm(a), (S,)),
    "fractional_matrix_power": (lambda la, a, t: la.fractional_matrix_power(a, t), (S, np.array(0.3))),
    "fractional_matrix_power of a whole number": (lambda la, a: la.fractional_matrix_power(a, -2), (A,)),
    "cosm": (lambda la, a: la.cosm(a), (SMALL,)),
    "sinm": (lambda la, a: la.sinm(a), (SMALL,)),
    "tanm": (lambda la, a: la.tanm(a), (SMALL,)),
    "coshm": (lambda la, a: la.coshm(a), (SMALL,)),
    "sinhm": (lambda la, a: la.sinhm(a), (SMALL,)),
    "tanhm": (lambda la, a: la.tanhm(a), (SMALL,)),
    "signm": (lambda la, a: la.signm(a), (A - 5 * np.eye(3),)),
    "funm": (lambda la, a: la.funm(a, lambda x: x**2 / (1 + x)), (A,)),
    "toeplitz": (lambda la, c, r: la.toeplitz(c, r), (V, V[:2])),
    "toeplitz of a column": (lambda la, c: la.toeplitz(c), (V,)),
    "hankel": (lambda la, c, r: la.hankel(c, r), (V, V[:2])),
    "circulant": (lambda la, c: la.circulant(c), (V,)),
    "companion": (lambda la, a: la.companion(a), (V,)),
    "fiedler": (lambda la, a: la.fiedler(a), (V,)),
    "fiedler_companion": (lambda la, a: la.fiedler_companion(a), (RANDOM.normal(size=6),)),
    "leslie": (lambda la, f, s: la.leslie(f, s), (V, V[:2])),
    "block_diag": (lambda la, a, b, c: la.block_diag(a, b, c), (A, WIDE, V)),
    "khatri_rao": (lambda la, a, b: la.khatri_rao(a, b), (W, WIDE[:, :2])),
    "convolution_matrix": (lambda la, a: la.convolution_matrix(a, 4, mode="same"), (V,)),
    "convolution_matrix, valid": (lambda la, a: la.convolution_matrix(a, 4, mode="valid"), (V,)),
    "diagsvd": (lambda la, s: la.diagsvd(s, 4, 3), (V,)),
    "sketch": (lambda la, a: la.clarkson_woodruff_transform(a, 2, np.random.default_rng(1)), (TALL,)),
}
every = pytest.mark.parametrize("name", CASES)


def parts(result: Any) -> list[Any]:
    return list(result) if isinstance(result, list | tuple) else [result]


@every
def test_values_and_dtypes_are_scipys(name: str) -> None:
    """On tensors a function gives what SciPy gives on arrays, as a tensor of the same shape and dtype."""
    function, inputs = CASES[name]
    expected = parts(function(scipy.linalg, *inputs))
    actual = parts(function(linalg, *map(gt.tensor, inputs)))
    assert all(isinstance(part, gt.Tensor) for part in actual)
    assert [(a.shape, a.dtype) for a in actual] == [(np.shape(b), np.asarray(b).dtype) for b in expected]
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-9, atol=1e-10)


TWICE = {"lu_solve", "qr_multiply", "eigh, b", "eig, complex", "lstsq", "discrete lyapunov, bilinear", "signm", "funm"}
"""Cases whose second derivatives are checked too; those of each row of the table of operations are checked there."""


@every
def test_derivatives(name: str) -> None:
    """Reverse and forward mode agree with finite differences, for some to second order."""
    function, inputs = CASES[name]
    order = 2 if name in TWICE else 1
    assert gt.gradcheck(lambda *values: tuple(parts(function(linalg, *values))), *inputs, order=order)


@pytest.mark.parametrize(
    "name", ["lu_solve", "cho_solve", "solve_banded", "eigh", "schur", "polar", "toeplitz", "continuous riccati"]
)
def test_batches_and_compiled(name: str) -> None:
    """`vmap` of a gradient gives that of each example, and a compiled gradient is the gradient."""
    function, inputs = CASES[name]
    numbers = tuple(range(len(inputs)))

    def loss(*values: Any) -> Any:
        return sum(np.sum(np.cos(part)) for part in parts(function(linalg, *values)))

    gradient = gt.grad(loss, numbers)
    expected = [gradient(*inputs), gradient(*(x * 1.01 for x in inputs))]
    mapped = gt.vmap(gradient)(*(np.stack([x, x * 1.01]) for x in inputs))
    for k, one in enumerate(expected):
        for a, b in zip(mapped, one, strict=True):
            np.testing.assert_allclose(a[k], b, rtol=1e-8, atol=1e-9)
    for a, b in zip(gt.jit(gradient)(*inputs), expected[0], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9)


def test_whole_numbers_are_those_of_scipy() -> None:
    """Pivots, orders and ranks are arrays and integers as SciPy returns them."""
    for matrix in (A[[2, 0, 1]], RANDOM.normal(size=(6, 6)), RANDOM.normal(size=(6, 4)), RANDOM.normal(size=(4, 6))):
        pivots = linalg.lu_factor(gt.tensor(matrix))[1]
        expected = scipy.linalg.lu_factor(matrix)[1]
        assert isinstance(pivots, np.ndarray)
        assert pivots.dtype == expected.dtype
        np.testing.assert_array_equal(pivots, expected)
    order = linalg.qr(gt.tensor(TALL), pivoting=True)[2]
    np.testing.assert_array_equal(order, scipy.linalg.qr(TALL, pivoting=True)[2])
    np.testing.assert_array_equal(linalg.ldl(gt.tensor(S))[2], scipy.linalg.ldl(S)[2])
    assert linalg.lstsq(gt.tensor(TALL), np.ones(4))[2] == 2
    assert linalg.schur(gt.tensor(ROTATING), sort="rhp")[2] == scipy.linalg.schur(ROTATING, sort="rhp")[2]
    assert linalg.issymmetric(gt.tensor(S))
    assert linalg.bandwidth(gt.tensor(np.tril(A))) == (2, 0)
    separate = linalg.matrix_balance(gt.tensor(A * [1.0, 100.0, 0.01]), separate=True)[1]
    for a, b in zip(separate, scipy.linalg.matrix_balance(A * [1.0, 100.0, 0.01], separate=True)[1], strict=True):
        np.testing.assert_array_equal(a, b)
    whole = linalg.matrix_balance(gt.tensor(A * [1.0, 100.0, 0.01]))[1]
    np.testing.assert_array_equal(whole, scipy.linalg.matrix_balance(A * [1.0, 100.0, 0.01])[1])


@pytest.mark.parametrize(
    "name", ["solve", "lu_solve", "polar", "schur", "solve_banded", "solve_toeplitz of both", "ldl"]
)
def test_complex_values_are_scipys(name: str) -> None:
    """Complex matrices give what SciPy gives."""
    function, inputs = CASES[name]
    turned = [x + 0.3j * np.cos(x) for x in inputs] if name != "ldl" else [S + 0.2j * (A - A.T)]
    if name == "ldl":
        function = lambda la, a: la.ldl(a)[:2]
    for a, b in zip(
        parts(function(linalg, *map(gt.tensor, turned))), parts(function(scipy.linalg, *turned)), strict=True
    ):
        np.testing.assert_allclose(a.numpy(), b, rtol=1e-9, atol=1e-10)


def test_complex_schur_without_phases() -> None:
    """What does not depend on the phases of complex Schur vectors has a derivative, and the rest is refused."""
    a = ROTATING + 0.2j * A

    def invariant(a: Any) -> Any:
        t, z = linalg.schur(a, output="complex")
        return np.sum(np.abs(t) ** 4) + np.sum(np.abs(z) ** 4)

    assert gt.gradcheck(invariant, a, order=1)
    with pytest.raises(LinearAlgebraError, match="phases"):
        gt.grad(lambda a: np.sum(np.real(linalg.schur(a)[1])))(a)


def test_repeated_singular_values_of_polar() -> None:
    """The polar decomposition of a rotation, whose singular values are all one, has a derivative."""
    rotation = np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
    assert gt.gradcheck(lambda a: linalg.polar(a)[0], rotation, order=1)


def test_results_without_tensors_are_scipys_own() -> None:
    """Without a tensor the call is SciPy's, also in the dtypes of its results."""
    assert type(linalg.solve(A, V)) is np.ndarray
    assert linalg.cho_factor(S)[0][1, 0] == scipy.linalg.cho_factor(S)[0][1, 0]  # what SciPy leaves there
    with pytest.raises(ValueError, match="infs or NaNs"):
        linalg.det([[np.nan]])


def test_nested_lists_of_tensors() -> None:
    """Matrices may be nested lists of numbers and tensors."""
    value = gt.grad(lambda x: linalg.det([[x, 1.0], [2.0, x * x]]))(gt.tensor(3.0))
    np.testing.assert_allclose(value.numpy(), 27.0)
    value = gt.grad(lambda x: linalg.solve([[x, 0.0], [0.0, 1.0]], [x * x, 1.0])[0])(3.0)
    np.testing.assert_allclose(value, 1.0)


def refusals() -> dict[str, tuple[Callable[[], Any], type[Exception], str]]:
    """Calls that are refused, with the error and a part of its text."""
    a, nan = gt.tensor(A), gt.tensor([[np.nan, 1.0], [1.0, 1.0]])

    def watched(f: Callable[[Any], Any]) -> Any:
        return gt.grad(lambda a: np.sum(f(a)))(A)

    return {
        "assume_a": (lambda: linalg.solve(a, V, assume_a="round"), ValueError, "assume_a='round'"),
        "not square": (lambda: linalg.inv(gt.tensor(TALL)), ValueError, r"\(4, 2\)"),
        "not finite": (lambda: linalg.det(nan), ValueError, "infs or NaNs"),
        "singular": (lambda: linalg.solve(0 * a, V), np.linalg.LinAlgError, "ingular|definite"),
        "singular triangle": (lambda: linalg.solve_triangular(0 * a, V), np.linalg.LinAlgError, "singular"),
        "not definite": (lambda: linalg.cho_factor(-gt.tensor(S)), np.linalg.LinAlgError, "ingular|definite"),
        "bands": (lambda: linalg.solve_banded((1, 2), gt.tensor(BAND), V), OperandError, "4 rows"),
        "circulant": (
            lambda: linalg.solve_circulant(gt.tensor([1.0, 1.0]), [1.0, 2.0]),
            np.linalg.LinAlgError,
            "lstsq",
        ),
        "raw qr": (lambda: watched(lambda a: linalg.qr(a, mode="raw")[1]), UnsupportedError, "raw"),
        "null_space": (lambda: watched(lambda a: linalg.null_space(a[:2])), UnsupportedError, "pinv"),
        "vectors of a pair": (lambda: linalg.eig(a, B), UnsupportedError, "eigh"),
        "homogeneous": (lambda: linalg.eigvals(a, homogeneous_eigvals=True), UnsupportedError, "homogeneous"),
        "schur of equal eigenvalues": (
            lambda: watched(lambda a: linalg.schur(0 * a + np.eye(3))[1]),
            LinearAlgebraError,
            "equal",
        ),
        "complex hessenberg": (lambda: linalg.hessenberg(1j * a), UnsupportedError, "schur"),
        "polar of rank one": (lambda: watched(lambda a: linalg.polar(a[:, :1] @ a[:1])[0]), LinearAlgebraError, "rank"),
        "without a rule": (lambda: watched(lambda a: linalg.qz(a, a)[0]), UnsupportedError, "scipy.linalg.qz"),
    }


@pytest.mark.parametrize("name", refusals())
def test_refused_with_a_reason(name: str) -> None:
    """What cannot be done raises an error that says why."""
    call, kind, text = refusals()[name]
    with pytest.raises(kind, match=text):
        call()


def test_every_public_name_is_there() -> None:
    """Each name of scipy.linalg is differentiated, passed through, or refused with a reason of its own."""
    reasons = {name for names in linalg.REASONS.values() for name in names.split()}
    for name in (name for name in dir(scipy.linalg) if not name.startswith("_")):
        theirs = getattr(scipy.linalg, name)
        assert hasattr(linalg, name)
        if callable(theirs) and not isinstance(theirs, type | types.ModuleType):
            assert (name in linalg.original.functions) != (name in reasons), name
