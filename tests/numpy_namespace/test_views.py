"""What is a view in NumPy is one of a tensor, and what is a copy is a copy: values and gradients after writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gradtape as gt
import gradtape.numpy
from tests.numpy_namespace.test_programs import finite_differences

PROGRAMS: list[Callable[[Any, Any], Any]] = []
"""Each takes a matrix of 3 by 3, and NumPy or `gradtape.numpy`."""


def program(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Add a program to the list."""
    PROGRAMS.append(function)
    return function


@program
def items_of_a_list_that_are_views(x: Any, np: Any) -> Any:
    y = x * 1.0
    rows = [row for row in y]  # noqa: C416  (a comprehension, as programs have it)
    rows[0] += rows[1]
    rows[1][:] = rows[2] * rows[0]
    y[2] = 0
    return np.sum(y**3) + np.sum(rows[2])


@program
def complex_numbers_as_pairs_of_real_ones(x: Any, np: Any) -> Any:
    z = x[:, :2] + 1j * x[:, 1:]
    pairs = z.view(np.float64)
    pairs[:, 0] *= x[:, 2]
    z[1] *= 2.0 + 1.0j
    again = (x[:2, :2] * 1.0).view("c16")
    again *= 1j * x[0, 0]
    return np.sum(pairs**2) + np.sum(np.abs(z) ** 3) + np.sum(again.real * again.imag) + np.sum(x.view(float))


@program
def items_of_a_dictionary_that_are_views(x: Any, np: Any) -> Any:
    y = x * 1.0
    fields = {"first": y[0], "others": y[1:]}
    fields["first"] *= x[1]
    fields["others"] -= fields["first"]
    fields["others"][1:] += 2.0
    return np.sum(y**3)


@program
def attributes_that_are_views(x: Any, np: Any) -> Any:
    class State:
        def __init__(self, values: Any) -> None:
            self.values, self.row = values, values[0]

    state = State(x * 1.0)
    state.row *= x[2]
    state.values[1:] += state.row
    return np.sum(state.values**3)


@program
def flatten_is_a_copy(x: Any, np: Any) -> Any:
    y = x * 1.0
    y.flatten()[3] = 9.0
    flat = y.flatten()
    flat[1] = x[0, 0]
    flat[2:4] *= 2.0
    return np.sum(y**3) + np.sum(flat**3)


@program
def einsum_without_a_sum_is_a_view(x: Any, np: Any) -> Any:
    y = x * 1.0
    diagonal = np.einsum("ii->i", y)
    diagonal += 2 * x[0]
    np.einsum("ij->ji", y)[0] *= 3.0
    return np.sum(y**3)


@program
def stretched_array_sees_what_is_written(x: Any, np: Any) -> Any:
    y = x * 1.0
    stretched = np.broadcast_to(y[0], (2, 3))
    both = np.broadcast_arrays(y, y[:1])
    y[0] *= 2
    return np.sum(stretched**2) + np.sum(both[1] * x)


@program
def windows_see_what_is_written(x: Any, np: Any) -> Any:
    y = x.ravel() * 1.0
    windows = np.lib.stride_tricks.sliding_window_view(y, 3)
    y[2] = y[0] * y[1]
    y[4:] *= 2
    return np.sum(windows.prod(axis=1))


@program
def strided_view_is_written_to(x: Any, np: Any) -> Any:
    y = x.ravel() * 1.0
    diagonal = np.lib.stride_tricks.as_strided(y, shape=(3,), strides=(4 * y.itemsize,))
    diagonal *= x[0]
    y[4] += 1.0
    return np.sum(y**3) + np.sum(diagonal**2)


@program
def parts_of_complex_numbers_are_assigned(x: Any, np: Any) -> Any:
    z = x * (1 + 2j)
    z.real *= 2.0
    z.imag = x[0] * z.real
    z[1].imag += x[1]
    return np.sum(np.abs(z) ** 2)


@program
def shape_is_assigned(x: Any, np: Any) -> Any:
    y = x * 1.0
    y.shape = (9,)
    y[::2] = x[0, 0]
    return np.sum(y**3)


@program
def conversions_without_a_copy(x: Any, np: Any) -> Any:
    y = x * 1.0
    y.astype(float, copy=False)[1] = 2 * x[0]
    np.ascontiguousarray(y)[0] = 5.0
    y.conj()[2, 2] = x[0, 0]
    y.astype(float)[1] = 7.0
    return np.sum(y**3)


@program
def nan_is_replaced_in_place(x: Any, np: Any) -> Any:
    y = x * 1.0
    y[0, 0] = np.nan
    np.nan_to_num(y, copy=False, nan=3.0)
    return np.sum(y**3)


@program
def taken_and_repeated_slices_are_copies(x: Any, np: Any) -> Any:
    y = x * 1.0
    np.take(y, 1, axis=0)[0] = 9.0
    y.take(0, axis=1)[0] = 9.0
    taken = np.take(x.T, [1, 0], axis=1)
    taken.ravel()[2] = 9.0
    repeated = np.repeat(x.T, 2, axis=0)
    repeated.ravel()[3] = 1.0
    return np.sum(y**3) + np.sum(taken**2) + np.sum(repeated**3)


@program
def grids_are_copies(x: Any, np: Any) -> Any:
    y = x[0] * 1.0
    alone = np.meshgrid(y)[0]
    columns, rows = np.meshgrid(y, x[1])
    sparse = np.meshgrid(y, x[1], sparse=True)[0]
    seen = np.meshgrid(y, x[1], copy=False)[0]
    y[0] = 5.0
    columns[0] *= 2.0
    return np.sum(alone**2) + np.sum(columns * rows) + np.sum(sparse**3) + np.sum(seen**2 * x)


@program
def objects_are_tensors(x: Any, np: Any) -> Any:
    kept = np.empty(2, dtype=object)
    kept[0], kept[1] = x[0], x[1] * 2
    return np.sum(kept[0] * kept[1])


X = numpy.random.default_rng(2).normal(size=(3, 3))


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_views_and_copies(function: Callable[[Any, Any], Any]) -> None:
    """Eager, compiled and batched: the value is that of NumPy's arrays, the gradient that of their differences."""

    def with_tensors(x: Any) -> Any:
        return function(x, gradtape.numpy)

    points = (X, X[::-1] * 0.9)
    expected = [function(x.copy(), numpy) for x in points]
    slopes = [
        finite_differences(lambda x: function(x.reshape(3, 3), numpy), x.ravel().copy()).reshape(3, 3) for x in points
    ]
    compiled = gt.jit(gt.value_and_grad(with_tensors))
    batched = gt.vmap(gt.value_and_grad(with_tensors))(numpy.stack(points))
    for number, x in enumerate(points):
        each = gt.value_and_grad(with_tensors)(x.copy()), compiled(x.copy()), (batched[0][number], batched[1][number])
        for value, gradient in each:
            numpy.testing.assert_allclose(value, expected[number], rtol=1e-12)
            numpy.testing.assert_allclose(gradient, slopes[number], rtol=1e-6, atol=1e-6)
    assert compiled.stats.uncompiled == 0


def test_writes_that_cannot_be_followed_are_refused() -> None:
    """Windows that overlap, steps outside of an array and a view that gets another shape are errors with a cure."""
    np = gradtape.numpy

    def windows(x: Any) -> Any:
        y = x * 1.0
        np.lib.stride_tricks.sliding_window_view(y, 2, writeable=True)[0] *= 2.0
        return np.sum(y)

    def outside(x: Any) -> Any:
        return np.sum(np.lib.stride_tricks.as_strided(x * 1.0, shape=(2,), strides=(64,)))

    def apart(x: Any) -> Any:
        return np.sum(np.lib.stride_tricks.as_strided((x * 1.0)[::2], shape=(2,), strides=(8,)))

    def shaped(x: Any) -> Any:
        y = x * 1.0
        part = y[:2]
        part.shape = (2, 1)
        return np.sum(y)

    for function, words in (
        (windows, "several times"),
        (outside, "outside"),
        (apart, "lie apart"),
        (shaped, "is a view"),
    ):
        with pytest.raises(gt.GradTapeError, match=words):
            gt.grad(function)(numpy.arange(4.0))


def test_a_view_that_is_read_only_in_numpy_becomes_a_copy_when_it_is_written() -> None:
    """What is written to a stretched array does not reach the array that was stretched."""
    np = gradtape.numpy

    def function(x: Any) -> Any:
        y = x * 1.0
        stretched = np.broadcast_to(y, (2, 3))
        stretched[0] = 5.0
        y[0] = 7.0
        return np.sum(stretched * x) + np.sum(y)

    value, gradient = gt.value_and_grad(function)(numpy.array([1.0, 2.0, 3.0]))
    assert value == 5.0 * 6.0 + 14.0 + 12.0
    numpy.testing.assert_allclose(gradient, [5.0 + 2.0, 5.0 + 4.0 + 1.0, 5.0 + 6.0 + 1.0])


def test_fields_of_a_structured_array_take_no_tensors() -> None:
    """A tracked tensor is not written into a field, where its gradient would be lost."""
    np = gradtape.numpy

    def function(x: Any) -> Any:
        particles = np.zeros(3, dtype=[("x", float), ("v", float)])
        particles["x"] = x
        return np.sum(particles["x"] ** 2)

    with pytest.raises(gt.DetachError, match="a dictionary of arrays"):
        gt.grad(function)(numpy.arange(3.0))
