"""Where a function relies on a number of elements only, that number is the guard, and not the value it follows from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gradtape as gt
import gradtape.numpy as np
from gradtape.scipy import ndimage, signal

WAVE = numpy.sin(numpy.arange(30.0))
IMAGE = numpy.random.default_rng(0).normal(size=(5, 6))


def _band(low: Any) -> Any:
    sections = signal.butter(2, np.array([low, 2.0 * low]), "bandpass", output="sos")
    return np.sum(signal.sosfilt(sections, WAVE) ** 2)


PROGRAMS: dict[str, tuple[Callable[[Any], Any], tuple[float, ...]]] = {
    "arange": (lambda a: np.sum(np.arange(a, a + 2.5, 0.5) ** 2), (0.2, 0.3, 0.4)),
    "arange with a step": (lambda a: np.sum(np.arange(0.0, 1.0, a) ** 2), (0.3, 0.31, 0.32)),
    "arange up to a number": (lambda a: np.sum(np.arange(a) * a), (2.3, 2.4, 2.9)),
    "gaussian_filter1d": (lambda a: np.sum(ndimage.gaussian_filter1d(IMAGE, a) ** 2), (0.8, 0.82, 0.85)),
    "gaussian_filter": (lambda a: np.sum(ndimage.gaussian_filter(IMAGE, [a, 1.0]) ** 2), (0.8, 0.82, 0.85)),
    "sections of a low-pass filter": (
        lambda a: np.sum(signal.sosfilt(signal.butter(3, a, output="sos"), WAVE) ** 2),
        (0.2, 0.22, 0.25),
    ),
    "sections of a band-pass filter": (_band, (0.2, 0.205, 0.21)),
    "range of a histogram": (
        lambda a: np.sum(np.histogram(WAVE, bins=4, range=(-a, 2.0 * a), weights=WAVE)[1] ** 2),
        (1.0, 1.1, 1.2),
    ),
    "counts": (
        lambda a: np.sum(np.bincount(np.floor(a + numpy.arange(6.0)).astype(int)) * a),
        (0.2, 0.5, 0.9),
    ),
    "sums by place": (
        lambda a: np.sum(np.bincount(np.floor(a * WAVE[:8] + 2.0).astype(int), weights=a * WAVE[:8]) ** 2),
        (1.0, 1.001, 1.002),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_is_traced_once_for_one_number_of_elements(name: str) -> None:
    """Other values with as many elements need no new trace, and the results are those of eager mode."""
    function, points = PROGRAMS[name]
    compiled = gt.jit(gt.value_and_grad(function))
    for point in points:
        expected = gt.value_and_grad(function)(numpy.float64(point))
        numpy.testing.assert_allclose(compiled(numpy.float64(point)), expected, rtol=1e-10, atol=1e-12)
    assert (compiled.stats.traces, compiled.stats.uncompiled) == (1, 0)


@pytest.mark.parametrize(
    "ends",
    [(0.2, 2.7, 0.5), (0.0, 1.0, 0.1), (3.0, 0.0, -0.4), (0.0, -1.0, 0.3), (2.5,), (0.0, 2.5), (2.5, None, None)],
)
def test_numbers_of_arange_are_numpys(ends: tuple[Any, ...]) -> None:
    """A range whose ends are traced or recorded has as many numbers as NumPy's, and the same."""
    expected = numpy.arange(*ends)
    given = [None if end is None else numpy.float64(end) for end in ends]
    made = [gt.jit(np.arange)(*given), gt.jit(lambda *x: 1.0 * np.arange(*x))(*given)]
    numbers = tuple(i for i, end in enumerate(ends) if end is not None)
    made.append(gt.vjp(lambda *x: np.arange(*x, *[None] * ends.count(None)), *[given[i] for i in numbers])[0])
    for array in made:
        assert array.shape == expected.shape
        assert array.dtype == expected.dtype
        numpy.testing.assert_allclose(array, expected, rtol=1e-14)


def test_another_number_of_elements_is_traced_again() -> None:
    """A call that makes more elements gets a program of its own."""
    compiled = gt.jit(gt.value_and_grad(lambda a: np.sum(np.arange(0.0, 1.0, a))))
    for step, count in ((0.3, 4), (0.21, 5), (0.31, 4)):
        value, slope = compiled(numpy.float64(step))
        numpy.testing.assert_allclose((value, slope), (step * count * (count - 1) / 2, count * (count - 1) / 2))
    assert compiled.stats.traces == 2
