"""`scipy.spatial` with gradients: distances, nearest neighbours, rotations.

>>> import gradtape as gt
>>> from gradtape.scipy import spatial
>>> tree = spatial.KDTree([[0.0, 0.0], [3.0, 4.0]])
>>> gt.grad(lambda x: tree.query(x)[0])(gt.tensor([3.0, 3.0]))
Tensor([ 0., -1.])
"""

from gradtape.scipy.spatial import distance, transform
from gradtape.scipy.spatial.mirrored import original
from gradtape.scipy.spatial.points import (
    KDTree,
    cKDTree,
    distance_matrix,
    geometric_slerp,
    minkowski_distance,
    minkowski_distance_p,
    procrustes,
)

__all__ = [
    "REASONS",
    "KDTree",
    "cKDTree",
    "distance",
    "distance_matrix",
    "geometric_slerp",
    "minkowski_distance",
    "minkowski_distance_p",
    "procrustes",
    "transform",
]

REASONS = {
    "returns whole numbers, which have no gradient": "tsearch",
    "draws, and returns no numbers": "convex_hull_plot_2d delaunay_plot_2d voronoi_plot_2d",
    "runs the tests of SciPy": "test",
}
"""Why functions refuse tensors whose gradient is recorded: names for each reason."""

__getattr__, __dir__, __test__ = original.module(globals(), REASONS)
