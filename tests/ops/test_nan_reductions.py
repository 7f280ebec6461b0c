"""Reductions that pass over NaN, covariance, running sums by their newer names, and histograms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.ops import covariance, histograms, nan_reductions

from .differentiation import assert_differentiates, assert_values_are_numpys, in_the_plane

RANDOM = np.random.default_rng(9)
VALUES = RANDOM.normal(size=(3, 5, 4))
GAPS = np.where(RANDOM.random(VALUES.shape) < 0.25, np.nan, VALUES)
MASK = RANDOM.random(VALUES.shape) < 0.7
GAPS[:, 0, :], MASK[:, 0, :] = VALUES[:, 0, :], True  # so that no slice is without any
REDUCTIONS = ["nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin"]
reductions = pytest.mark.parametrize("name", REDUCTIONS)
axes = pytest.mark.parametrize("axis", [None, 0, -2, (0, 2), (1, 0)])


def gradient(function: Any, *values: Any) -> Any:
    """The gradient of the sum of a function with respect to its first argument, as an array."""
    point = [np.asarray(value, float) for value in values]
    result, pull_back = gt.vjp(function, *point)
    return pull_back(np.ones_like(result))[0]


# -- reductions that pass over NaN


@reductions
@axes
@pytest.mark.parametrize("keepdims", [False, True])
def test_nan_reductions_are_numpys(name: str, axis: Any, keepdims: bool) -> None:
    """Along any axes, kept or not, with NaN among the elements and without, in both precisions."""
    function = lambda x: getattr(np, name)(x, axis=axis, keepdims=keepdims)
    assert_values_are_numpys(function, GAPS)
    assert_values_are_numpys(function, VALUES)
    assert_values_are_numpys(function, GAPS.astype("float32"), tolerance=1e-4)


@reductions
def test_nan_reductions_differentiate(name: str) -> None:
    """Without NaN they differentiate like the reductions they are, in both modes, twice, and in batches."""
    assert_differentiates(lambda x: getattr(np, name)(x, axis=0), VALUES[0])
    assert_differentiates(lambda x: getattr(np, name)(x), VALUES[0, :, :2])


@reductions
def test_nan_has_no_gradient(name: str) -> None:
    """Elements that are NaN have gradient zero, and the others the gradient that they have without them."""
    x = np.array([2.0, np.nan, 3.0, -1.0, np.nan])
    slope = gradient(getattr(nan_reductions, name), x)
    kept = ~np.isnan(x)
    np.testing.assert_array_equal(slope[~kept], 0.0)
    plain = getattr(gt, name.removeprefix("nan"))
    np.testing.assert_allclose(slope[kept], gradient(plain, x[kept]), rtol=1e-14)


@pytest.mark.parametrize("name", ["nancumsum", "nancumprod"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_running_sums_pass_over_nan(name: str, axis: Any) -> None:
    """Running sums and products count NaN as nothing, and differentiate."""
    assert_values_are_numpys(lambda x: getattr(np, name)(x, axis=axis), GAPS[0])
    assert_differentiates(lambda x: getattr(np, name)(x, axis=axis), VALUES[0, :, :2])
    assert not np.isnan(gradient(lambda x: getattr(nan_reductions, name)(x), GAPS[0])).any()


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmax", "nanmin"])
def test_initial_and_where(name: str) -> None:
    """`initial=` and `where=` mean what they mean in NumPy."""
    how = {"axis": 1, "initial": 1.5, "where": MASK}
    assert_values_are_numpys(lambda x: getattr(np, name)(x, **how), GAPS)
    assert_differentiates(lambda x: getattr(np, name)(x, axis=0, initial=0.25, where=MASK[0]), VALUES[0])


@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd"])
def test_where_of_means(name: str) -> None:
    """Means and variances of some of the elements only."""
    assert_values_are_numpys(lambda x: getattr(np, name)(x, axis=1, where=MASK), GAPS)


@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
def test_degrees_of_freedom(name: str) -> None:
    """`ddof` and `correction` lower the divisor; a mean that is known already can be given."""
    assert_values_are_numpys(lambda x: getattr(np, name)(x, axis=1, ddof=1), GAPS)
    assert_values_are_numpys(lambda x: getattr(np, name)(x, correction=1), GAPS)
    known = np.nanmean(GAPS, axis=1, keepdims=True)
    assert_values_are_numpys(lambda x: getattr(np, name)(x, axis=1, mean=known), GAPS)
    assert_differentiates(lambda x: getattr(np, name)(x, axis=0, ddof=1), VALUES[0])


def test_complex_nan_reductions() -> None:
    """Complex numbers with a NaN in either part are passed over."""
    x = in_the_plane(VALUES[0])
    x[1, 2] = complex(1.0, np.nan)
    for name in ("nansum", "nanmean", "nanvar", "nanprod"):
        assert_values_are_numpys(lambda x, name=name: getattr(np, name)(x, axis=0), x)
    assert_differentiates(lambda x: np.nanvar(x, axis=0), in_the_plane(VALUES[0, :, :2]))


@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd", "nanmax", "nanmin"])
def test_a_slice_of_nothing_but_nan(name: str) -> None:
    """Where nothing is left the result is NaN with NumPy's warning, and the other slices have their gradient."""
    x = np.array([[np.nan, np.nan], [1.0, 3.0]])
    function = getattr(nan_reductions, name)
    with pytest.warns(RuntimeWarning, match=r"slice"):
        found = function(x, axis=1)
    assert np.isnan(found[0])
    assert not np.isnan(found[1])
    with pytest.warns(RuntimeWarning, match=r"slice"):
        slope = gradient(lambda x: function(x, axis=1)[1], x)
    assert not np.isnan(slope).any()
    assert slope[1].any()


def test_a_sum_of_nothing_but_nan_is_zero() -> None:
    """The empty sum is 0 and the empty product 1, without a word."""
    nothing = np.full(3, np.nan)
    assert (nan_reductions.nansum(nothing), nan_reductions.nanprod(nothing)) == (0.0, 1.0)


def test_tied_extremes_share() -> None:
    """Tied elements share the gradient equally, as those of max and min do."""
    np.testing.assert_array_equal(gradient(nan_reductions.nanmax, [3.0, np.nan, 3.0, 1.0]), [0.5, 0.0, 0.5, 0.0])


def test_a_spread_of_nothing_has_no_slope() -> None:
    """The standard deviation of equal elements has the gradient zero."""
    np.testing.assert_array_equal(gradient(nan_reductions.nanstd, [2.0, np.nan, 2.0]), [0.0, 0.0, 0.0])


@pytest.mark.parametrize("name", ["nanargmax", "nanargmin"])
@pytest.mark.parametrize("keepdims", [False, True])
def test_positions_are_numpys(name: str, keepdims: bool) -> None:
    """Positions of extremes, over everything and along an axis, inside vmap and outside; not tracked."""
    for axis in (None, 0, -1):
        function = lambda x, axis=axis: getattr(np, name)(x, axis=axis, keepdims=keepdims)
        assert_values_are_numpys(function, GAPS)
        mapped = gt.vmap(function)(GAPS)
        np.testing.assert_array_equal(np.asarray(mapped), [function(example) for example in GAPS])
    with gt.GradientTape() as tape:
        assert not getattr(nan_reductions, name)(tape.watch(VALUES)).is_tracked


def test_integers_are_all_present() -> None:
    """Integers hold no NaN, and are reduced as they are."""
    for name in REDUCTIONS:
        assert_values_are_numpys(lambda x, name=name: getattr(np, name)(x, axis=1), np.arange(6).reshape(2, 3) + 1)


# -- covariance and correlation


@pytest.mark.parametrize("rowvar", [True, False])
@pytest.mark.parametrize("how", [{}, {"bias": True}, {"ddof": 0}, {"ddof": 2}], ids=str)
def test_cov_is_numpys(rowvar: bool, how: Any) -> None:
    """Covariances of rows and of columns, with every divisor, and of a second set of variables."""
    x = VALUES[0]
    assert_values_are_numpys(lambda x: np.cov(x, rowvar=rowvar, **how), x)
    assert_values_are_numpys(lambda x, y: np.cov(x, y, rowvar=rowvar, **how), x, 2 * x[::-1] + 1)
    assert_differentiates(lambda x: np.cov(x, rowvar=rowvar, **how), x[:4, :3])


def test_weighted_cov_is_numpys() -> None:
    """Repetitions and relative weights of observations enter as in NumPy; relative weights have a gradient."""
    x, counts, weights = VALUES[0], np.array([1, 2, 1, 3]), np.array([0.5, 1.0, 2.0, 0.3])
    assert_values_are_numpys(lambda x: np.cov(x, fweights=counts), x)
    assert_values_are_numpys(lambda x: np.cov(x, aweights=weights), x)
    assert_values_are_numpys(lambda x: np.cov(x, fweights=counts, aweights=weights, ddof=0), x)
    assert_values_are_numpys(lambda x: np.cov(x, fweights=counts, aweights=weights), x)
    assert_differentiates(lambda x, w: np.cov(x, aweights=w), x[:2], weights)


def test_cov_of_vectors_and_of_complex_numbers() -> None:
    """A vector has one variance; complex variables have a Hermitian covariance; float32 stays."""
    assert_values_are_numpys(np.cov, VALUES[0, 0])
    assert_values_are_numpys(lambda x, y: np.cov(x, y), VALUES[0, 0], VALUES[0, 1])
    z = in_the_plane(VALUES[0, :2])
    assert_values_are_numpys(np.cov, z)
    assert_differentiates(np.cov, z)
    assert covariance.cov(VALUES[0].astype("float32")).dtype == np.float32


def test_cov_of_one_observation() -> None:
    """Too few observations give NumPy's warning and NaN."""
    with pytest.warns(RuntimeWarning, match="Degrees of freedom"):
        assert np.isnan(covariance.cov(np.array([[1.0], [2.0]]))).all()


@pytest.mark.parametrize("rowvar", [True, False])
def test_corrcoef_is_numpys(rowvar: bool) -> None:
    """Correlations lie between -1 and 1, are 1 with oneself, and differentiate."""
    assert_values_are_numpys(lambda x: np.corrcoef(x, rowvar=rowvar), VALUES[0])
    assert_values_are_numpys(lambda x, y: np.corrcoef(x, y), VALUES[0, 0], VALUES[0, 1])
    assert_differentiates(lambda x: np.corrcoef(x, rowvar=rowvar), VALUES[0, :4, :3])
    found = covariance.corrcoef(np.array([[1.0, 2.0, 3.0], [0.1, 0.2, 0.3]]))
    assert np.abs(found).max() <= 1


# -- running sums, as the array API names them


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@pytest.mark.parametrize("first", [False, True])
def test_cumulative_functions(name: str, first: bool) -> None:
    """Running sums and products with and without what is before the first, along an axis."""
    function = getattr(np, name)
    assert_values_are_numpys(lambda x: function(x, axis=1, include_initial=first), VALUES)
    assert_values_are_numpys(
        lambda x: function(x, include_initial=first), VALUES[0, 0].astype("float32"), tolerance=1e-6
    )
    assert_differentiates(lambda x: function(x, axis=0, include_initial=first), VALUES[0, :3, :2])
    with pytest.raises(gt.ShapeError, match="needs an axis"):
        function(gt.tensor(VALUES))


# -- histograms

SAMPLES = RANDOM.normal(size=30)
WEIGHTS = RANDOM.uniform(0.5, 1.5, 30)
BINS: list[Any] = [7, [-2.0, -0.5, 0.0, 0.25, 3.0], "sturges"]


@pytest.mark.parametrize("bins", BINS, ids=str)
@pytest.mark.parametrize("density", [False, True])
def test_histogram_is_numpys(bins: Any, density: bool) -> None:
    """Counts and edges are NumPy's, weighted and not; edges belong to the bin on their right, the last to its left."""
    for samples in (SAMPLES, np.array([0.0, 0.25, 0.25, 3.0, -2.0, 99.0]), SAMPLES.reshape(5, 6)):
        assert_values_are_numpys(lambda x: np.histogram(x, bins, density=density), samples)
        assert_values_are_numpys(lambda x: np.histogram_bin_edges(x, bins), samples)
    if not isinstance(bins, str):
        assert_values_are_numpys(lambda x, w: np.histogram(x, bins, weights=w, density=density), SAMPLES, WEIGHTS)
        assert_values_are_numpys(lambda x: np.histogram(x, bins, (-1.0, 1.0), density=density), SAMPLES)


@pytest.mark.parametrize("density", [False, True])
def test_weights_of_a_histogram_have_a_gradient(density: bool) -> None:
    """The sums in the bins are linear in the weights, and normalised ones differentiate, too."""
    edges = np.array([-1.0, 0.0, 1.0])
    function = lambda w: np.histogram(SAMPLES[:6], edges, weights=w, density=density)[0]
    assert_differentiates(function, WEIGHTS[:6])


def test_counts_leave_the_tape() -> None:
    """Samples that are counted have no gradient, since counts jump; edges have that of the outermost samples."""
    with gt.GradientTape() as tape:
        counts, edges = histograms.histogram(tape.watch(SAMPLES), 4)
        assert not counts.is_tracked
        assert edges.is_tracked


def test_histograms_map_over_samples() -> None:
    """With given edges, a range, or a number of bins, every example is counted for itself."""
    batch = SAMPLES.reshape(3, 10)
    for how in ({"bins": [-1.0, 0.0, 1.0]}, {"bins": 3, "range": (-1.0, 1.0)}, {"bins": 3}):
        mapped = gt.vmap(lambda x, how=how: histograms.histogram(x, **how)[0])(batch)
        np.testing.assert_array_equal(np.asarray(mapped), [np.histogram(row, **how)[0] for row in batch])
    with pytest.raises(gt.OperandError, match="edges"):
        gt.vmap(lambda x: histograms.histogram(x, "auto")[0])(batch)


@pytest.mark.parametrize("density", [False, True])
def test_histograms_of_several_dimensions(density: bool) -> None:
    """Grids of bins are NumPy's, in two dimensions and in three, and differentiate in the weights."""
    points = RANDOM.normal(size=(30, 3))
    assert_values_are_numpys(lambda x: np.histogramdd(x, (3, 2, 4), density=density)[0], points)
    assert_values_are_numpys(lambda x, w: np.histogramdd(x, 3, density=density, weights=w)[0], points, WEIGHTS)
    x, y = points[:, 0], points[:, 1]
    for bins in (4, (3, 5), [np.array([-1.0, 0.0, 2.0]), 3], np.array([-1.0, 0.0, 2.0])):
        assert_values_are_numpys(lambda x, y, b=bins: np.histogram2d(x, y, b, density=density), x, y)
    limits = ((-1.0, 1.0), (-2.0, 2.0))
    assert_values_are_numpys(lambda x, y: np.histogram2d(x, y, 3, limits, density), x, y)
    edges = [np.array([-3.0, 0.0, 3.0])] * 2
    function = lambda w: np.histogram2d(x[:5], y[:5], edges, density=density, weights=w)[0]
    assert_differentiates(function, WEIGHTS[:5])


def test_bincount() -> None:
    """Integers are counted as in NumPy; weights are summed, with a gradient, and keep their precision."""
    numbers = np.array([0, 3, 3, 1])
    assert_values_are_numpys(lambda x: np.bincount(x), numbers)
    assert_values_are_numpys(lambda x: np.bincount(x, minlength=7), numbers)
    assert_values_are_numpys(lambda w: np.bincount(numbers, w, 7), WEIGHTS[:4])
    assert_differentiates(lambda w: np.bincount(numbers, w), WEIGHTS[:4])
    assert np.bincount(numbers, gt.tensor(WEIGHTS[:4].astype("float32"))).dtype == np.float32
    mapped = gt.vmap(lambda x: histograms.bincount(x, minlength=4))(np.stack([numbers, numbers[::-1] * 0]))
    np.testing.assert_array_equal(np.asarray(mapped), [[1, 1, 0, 2], [4, 0, 0, 0]])


REFUSED = {
    "counts of fractions": lambda: histograms.bincount(gt.tensor([1.5])),
    "counts of negatives": lambda: histograms.bincount(gt.tensor([-1])),
    "counts of a batch": lambda: gt.vmap(histograms.bincount)(np.zeros((2, 3), int)),
    "weights for counts": lambda: histograms.bincount(gt.tensor([1, 2]), [1.0]),
    "weights for bins": lambda: histograms.histogram(gt.tensor([1.0, 2.0]), 2, weights=[1.0]),
    "weights for bins by a rule": lambda: histograms.histogram(gt.tensor([1.0, 2.0]), "fd", weights=[1.0, 1.0]),
    "edges that fall": lambda: histograms.histogram(gt.tensor([1.0, 2.0]), [1.0, 0.0]),
    "bins for dimensions": lambda: histograms.histogramdd(gt.tensor(np.zeros((3, 2))), (2, 2, 2)),
    "a covariance of a cube": lambda: covariance.cov(gt.tensor(VALUES)),
    "weights of observations": lambda: covariance.cov(gt.tensor(VALUES[0]), aweights=np.ones(3)),
    "a largest without a first": lambda: nan_reductions.nanmax(gt.tensor(VALUES), where=MASK),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    """What cannot be done is refused with the line and a way out."""
    with pytest.raises(gt.GradTapeError, match="fix:") as caught:
        REFUSED[name]()
    assert "test_nan_reductions.py" in str(caught.value)
