"""Sparse matrices share memory where SciPy's do, and store what SciPy's store; gradients are exact all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import scipy.sparse

import gradtape as gt
import gradtape.numpy as np
from gradtape.errors import ShapeError, UnsupportedError
from gradtape.scipy import sparse

X = numpy.array([0.7, 1.3, 2.1, 0.4, 1.9])
WEIGHTS = numpy.arange(1.0, 10.0).reshape(3, 3)
PLACES = ([0, 0, 1, 2, 2], [0, 2, 1, 0, 2])
FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")
WITH_DATA = ("csr", "csc", "coo", "bsr", "dia")

Program = Callable[[Any, Any, Any], Any]


def made(module: Any, x: Any, format: str) -> Any:
    """A matrix in a format, from a dense array that has zeros."""
    dense = np.zeros((3, 3)) if module is sparse else numpy.zeros((3, 3))
    for value, i, j in zip(x, *PLACES, strict=True):
        dense[i, j] = value
    return getattr(module, f"{format}_array")(dense)


def write(matrix: Any, value: Any) -> None:
    """Write to the first value that a matrix shows, or to its first element."""
    if matrix.format in ("lil", "dok"):
        matrix[0, 0] = value
    else:
        matrix.data[(0,) * (matrix.data.ndim - 1) + (-1,) if matrix.format == "dia" else (0,) * matrix.data.ndim] = (
            value
        )


def total(*matrices: Any) -> Any:
    """A number that tells the elements and the matrices apart."""
    result = 0.0
    for number, matrix in enumerate(matrices, 1):
        dense = matrix.toarray()
        result = result + number * (dense * WEIGHTS + dense**2 * WEIGHTS.T).sum()
    return result


def assert_same(program: Callable[[Any, Any], Any], compiled: bool = False) -> None:
    """The value of SciPy's matrices, and the gradient of differences."""
    derivative = gt.value_and_grad(lambda x: program(sparse, x))
    value, gradient = (gt.jit(derivative) if compiled else derivative)(X)
    numpy.testing.assert_allclose(value, program(scipy.sparse, X.copy()))
    steps = 1e-6 * numpy.eye(len(X))
    differences = [(program(scipy.sparse, X + step) - program(scipy.sparse, X - step)) / 2e-6 for step in steps]
    numpy.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-6)


def _copied(copy: Callable[[Any], Any]) -> Program:
    def program(module: Any, x: Any, format: Any) -> Any:
        first = made(module, x, format)
        second = copy(first)
        write(second, x[1] * x[2])
        return total(first, second) + second.nnz * x[0]

    return program


COPIES: dict[str, Program] = {
    "copy": _copied(lambda a: a.copy()),
    "transpose": _copied(lambda a: a.T),
    "transposed copy": _copied(lambda a: a.transpose(copy=True)),
    "same format": _copied(lambda a: a.asformat(a.format)),
    "copy of same format": _copied(lambda a: a.asformat(a.format, copy=True)),
    "coordinates": _copied(lambda a: a.tocoo(copy=False)),
    "copied coordinates": _copied(lambda a: a.tocoo(copy=True)),
    "rows": _copied(lambda a: a.tocsr()),
    "columns": _copied(lambda a: a.tocsc()),
    "diagonals": _copied(lambda a: a.todia()),
    "astype": _copied(lambda a: a.astype(float, copy=False)),
    "reshape": _copied(lambda a: a.reshape((3, 3), copy=False)),
    "conj": _copied(lambda a: a.conj()),
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", COPIES)
def test_writes_reach_what_shares_memory(name: str, format: str) -> None:
    """A write to a matrix made of another is seen by that one where SciPy's has its memory, and only there."""
    assert_same(lambda module, x: COPIES[name](module, x, format))


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("format", FORMATS)
def test_operators_in_place(format: str, compiled: bool) -> None:
    """`A *= x` and `A /= x` change the matrix that another name has too, and `A += B` does where SciPy's does."""

    def program(module: Any, x: Any) -> Any:
        a = made(module, x, format)
        b, before = a, a.copy()
        a *= x[1]
        a /= x[2]
        a += before
        a -= 2 * before
        return total(a, b, before)

    assert_same(program, compiled)


@pytest.mark.parametrize("format", WITH_DATA)
def test_data_is_written_and_assigned(format: str) -> None:
    """`A.data *= x`, `A.data[...] = y` and `A.data = z` change the matrix."""

    def program(module: Any, x: Any) -> Any:
        a = made(module, x, format)
        b = a.copy()
        a.data *= x[1]
        a.data[...] = a.data * x[2]
        b.data = b.data**2
        return total(a, b)

    assert_same(program)

    def wrong(x: Any) -> Any:
        made(sparse, x, format).data = x[:1]

    with pytest.raises(ShapeError, match="the present shape"):
        gt.grad(wrong)(X)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_zeros_of_dense_arrays_are_not_stored(compiled: bool) -> None:
    """The zeros of a dense array are in no part of the matrix, and neither are those that are eliminated."""

    def program(module: Any, x: Any) -> Any:
        a = made(module, x, "csr")
        b = a.copy()
        b.data[1] = 0.0
        kept = b.nnz
        b.eliminate_zeros()
        counts = (a.nnz, len(a.data), int(a.indices.sum()), int(a.indptr.sum()), kept, b.nnz, b.count_nonzero())
        return total(a, b) + (a.data * x[::-1]).sum() + x[0] * sum(counts)

    assert_same(program, compiled)


def test_there_are_derivatives_by_zeros_that_are_not_stored() -> None:
    """What is not stored as it is zero now has the derivative of any other element."""
    dense = numpy.array([[1.0, 0.0], [2.0, 3.0]])

    def product(dense: Any) -> Any:
        a = sparse.csr_array(dense)
        assert a.nnz == 3
        return ((a.T * 2).tocsc() @ numpy.array([5.0, 7.0])).sum()

    numpy.testing.assert_allclose(gt.grad(product)(dense), [[10.0, 10.0], [14.0, 14.0]])


def test_batches_whose_zeros_agree() -> None:
    """Examples of a batch may ask what is stored if that is the same for all of them."""
    batch = numpy.stack([numpy.diag([1.0, 2.0]), numpy.diag([3.0, 4.0])])
    numpy.testing.assert_allclose(gt.vmap(lambda x: sparse.csr_array(x).data ** 2)(batch), [[1.0, 4.0], [9.0, 16.0]])


def test_factors_do_not_follow_the_matrix() -> None:
    """LU factors are those of the matrix when they were made."""

    def program(module: Any, x: Any) -> Any:
        a = made(module, x, "csc")
        factors, solve = module.linalg.splu(a), module.linalg.factorized(a)
        a.data[0] = x[2] * x[3]
        a[1, 1] = 4.0 * x[0]
        return (factors.solve(WEIGHTS[0]) * solve(WEIGHTS[1])).sum() + total(a)

    assert_same(program)


def test_values_given_to_a_matrix_are_shared_or_copied() -> None:
    """`coo_array((data, ...))` has the memory of `data`; with copy=True, and in compressed rows, it has its own."""

    def program(module: Any, x: Any) -> Any:
        data = x * 1.0
        matrices = [
            module.coo_array((data, PLACES), shape=(3, 3)),
            module.coo_array((data, PLACES), shape=(3, 3), copy=True),
            module.csr_array((data, PLACES), shape=(3, 3)),
            module.csr_array((data, [0, 2, 1, 0, 2], [0, 2, 3, 5]), shape=(3, 3)),
            module.dia_array((data[None, :3], [0]), shape=(3, 3)),
        ]
        data[0] = x[3] * x[4]
        matrices[0].data[1] = x[0] ** 2
        return total(*matrices) + (data**2).sum()

    assert_same(program)


def test_dictionaries_of_keys() -> None:
    """A matrix in the format `dok` is a dictionary too."""

    def program(module: Any, x: Any) -> Any:
        a = made(module, x, "dok")
        result = sum((i + 2 * j + 1) * value**2 for (i, j), value in a.items()) + a.get((0, 1), x[0])
        a.update({(0, 1): x[2] ** 2})
        a.pop((0, 0))
        assert (0, 0) not in a
        assert len(a) == 5
        return result + a.setdefault((1, 0), x[3]) + sum(a.values()) + total(a)

    assert_same(program)


def test_functions_without_a_derivative_refuse_matrices_of_tensors() -> None:
    """Incomplete factors of a matrix of tensors are refused with the reason."""
    with pytest.raises(UnsupportedError, match="incomplete factors"):
        gt.grad(lambda x: sparse.linalg.spilu(made(sparse, x, "csc")).solve(WEIGHTS[0]).sum())(X)
