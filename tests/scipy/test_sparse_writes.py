"""Writes to elements of sparse matrices: what assembles a matrix element by element is differentiated as it stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import scipy.sparse

import gradtape as gt
import gradtape.numpy as np
from gradtape.errors import DetachError, OperandError, ShapeError
from gradtape.scipy import sparse

X = numpy.array([1.0, 2.0, 3.0, 4.0, 5.0])
PROGRAMS: list[Callable[[Any, Any], Any]] = []


def program(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Add a program of `scipy.sparse` and an argument to the list."""
    PROGRAMS.append(function)
    return function


@program
def single_elements(module: Any, x: Any) -> Any:
    matrix = module.lil_matrix((2, 2))
    matrix[0, 0], matrix[1, -1] = x[0], x[1]
    return module.linalg.spsolve(matrix.tocsc(), np.ones(2)).sum() + x[1]


@program
def assembly(module: Any, x: Any) -> Any:
    count = 5
    stiffness, load = module.lil_matrix((count + 1, count + 1)), np.zeros(count + 1)
    for element in range(count):
        local = np.array([[x[element], -x[element]], [-x[element], x[element]]])
        for a in range(2):
            load[element + a] += 0.5
            for b in range(2):
                stiffness[element + a, element + b] += local[a, b]
    stiffness[0, :] = 0
    stiffness[0, 0] = 1.0
    load[0] = 0
    found = module.linalg.spsolve(stiffness.tocsr(), load)
    return found[-1] + (stiffness.T @ found).sum()


@program
def slices_lists_and_diagonals(module: Any, x: Any) -> Any:
    matrix = module.dok_array((3, 3))
    matrix[0, :] = x[:3]
    matrix[[1, 2], [1, 2]] = x[3:]
    matrix[1:, 0] = x[:2]
    matrix.setdiag(x[1] * np.ones(2), 1)
    return (matrix @ matrix).sum() * matrix[0, 1] + matrix.toarray()[1, 0] * matrix.diagonal().sum()


@program
def written_twice(module: Any, x: Any) -> Any:
    matrix = module.lil_array(numpy.diag([1.0, 2.0, 3.0]))
    matrix[0, 0] = x[0]
    matrix[numpy.ix_([0, 1], [0, 2])] = np.array([[x[1], x[2]], [x[3], 7.0]])
    matrix[0, 0] *= x[4]
    matrix[2, 2] = 0.0
    matrix[1] = matrix[[0], :].toarray()[0] * 2.0
    return matrix.toarray().sum() + matrix[0, 0] ** 2 + (matrix.tocsr() @ x[:3]).sum() * matrix[2, 2]


@program
def masks(module: Any, x: Any) -> Any:
    matrix = module.lil_array((2, 3))
    matrix[numpy.array([[True, False, True], [False, True, False]])] = x[:3]
    return (matrix @ x[2:]).sum() + matrix[0, 1]


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_gradients_are_differences(function: Any, compiled: bool) -> None:
    """Values are those of SciPy's matrices, and gradients those of differences."""
    ours, theirs = (lambda x: function(sparse, x)), (lambda x: function(scipy.sparse, x))
    derivative = gt.value_and_grad(ours)
    value, gradient = (gt.jit(derivative) if compiled else derivative)(X)
    numpy.testing.assert_allclose(value, theirs(X))
    steps = 1e-6 * numpy.eye(len(X))
    differences = [(theirs(X + step) - theirs(X - step)) / 2e-6 for step in steps]
    numpy.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-6)


def test_nothing_recorded() -> None:
    """Where nothing is recorded the matrices are SciPy's own."""
    with gt.no_grad():
        assert type(sparse.lil_matrix((2, 2))) is scipy.sparse.lil_matrix


def test_methods_of_scipys_matrices() -> None:
    """As long as no tensor is in it, a matrix has all methods; then those without a derivative are refused."""

    def reads(x: Any) -> Any:
        matrix = sparse.dok_array((2, 2))
        matrix[0, 1] = 3.0
        assert matrix.count_nonzero() == 1
        matrix[1, 1] = x
        assert matrix.count_nonzero() == 2
        with pytest.raises(DetachError):
            matrix.fromkeys([(0, 0)])
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            matrix.nothing  # noqa: B018
        return matrix.sum()

    assert gt.grad(reads)(numpy.array(2.0)) == 1.0


def test_scipys_own_matrices_refuse_tensors() -> None:
    """An element of a matrix of SciPy's would be a number without a gradient: an error names what takes it."""

    def loses(x: Any) -> Any:
        matrix = scipy.sparse.lil_matrix((2, 2))
        matrix[0, 0] = x
        return x + matrix.sum()

    with pytest.raises(DetachError, match=r"make the matrix with gradtape\.scipy\.sparse"):
        gt.grad(loses)(numpy.array(2.0))


@pytest.mark.parametrize(
    ("write", "error", "words"),
    [
        (lambda matrix, x: matrix.__setitem__((0, 5), x), IndexError, "index 5"),
        (lambda matrix, x: matrix.__setitem__((0, 0), np.stack([x, x])), ShapeError, "one number"),
        (lambda matrix, x: matrix.__setitem__((0, 0, 0), x), OperandError, "a row and a column"),
    ],
    ids=["outside", "two numbers", "three indices"],
)
def test_bad_writes(write: Any, error: Any, words: str) -> None:
    """Indices outside, too many indices, and more than one number for an element."""

    def bad(x: Any) -> Any:
        matrix = sparse.lil_array((2, 2))
        write(matrix, x)
        return matrix.sum()

    with pytest.raises(error, match=words):
        gt.grad(bad)(numpy.array(2.0))
