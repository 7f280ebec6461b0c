"""`scipy.ndimage` with gradients: filters, spline interpolation and geometric maps, measurements of labelled parts.

Images are differentiated through all filters, and so are weights, widths, shifts, angles, matrices and coordinates.

>>> import numpy as np, gradtape as gt
>>> from gradtape.scipy import ndimage
>>> image = np.outer(np.arange(4.0), np.ones(4))
>>> def brightness(angle):
...     return ndimage.rotate(image, angle, reshape=False, order=1)[1, 1]
>>> gt.grad(brightness)(gt.tensor(10.0)).round(6)
Tensor(-0.007079)
"""

from gradtape.scipy.ndimage.geometry import (
    affine_transform,
    geometric_transform,
    map_coordinates,
    rotate,
    shift,
    spline_filter,
    spline_filter1d,
    zoom,
)
from gradtape.scipy.ndimage.labelled import (
    center_of_mass,
    extrema,
    maximum,
    mean,
    median,
    minimum,
    standard_deviation,
    sum,
    sum_labels,
    variance,
)
from gradtape.scipy.ndimage.mirrored import original
from gradtape.scipy.ndimage.ranks import (
    black_tophat,
    grey_closing,
    grey_dilation,
    grey_erosion,
    grey_opening,
    maximum_filter,
    maximum_filter1d,
    median_filter,
    minimum_filter,
    minimum_filter1d,
    morphological_gradient,
    morphological_laplace,
    percentile_filter,
    rank_filter,
    white_tophat,
)
from gradtape.scipy.ndimage.smoothing import (
    convolve,
    convolve1d,
    correlate,
    correlate1d,
    gaussian_filter,
    gaussian_filter1d,
    gaussian_gradient_magnitude,
    gaussian_laplace,
    generic_gradient_magnitude,
    generic_laplace,
    laplace,
    prewitt,
    sobel,
    uniform_filter,
    uniform_filter1d,
)
from gradtape.scipy.ndimage.spectral_filters import (
    fourier_gaussian,
    fourier_shift,
    fourier_uniform,
)

__all__ = [
    "REASONS",
    "affine_transform",
    "black_tophat",
    "center_of_mass",
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "extrema",
    "fourier_gaussian",
    "fourier_shift",
    "fourier_uniform",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "generic_gradient_magnitude",
    "generic_laplace",
    "geometric_transform",
    "grey_closing",
    "grey_dilation",
    "grey_erosion",
    "grey_opening",
    "laplace",
    "map_coordinates",
    "maximum",
    "maximum_filter",
    "maximum_filter1d",
    "mean",
    "median",
    "median_filter",
    "minimum",
    "minimum_filter",
    "minimum_filter1d",
    "morphological_gradient",
    "morphological_laplace",
    "percentile_filter",
    "prewitt",
    "rank_filter",
    "rotate",
    "shift",
    "sobel",
    "spline_filter",
    "spline_filter1d",
    "standard_deviation",
    "sum",
    "sum_labels",
    "uniform_filter",
    "uniform_filter1d",
    "variance",
    "white_tophat",
    "zoom",
]

REASONS = {
    "calls a function of yours with bare arrays; np.lib.stride_tricks.sliding_window_view gives it tensors": (
        "generic_filter generic_filter1d labeled_comprehension vectorized_filter"
    ),
    "has no derivative in gradtape; fourier_gaussian and fourier_uniform have one": "fourier_ellipsoid",
    "runs the tests of SciPy": "test",
}
"""Why functions refuse tensors whose gradient is recorded: names for each reason."""

PIECEWISE_CONSTANT = """
    binary_closing binary_dilation binary_erosion binary_fill_holes binary_hit_or_miss binary_opening binary_propagation
    distance_transform_bf distance_transform_cdt distance_transform_edt find_objects generate_binary_structure histogram
    iterate_structure label maximum_position minimum_position value_indices watershed_ift
"""
"""The functions whose results are places, labels, counts and truth values, or depend on those only."""

__getattr__, __dir__, __test__ = original.module(globals(), REASONS, PIECEWISE_CONSTANT)
