"""The coefficients of interpolating B-splines on a grid: `scipy.ndimage.spline_filter1d`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.operation import Op
from gradtape.core.rules import linear
from gradtape.core.typing import Array, Draw
from gradtape.ops.arguments import batch_shift_axes

# The coefficients solve M c = x, where M has the values of the basis at the grid points and what lies beyond the edges
# is given by `mode`. M is symmetric if the signal is periodic, or mirrored about the edges of its first and last cell.
# If it is mirrored about its first and last point, these count half as often: M = R S with S symmetric and
# R = diag(2, 1, ..., 1, 2), so that M^-T = R^-1 M^-1 R.
#
# SciPy's filter begins with a sum that is cut off where the signal ends: of few points, mirrored about the edges, it is
# not quite symmetric, and its own transpose is taken, from its matrix.

PERIODIC = "grid-wrap"
ABOUT_EDGES = ("reflect", "grid-mirror", "nearest")
FEW = 32
"""So many points that what was cut off is below rounding."""


def _kernel(x: Array, order: int, axis: int, mode: str) -> Any:
    from scipy.ndimage import spline_filter1d

    if not x.size:
        return np.zeros(x.shape, x.dtype)
    return spline_filter1d(x, order, axis, output=x.dtype, mode=mode)


def _transpose(g: Any, order: int, axis: int, mode: str) -> Any:
    length = g.shape[axis]
    if mode in ABOUT_EDGES and 1 < length < FEW:
        matrix = _kernel(np.eye(length, dtype=np.zeros(0, g.dtype).real.dtype), order, 0, mode)
        return np.moveaxis(np.tensordot(matrix, g, axes=(0, axis)), 0, axis)
    if mode == PERIODIC or mode in ABOUT_EDGES or length < 2:
        return spline_coefficients(g, order=order, axis=axis, mode=mode)
    ends = np.ones(g.shape[axis], np.zeros(0, g.dtype).real.dtype)
    ends[[0, -1]] = 2
    weights = ends.reshape((-1,) + (1,) * (g.ndim - axis - 1))
    return spline_coefficients(g * weights, order=order, axis=axis, mode=mode) / weights


def _samples(draw: Draw) -> list[Any]:
    return [
        ((draw(6),), {"order": 3, "axis": 0, "mode": "mirror"}),
        ((draw(2, 5),), {"order": 5, "axis": 1, "mode": "mirror"}),
        ((draw(5, 2),), {"order": 4, "axis": 0, "mode": "reflect"}),
        ((draw(5),), {"order": 2, "axis": 0, "mode": "grid-wrap"}),
        ((draw(2),), {"order": 3, "axis": 0, "mode": "mirror"}),
    ]


spline_coefficients: Op = linear(
    _kernel,
    _transpose,
    name="spline_coefficients",
    batch=batch_shift_axes("axis"),
    samples=_samples,
)
"""The coefficients, along one axis, of the spline of an order from 2 to 5 that goes through the given values."""
