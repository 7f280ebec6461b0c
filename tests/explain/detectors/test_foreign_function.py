"""Functions of other libraries that are given a tensor: which it is, and gradtape's own in its place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft as fourier
import scipy.integrate
import scipy.linalg as sla
import scipy.ndimage
import scipy.signal
import scipy.sparse as sparse
import scipy.special
import scipy.stats as stats
from scipy.interpolate import CubicSpline
from scipy.special import logsumexp

import gradtape as gt
from gradtape.errors import DetachError, ShapeError
from gradtape.explain.detectors.foreign_function import counterpart
from gradtape.explain.model.problem import Fix, Problem

POINT = np.array([0.3, 0.9, 1.4])
A = np.array([[2.0, 0.5, 0.0], [0.5, 3.0, 0.2], [0.0, 0.2, 1.5]])
S = sparse.csr_matrix(A)
rng = np.random.default_rng(0)
table = {"lse": logsumexp}


def refused(function: Callable[[Any], Any], error: type[Exception] = DetachError) -> Problem:
    """What is said of a call in `function` that was given a tensor."""
    with pytest.raises(error) as caught:
        gt.grad(function)(POINT)
    return caught.value.problem  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize(
    ("function", "name", "fix"),
    [
        (lambda x: logsumexp(x), "scipy.special.logsumexp", "gt.special.logsumexp(x)"),
        (lambda x: scipy.special.softmax(x, axis=0)[0], "scipy.special.softmax", "gt.special.softmax(x, axis=0)"),
        (lambda x: sla.expm(x * A)[0, 0], "scipy.linalg.expm", "gt.linalg.expm(x * A)"),
        (lambda x: sla.cholesky(A + x[0])[0, 0], "scipy.linalg.cholesky", "gt.linalg.cholesky(A + x[0], upper=True)"),
        (lambda x: sla.cholesky(A + x[0], lower=True)[0, 0], "scipy.linalg.cholesky", "gt.linalg.cholesky(A + x[0])"),
        (lambda x: stats.norm.logpdf(x, loc=1.0).sum(), "scipy.stats.norm.logpdf", "gt.stats.norm.logpdf(x, loc=1.0)"),
        (lambda x: stats.norm(x[0]).logpdf(1.0), "scipy.stats.norm.logpdf", "gt.stats.norm.logpdf(1.0, x[0])"),
        (lambda x: scipy.signal.fftconvolve(x, x)[0], "scipy.signal.fftconvolve", "gt.signal.fftconvolve(x, x)"),
        (lambda x: scipy.integrate.trapezoid(x), "scipy.integrate.trapezoid", "np.trapezoid(x)"),
        (lambda x: rng.normal(x, 1.0).sum(), "numpy.random.normal", "gt.random.normal(rng, x, 1.0)"),
        (lambda x: np.random.normal(x).sum(), "numpy.random.normal", "gt.random.normal(np.random.default_rng(), x)"),
        (lambda x: S.multiply(x).sum(), "a sparse matrix", "S.toarray() * x"),
        (lambda x: A.dot(x).sum(), "a method of a NumPy array", "np.dot(A, x)"),
        (lambda x: A.T.dot(x).sum(), "a method of a NumPy array", "np.dot(A.T, x)"),
    ],
)  # fmt: skip
def test_the_function_of_the_same_name(function: Callable[[Any], Any], name: str, fix: str) -> None:
    """The title says who takes bare arrays, and the fix, an edit, is the call of gradtape's own."""
    problem = refused(function)
    assert problem.code == "GT312"
    assert problem.title.startswith(f"{name} takes bare arrays")
    (first, *_) = problem.fixes
    assert (str(first), isinstance(first, Fix) and first.is_edit) == (fix, True)


@pytest.mark.parametrize(
    ("mine", "theirs", "arguments"),
    [
        (lambda a: gt.linalg.cholesky(a, upper=True), sla.cholesky, (A,)),
        (lambda a: gt.linalg.qr(a, mode="complete")[1], lambda a: sla.qr(a)[1], (A[:, :2],)),
        (gt.linalg.solve, sla.solve, (A, POINT)),
        (gt.special.softmax, scipy.special.softmax, (A,)),
        (gt.stats.norm.logpdf, stats.norm.logpdf, (POINT, 1.0, 2.0)),
        (gt.signal.fftconvolve, scipy.signal.fftconvolve, (POINT, POINT)),
    ],
)
def test_what_is_offered_computes_the_same(mine: Any, theirs: Any, arguments: tuple[Any, ...]) -> None:
    """The functions that are offered give what SciPy's give."""
    np.testing.assert_allclose(mine(*arguments), theirs(*arguments), rtol=1e-12)


def test_a_function_without_counterpart() -> None:
    """Where gradtape has no such function, and where its arguments are others, nothing is said to be checked."""
    for function in (
        lambda x: scipy.ndimage.label(x)[0].sum(),
        lambda x: sla.solve(A * x, POINT, assume_a="pos").sum(),
    ):
        problem = refused(function)
        assert not any(isinstance(fix, Fix) and fix.is_edit for fix in problem.fixes)
    assert any("gt.custom_vjp" in fix for fix in refused(lambda x: scipy.ndimage.label(x)[0].sum()).fixes)


@pytest.mark.parametrize(
    ("function", "fix"),
    [
        (lambda x: CubicSpline(POINT, x)(0.5), "from gradtape.scipy.interpolate import CubicSpline"),
        (lambda x: fourier.dct(x)[0], "import gradtape.scipy.fft as fourier"),
        (lambda x: sparse.diags([x], [0]).sum(), "import gradtape.scipy.sparse as sparse"),
        (
            lambda x: scipy.ndimage.gaussian_filter(x, 1.0)[0],
            "gradtape.scipy.ndimage.gaussian_filter is the same function for tensors",
        ),
    ],
)
def test_a_function_that_our_scipy_has(function: Callable[[Any], Any], fix: str) -> None:
    """The fix is the import from gradtape.scipy, where that has the function with a gradient."""
    assert refused(function).fixes == (fix,)


def test_a_function_that_the_source_does_not_name() -> None:
    """The frame inside the call tells which function it was."""
    assert refused(lambda x: table["lse"](x)).title.startswith("scipy.special.logsumexp takes bare arrays")


def test_functions_of_math() -> None:
    """A function of `math` that is given a vector is replaced by NumPy's, and so is one that is passed on."""
    problem = refused(lambda x: np.sum(math.exp(x)), ShapeError)
    assert problem.title == "math.exp takes one number; this tensor has shape (3,)"
    assert str(problem.fixes[0]) == "np.exp(x)"
    found: list[Problem] = []
    with gt.explain.configure(GT2="note"), gt.explain.listening(found.append):
        gt.grad(lambda x: 1.0 * sum(map(math.sin, x)))(POINT)
    assert [str(fix) for fix in found[-1].fixes] == ["sum(map(np.sin, x))"]


def test_names_of_functions() -> None:
    """A counterpart is what does the same, under SciPy's, NumPy's or another name; nothing is made up."""
    assert counterpart("math.atan2") == "arctan2"
    assert counterpart("scipy.integrate.simpson") == "quadrature.simpson"
    assert counterpart("math.isqrt") == counterpart("scipy.stats.zscore") == counterpart("pandas.DataFrame") == ""


def test_vectorize_and_lists() -> None:
    """np.vectorize is named, and a list of tensors that NumPy reduces is made a tensor first."""
    assert refused(lambda x: np.vectorize(lambda t: t)(x).sum()).title.startswith("numpy.vectorize takes bare arrays")
    assert str(refused(lambda x: np.mean([x, x])).fixes[0]) == "gt.array([x, x])"
