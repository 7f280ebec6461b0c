"""Objects of `gradtape.scipy` that are edited, written to and copied do as those of SciPy, with exact gradients."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

import gradtape as gt
import gradtape.numpy
from gradtape.errors import ShapeError, UnsupportedError

X = numpy.array([0.7, 1.3, 2.1, 0.4, 1.9])
GRID = numpy.linspace(0, 1, 5)
KNOTS = numpy.array([0.0, 0.0, 0.0, 0.0, 0.4, 1.0, 1.0, 1.0, 1.0])
VECTOR = numpy.array([0.3, -0.8, 1.2])
NAMES = ("interpolate", "stats", "spatial.transform")
OURS, THEIRS = (
    SimpleNamespace(**{name.split(".")[-1]: importlib.import_module(f"{package}.{name}") for name in NAMES})
    for package in ("gradtape.scipy", "scipy")
)
PROGRAMS: list[Callable[[Any, Any, Any], Any]] = []


def program(function: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """Add a program of NumPy, SciPy and an argument to the list."""
    PROGRAMS.append(function)
    return function


@program
def rotation_read_and_written(np: Any, scipy: Any, x: Any) -> Any:
    rotation = scipy.transform.Rotation.from_quat(x[:4])
    quaternion, matrix = rotation.as_quat(), rotation.as_matrix()
    quaternion[0] = 5.0 * x[4]
    matrix *= 2.0
    return (rotation.apply(VECTOR) * VECTOR[::-1]).sum() + quaternion.sum() + matrix.sum()


@program
def rotations_assigned_and_copied(np: Any, scipy: Any, x: Any) -> Any:
    rotations = scipy.transform.Rotation.from_rotvec(np.stack([x[:3], x[1:4], x[2:5]]))
    part, other = rotations[0:2], copy.copy(rotations)
    path = scipy.transform.Slerp([0.0, 1.0, 2.0], rotations)
    rotations[0] = rotations[2]
    matrices = [each.as_matrix()[0] for each in (rotations, part, other, path([0.3]))]
    return sum((number * (matrix * numpy.arange(9.0).reshape(3, 3)).sum()) for number, matrix in enumerate(matrices, 1))


@program
def interp1d_values(np: Any, scipy: Any, x: Any) -> Any:
    f = scipy.interpolate.interp1d(GRID, x * 1.0)
    result = f(0.3)
    f.y[1] = 5.0 * x[0]
    result = result + 2.0 * f(0.3)
    f.y = x**2
    return result + 3.0 * f(0.3)


@program
def interp1d_points_and_fill(np: Any, scipy: Any, x: Any) -> Any:
    f = scipy.interpolate.interp1d(GRID.copy(), x * 1.0, bounds_error=False)
    f.x[1] = 0.35
    f.fill_value = 7.0 * x[0]
    return f(0.3) + f(1.5)


@program
def interp1d_spline_is_made_once(np: Any, scipy: Any, x: Any) -> Any:
    f = scipy.interpolate.interp1d(GRID, x * 1.0, kind="cubic")
    f.y[1] = 5.0 * x[0]
    return f(0.3)


@program
def splines(np: Any, scipy: Any, x: Any) -> Any:
    spline = scipy.interpolate.BSpline(KNOTS, x * 1.0, 3)
    result = spline(0.3)
    spline.c[1] = x[0] * x[2]
    result = result + 2.0 * spline(0.3)
    spline.c = x**2
    spline.t = numpy.where(KNOTS == 0.4, 0.5, KNOTS)
    return result + 3.0 * spline(0.3) + spline.derivative()(0.2)


@program
def bernstein_polynomials(np: Any, scipy: Any, x: Any) -> Any:
    f = scipy.interpolate.BPoly(x[:4].reshape(2, 2) * 1.0, [0.0, 0.5, 1.0])
    f.c[0, 0] = 3.0 * x[4]
    result = f(0.3)
    f.c = f.c * x[0]
    return result + 2.0 * f(0.3)


@program
def pieces_that_are_added(np: Any, scipy: Any, x: Any) -> Any:
    f = scipy.interpolate.PPoly(x[:4].reshape(2, 2) * 1.0, [0.0, 0.5, 1.0])
    f.extend(np.stack([x[:1], x[1:2], x[4:]]), numpy.array([1.5]))
    f.extend(np.stack([x[2:3], x[1:2], x[3:4]]), numpy.array([-0.5]))
    return f(1.2) + f(0.2) + f(-0.1)


@program
def grids(np: Any, scipy: Any, x: Any) -> Any:
    axes = ([0.0, 1.0], [0.0, 1.0, 2.0])
    f = scipy.interpolate.RegularGridInterpolator(axes, np.stack([x[:3], x[1:4]]), bounds_error=False)
    f.values[0, 0] = 3.0 * x[4]
    f.fill_value = None
    return f([[0.3, 0.4]])[0] + f([[1.5, 0.4]])[0]


@program
def polynomials_through_values(np: Any, scipy: Any, x: Any) -> Any:
    y = x * 1.0
    lagrange, newton = scipy.interpolate.BarycentricInterpolator(GRID, y), scipy.interpolate.KroghInterpolator(GRID, y)
    y[0] = 3.0 * x[1]
    result = lagrange(0.3) + 2.0 * newton(0.3)
    lagrange.yi[1, 0] = x[2] ** 2
    return result + 3.0 * lagrange(0.3)


@program
def frozen_distributions(np: Any, scipy: Any, x: Any) -> Any:
    mean, covariance = x[:2] * 1.0, np.diag(x[2:4])
    frozen = scipy.stats.multivariate_normal(mean, covariance)
    mean[0] = x[4]
    covariance[0, 0] = 100.0 * x[0]
    result = frozen.logpdf([0.1, 0.2]) + frozen.mean.sum()
    frozen.mean = x[3:] * 2.0
    return result + 2.0 * frozen.logpdf([0.1, 0.2])


@pytest.mark.filterwarnings("ignore::gradtape.errors.JitWarning")  # arrays of the closure are read: not compiled
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_gradients_are_differences(function: Any, compiled: bool) -> None:
    """Values are those of SciPy's objects, and gradients those of differences."""
    derivative = gt.value_and_grad(lambda x: function(gradtape.numpy, OURS, x))
    value, gradient = (gt.jit(derivative) if compiled else derivative)(X)
    plain = lambda x: float(function(numpy, THEIRS, x))
    numpy.testing.assert_allclose(value, plain(X.copy()))
    differences = [(plain(X + step) - plain(X - step)) / 2e-6 for step in 1e-6 * numpy.eye(len(X))]
    numpy.testing.assert_allclose(gradient, differences, rtol=1e-5, atol=1e-5)


def test_edits_that_cannot_be_followed() -> None:
    """Parameters that SciPy keeps factors of, values that it keeps a spline of, and wrong shapes are refused."""

    def new_covariance(x: Any) -> Any:
        OURS.stats.multivariate_normal(x[:2], numpy.eye(2)).cov = numpy.diag(x[:2])

    def new_values(x: Any) -> Any:
        OURS.interpolate.interp1d(GRID, x, kind="cubic").y = x * 2.0

    def wrong_pieces(x: Any) -> Any:
        OURS.interpolate.PPoly(x[:4].reshape(2, 2), [0.0, 0.5, 1.0]).extend(x[:3].reshape(1, 3), [2.0])

    for function, error, words in (
        (new_covariance, UnsupportedError, "cov of a frozen distribution"),
        (new_values, UnsupportedError, "a new interpolation"),
        (wrong_pieces, ShapeError, "one break point for each piece"),
    ):
        with pytest.raises(error, match=words):
            gt.grad(function)(X)
