"""`gt.signal`: values, shapes and dtypes of `scipy.signal`, derivatives, batches, and what SciPy's own functions do."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.signal
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as gt
from gradtape import signal

from .differentiation import assert_differentiates, in_the_plane

ROOT = Path(__file__).parents[2]
MODES = ["full", "same", "valid"]
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "convolve": ("convolve", {}),
    "convolve directly": ("convolve", {"method": "direct"}),
    "convolve by fft": ("convolve", {"method": "fft"}),
    "correlate directly": ("correlate", {"method": "direct"}),
    "correlate by fft": ("correlate", {"method": "fft"}),
    "fftconvolve": ("fftconvolve", {}),
    "oaconvolve": ("oaconvolve", {}),
}
SHAPES = [((7,), (3,)), ((3,), (7,)), ((1,), (4,)), ((4, 5), (2, 3)), ((2, 3), (4, 5)), ((3, 4, 2), (2, 2, 2))]


def numbers(shape: tuple[int, ...], seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


# -- values


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("mode", MODES)
def test_values_are_scipys(call: str, mode: str) -> None:
    """Shapes, dtypes and numbers are SciPy's, of real, complex and single precision arrays of one to three axes."""
    name, how = CALLS[call]
    for shapes in SHAPES:
        first, second = (numbers(shape, seed) for seed, shape in enumerate(shapes))
        for change in (lambda x: x, in_the_plane, lambda x: x.astype("float32")):
            a, b = change(first), change(second)
            expected = getattr(scipy.signal, name)(a, b, mode, **how)
            found = getattr(signal, name)(gt.tensor(a), b, mode, **how)
            assert isinstance(found, gt.Tensor)
            assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
            tolerance = 1e-12 if expected.dtype.itemsize in (8, 16) and expected.dtype != np.complex64 else 1e-4
            np.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 3).flatmap(lambda n: st.tuples(*[st.lists(st.integers(1, 5), min_size=n, max_size=n)] * 2)),
    st.sampled_from(sorted(CALLS)),
    st.sampled_from(MODES),
)
def test_values_are_scipys_for_any_shapes(shapes: Any, call: str, mode: str) -> None:
    """Any two shapes give SciPy's result, or are refused by both."""
    name, how = CALLS[call]
    a, b = (numbers(tuple(shape), seed) for seed, shape in enumerate(shapes))
    try:
        expected = getattr(scipy.signal, name)(a, b, mode, **how)
    except ValueError:
        with pytest.raises(gt.ShapeError):
            getattr(signal, name)(a, b, mode, **how)
        return
    found = getattr(signal, name)(a, b, mode, **how)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("axes", [0, 1, -1, (0, 2), [2, 1], None])
@pytest.mark.parametrize("mode", MODES)
def test_axes(axes: Any, mode: str) -> None:
    """Only the axes asked for are convolved; the others go in step or broadcast."""
    a, b = numbers((4, 5, 3)), numbers((2, 5, 3) if axes == 0 else (4, 5, 1) if axes == 1 else (4, 5, 3), 1)
    for name in ("fftconvolve", "oaconvolve"):
        expected = getattr(scipy.signal, name)(a, b, mode, axes)
        found = getattr(signal, name)(gt.tensor(a), b, mode, axes)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)


@pytest.mark.parametrize("method", ["auto", "direct", "fft"])
def test_integers_stay_exact(method: str) -> None:
    """Integers give integers, whatever the method."""
    a, b = np.arange(12).reshape(3, 4), np.array([[1, -2], [3, 4]])
    found = signal.convolve(gt.tensor(a), b, method=method)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found.numpy(), scipy.signal.convolve(a, b))


def test_no_axes_is_a_product() -> None:
    """Of two single numbers the convolution is the product, for every function."""
    for name in signal.__all__:
        assert getattr(signal, name)(gt.tensor(2.0), 3.0).numpy() == 6.0


def test_nothing_convolved_is_nothing() -> None:
    """An empty operand gives an empty vector by transforms, as in SciPy, and is refused otherwise, as there."""
    empty = np.zeros((0, 2))
    assert signal.fftconvolve(empty, np.ones((3, 2))).shape == scipy.signal.fftconvolve(empty, np.ones((3, 2))).shape
    with pytest.raises(gt.ShapeError, match=r"shapes \(0,\) and \(3,\)"):
        signal.convolve(np.zeros(0), np.ones(3))


# -- derivatives


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("mode", MODES)
def test_differentiates(call: str, mode: str) -> None:
    """Both operands have derivatives in both modes, to second order and in batches; complex ones too."""
    name, how = CALLS[call]
    for shapes in [((5,), (3,)), ((2,), (4,)), ((3, 3), (2, 2))]:
        a, b = (numbers(shape, seed) for seed, shape in enumerate(shapes))
        function = lambda a, b: getattr(signal, name)(a, b, mode, **how)
        assert_differentiates(function, a, b)
    assert_differentiates(function, in_the_plane(a), in_the_plane(b, 3))


def test_differentiates_along_some_axes() -> None:
    """The gradient of an operand that broadcasts along the other axes has that operand's shape."""
    assert_differentiates(lambda a, b: signal.fftconvolve(a, b, "same", axes=1), numbers((2, 4)), numbers((1, 3), 1))


def test_single_precision_gradients() -> None:
    """float32 operands have float32 gradients, by products and by transforms."""
    a, b = numbers((4, 3)).astype("float32"), numbers((2, 2), 1).astype("float32")
    for method in ("direct", "fft"):
        gradients = gt.grad(lambda a, b, m=method: (signal.convolve(a, b, method=m) ** 2).sum(), (0, 1))(a, b)
        assert [(g.shape, g.dtype) for g in gradients] == [(x.shape, np.dtype("float32")) for x in (a, b)]


def test_vmap_is_a_loop() -> None:
    """A filter applied to each of several signals, and several filters to one signal."""
    signals, filters = numbers((3, 8)), numbers((4, 3), 1)
    for method in ("direct", "fft"):
        one = lambda x, f, m=method: signal.convolve(x, f, "same", m)
        found = gt.vmap(one, (0, None))(signals, filters[0])
        np.testing.assert_allclose(found, [one(x, filters[0]) for x in signals], atol=1e-13)
        found = gt.vmap(gt.vmap(one, (None, 0)), (0, None))(signals, filters)
        np.testing.assert_allclose(found, [[one(x, f) for f in filters] for x in signals], atol=1e-13)


# -- what is refused


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: signal.convolve(np.ones(3), np.ones((2, 2))), r"shapes \(3,\) and \(2, 2\)"),
        (lambda: signal.convolve(np.ones((2, 5)), np.ones((3, 3)), "valid"), "neither within the other"),
        (lambda: signal.fftconvolve(np.ones((2, 3)), np.ones((3, 4)), axes=0), r"shapes \(2, 3\) and \(3, 4\)"),
        (lambda: signal.fftconvolve(np.ones((2, 3)), np.ones((3, 4)), axes=()), r"axes=\(\)"),
        (lambda: signal.convolve(np.ones(3), np.ones(2), "middle"), "mode='middle'"),
        (lambda: signal.convolve(np.ones(3), np.ones(2), method="slow"), "method='slow'"),
        (lambda: signal.fftconvolve(np.ones(3), np.ones(2), axes=1), "axis 1"),
    ],
)
def test_wrong_arguments_are_refused(call: Any, problem: str) -> None:
    """Ranks, modes, methods and axes that do not exist are refused as SciPy does, with what is accepted."""
    with pytest.raises(ValueError, match=problem) as caught:
        call()
    assert isinstance(caught.value, gt.GradTapeError)
    assert "test_signal.py" in str(caught.value)


@pytest.mark.parametrize("name", ["convolve", "correlate", "fftconvolve", "oaconvolve"])
def test_scipys_own_functions_refuse_tracked_tensors(name: str) -> None:
    """`scipy.signal` turns its arguments into arrays: a tracked tensor is refused, never detached in silence."""
    x = gt.tensor(np.ones(5), requires_grad=True)
    for arguments in ((x, np.ones(2)), (np.ones(6), x)):
        with pytest.raises(gt.DetachError):
            getattr(scipy.signal, name)(*arguments)
    untracked = getattr(scipy.signal, name)(gt.tensor(np.ones(5)), np.ones(2))
    assert isinstance(untracked, np.ndarray)


def test_scipys_array_api_mode_refuses_them_too() -> None:
    """With SCIPY_ARRAY_API=1 SciPy asks for the array API first: a tracked tensor is refused there as well."""
    code = (
        "import gradtape as gt, scipy.signal; x = gt.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"
        "for function in (scipy.signal.convolve, scipy.signal.fftconvolve, scipy.signal.oaconvolve):\n"
        "    try: function(x, [1.0, -1.0])\n"
        "    except TypeError: print('refused')\n"  # DetachError is one
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-c", code], check=True, env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["refused"] * 3


@pytest.mark.parametrize("name", signal.__all__)
def test_examples_run(name: str) -> None:
    """Every function explains itself with an example that gives what it says."""
    test = doctest.DocTestParser().get_doctest(getattr(signal, name).__doc__ or "", {}, name, None, None)
    assert len(test.examples) >= 2
    report: list[str] = []
    assert doctest.DocTestRunner(verbose=False).run(test, out=report.append).failed == 0, "".join(report)
