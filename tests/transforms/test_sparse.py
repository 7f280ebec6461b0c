"""Sparse Jacobians and Hessians: the same numbers as the dense ones, from few passes, and never a dependency missed."""

from __future__ import annotations

import itertools
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from ops.cases import DIFFERENTIABLE, Case, cases, parts

import gradtape as gt
from gradtape.core import batch
from gradtape.core.operation import Op
from gradtape.core.rules import TABLE
from gradtape.transforms.sparse import PatternError, colouring, sparse_hessian, sparse_jacobian
from gradtape.transforms.sparse import derivative as derivatives
from gradtape.transforms.sparse import pattern as patterns

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]


def point(*shape: int, seed: int = 0) -> Array:
    """Distinct positive numbers."""
    return np.random.default_rng(seed).uniform(0.3, 1.7, shape)


def dense_jacobian(function: Function, x: Any) -> Array:
    """The whole Jacobian as a matrix."""
    matrix: Array = np.asarray(gt.jacobian(function)(x)).reshape(-1, np.size(x))
    return matrix


def dense_hessian(function: Function, x: Any) -> Array:
    """The whole Hessian as a matrix."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gt.GradientWarning)  # no dependence is no mistake here
        matrix: Array = np.asarray(gt.hessian(function)(x)).reshape(np.size(x), np.size(x))
    return matrix


# -- functions with a structure


def laplacian_line(u: Any) -> Any:
    """Second differences of a line with fixed ends."""
    return u[:-2] - 2 * u[1:-1] * u[1:-1] + u[2:]


def laplacian_grid(u: Any) -> Any:
    """The five-point stencil on a square grid, each value weighted by its own square."""
    out = 4 * u**2
    for axis, forward in itertools.product((0, 1), (True, False)):
        shifted = np.roll(u, 1 if forward else -1, axis)
        inside = np.ones(u.shape)
        inside[(slice(None),) * axis + (0 if forward else -1,)] = 0
        out = out - inside * shifted
    return out


def banded(x: Any) -> Any:
    """A product with a constant matrix whose band is one wide above and two below."""
    size = x.shape[0]
    band = np.eye(size) + np.eye(size, k=1) + 2 * np.eye(size, k=-2)
    return np.sin(band @ x)


def arrow_down(x: Any) -> Any:
    """A diagonal, and a last output that depends on everything."""
    return np.concatenate([x[:-1] ** 2, np.sum(x).reshape(1)])


def arrow_right(x: Any) -> Any:
    """A diagonal, and a first input that everything depends on."""
    return x**2 + x[0]


def blocks(x: Any) -> Any:
    """Four numbers at a time through the same small matrix."""
    return np.tanh(x.reshape(-1, 4) @ np.arange(1.0, 17).reshape(4, 4))


def mixed(x: Any) -> Any:
    """Everything depends on everything."""
    return gt.softmax(x)


STRUCTURES: dict[str, tuple[Function, tuple[int, ...], int, int]] = {
    # name: function, input shape, how many colours at most, entries of the pattern
    "line": (laplacian_line, (40,), 3, 3 * 38),
    "grid": (laplacian_grid, (30, 30), 7, 5 * 900 - 4 * 30),
    "banded": (banded, (30,), 4, 30 + 29 + 28),
    "arrow down": (arrow_down, (30,), 2, 29 + 30),
    "arrow right": (arrow_right, (30,), 2, 29 + 30),
    "elementwise": (lambda x: np.exp(x) * x, (5, 6), 1, 30),
    "blocks": (blocks, (40,), 4, 160),
    "dense": (mixed, (12,), 12, 144),
    "sum": (np.sum, (30,), 1, 30),
    "copies": (lambda x: np.broadcast_to(x, (7, 3)), (3,), 1, 21),
    "maximum along an axis": (lambda x: np.max(x, axis=1), (4, 5), 1, 20),
    "softmax along an axis": (lambda x: gt.softmax(x, 0), (4, 5), 4, 80),
    "running sums along an axis": (lambda x: np.cumsum(x, 1), (4, 5), 5, 100),
    "transposed": (lambda x: x.T.reshape(-1), (4, 5), 1, 20),
    "permuted": (lambda x: x[[3, 1, 1, 0]], (4,), 1, 4),
    "diagonal matrix": (lambda x: np.diag(x) @ x, (8,), 1, 8),
    "masked": (lambda x: x * np.tri(5)[::-1], (5, 5), 1, 15),
    "chosen": (lambda x: gt.where(np.arange(6) < 2, x, x[::-1]), (6,), 1, 6),
    "written": (lambda x: gt.at(x)[1:3].set(x[0]), (5,), 1, 5),
    "through complex numbers": (lambda x: np.imag((x * (1 + 2j))[::-1]), (6,), 1, 6),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_structure_is_found(name: str) -> None:
    """The numbers are those of the dense Jacobian, the pattern has no entry too many, and passes are few."""
    function, shape, colours, entries = STRUCTURES[name]
    derivative = sparse_jacobian(function)
    x = point(*shape)
    found = derivative(x)
    assert isinstance(found, scipy.sparse.csr_array)
    np.testing.assert_allclose(found.toarray(), dense_jacobian(function, x), rtol=1e-12, atol=1e-12)
    assert (derivative.pattern.nnz, found.nnz) == (entries, entries)
    assert derivative.colours is not None
    assert 1 <= derivative.colours <= colours


@pytest.mark.parametrize(("name", "mode"), [("arrow down", "reverse"), ("arrow right", "forward"), ("sum", "reverse")])
def test_direction_with_fewer_colours_is_taken(name: str, mode: str) -> None:
    """A full row asks for passes back, a full column for passes forward."""
    function, shape, _, _ = STRUCTURES[name]
    derivative = sparse_jacobian(function)
    derivative(point(*shape))
    assert derivative.mode == mode


def rosenbrock(x: Any) -> Any:
    """Each number is coupled with the next."""
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def hub(x: Any) -> Any:
    """Each number is coupled with the first."""
    return np.sum(np.sin(x[1:])) * x[0] ** 2


HESSIANS: dict[str, tuple[Function, tuple[int, ...], int, int]] = {
    "rosenbrock": (rosenbrock, (20,), 3, 20 + 2 * 19),
    "hub": (hub, (20,), 2, 20 + 2 * 19),
    "separable": (lambda x: np.sum(np.sin(x)), (4, 5), 1, 20),
    "dense": (lambda x: np.sum(x) ** 3, (6,), 6, 36),
    "pairs": (lambda x: np.sum(x[::2] * x[1::2]), (8,), 2, 8),
    "grid": (lambda u: np.sum((u[1:] - u[:-1]) ** 4) + np.sum((u[:, 1:] - u[:, :-1]) ** 4), (8, 8), 6, 64 + 4 * 56),
}


@pytest.mark.parametrize("name", HESSIANS)
def test_hessian_structure_is_found(name: str) -> None:
    """A sparse Hessian has the numbers of the dense one, a symmetric pattern, and few colours."""
    function, shape, colours, entries = HESSIANS[name]
    derivative = sparse_hessian(function)
    x = point(*shape)
    found = derivative(x)
    np.testing.assert_allclose(found.toarray(), dense_hessian(function, x), rtol=1e-10, atol=1e-10)
    assert derivative.pattern.nnz == entries
    assert (derivative.pattern != derivative.pattern.T).nnz == 0
    assert derivative.colours is not None
    assert derivative.colours <= colours


def test_hessian_with_a_full_row_needs_two_passes() -> None:
    """Symmetry is used: by columns alone a hub would need a pass for every number."""
    derivative = sparse_hessian(hub)
    derivative(point(50))
    assert derivative.colours == 2
    assert colouring._coloured(derivative.pattern)[1] == 50


def test_large_problem_has_no_dense_matrix() -> None:
    """20 000 unknowns: three passes, and memory far below that of a dense matrix of bits."""
    size = 20_000
    x = point(size)
    jacobian, hessian = sparse_jacobian(laplacian_line), sparse_hessian(rosenbrock)
    tracemalloc.start()
    first, second = jacobian(x), hessian(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < size * size / 8
    assert (jacobian.colours, hessian.colours) == (3, 3)
    direction = point(size, seed=1)
    np.testing.assert_allclose(first @ direction, gt.jvp(laplacian_line, (x,), (direction,))[1], rtol=1e-9)
    np.testing.assert_allclose(second @ direction, gt.hvp(rosenbrock, x, direction), rtol=1e-9)


# -- never a dependency missed


def real_case(case: Case, number: int) -> tuple[Function, Any]:
    """An operation as a function of one of its inputs, and the value of that input."""

    def function(x: Any) -> Any:
        values = list(case.point)
        values[number] = x
        results = [np.real(part) if part.dtype.kind == "c" else part for part in parts(case.at(*values))]
        return results[0] if len(results) == 1 else np.concatenate([part.reshape(-1) for part in results])

    return function, np.asarray(case.point[number])


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_no_operation_misses_a_dependency(name: str) -> None:
    """For every operation of the table, the sparse Jacobian is the dense one, and so is the Hessian of what follows."""
    for case in cases(TABLE[name]):
        for number, x in enumerate(case.point):
            function, x = real_case(case, number)
            if x.dtype.kind == "c" or not x.size or not np.size(function(x)):
                continue
            found = sparse_jacobian(function)(x)
            np.testing.assert_allclose(found.toarray(), dense_jacobian(function, x), rtol=1e-6, atol=1e-9)

            def curved(x: Any, function: Function = function) -> Any:
                return np.sum(np.sin(function(x)))

            second = sparse_hessian(curved)(x)
            np.testing.assert_allclose(second.toarray(), dense_hessian(curved, x), rtol=1e-6, atol=1e-6)


def constant_matrix(rows: int) -> Array:
    """A matrix with zeros in it."""
    return np.where(np.arange(rows * 3).reshape(rows, 3) % 4 == 0, 0.0, 0.5)


STEPS: dict[str, Function] = {
    "sine": np.sin,
    "square": lambda x: x * x,
    "mask": lambda x: x * (np.arange(x.size).reshape(x.shape) % 3 > 0),
    "roll": lambda x: np.roll(x, 1, axis=-1) - x,
    "flip": lambda x: x + x[::-1],
    "slice": lambda x: x[..., 1:] if x.shape[-1] > 1 else x,
    "pick": lambda x: x[[0, -1, 0]],
    "flatten": lambda x: x.reshape(-1),
    "transpose": lambda x: x.T,
    "sum": lambda x: np.sum(x, axis=0, keepdims=True),
    "centre": lambda x: x - np.mean(x, axis=-1, keepdims=True),
    "max": lambda x: np.max(x, axis=-1, keepdims=True) * x,
    "softmax": lambda x: gt.softmax(x, -1),
    "running sum": lambda x: np.cumsum(x, axis=0),
    "product": lambda x: x @ constant_matrix(x.shape[-1]),
    "einsum": lambda x: np.einsum("...i,ij->...j", x, constant_matrix(x.shape[-1])),
    "own product": lambda x: x @ x.T if x.ndim == 2 else x * np.sum(x),
    "where": lambda x: gt.where(np.arange(x.shape[-1]) % 2 == 0, x, 0.0),
    "branch": lambda x: gt.where(x > 0.5, x * x, x[..., ::-1]),
    "join": lambda x: np.concatenate([x, 2 * x], axis=-1),
    "write": lambda x: gt.at(x)[0].add(x[-1]),
    "clip": lambda x: np.clip(x, -0.5, 0.7),
    "factor": lambda x: np.prod(x, axis=0, keepdims=True) + x,
}


@pytest.mark.filterwarnings("ignore::gradtape.GradientWarning")  # a softmax of a softmax, for one
@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=5),
    shape=st.sampled_from([(5,), (3, 4), (1, 3), (4, 1)]),
    seed=st.integers(0, 1000),
)
def test_random_expressions_agree_with_dense(names: list[str], shape: tuple[int, ...], seed: int) -> None:
    """Whatever operations follow one another, sparse and dense derivatives are the same numbers."""

    def function(x: Any) -> Any:
        for name in names:
            if x.size < 60:
                x = STEPS[name](x)
        return x

    def curved(x: Any) -> Any:
        return np.sum(np.cos(function(x)))

    x = np.random.default_rng(seed).normal(size=shape)
    np.testing.assert_allclose(sparse_jacobian(function)(x).toarray(), dense_jacobian(function, x), atol=1e-9)
    np.testing.assert_allclose(sparse_hessian(curved)(x).toarray(), dense_hessian(curved, x), rtol=1e-6, atol=1e-8)


def test_zeros_at_the_point_are_not_taken_for_constants() -> None:
    """A factor that happens to be zero, but depends on the source, keeps its entries."""
    derivative = sparse_jacobian(lambda x: x[:2] * x[2:])
    found = derivative(np.array([0.0, 1.0, 0.0, 2.0]))
    np.testing.assert_array_equal(found.toarray(), [[0, 0, 0, 0], [0, 2, 0, 1]])
    assert derivative.pattern.nnz == 4


def test_tiny_coefficients_keep_their_entries() -> None:
    """A weight too small to change a sum is still an entry."""
    weights = np.array([[1.0, 1e-300], [1e-30, 1.0]])
    np.testing.assert_array_equal(sparse_jacobian(lambda x: weights @ x)(np.ones(2)).toarray(), weights)


PRODUCTS = {
    "matrix times vector": ((3,), lambda x, c: c(4, 3) @ x),
    "vector times matrix": ((3,), lambda x, c: x @ c(3, 4)),
    "vector times vector": ((3,), lambda x, c: x @ c(3)),
    "stack times matrix": ((2, 3, 4), lambda x, c: x @ c(4, 2)),
    "matrix times stack": ((3, 4), lambda x, c: x @ c(2, 4, 2)),
    "stretched stack": ((2, 1, 3, 4), lambda x, c: x @ c(3, 4, 2)),
    "vector times stack": ((4,), lambda x, c: x @ c(3, 4, 2)),
    "stack times vector": ((2, 3, 4), lambda x, c: x @ c(4)),
    "three operands": ((3, 4), lambda x, c: np.einsum("ij,jk,ki->ik", x, c(4, 5), c(5, 3))),
    "outer": ((3,), lambda x, c: np.einsum("i,j->ij", x, c(4))),
    "trace": ((3, 3), lambda x, c: np.einsum("ii,ij->j", x, c(3, 4))),
    "stretched letter": ((1, 3), lambda x, c: np.einsum("ij,ij->ij", x, c(4, 3))),
    "sum over": ((3, 4), lambda x, c: np.einsum("ij,k->k", x, c(5))),
    "both sides": ((3, 3), lambda x, c: x @ (c(3, 3) * x)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_follow_the_zeros_of_constants(name: str) -> None:
    """In products with constants, the pattern is exactly where the derivative is not zero."""
    shape, product = PRODUCTS[name]

    def constant(*lengths: int) -> Array:
        values = point(*lengths, seed=5)
        values.reshape(-1)[::3] = 0
        return values

    def function(x: Any) -> Any:
        return product(x, constant)

    derivative = sparse_jacobian(function)
    dense = dense_jacobian(function, point(*shape))
    np.testing.assert_allclose(derivative(point(*shape)).toarray(), dense, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(derivative.pattern.toarray(), dense != 0)


def test_too_many_entries_are_replaced_by_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the list of a product's entries would be too long, its pattern is coarser and the numbers the same."""
    monkeypatch.setattr(patterns, "MOST_ENTRIES", 1)
    weights = np.eye(4)
    derivative = sparse_jacobian(lambda x: x @ weights)
    np.testing.assert_array_equal(derivative(np.ones((3, 4))).toarray(), np.eye(12))
    assert derivative.pattern.nnz == 3 * 16


# -- operations that tell little


def custom(name: str, **details: Any) -> Op:
    """An operation that doubles, outside of the table unless it is put there."""
    rules: dict[str, Any] = {
        "reverse": lambda g, node, out, inputs: (2 * g,),
        "forward": lambda node, out, inputs, tangents: 2 * tangents[0],
    }
    return Op(name, lambda x: 2 * x, **{**rules, **details})


def test_unknown_operations_depend_on_everything_that_goes_in() -> None:
    """A custom rule may mix its elements, so all of them count, but only for what goes into it."""
    double = custom("double")
    derivative = sparse_jacobian(lambda x: np.concatenate([double(x[:3]), x[3:]]))
    np.testing.assert_array_equal(derivative(np.ones(6)).toarray(), np.diag([2.0, 2, 2, 1, 1, 1]))
    assert derivative.pattern.nnz == 9 + 3


def test_operation_without_a_forward_rule_is_walked_back() -> None:
    """Where passes cannot go forward they go back, whatever the number of colours; a Hessian too."""
    double = custom("double", forward=None)
    derivative = sparse_jacobian(lambda x: double(x[:2]) + x[2])
    np.testing.assert_array_equal(derivative(np.ones(3)).toarray(), [[2, 0, 1], [0, 2, 1]])
    assert derivative.mode == "reverse"
    second = sparse_hessian(lambda x: np.sum(double(x) ** 2 * x))
    np.testing.assert_allclose(second(np.ones(2)).toarray(), 24 * np.eye(2))
    assert second.mode == "reverse"


def refusing(node: Any, out: Any, inputs: Any, tangents: Any) -> Any:
    """A forward rule that takes finite numbers only."""
    tangent = tangents[0]
    if not np.isfinite(tangent.value if hasattr(tangent, "value") else tangent).all():
        raise ValueError("not finite")
    return 2 * tangent


def test_rule_that_refuses_infinities_counts_as_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operation of the table that cannot be asked for its structure is taken to mix everything."""
    double = custom("double", forward=refusing)
    monkeypatch.setitem(TABLE, "double", double)
    derivative = sparse_jacobian(double)
    np.testing.assert_array_equal(derivative(np.ones(3)).toarray(), 2 * np.eye(3))
    assert derivative.pattern.nnz == 9


def test_rule_that_answers_in_another_shape_counts_as_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that cannot be read is not guessed at."""
    double = custom("double", forward=lambda node, out, inputs, tangents: (2 * tangents[0])[None])
    monkeypatch.setitem(TABLE, "double", double)
    derivative = sparse_jacobian(lambda x: double(x)[:1])
    np.testing.assert_array_equal(derivative(np.ones(3)).toarray(), [[2.0, 0, 0]])
    assert (derivative.pattern.nnz, derivative.mode) == (3, "reverse")


def test_rule_that_answers_nothing_has_no_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operation of the table whose rules say that there is no derivative adds nothing to the pattern."""
    flat = custom("flat", reverse=lambda *_: (None,), forward=lambda *_: None)
    monkeypatch.setitem(TABLE, "flat", flat)
    derivative = sparse_jacobian(lambda x: flat(x) + x[::-1])
    np.testing.assert_array_equal(derivative(np.ones(3)).toarray(), np.eye(3)[::-1])
    assert derivative.pattern.nnz == 3


def test_operation_with_several_results_counts_as_dense() -> None:
    """Each result of an operation with several depends on all that went in."""
    halves = Op(
        "halves",
        lambda x: (x[:2] * 1, x[2:] * 1),
        reverse=lambda g, node, out, inputs: (np.concatenate(g),),
        forward=lambda node, out, inputs, tangents: (tangents[0][:2], tangents[0][2:]),
        outputs=True,
    )
    derivative = sparse_jacobian(lambda x: halves(x)[1] * x[:2])
    x = point(4)
    expected = np.hstack([np.diag(x[2:]), np.diag(x[:2])])
    np.testing.assert_allclose(derivative(x).toarray(), expected)
    assert derivative.pattern.nnz == 8


# -- colours


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.floats(0.05, 0.9), st.integers(0, 10_000))
def test_rows_of_one_colour_share_no_column(rows: int, columns: int, density: float, seed: int) -> None:
    """The colouring of any pattern keeps apart what shares a column, leaves out empty rows, and counts right."""
    entries = np.random.default_rng(seed).random((rows, columns)) < density
    colour, count = colouring._coloured(scipy.sparse.csr_array(entries))
    np.testing.assert_array_equal(colour >= 0, entries.any(axis=1))
    assert count == len(set(colour[colour >= 0]))
    for shade in range(count):
        assert (entries[colour == shade].sum(axis=0) <= 1).all()


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 9), st.floats(0.05, 0.9), st.integers(0, 10_000))
def test_star_colouring_can_be_read(size: int, density: float, seed: int) -> None:
    """Any symmetric matrix is read back exactly from the sums of its columns of one colour."""
    values = np.random.default_rng(seed).normal(size=(size, size)) * (
        np.random.default_rng(seed + 1).random((size, size)) < density
    )
    matrix = values + values.T
    plan = colouring._star_plan(scipy.sparse.csr_array(matrix != 0), forward=True)
    sums = np.array([matrix[:, plan.colour == shade].sum(axis=1) for shade in range(plan.colours)])
    rows, columns = plan.pattern.nonzero()
    np.testing.assert_array_equal(sums[plan.passes, plan.places] if rows.size else [], matrix[rows, columns])


def test_many_colours_go_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch that would be too wide is split, and the numbers are the same."""
    x = point(12)
    whole = sparse_jacobian(mixed)(x)
    monkeypatch.setattr(batch, "CHUNK", 24)
    np.testing.assert_array_equal(sparse_jacobian(mixed)(x).toarray(), whole.toarray())


# -- patterns that are known


@pytest.fixture
def detections(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows by one whenever a pattern is detected."""
    seen: list[int] = []
    detect = derivatives.detect_pattern

    def counted(*args: Any) -> Any:
        seen.append(1)
        return detect(*args)

    monkeypatch.setattr(derivatives, "detect_pattern", counted)
    return seen


def branching(x: Any) -> Any:
    """Which elements are coupled depends on a value."""
    return x * x[::-1] if x[0] > 0 else x**2


def test_pattern_is_detected_at_every_call(detections: list[int]) -> None:
    """By default a branch that goes the other way gets the pattern it has."""
    derivative = sparse_jacobian(branching)
    for first in (-1.0, 1.0):
        x = np.array([first, 2.0, 3.0])
        np.testing.assert_array_equal(derivative(x).toarray(), dense_jacobian(branching, x))
    assert len(detections) == 2


def test_cached_pattern_is_reused_while_it_fits(detections: list[int]) -> None:
    """A cached pattern is detected once for each size, and again when it turns out not to fit."""
    derivative = sparse_jacobian(branching, pattern="cached")
    for first, expected in [(-1.0, 1), (-2.0, 1), (1.0, 2), (-1.0, 2)]:
        x = np.array([first, 2.0, 3.0])
        np.testing.assert_allclose(derivative(x).toarray(), dense_jacobian(branching, x))
        assert len(detections) == expected
    derivative(np.ones(4))
    assert len(detections) == 3


def test_given_pattern_is_used(detections: list[int]) -> None:
    """With a pattern of the user's, sparse or dense, nothing is detected; entries that are not needed are zeros."""
    x = point(6)
    for pattern in (np.ones((4, 6)), scipy.sparse.csc_array(dense_jacobian(laplacian_line, x))):
        derivative = sparse_jacobian(laplacian_line, pattern=pattern)
        np.testing.assert_allclose(derivative(x).toarray(), dense_jacobian(laplacian_line, x), atol=1e-12)
        np.testing.assert_allclose(derivative(x).toarray(), dense_jacobian(laplacian_line, x), atol=1e-12)
    assert not detections


def test_given_pattern_of_a_hessian_is_made_symmetric() -> None:
    """One triangle is enough to describe a Hessian."""
    derivative = sparse_hessian(rosenbrock, pattern=np.tri(6) - np.tri(6, k=-2))
    np.testing.assert_allclose(derivative(point(6)).toarray(), dense_hessian(rosenbrock, point(6)), atol=1e-10)


@pytest.mark.parametrize("name", ["arrow down", "line", "elementwise"])
def test_pattern_that_lacks_an_entry_is_refused(name: str) -> None:
    """A missing entry would give wrong numbers elsewhere: it is an error, whichever entry it is and however it goes."""
    function, shape, _, _ = STRUCTURES[name]
    x = point(*shape)
    whole = dense_jacobian(function, x) != 0
    for row, column in list(zip(*whole.nonzero(), strict=True))[::7]:
        lacking = whole.copy()
        lacking[row, column] = False
        with pytest.raises(PatternError, match="lacks some") as caught:
            sparse_jacobian(function, pattern=lacking)(x)
        assert "leave pattern= out" in str(caught.value)


def test_infinite_derivatives_are_not_taken_for_missing_entries() -> None:
    """A number that is not finite says nothing about the pattern."""
    derivative = sparse_jacobian(np.sqrt, pattern=np.eye(2))
    np.testing.assert_array_equal(derivative(np.array([0.0, 4.0])).toarray(), [[np.inf, 0], [0, 0.25]])


def test_pattern_of_another_shape_is_refused() -> None:
    """The message names both shapes."""
    with pytest.raises(gt.ShapeError, match=r"\(3, 3\).*\(4, 4\)"):
        sparse_jacobian(np.sin, pattern=np.eye(3))(np.ones(4))


@pytest.mark.parametrize("pattern", ["detect", 3, [[1]], np.ones(3)], ids=["word", "number", "list", "vector"])
def test_pattern_of_another_kind_is_refused(pattern: Any) -> None:
    """The message names what is accepted."""
    with pytest.raises(gt.GradTapeError, match=r'"cached", a scipy.sparse matrix, or an array with two axes'):
        sparse_jacobian(np.sin, pattern=pattern)


# -- corners


def test_zero_dimensional_input_and_output() -> None:
    """A number in and a number out make a matrix of one by one."""
    np.testing.assert_array_equal(sparse_jacobian(lambda x: x**2)(3.0).toarray(), [[6.0]])
    np.testing.assert_array_equal(sparse_hessian(lambda x: x**3)(3.0).toarray(), [[18.0]])


@pytest.mark.parametrize("shape", [(0,), (0, 3)])
def test_empty_input(shape: tuple[int, ...]) -> None:
    """Nothing in, or nothing out, gives a matrix without elements."""
    derivative = sparse_jacobian(np.sin)
    assert derivative(np.ones(shape)).shape == (0, 0)
    assert (derivative.colours, derivative.pattern.nnz) == (0, 0)
    assert sparse_jacobian(lambda x: x[:0])(np.ones(3)).shape == (0, 3)
    assert sparse_jacobian(np.sum)(np.ones(shape)).shape == (1, 0)
    assert sparse_hessian(np.sum)(np.ones(shape)).shape == (0, 0)
    assert gt.jacobian(np.sin)(np.ones(shape)).shape == shape + shape


@pytest.mark.parametrize("function", [laplacian_line, arrow_down, mixed])
def test_single_precision_stays(function: Function) -> None:
    """A float32 argument gives a float32 matrix, either way round."""
    x = point(8).astype(np.float32)
    found = sparse_jacobian(function)(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.toarray(), dense_jacobian(function, x), rtol=1e-5, atol=1e-6)
    checked = sparse_jacobian(function, pattern=found)(x)
    np.testing.assert_array_equal(checked.toarray(), found.toarray())


@pytest.mark.parametrize(
    "function",
    [lambda x: np.ones(4), lambda x: gt.stop_gradient(x)[:4], lambda x: [1, 2, 3, 4][:4] and np.arange(4), np.floor],
    ids=["constant", "stopped", "integers", "flat"],
)
def test_no_dependence_is_a_zero_matrix(function: Function) -> None:
    """An output that does not depend on the input gives zeros, without a warning and without a pass."""
    derivative = sparse_jacobian(function)
    found = derivative(np.ones(4))
    assert (found.shape, found.nnz, derivative.colours) == ((4, 4), 0, 0)


@pytest.mark.parametrize("function", [np.sum, lambda x: 3.0, lambda x: gt.stop_gradient(x).sum()])
def test_hessian_without_curvature_is_a_zero_matrix(function: Function) -> None:
    """Linear and constant functions have a Hessian without entries, and no warning."""
    derivative = sparse_hessian(function)
    found = derivative(np.ones(3))
    assert (found.shape, found.nnz, derivative.colours) == ((3, 3), 0, 0)


def test_other_arguments_are_handed_on() -> None:
    """`argnums` picks the argument, by position from either end; others and keywords are constants."""

    def function(a: Any, b: Any, power: int = 1) -> Any:
        return a * b**power

    a, b = point(3), point(3, seed=1)
    for argnums in (1, -1):
        found = sparse_jacobian(function, argnums=argnums)(a, b, power=2)
        np.testing.assert_allclose(found.toarray(), np.diag(2 * a * b))
    second = sparse_hessian(lambda a, b: np.sum(a * b**3), argnums=1)(a, b)
    np.testing.assert_allclose(second.toarray(), np.diag(6 * a * b))


def test_tensors_are_taken_too() -> None:
    """A tensor that nobody tracks is an array like any other."""
    found = sparse_jacobian(lambda x: x * x)(gt.tensor([1.0, 2.0]))
    np.testing.assert_array_equal(found.toarray(), np.diag([2.0, 4.0]))


def test_works_inside_a_tape_that_has_no_part_in_it() -> None:
    """An active tape that watches something else neither disturbs nor is disturbed."""
    other = gt.tensor(3.0)
    with gt.GradientTape() as tape:
        tape.watch(other)
        for function in (laplacian_line, arrow_down):
            found = sparse_jacobian(function)(point(6))
            np.testing.assert_allclose(found.toarray(), dense_jacobian(function, point(6)))
        second = sparse_hessian(rosenbrock)(point(6))
        loss = other * other
    np.testing.assert_allclose(second.toarray(), dense_hessian(rosenbrock, point(6)))
    assert float(tape.gradient(loss, other)) == 6.0


def test_wrapper_keeps_the_name() -> None:
    """What is returned is called like the function it was made from."""
    assert sparse_jacobian(laplacian_line).__name__ == "laplacian_line"
    assert sparse_jacobian(laplacian_line).__doc__ == laplacian_line.__doc__


def test_the_next_call_works_after_an_error() -> None:
    """A function that raises leaves nothing behind."""
    derivative = sparse_jacobian(lambda x: x * x if x[0] > 0 else x.reshape(7))
    with pytest.raises(gt.ShapeError):
        derivative(-np.ones(2))
    np.testing.assert_array_equal(derivative(np.ones(2)).toarray(), 2 * np.eye(2))


REFUSED: dict[str, tuple[Function, type[Exception], str]] = {
    "list": (
        lambda: sparse_jacobian(np.sin)([1.0, 2.0]),
        gt.StructureError,
        "argument 0 is a list; accepted is one array",
    ),
    "dictionary": (lambda: sparse_jacobian(np.sin)({"a": 1.0}), gt.StructureError, "argument 0 is a dict"),
    "several results": (
        lambda: sparse_jacobian(lambda x: (x, x))(np.ones(2)),
        gt.StructureError,
        "returned a tuple; accepted is one array",
    ),
    "no result": (lambda: sparse_jacobian(lambda x: None)(np.ones(2)), gt.OperandError, "returned None"),
    "words": (
        lambda: sparse_jacobian(lambda x: "word")(np.ones(2)),
        gt.OperandError,
        "accepted is one array of numbers",
    ),
    "integers": (lambda: sparse_jacobian(np.sin)(np.arange(3)), gt.DtypeError, "int64"),
    "complex argument": (lambda: sparse_jacobian(np.sin)(np.ones(2) * 1j), gt.DtypeError, "argument 0 is complex"),
    "complex number": (lambda: sparse_jacobian(np.sin)(2j), gt.DtypeError, "argument 0 is complex"),
    "complex result": (
        lambda: sparse_jacobian(lambda x: x * 1j)(np.ones(2)),
        gt.DtypeError,
        "the value of .* is complex",
    ),
    "two arguments": (lambda: sparse_jacobian(np.add, argnums=(0, 1))(1.0, 2.0), gt.OperandError, "of one argument"),
    "argnums": (lambda: sparse_jacobian(np.sin, argnums=1)(np.ones(2)), gt.OperandError, "argnums=1"),
    "vector hessian": (lambda: sparse_hessian(np.sin)(np.ones(2)), gt.ShapeError, "one number"),
    "tracked": (
        lambda: sparse_jacobian(np.sin)(gt.tensor([1.0], requires_grad=True)),
        gt.DetachError,
        "gt.jacobian or gt.hessian",
    ),
    "inside grad": (
        lambda: gt.grad(lambda y: sparse_jacobian(lambda x: x * y)(np.ones(2)).sum())(2.0),
        gt.DetachError,
        "gt.jacobian or gt.hessian",
    ),
    "inside vmap": (lambda: gt.vmap(sparse_jacobian(np.sin))(np.ones((2, 2))), gt.DetachError, "vmap"),
    "around vmap": (
        lambda: gt.vmap(lambda y: sparse_jacobian(lambda x: x * y)(np.ones(2)))(np.ones(2)),
        gt.DetachError,
        "vmap",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    """What cannot be a sparse matrix of real numbers is refused, with the line and what is accepted or a fix."""
    call, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message) as caught:
        call()
    assert "test_sparse.py" in str(caught.value)
