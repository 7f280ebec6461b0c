"""A continuous parameter that is a tracked tensor has its gradient, or is refused with a code: eager and compiled."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import scipy
import scipy.integrate
import scipy.interpolate
import scipy.ndimage
import scipy.special
import scipy.stats

import gradtape as gt
import gradtape.numpy as np
import gradtape.scipy as sp
from gradtape.errors import GradTapeError

row = numpy.array([0.31, 0.82, 1.27])
table = numpy.array([[0.91, 0.35, 0.62], [0.2, 1.1, 0.75], [0.5, 0.15, 1.3]])
holes = numpy.array([0.3, numpy.nan, 1.2])

Call = Callable[[Any, Any, Any], Any]
"""A call with a parameter `t`, of the functions of `np` and `sp`: gradtape's namespaces, or NumPy and SciPy."""

DIFFERENTIATED: dict[str, tuple[Call, float]] = {
    "unwrap period": (lambda np, sp, t: np.unwrap(9 * row, period=t), 4.3),
    "unwrap discont": (lambda np, sp, t: np.unwrap(9 * row, discont=t, period=4.3), 2.9),
    "interp left": (lambda np, sp, t: np.interp(row, [0.5, 0.9, 1.2], row, left=t), 0.3),
    "interp right of a list": (lambda np, sp, t: np.interp([0.1, 1.4], [0.5, 0.9, 1.2], row, right=t), 0.3),
    "sum initial": (lambda np, sp, t: np.sum(table, initial=t), 0.3),
    "sum initial of a list": (lambda np, sp, t: np.sum([1.0, 2.0], initial=t), 0.3),
    "prod initial": (lambda np, sp, t: np.prod(table, 0, initial=t), 0.3),
    "max initial": (lambda np, sp, t: np.max(table, 0, initial=t), 0.95),
    "min initial": (lambda np, sp, t: np.min(table, 0, initial=t), 0.3),
    "nansum initial": (lambda np, sp, t: np.nansum(holes, initial=t), 0.3),
    "nanprod initial": (lambda np, sp, t: np.nanprod(holes, initial=t), 0.3),
    "nanmax initial": (lambda np, sp, t: np.nanmax(holes, initial=t), 3.0),
    "add.reduce initial": (lambda np, sp, t: np.add.reduce(table, initial=t), 0.3),
    "multiply.reduce initial": (lambda np, sp, t: np.multiply.reduce(table, initial=t), 0.3),
    "var ddof": (lambda np, sp, t: np.var(table, ddof=t), 0.5),
    "std ddof": (lambda np, sp, t: np.std(table, 0, ddof=t), 0.5),
    "std correction": (lambda np, sp, t: np.std(table, correction=t), 0.5),
    "nanvar ddof": (lambda np, sp, t: np.nanvar(holes, ddof=t), 0.5),
    "nanstd ddof": (lambda np, sp, t: np.nanstd(holes, ddof=t), 0.5),
    "pad constant_values": (lambda np, sp, t: np.pad(table, 1, constant_values=t), 0.3),
    "describe ddof": (lambda np, sp, t: sp.stats.describe(row, ddof=t).variance, 0.5),
    "variation ddof": (lambda np, sp, t: sp.stats.variation(row, ddof=t), 0.5),
    "sem ddof": (lambda np, sp, t: sp.stats.sem(row, ddof=t), 0.5),
    "gstd ddof": (lambda np, sp, t: sp.stats.gstd(row, ddof=t), 0.5),
    "zscore ddof": (lambda np, sp, t: sp.stats.zscore(row**2, ddof=t)[0], 0.5),
    "pdtr of a number": (lambda np, sp, t: sp.special.pdtr(2.0, t), 1.5),
    "nan_to_num nan": (lambda np, sp, t: np.nan_to_num(holes, True, t), 0.3),
}

SOLVED: dict[str, tuple[Call, float]] = {
    "lambertw tol": (lambda np, sp, t: sp.special.lambertw(0.3, tol=t).real, 1e-8),
    "solve_bvp end": (
        lambda np, sp, t: sp.integrate.solve_bvp(
            lambda x, y: np.stack([y[1], -y[0]]),
            lambda first, last: np.stack([first[0], last[0] - 1.0]),
            [0.0, 0.5, t],
            numpy.ones((2, 3)),
            tol=1e-8,
        ).sol(0.3)[0],
        1.0,
    ),
}
"""Calls of solvers, which are right to their tolerance and are not compiled."""

REFUSED: dict[str, tuple[Call, float]] = {
    "sum initial with NumPy itself": (lambda np, sp, t: numpy.sum([1.0, 2.0], initial=t), 0.3),
    "distance_transform_edt sampling": (lambda np, sp, t: sp.ndimage.distance_transform_edt(table > 0.5, t), 1.3),
    "BarycentricInterpolator wi": (
        lambda np, sp, t: sp.interpolate.BarycentricInterpolator([0.0, 0.5, 1.0], row, wi=[t, -2.0, 1.0])(0.4),
        1.0,
    ),
    "moment order": (lambda np, sp, t: sp.stats.moment(row, t), 2.0),
    "sum initial of integers": (lambda np, sp, t: np.sum(numpy.array([1, 2]), initial=t, dtype=float), 0.3),
}


def _loss(call: Call, np: Any, sp: Any) -> Callable[[Any], Any]:
    """The sum of what a call returns, and another term by the same parameter: a lost part is not an absent gradient."""
    return lambda t: np.sum(call(np, sp, t)) + t * t


def _gradients(call: Call) -> dict[str, Callable[[Any], Any]]:
    loss = _loss(call, np, sp)
    return {"eager": gt.grad(loss), "compiled": gt.jit(gt.grad(loss)), "of compiled": gt.grad(gt.jit(loss))}


@pytest.mark.parametrize("mode", ["eager", "compiled", "of compiled"])
@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_a_tracked_parameter_has_the_gradient_of_central_differences(name: str, mode: str) -> None:
    """The gradient by a parameter beside plain arrays is right, also where NumPy would make a number of it."""
    call, t = DIFFERENTIATED[name]
    plain, step = _loss(call, numpy, scipy), 1e-5
    expected = (plain(t + step) - plain(t - step)) / (2 * step)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert float(_gradients(call)[mode](numpy.array(t))) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", SOLVED)
def test_a_tracked_parameter_of_a_solver_has_the_gradient_of_central_differences(name: str) -> None:
    """The gradient by a tolerance is zero, and by the end of an interval that of the solution."""
    call, t = SOLVED[name]
    plain, step = _loss(call, numpy, scipy), min(1e-4, t / 10)
    expected = (plain(t + step) - plain(t - step)) / (2 * step)
    assert float(gt.grad(_loss(call, np, sp))(numpy.array(t))) == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("mode", ["eager", "compiled"])
@pytest.mark.parametrize("name", REFUSED)
def test_a_tracked_parameter_that_is_taken_as_a_number_is_refused(name: str, mode: str) -> None:
    """A parameter whose gradient would be lost raises an error that has a code and a fix, in itself or in a note."""
    call, t = REFUSED[name]
    with pytest.raises((GradTapeError, ValueError)) as caught:
        _gradients(call)[mode](numpy.array(t))
    text = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert "[GT312]" in text
    assert "gt.stop_gradient" in text


def test_a_parameter_that_stops_its_gradient_is_a_number() -> None:
    """What the error offers works: the numbers of a tracked tensor, where its gradient is not wanted."""
    gradient = gt.grad(lambda t: numpy.sum(row, initial=gt.stop_gradient(t)) * t)(numpy.array(0.3))
    assert gradient == pytest.approx(row.sum() + 0.3)
