"""Functions of the user's that NumPy calls: for which elements, how often, and what becomes of what they return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gradtape as gt
import gradtape.numpy as np

X = numpy.array([-1.0, 2.0, -3.0, 4.0, 5.0])


@pytest.mark.parametrize("compile", [lambda f: f, gt.jit], ids=["eager", "jit"])
def test_pieces_see_their_own_elements(compile: Callable[[Any], Any]) -> None:
    """A function that `piecewise` calls has the elements of its condition, also where it takes their mean or writes."""

    def centred(x: Any) -> Any:
        return x - x.mean()

    def overwritten(x: Any) -> Any:
        x *= 2.0
        return x / np.sum(x)

    def value(module: Any, x: Any) -> Any:
        return module.piecewise(x, [x < 0.0], [centred, overwritten]) * x

    weights = numpy.arange(1.0, 6.0)
    call = compile(gt.value_and_grad(lambda x: np.sum(value(np, x) * weights)))
    for x in (X, -X, X[::-1].copy()):
        found, gradient = call(x)
        numpy.testing.assert_allclose(found, numpy.sum(value(numpy, x) * weights))
        steps = 1e-6 * numpy.eye(5)
        slopes = [numpy.sum((value(numpy, x + step) - value(numpy, x - step)) * weights) / 2e-6 for step in steps]
        numpy.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-6)


def test_pieces_in_a_batch() -> None:
    """Inside `vmap` pieces of each element are computed for all; others are refused, for they have no common shape."""
    slope = numpy.array([2.0, 3.0])
    found = gt.vmap(lambda x, k: np.piecewise(x, [x < 0.0], [lambda v: v * k, lambda v: k]))(
        numpy.stack([X, -X]), slope
    )
    expected = [numpy.where(x < 0.0, x * k, k) for x, k in zip([X, -X], slope, strict=True)]
    numpy.testing.assert_array_equal(found, expected)
    with pytest.raises(gt.IndexingError, match="GT115"):
        gt.vmap(lambda x: np.piecewise(x, [x < 0.0], [lambda v: v - v.mean(), 0.0]))(numpy.stack([X, -X]))


@pytest.mark.parametrize("compile", [lambda f: f, gt.jit], ids=["eager", "jit"])
def test_first_result_of_vectorize_has_the_dtype(compile: Callable[[Any], Any]) -> None:
    """Without `otypes` all results have the dtype of the first, and the function is called for that once more."""
    calls = []

    def hinge(x: Any) -> Any:
        calls.append(1)
        return 0 if x < 0.0 else x * 1.7

    def value(x: Any) -> Any:
        return np.vectorize(hinge)(x)

    expected = numpy.vectorize(hinge)(X)
    count = len(calls)
    assert count == 6
    found, gradient = compile(gt.value_and_grad(lambda x: np.sum(value(x) * x)))(X)
    assert len(calls) == 2 * count
    numpy.testing.assert_allclose(found, numpy.sum(expected * X))
    numpy.testing.assert_allclose(gradient, expected)
    numpy.testing.assert_allclose(
        compile(gt.grad(lambda x: np.sum(value(x) * x)))(X[::-1].copy()), [17.0, 13.6, 0.0, 6.8, 0.0]
    )


def test_results_without_a_place_are_made() -> None:
    """Of a ufunc with several results, those with None in `out` are new arrays."""
    rest = np.empty(2)
    quotient, same = np.divmod(np.array([7.0, 5.0]), 2.0, out=(None, rest))
    assert same is rest
    numpy.testing.assert_array_equal([quotient, rest], [[3.0, 2.0], [1.0, 1.0]])
