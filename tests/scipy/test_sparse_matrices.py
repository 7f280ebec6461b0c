"""`gradtape.scipy.sparse`: SciPy's matrices with tensors, matrices of tensors, and the solvers."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg

import gradtape as gt
from gradtape.errors import DetachError, LinearAlgebraError, OperandError, ShapeError, UnsupportedError
from gradtape.scipy import sparse

RANDOM = np.random.default_rng(17)
DENSE = RANDOM.normal(size=(4, 4)) * (RANDOM.uniform(size=(4, 4)) < 0.6)
TALL = RANDOM.normal(size=(5, 3)) * (RANDOM.uniform(size=(5, 3)) < 0.7)
X, B, COLUMNS = RANDOM.normal(size=4), RANDOM.normal(size=4), RANDOM.normal(size=(4, 2))
ROWS, COLS = np.array([[0, 0, 1, 2, 3, 3, 2], [0, 2, 1, 2, 3, 0, 1]], np.int32)  # as all of SciPy 1.15 takes them
DATA = np.array([5.0, 1.0, 6.0, 4.0, 7.0, -1.0, 0.5])
SYMMETRIC = (np.array([0, 1, 2, 3, 0, 1]), np.array([0, 1, 2, 3, 1, 0]))
DEFINITE = np.array([5.0, 6.0, 4.0, 7.0, 1.0, 1.0])

Product = Callable[[Any, Any], Any]
FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


def csr(data: Any, kind: str = "csr_array") -> Any:
    return getattr(sparse, kind)((data, (ROWS, COLS)), shape=(4, 4))


def definite(data: Any) -> Any:
    return sparse.csr_array((data, SYMMETRIC), shape=(4, 4))


# -- constants of SciPy's


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_constant_matrices_with_tensors(format: str, kind: str) -> None:
    """SciPy's own matrices multiply tensors on both sides, with the values of the dense product and its gradient."""
    a = getattr(scipy.sparse, f"{format}_{kind}")(DENSE)
    left: Product = lambda a, x: a @ x
    pairs: list[tuple[Product, Product]] = [
        (left, left),
        (lambda a, x: x @ a, lambda a, x: x @ a),
        (lambda a, x: a.T @ x, lambda a, x: a.T @ x),
        (lambda a, x: a.dot(x) if a.format != "coo" else a @ x, left),
    ]
    for product, dense in pairs:
        for x in (X, COLUMNS @ COLUMNS.T):
            expected = dense(DENSE, x)
            np.testing.assert_allclose(product(a, gt.tensor(x, requires_grad=True)).numpy(), expected, atol=1e-13)
            gradients = [
                gt.grad(lambda x, p=p, a=a: np.sum(np.cos(p(a, x))))(x) for p, a in ((product, a), (dense, DENSE))
            ]
            np.testing.assert_allclose(gradients[0], gradients[1], atol=1e-13)
    if kind == "matrix":
        np.testing.assert_allclose((a * gt.tensor(X, requires_grad=True)).numpy(), DENSE @ X)


def test_products_with_constants_in_every_mode() -> None:
    """Second order, forward mode, batches and compiled code agree with the dense product."""
    a = scipy.sparse.csr_array(DENSE)
    f = lambda x: np.sum(np.sin(a @ x) * (x @ a))
    dense = lambda x: np.sum(np.sin(DENSE @ x) * (x @ DENSE))
    assert gt.gradcheck(f, X, order=2)
    np.testing.assert_allclose(gt.hessian(f)(X), gt.hessian(dense)(X), atol=1e-12)
    batch = RANDOM.normal(size=(3, 4))
    np.testing.assert_allclose(gt.vmap(gt.grad(f))(batch), gt.vmap(gt.grad(dense))(batch), atol=1e-12)
    compiled = gt.jit(gt.grad(f))
    np.testing.assert_allclose(compiled(X), gt.grad(dense)(X), atol=1e-12)
    assert "sparse_matmul" in str(compiled.program)
    a.data *= 2  # a compiled function sees the change
    np.testing.assert_allclose(compiled(X), gt.grad(lambda x: np.sum(np.sin(2 * DENSE @ x) * (x @ (2 * DENSE))))(X))


def test_other_operators_with_constants() -> None:
    """Sums with a dense tensor are dense, products of elements are sparse."""
    a, x = scipy.sparse.csr_array(DENSE), RANDOM.normal(size=(4, 4))
    sums: list[Product] = [lambda a, x: a + x, lambda a, x: x - a, lambda a, x: a - x, lambda a, x: x + a]
    for f in sums:
        np.testing.assert_allclose(f(a, gt.tensor(x, requires_grad=True)).numpy(), f(DENSE, x))
    product = gt.tensor(X, requires_grad=True) * a
    assert isinstance(product, sparse.csr_array)
    np.testing.assert_allclose(product.toarray().numpy(), X * DENSE)
    np.testing.assert_allclose((a / gt.tensor(2.0, requires_grad=True)).toarray().numpy(), DENSE / 2)
    converted: list[Callable[[Any], Any]] = [lambda x: a.multiply(x), lambda x: a * x, lambda x: a.tocoo().dot(x)]
    for refused in converted:
        with pytest.raises(DetachError, match="fix"):  # SciPy converts the operand, and has no way to hand it back
            refused(gt.tensor(X, requires_grad=True))


# -- values that are tensors


def of(sp: Any, data: Any) -> Any:
    return sp.csr_array((data, (ROWS, COLS)))


def stored(a: Any) -> Any:
    return a.toarray()


EXPRESSIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "csr @ vector": (lambda sp, d, x: sp.csr_array((d, (ROWS, COLS)), shape=(4, 4)) @ x, (DATA, X)),
    "vector @ csc": (lambda sp, d, x: x @ sp.csc_array((d, (ROWS, COLS)), shape=(4, 4)), (DATA, X)),
    "csr of parts": (
        lambda sp, d, x: sp.csr_matrix((d, [0, 2, 1, 2, 0, 3, 1], [0, 2, 3, 5, 7]), shape=(4, 4)) * x,
        (DATA, X),
    ),
    "csc of parts": (
        lambda sp, d, x: sp.csc_array((d, [0, 2, 1, 2, 0, 3, 1], [0, 2, 3, 5, 7])).T @ x,
        (DATA, X),
    ),
    "coo of values twice": (lambda sp, d: stored(sp.coo_array((d, (ROWS, 0 * COLS)), shape=(4, 4)).tocsr()), (DATA,)),
    "bsr": (lambda sp, d: stored(sp.bsr_array((d, [1, 0], [0, 1, 2]), shape=(4, 4))), (COLUMNS.reshape(2, 2, 2),)),
    "tobsr": (lambda sp, d: sp.csr_array((d, (ROWS, COLS)), shape=(4, 4)).tobsr(blocksize=(2, 2)).data, (DATA,)),
    "dia": (lambda sp, d: stored(sp.dia_array((d, [0, 1]), shape=(4, 4))), (COLUMNS.T,)),
    "dia data": (lambda sp, d: sp.dia_array((d, [-1, 2]), shape=(4, 4)).tocsr().todia().data, (COLUMNS.T,)),
    "of a dense matrix": (lambda sp, a: stored(sp.csr_array(a) @ sp.csc_array(a)), (DENSE,)),
    "conversions": (
        lambda sp, d: stored(sp.coo_array((d, (ROWS, COLS)), shape=(4, 4)).tocsc().tolil().todok().tocoo().tocsr().T),
        (DATA,),
    ),
    "sums": (
        lambda sp, d: [sp.coo_array((d, (ROWS, COLS)), shape=(4, 4)).tocsr().sum(axis) for axis in (None, 0, 1)],
        (DATA,),
    ),
    "sums of a matrix": (
        lambda sp, d: [
            np.asarray(x) if isinstance(x, np.matrix) else x for x in (sp.csr_matrix((d, (ROWS, COLS))).sum(0),)
        ],
        (DATA,),
    ),
    "mean and diagonals": (
        lambda sp, d: [(a := of(sp, d)).mean(), a.diagonal(), a.diagonal(2), a.trace()],
        (DATA,),
    ),
    "slices": (
        lambda sp, d: [(a := of(sp, d))[1:3, ::2].toarray(), a[3, 0], a[[0, 2]].toarray()],
        (DATA,),
    ),
    "arithmetic": (
        lambda sp, d, e: stored(
            (a := of(sp, d)) * 2.0 - sp.csr_array(DENSE) / 3.0 + (-a) @ sp.csr_array((e, (COLS, ROWS)))
        ),
        (DATA, DATA[::-1].copy()),
    ),
    "products of elements": (
        lambda sp, d, x: stored((a := of(sp, d)).multiply(x) + a.multiply(a.T.tocsr())),
        (DATA, X),
    ),
    "dense sum": (
        lambda sp, d, x: np.asarray(0.0) + (of(sp, d) + x),
        (DATA, RANDOM.normal(size=(4, 4))),
    ),
    "powers": (
        lambda sp, d: stored(of(sp, d) ** 3 + of(sp, d).power(2)),
        (DATA,),
    ),
    "matrix power": (lambda sp, d: stored(sp.csr_matrix((d, (ROWS, COLS))) ** 2), (DATA,)),
    "elements": (
        lambda sp, d: stored(abs((a := of(sp, d)).sin() + a.expm1() + a.sqrt())),
        (DATA + 2,),
    ),
    "reshape": (lambda sp, d: stored(of(sp, d).reshape((2, 8))), (DATA,)),
    "diags": (lambda sp, d, e: stored(sp.diags([d, e[:3], 2.0 * e[:1]], [0, 1, -2], shape=(4, 4))), (X, B)),
    "diags_array": (lambda sp, d: stored(sp.diags_array(d, offsets=1, format="csr")), (X,)),
    "spdiags": (lambda sp, d: stored(sp.spdiags(d, [0, 1], 4, 4)), (COLUMNS.T,)),
    "kron": (lambda sp, d, a: stored(sp.kron(of(sp, d), a, format="csr")), (DATA, COLUMNS)),
    "kronsum": (lambda sp, d: stored(sp.kronsum(of(sp, d), sp.eye_array(2))), (DATA,)),
    "block_array": (
        lambda sp, d: stored(sp.block_array([[of(sp, d), None], [None, sp.eye_array(2)]], format="csr")),
        (DATA,),
    ),
    "stacks": (
        lambda sp, d: [stored(join([of(sp, d), sp.csr_array(DENSE)])) for join in (sp.hstack, sp.vstack)],
        (DATA,),
    ),
    "block_diag": (lambda sp, d: stored(sp.block_diag([of(sp, d), DENSE])), (DATA,)),
    "triangles": (
        lambda sp, d: [stored(sp.tril(a := of(sp, d))), stored(sp.triu(a, 1, "csr"))],
        (DATA,),
    ),
    "find": (lambda sp, d: sp.find(of(sp, d))[2], (np.sort(DATA),)),
    "norms": (
        lambda sp, d: [sp.linalg.norm(of(sp, d), *how) for how in ((), (1,), (np.inf,), (-1,), (None, 0), (1, 1))],
        (DATA + 0.1 * np.arange(7),),
    ),
    "spsolve": (lambda sp, d, b: sp.linalg.spsolve(sp.csc_array((d, (ROWS, COLS))), b), (DATA, B)),
    "spsolve of columns": (lambda sp, d, b: sp.linalg.spsolve(sp.csc_array((d, (ROWS, COLS))), b), (DATA, COLUMNS)),
    "splu": (lambda sp, d, b: sp.linalg.splu(sp.csc_array((d, (ROWS, COLS)))).solve(b, "T"), (DATA, B)),
    "factorized": (lambda sp, d, b: sp.linalg.factorized(sp.csc_array((d, (ROWS, COLS))))(b), (DATA, B)),
    "spsolve_triangular": (
        lambda sp, d, b: sp.linalg.spsolve_triangular(sp.tril(of(sp, d), format="csr"), b),
        (DATA, B),
    ),
    "inv": (lambda sp, d: stored(sp.linalg.inv(sp.csc_array((d, (ROWS, COLS))))), (DATA,)),
    "expm": (lambda sp, d: stored(sp.linalg.expm(sp.csc_array((d / 8, (ROWS, COLS))))), (DATA,)),
    "expm_multiply": (lambda sp, d, b: sp.linalg.expm_multiply(sp.csr_array((d / 8, (ROWS, COLS))), b), (DATA, B)),
    "lsqr": (
        lambda sp, d, b: sp.linalg.lsqr(of(sp, d), b, damp=0.5, atol=1e-15, btol=1e-15)[0],
        (DATA, B),
    ),
    "lsmr of more equations": (
        lambda sp, a, b: sp.linalg.lsmr(sp.csr_array(a), b, atol=1e-15, btol=1e-15, conlim=1e15)[0],
        (TALL + 0.1, RANDOM.normal(size=5)),
    ),
    "eigsh": (
        lambda sp, d: sp.linalg.eigsh(sp.csr_array((d, SYMMETRIC)), k=2, v0=np.ones(4), which="SA"),
        (DEFINITE,),
    ),
}
for _method in ("bicg", "bicgstab", "cgs", "gcrotmk", "gmres", "lgmres", "qmr", "tfqmr"):
    EXPRESSIONS[_method] = (
        lambda sp, d, b, m=_method: getattr(sp.linalg, m)(of(sp, d), b, rtol=1e-13)[0],
        (DATA, B),
    )
every = pytest.mark.parametrize("name", EXPRESSIONS)


def parts(result: Any) -> list[Any]:
    return list(result) if isinstance(result, list | tuple) else [result]


@every
def test_values_are_scipys(name: str) -> None:
    """With tensors for values an expression gives what SciPy gives for arrays."""
    function, inputs = EXPRESSIONS[name]
    expected = parts(function(scipy.sparse, *inputs))
    actual = parts(function(sparse, *map(gt.tensor, inputs)))
    for a, b in zip(actual, expected, strict=True):
        assert isinstance(a, gt.Tensor)
        assert (a.shape, a.dtype) == (np.shape(b), np.asarray(b).dtype)
        np.testing.assert_allclose(a.numpy(), b, rtol=1e-8, atol=1e-9)


@every
def test_derivatives(name: str) -> None:
    """Reverse and forward mode agree with finite differences, for the solvers to second order."""
    function, inputs = EXPRESSIONS[name]
    order = 2 if name in ("csr @ vector", "spsolve", "eigsh", "kron") else 1
    assert gt.gradcheck(lambda *values: tuple(parts(function(sparse, *values))), *inputs, order=order)


@pytest.mark.parametrize("name", ["cg", "minres"])
def test_symmetric_solvers(name: str) -> None:
    """The solvers of symmetric systems, whose derivative by each value is that of the system as it is written."""
    solve: Product = lambda d, b: getattr(sparse.linalg, name)(definite(d), b, rtol=1e-13)
    dense: Product = lambda d, b: np.linalg.solve(definite(d).toarray(), b)
    assert solve(gt.tensor(DEFINITE), B)[1] == 0
    for a, b in zip(
        gt.grad(lambda d, b: np.sum(solve(d, b)[0] ** 2), (0, 1))(DEFINITE, B),
        gt.grad(lambda d, b: np.sum(dense(d, b) ** 2), (0, 1))(DEFINITE, B),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)


def test_batches_and_compiled() -> None:
    """Gradients by values and right-hand sides, mapped over a batch and compiled, are those of each example."""

    def loss(data: Any, b: Any) -> Any:
        a = csr(data)
        solution, info = sparse.linalg.gmres(a, b, rtol=1e-13)
        return np.sum(np.cos(a @ b)) + np.sum(sparse.linalg.spsolve(a.tocsc(), b) ** 2) + np.sum(solution) + info

    gradient = gt.grad(loss, (0, 1))
    examples = [(DATA, B), (DATA * 1.1, B + 0.1)]
    expected = [gradient(*example) for example in examples]
    mapped = gt.vmap(gradient)(*map(np.stack, zip(*examples, strict=True)))
    only_right = gt.vmap(gradient, in_axes=(None, 0))(DATA, np.stack([B, B]))
    compiled = gt.jit(gradient)(*examples[0])
    for k in range(2):
        for a, b in zip(mapped, expected[k], strict=True):
            np.testing.assert_allclose(a[k], b, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(only_right[k][0], expected[0][k], rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(compiled[k], expected[0][k], rtol=1e-8, atol=1e-9)


def test_linear_operators() -> None:
    """Products of operators record what the user's functions compute; solvers take operators of constants."""
    diagonal = np.array([2.0, 3.0, 4.0, 5.0])
    operator = sparse.linalg.LinearOperator(
        (4, 4), matvec=lambda x: diagonal * x, rmatvec=lambda x: diagonal * x, dtype=float
    )
    np.testing.assert_allclose(gt.grad(lambda x: np.sum((operator @ x) ** 2))(X), 2 * diagonal**2 * X)
    np.testing.assert_allclose(gt.grad(lambda x: np.sum(operator.H.matvec(x)))(X), diagonal)
    scaled: Callable[[Any], Any] = lambda c: sparse.linalg.LinearOperator((4, 4), matvec=lambda x: c * x, dtype=float)
    np.testing.assert_allclose(float(gt.grad(lambda c: np.sum(scaled(c) @ X))(2.0)), float(np.sum(X)))
    for name in ("cg", "gmres", "bicgstab"):
        solve = lambda b, name=name: getattr(sparse.linalg, name)(operator, b, rtol=1e-13)[0]
        np.testing.assert_allclose(gt.jacobian(solve)(B), np.diag(1 / diagonal), atol=1e-9)
    assert type(sparse.linalg.cg(operator, B)[0]) is np.ndarray
    with pytest.raises(UnsupportedError, match="depend on tensors"):
        gt.grad(lambda c: np.sum(sparse.linalg.cg(scaled(c), B)[0]))(2.0)
    wrapped = sparse.linalg.aslinearoperator(csr(gt.tensor(DATA)))
    np.testing.assert_allclose((wrapped @ gt.tensor(X)).numpy(), csr(DATA) @ X)


def test_matrices_of_constants_in_expm_multiply_and_splu() -> None:
    """Constant matrices are SciPy's own, and their factors take tensors."""
    a = scipy.sparse.csc_array((DATA / 8, (ROWS, COLS)))
    assert type(csr(DATA)) is scipy.sparse.csr_array
    assert gt.gradcheck(lambda b: sparse.linalg.expm_multiply(a, b), COLUMNS)
    assert gt.gradcheck(lambda b: sparse.linalg.expm_multiply(a, b, start=0.0, stop=1.0, num=3), B)
    assert gt.gradcheck(lambda b: sparse.linalg.splu(a).solve(b), B)
    np.testing.assert_array_equal(sparse.linalg.splu(a).perm_c, scipy.sparse.linalg.splu(a).perm_c)


def test_classes_know_their_instances() -> None:
    """`isinstance`, `issparse`, the parts of the formats and their names are SciPy's."""
    a, theirs = csr(gt.tensor(DATA)), csr(DATA)
    assert isinstance(a, sparse.csr_array)
    assert isinstance(a, sparse.sparray)
    assert not isinstance(a, sparse.csr_matrix)
    assert isinstance(theirs, sparse.csr_array)
    assert sparse.issparse(a)
    assert sparse.issparse(theirs)
    assert not sparse.issparse(X)
    assert sparse.isspmatrix_csc(csr(gt.tensor(DATA), "csc_matrix"))
    for name in ("indices", "indptr", "shape", "nnz", "format", "ndim"):
        np.testing.assert_array_equal(getattr(a, name), getattr(theirs, name))
        np.testing.assert_array_equal(getattr(a.T, name), getattr(theirs.T, name))
    np.testing.assert_array_equal(a.getnnz(0), scipy.sparse.csr_matrix(theirs).getnnz(0))
    blocks, expected = a.tobsr((2, 2)), theirs.tobsr((2, 2))
    np.testing.assert_array_equal(blocks.indptr, expected.indptr)
    np.testing.assert_array_equal(blocks.indices, expected.indices)
    np.testing.assert_allclose(blocks.T.toarray().numpy(), expected.T.toarray())
    np.testing.assert_array_equal(a.tocoo().row, theirs.tocoo().row)
    np.testing.assert_array_equal(a.todia().offsets, theirs.todia().offsets)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda a: np.asarray(a), DetachError, "toarray"),
        (lambda a: a @ np.ones(3), ShapeError, "mismatch"),
        (lambda a: a + 1.0, OperandError, "dense"),
        (lambda a: a.multiply(np.ones(3)), ShapeError, "inconsistent"),
        (lambda a: sparse.csr_array((a.data, (ROWS, COLS)), shape=(2, 2)), ShapeError, "row 3"),
        (lambda a: sparse.csr_array((a.data, ([0], [1])), shape=(2, 2)), ShapeError, "one row"),
        (lambda a: sparse.linalg.spsolve(a * 0.0, B), LinearAlgebraError, "singular"),
        (lambda a: sparse.linalg.lsqr(a[:2], B[:2]), UnsupportedError, "damp"),
        (lambda a: sparse.linalg.eigsh(a, M=a), UnsupportedError, "with M"),
        (lambda a: sparse.linalg.gmres(a, np.ones(3)), ShapeError, "4 rows"),
        (lambda a: sparse.linalg.eigs(gt.tensor(DENSE, requires_grad=True)), UnsupportedError, "eig"),
    ],
)
def test_refused_with_a_reason(call: Callable[[Any], Any], kind: type[Exception], text: str) -> None:
    """What cannot be done raises an error that says why."""
    with pytest.raises(kind, match=text):
        call(csr(gt.tensor(DATA)))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (sparse, scipy.sparse),
        (sparse.linalg, scipy.sparse.linalg),
        (sparse.csgraph, scipy.sparse.csgraph),
    ],
)
def test_every_public_name_is_there(ours: Any, theirs: Any) -> None:
    """Each name of SciPy's is differentiated, a class, passed through, or refused with a reason of its own."""
    reasons = {name for names in ours.REASONS.values() for name in names.split()}
    for name in (name for name in dir(theirs) if not name.startswith("_")):
        assert hasattr(ours, name)
        is_object = isinstance(getattr(theirs, name), type | types.ModuleType) or name == "test"  # SciPy's own tests
        if callable(getattr(theirs, name)) and not is_object:
            assert (name in ours.original.functions) != (name in reasons), name


def test_times_of_expm_multiply_have_gradients() -> None:
    """`stop` that is a tensor; it was taken for a constant."""
    matrix = scipy.sparse.csr_array(np.array([[0.1, 1.0], [0.3, 0.2]]))

    def total(stop: Any) -> Any:
        return sparse.linalg.expm_multiply(matrix, np.array([1.0, 2.0]), start=0.0, stop=stop, num=3).sum()

    wanted = (total(0.7 + 1e-6) - total(0.7 - 1e-6)) / 2e-6
    np.testing.assert_allclose(gt.grad(total)(0.7), wanted, rtol=1e-7)


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_count_the_zeros_that_are_not_stored(name: str, format: str) -> None:
    """The largest and the smallest element are SciPy's, places that are named twice added up, with their gradients."""
    rows, columns = [0, 0, 1, 1], [0, 0, 1, 2]
    for values in ([2.0, 0.3, -3.0, 1.5], [-2.0, -0.3, -3.0, -1.5], [2.0, 0.3, 3.0, 1.5]):
        given = np.array(values)

        def extreme(module: Any, x: Any) -> Any:
            matrix = module.coo_array((x, (rows, columns)), shape=(3, 3)).asformat(format)
            return getattr(matrix, name)()

        value, slope = gt.value_and_grad(lambda x, extreme=extreme: 1.0 * extreme(sparse, x))(given)
        expected = extreme(scipy.sparse, given)
        assert value == expected
        assert slope @ given == pytest.approx(expected)


def test_extremes_along_an_axis_are_refused_with_the_dense_ones() -> None:
    """The error names what to write."""
    with pytest.raises(UnsupportedError, match=r"A\.toarray\(\)\.max\(axis\)"):
        gt.grad(lambda x: sparse.csr_array((x, ([0, 1, 2], [0, 1, 2]))).max(axis=0).sum())(np.ones(3))
