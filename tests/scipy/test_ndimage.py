"""`gradtape.scipy.ndimage`: SciPy's names and values, with gradients by every continuous argument."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.ndimage as theirs
from mirror_checks import check_against_scipy, check_every_name, check_under_vmap_and_jit, refuses

import gradtape as gt
from gradtape.scipy import ndimage
from gradtape.scipy.neighbourhoods import MODES

GENERATOR = np.random.default_rng(7)
LABELS = np.array([[0, 1, 1, 2], [3, 3, 1, 2], [0, 1, 2, 2]])


def draw(*shape: int) -> Any:
    return GENERATOR.normal(size=shape)


def number(value: float) -> Any:
    return np.array(value)


def plain(value: Any) -> Any:
    """An array of shape () as the number that SciPy wants in its place."""
    return value[()].item() if isinstance(value, np.ndarray) and not value.ndim else value


def check(name: str, *args: Any, exact: float = 1e-9, second: bool = False, **kwargs: Any) -> None:
    ours = lambda *a: getattr(ndimage, name)(*a, **kwargs)
    scipys = lambda *a: getattr(theirs, name)(*map(plain, a), **kwargs)
    check_against_scipy(ours, scipys, *args, exact=exact, order=2 if second else 1)


def test_every_name_of_scipys_is_here() -> None:
    """Each public name is differentiated, refused with a reason, or a former module of SciPy's."""
    check_every_name(
        ndimage, theirs, "filters fourier interpolation measurements morphology", "vectorized_filter value_indices test"
    )


@pytest.mark.parametrize("mode", MODES)
def test_linear_filters_in_every_mode(mode: str) -> None:
    """Correlations and convolutions with even and odd numbers of weights, whatever lies beyond the edges."""
    check("correlate1d", draw(5), draw(3), mode=mode, cval=0.7, origin=-1)
    check("convolve1d", draw(5, 2), draw(4), mode=mode, cval=0.7, axis=0)
    check("correlate", draw(3, 4), draw(3, 2), mode=mode, cval=0.7)
    check("convolve", draw(3, 4), draw(2, 3), mode=mode, origin=(0, -1))
    check("uniform_filter", draw(3, 4), size=(2, 3), mode=mode, cval=0.3)


def test_linear_filters_of_other_images() -> None:
    """Complex images, some of the axes, kernels that are larger than the image, and derivatives by the constant."""
    check("correlate", draw(3, 3) + 1j * draw(3, 3), draw(2, 2) + 1j * draw(2, 2))
    check("convolve", draw(3, 2, 3), draw(3, 2), axes=(0, 2))
    check("correlate1d", draw(2), draw(7), mode="mirror")
    check_against_scipy(
        lambda x, c: ndimage.correlate1d(x, [1.0, 2.0, 3.0], mode="constant", cval=c),
        lambda x, c: theirs.correlate1d(x, [1.0, 2.0, 3.0], mode="constant", cval=c.item()),
        *(draw(4), number(0.4)),
    )


def test_gaussian_filters_are_differentiated_by_their_width() -> None:
    """Gaussians and their derivatives, with one width for all axes or one for each."""
    check("gaussian_filter1d", draw(6), number(0.9), second=True)
    check("gaussian_filter1d", draw(6), number(0.9), order=3)
    check("gaussian_filter", draw(3, 4), np.array([0.9, 0.6]), order=(1, 0), mode=("wrap", "mirror"))
    check("gaussian_filter", draw(2, 3, 4), number(0.6), axes=(1, 2), truncate=2.0)
    check("gaussian_laplace", draw(3, 4), number(0.7))
    check("gaussian_gradient_magnitude", draw(3, 4), number(0.7))
    for derivative in ("sobel", "prewitt"):
        x = draw(3, 4)
        for name in ("generic_gradient_magnitude", "generic_laplace"):
            their_value = getattr(theirs, name)(x, getattr(theirs, derivative), mode="wrap")
            ours_of = lambda x, name=name, derivative=derivative: getattr(ndimage, name)(
                x, getattr(ndimage, derivative), mode="wrap"
            )
            np.testing.assert_allclose(ours_of(gt.tensor(x)), their_value)
            gt.gradcheck(lambda x, ours_of=ours_of: (ours_of(x) ** 2).sum(), x)


@pytest.mark.parametrize("name", ["sobel", "prewitt", "laplace"])
def test_derivatives_of_images(name: str) -> None:
    """Differences along axes."""
    check(name, draw(3, 4), mode="constant", cval=0.3)


@pytest.mark.parametrize("name", ["minimum_filter", "maximum_filter", "median_filter"])
@pytest.mark.parametrize("mode", ["reflect", "constant", "nearest", "mirror", "wrap"])
def test_filters_that_choose(name: str, mode: str) -> None:
    """The gradient goes to the neighbour that is chosen."""
    check(name, draw(4, 4), size=3, mode=mode, cval=0.2)
    check(name, draw(4, 3), footprint=np.array([[1, 0], [1, 1], [0, 1]]), mode=mode, origin=(0, -1))


def test_other_filters_that_choose() -> None:
    """Ranks and percentiles, along one axis or some."""
    check("rank_filter", draw(3, 4), rank=-2, size=(2, 3))
    check("percentile_filter", draw(7), percentile=30, size=4)
    check("minimum_filter1d", draw(4, 3), size=3, axis=0, origin=1)
    check("maximum_filter1d", draw(3, 4), size=4)
    check("median_filter", draw(3, 4, 2), size=3, axes=(0, 1))


GREY = (
    *("grey_erosion", "grey_dilation", "grey_opening", "grey_closing"),
    *("morphological_gradient", "morphological_laplace", "white_tophat", "black_tophat"),
)


@pytest.mark.parametrize("name", GREY)
def test_grey_morphology(name: str) -> None:
    """Differentiated by the image and by the structure."""
    check(name, draw(3, 4), size=(2, 3), mode="constant")
    check_against_scipy(
        lambda x, s: getattr(ndimage, name)(x, structure=s, footprint=[[1, 0], [1, 1], [0, 1]]),
        lambda x, s: getattr(theirs, name)(x, structure=s, footprint=[[1, 0], [1, 1], [0, 1]]),
        *(draw(4, 3), draw(3, 2)),
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", range(6))
def test_splines_in_every_mode_and_order(mode: str, order: int) -> None:
    """Interpolation, far beyond the edges too, has SciPy's values and derivatives by values and places."""
    far = np.array([[-1.7, 0.3, 2.6, 3.3, 5.2, 8.3], [1.2, -0.4, 3.9, 2.2, -3.1, 4.4]])
    image = draw(4, 5)
    for name, argument in (("map_coordinates", far), ("shift", (0.6, -1.3)), ("zoom", 1.7)):
        found = getattr(ndimage, name)(gt.tensor(image), argument, order=order, mode=mode, cval=0.7)
        wanted = getattr(theirs, name)(image, argument, order=order, mode=mode, cval=0.7)
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-9, atol=1e-9)
    check("map_coordinates", draw(5), far[:1, 1:5], order=order, mode=mode, cval=0.7)


@pytest.mark.filterwarnings("ignore:The behavior of affine_transform:UserWarning")  # by SciPy 1.15, of a vector
def test_geometric_maps_are_differentiated() -> None:
    """Shifts, matrices, offsets, angles and mappings have derivatives, and so have the images."""
    check("map_coordinates", draw(3, 4), np.array([[0.3, 1.6], [1.2, 2.7]]), second=True)
    check("map_coordinates", draw(2, 3, 3), GENERATOR.uniform(0, 1, (3, 2)), prefilter=False)
    check("map_coordinates", draw(3, 3) + 1j * draw(3, 3), GENERATOR.uniform(0, 2, (2, 2)))
    check("shift", draw(3, 4), np.array([0.6, -1.3]), mode="grid-constant", cval=0.7)
    check("affine_transform", draw(3, 4), np.array([[0.9, 0.2], [-0.3, 1.1]]), np.array([0.37, -0.43]))
    check("affine_transform", draw(3, 4), np.array([[0.9, 0.2, 0.37], [-0.3, 1.1, -0.43]]), output_shape=(2, 3))
    check("affine_transform", draw(3, 4), np.array([0.9, 1.2]), offset=(0.37, -0.23), mode="wrap")
    check("rotate", draw(3, 4), number(17.0))
    check("rotate", draw(3, 2, 3), number(17.0), axes=(0, 2), reshape=False, order=1, mode="nearest")
    check("zoom", draw(3, 4), zoom=(2, 0.6), grid_mode=True, mode="reflect")
    check("geometric_transform", draw(3, 3), mapping=lambda place: (place[0] * 0.8 + 0.1, place[1] - 0.3))
    image = draw(3, 3)
    moved = lambda by: ndimage.geometric_transform(image, lambda place: (place[0] - by, place[1]), order=2).sum()
    assert bool(gt.gradcheck(moved, 0.3))
    np.testing.assert_array_equal(
        ndimage.geometric_transform(image, lambda place: place), theirs.geometric_transform(image, lambda place: place)
    )


@pytest.mark.parametrize("mode", ["mirror", "reflect", "grid-wrap"])
def test_spline_coefficients(mode: str) -> None:
    """The transposes of the filters are exact for short and long axes."""
    for order in (2, 3, 5):
        check("spline_filter1d", draw(2, 4), order=order, mode=mode)
    check("spline_filter1d", draw(36), order=4, mode=mode)
    check("spline_filter", draw(3, 4), mode=mode)


@pytest.mark.parametrize("name", ["fourier_shift", "fourier_gaussian", "fourier_uniform"])
def test_filters_of_transforms(name: str) -> None:
    """Differentiated by the transform and by the size of the filter."""
    check(name, draw(3, 4) + 1j * draw(3, 4), np.array([0.8, 1.7]))
    check(name, draw(3, 3) + 1j * draw(3, 3), number(0.8), n=5, axis=1)
    check(name, draw(3, 2), number(0.8))


MEASURES = (
    *("sum_labels", "sum", "mean", "variance", "standard_deviation", "minimum", "maximum", "median"),
    *("extrema", "center_of_mass"),
)


@pytest.mark.parametrize("name", MEASURES)
def test_measurements_of_labelled_parts(name: str) -> None:
    """Of the whole image, of all that is labelled, of one part, of several parts in any order."""
    image = draw(3, 4) + 3.0
    for settings in ({}, {"labels": LABELS}, {"labels": LABELS, "index": 2}, {"labels": LABELS, "index": [3, 1, 3]}):
        ours, scipys = getattr(ndimage, name), getattr(theirs, name)
        check_against_scipy(lambda x, f=ours, s=settings: f(x, **s), lambda x, f=scipys, s=settings: f(x, **s), image)


def test_places_and_labels_of_an_image_with_a_gradient() -> None:
    """Functions whose results are places, labels or truth values take the numbers of a tensor."""
    image = draw(4, 5)

    def total(x: Any) -> Any:
        labels, count = ndimage.label(x > 0.2)
        inside = ndimage.binary_erosion(x > -3.0)
        parts = ndimage.sum_labels(x**2, labels, np.arange(1, count + 1))
        return np.sum(parts) + x[ndimage.maximum_position(x)] + np.sum(x[inside]) * ndimage.histogram(x, 0, 9, 1)[0]

    expected = 2.0 * image * (image > 0.2)
    expected[np.unravel_index(image.argmax(), image.shape)] += 1.0
    expected[1:-1, 1:-1] += np.sum(image >= 0.0)
    np.testing.assert_allclose(gt.grad(total)(image), expected)
    np.testing.assert_allclose(gt.jit(gt.grad(total))(image), expected)


def test_single_precision_stays_and_whole_numbers_are_refused() -> None:
    """The result has the dtype of the image, so that an image of whole numbers would lose a gradient."""
    image = draw(4, 4).astype(np.float32)
    assert ndimage.gaussian_filter(gt.tensor(image), 1.0).dtype == np.float32
    assert ndimage.zoom(gt.tensor(image), 2).dtype == np.float32
    assert ndimage.shift(gt.tensor(image), 0.5, output=np.float64).dtype == np.float64
    message = refuses(ndimage.gaussian_filter, np.arange(9).reshape(3, 3), number(1.0))
    assert "whole numbers" in message
    assert "astype(float)" in message


def test_images_under_vmap_and_jit() -> None:
    """Batches of images and of parameters, and compiled code, give what one image at a time gives."""
    check_under_vmap_and_jit(lambda x: ndimage.gaussian_filter(x, 0.7), draw(2, 4, 5))
    check_under_vmap_and_jit(lambda x, s: ndimage.shift(x, s, mode="nearest"), draw(2, 5), draw(2, 1))
    check_under_vmap_and_jit(lambda x: ndimage.median_filter(x, 3), draw(2, 4, 4))
    check_under_vmap_and_jit(lambda x: ndimage.mean(x, LABELS, [1, 2]), draw(2, 3, 4))


def test_what_has_no_derivative_says_why() -> None:
    """Tracked tensors are refused with the reason, and wrong arguments with what is accepted."""
    assert "sliding_window_view" in refuses(ndimage.generic_filter, draw(4), np.mean, size=3)
    assert "how many elements" in refuses(ndimage.zoom, draw(3), number(2.0))
    assert "mode='edge'; accepted are 'reflect'" in refuses(ndimage.shift, draw(3), 0.5, mode="edge")
    assert "only None and dtypes" in refuses(ndimage.sobel, draw(3, 3), output=np.zeros((3, 3)))
