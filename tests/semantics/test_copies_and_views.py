"""Functions that may return what they were given: copies where those of NumPy and SciPy are, views where they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import scipy

import gradtape as gt
import gradtape.numpy
import gradtape.scipy

Expression = Callable[[Any, Any, Any], Any]
START = numpy.array([0.5, -1.2, 2.0, 0.8])

EXPRESSIONS: dict[str, Expression] = {
    # repeated, padded, filled and joined so that nothing changes
    "tile": lambda y, np, _: np.tile(y, 1),
    "tile with more axes": lambda y, np, _: np.tile(y, (1, 1)),
    "pad": lambda y, np, _: np.pad(y, 0),
    "pad by edges": lambda y, np, _: np.pad(y, (0, 0), mode="edge"),
    "block": lambda y, np, _: np.block(y),
    "full": lambda y, np, _: np.full(4, y),
    "full of rows": lambda y, np, _: np.full((2, 4), y),
    "full_like": lambda y, np, _: np.full_like(y, y),
    # arrays of arrays
    "array, ndmin": lambda y, np, _: np.array(y, ndmin=2),
    "array, dtype, ndmin": lambda y, np, _: np.array(y, dtype=float, ndmin=2),
    "array, dtype, no copy": lambda y, np, _: np.array(y, dtype=float, copy=None),
    "float64": lambda y, np, _: np.float64(y),
    "require": lambda y, np, _: np.require(y),
    "require, order": lambda y, np, _: np.require(y[::2], requirements=["C"]),
    "require, own data": lambda y, np, _: np.require(y[1:], requirements=["OWNDATA"]),
    "ascontiguousarray": lambda y, np, _: np.ascontiguousarray(y[::2]),
    "ascontiguousarray of a part": lambda y, np, _: np.ascontiguousarray(y[1:3]),
    # orders in memory, on which depends what is a view later
    "astype, order": lambda y, np, _: y.reshape(2, 2).T.astype(float, order="C").ravel(),
    "astype, order, no copy": lambda y, np, _: y.reshape(2, 2).astype(float, order="C", copy=False).ravel(),
    "choose": lambda y, np, _: np.choose([[0, 1], [1, 0]], [y.reshape(2, 2).T, 2.0]).ravel(),
    # filters of no width, and the parts of objects
    "gaussian_filter": lambda y, _, sp: sp.ndimage.gaussian_filter(y, 0.0),
    "uniform_filter": lambda y, _, sp: sp.ndimage.uniform_filter(y, 1),
    "interp1d": lambda y, np, sp: sp.interpolate.interp1d(np.arange(4.0), y).y,
    "interp1d, sorted": lambda y, np, sp: sp.interpolate.interp1d(np.arange(4.0), y, assume_sorted=True)([0.5, 2.0]),
    "interp1d, unsorted": lambda y, np, sp: sp.interpolate.interp1d([2.0, 0.0, 1.0, 3.0], y).y,
    "grid": lambda y, np, sp: sp.interpolate.RegularGridInterpolator((np.arange(4.0),), y).values,
    "csr of places": lambda y, np, sp: sp.sparse.csr_array((y, (range(4), range(4)))).data,
    "csr": lambda y, np, sp: sp.sparse.csr_array((y, range(4), range(5)), shape=(4, 4)).data,
    "copy of csr": lambda y, np, sp: sp.sparse.csr_array((y, range(4), range(5)), shape=(4, 4)).copy().data,
    "csc of csr": lambda y, np, sp: sp.sparse.csr_array((y, range(4), range(5)), shape=(4, 4)).tocsc().data,
}


def _write_result(x: Any, expression: Expression, np: Any, sp: Any) -> Any:
    y = x * x + 1.0
    result = expression(y, np, sp)
    result *= x[0]
    return np.sum(y * x) + np.sum(result * result)


def _write_source(x: Any, expression: Expression, np: Any, sp: Any) -> Any:
    y = x * x + 1.0
    result = expression(y, np, sp)
    y[2] = x[0] * x[1]
    y *= x[3]
    return np.sum(y * x) + np.sum(result * result)


def _slopes(function: Callable[[Any], Any], x: Any) -> Any:
    """The gradient by central differences."""
    steps = 1e-6 * numpy.eye(len(x))
    return numpy.array([(function(x + step) - function(x - step)) / 2e-6 for step in steps])


@pytest.mark.parametrize("write", [_write_result, _write_source], ids=["result", "source"])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_a_write_is_seen_where_numpy_sees_it(name: str, write: Callable[..., Any]) -> None:
    """A write to the result or to the source changes the other one if and only if it does with arrays."""
    expression = EXPRESSIONS[name]

    def reference(x: Any) -> Any:
        return float(write(x, expression, numpy, scipy))

    def function(x: Any) -> Any:
        return write(x, expression, gradtape.numpy, gradtape.scipy)

    for wrap in (lambda f: f, gt.jit):
        value, gradient = wrap(gt.value_and_grad(function))(START)
        numpy.testing.assert_allclose(value, reference(START), rtol=1e-12)
        numpy.testing.assert_allclose(gradient, _slopes(reference, START), rtol=1e-6, atol=1e-7)
    numpy.testing.assert_allclose(gt.jvp(function, (START,), (numpy.ones(4),))[1], gradient.sum(), rtol=1e-12)


@pytest.mark.parametrize("copy", [True, False])
def test_writes_to_stretched_arrays_are_refused(copy: bool) -> None:
    """NumPy writes such an array's elements several times, so that only a copy of it takes a write."""
    np = gradtape.numpy

    def function(x: Any) -> Any:
        y = x * 1.0
        stretched = np.meshgrid(y[:2], y[2:], copy=copy)[0]
        stretched *= 2.0
        return np.sum(stretched * stretched) + np.sum(y)

    if copy:
        numpy.testing.assert_allclose(gt.grad(function)(START), [1 + 16 * 0.5, 1 - 16 * 1.2, 1.0, 1.0])
    else:
        with pytest.raises(gt.MutationError, match="GT309"):
            gt.grad(function)(START)


def test_flat_takes_values_of_any_shape() -> None:
    """`x.flat = values` writes them in order, and repeats them until all elements are written."""
    np = gradtape.numpy

    def function(x: Any) -> Any:
        y = np.zeros((4, 2))
        y.flat = x.reshape(2, 2) ** 2
        y.flat[:3] = [x[0], x[1]]
        return np.sum(y * numpy.arange(8.0).reshape(4, 2))

    numpy.testing.assert_allclose(gt.grad(function)(START), [8 * 0.5 + 2, -10 * 1.2 + 1, 12 * 2.0, 20 * 0.8])


@pytest.mark.parametrize("run", [lambda f: f, gt.jit], ids=["eager", "jit"])
def test_integers_take_no_floating_point_numbers_in_place(run: Any) -> None:
    """`integers += x` raises a TypeError as in NumPy, and does not become another array."""
    np = gradtape.numpy

    def function(x: Any) -> Any:
        y = np.arange(4)
        y += x
        return np.sum(y * x)

    with pytest.raises(TypeError):
        run(gt.grad(function))(START)
    with pytest.raises(TypeError):
        run(function)(START)


def test_numbers_of_a_tensor_at_an_index() -> None:
    """`item` takes an index as NumPy's does, and `math.trunc` a tensor of one element."""
    x = gt.tensor(START.reshape(2, 2))
    assert (x.item(1), x.item(1, 0), x.item((1, 1)), math.trunc(x[1, 0])) == (-1.2, 2.0, 0.8, 2)
