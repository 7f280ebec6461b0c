"""`gradtape.scipy.spatial`: SciPy's names and values, with gradients by every continuous argument."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy
import scipy.spatial as theirs
from mirror_checks import check_against_scipy, check_every_name, check_under_vmap_and_jit, refuses
from numpy.lib import NumpyVersion

import gradtape as gt
from gradtape.scipy import spatial
from gradtape.scipy.spatial import distance

GENERATOR = np.random.default_rng(13)


def draw(*shape: int) -> Any:
    return GENERATOR.normal(size=shape)


def positive(*shape: int) -> Any:
    return GENERATOR.uniform(0.5, 1.5, shape)


WEIGHTED = {
    **dict.fromkeys(("euclidean", "sqeuclidean", "cityblock", "braycurtis", "canberra", "cosine", "correlation"), "w"),
    **{"chebyshev": None, "seuclidean": "V", "minkowski": "w", "jensenshannon": None, "mahalanobis": "VI"},
}
"""The metrics, with the name of their array of weights."""


def test_every_name_of_scipys_is_here() -> None:
    """Each public name is differentiated, refused with a reason, or an object that is passed through."""
    check_every_name(
        spatial,
        theirs,
        "ConvexHull Delaunay HalfspaceIntersection QhullError Rectangle SphericalVoronoi Voronoi ckdtree distance "
        "kdtree qhull transform",
        "test",
    )
    check_every_name(
        distance,
        theirs.distance,
        "CDistMetricWrapper Callable MetricInfo PDistMetricWrapper dataclasses math np partial warnings xpx",
        "sokalmichener kulczynski1 matching linalg array_namespace callable",
    )
    check_every_name(
        spatial.transform, theirs.transform, "RigidTransform RotationSpline rotation", "test RigidTransform"
    )


@pytest.mark.parametrize("name", WEIGHTED)
def test_metrics_of_vectors_and_points(name: str) -> None:
    """A metric is differentiated by both points and by its weights, for two vectors, all pairs, and two sets."""
    key = WEIGHTED[name]
    a, b = positive(3, 2), positive(2, 2)
    weights = {"VI": np.array([[1.2, 0.3], [0.3, 0.8]]), None: None}.get(key, positive(2))
    for module_name in ("vectors", "cdist", "pdist"):
        settings = (None, weights) if key not in ("V", "VI") or module_name != "vectors" else (weights,)
        for given in settings:
            if given is None and name == "mahalanobis" and module_name == "pdist":
                continue  # three points say little of a covariance

            def call(module: Any, x: Any, y: Any, *w: Any, kind: str = module_name) -> Any:
                keywords = {key: w[0]} if w and key else {}
                if kind == "vectors":
                    return getattr(module, name)(x[0], y[0], **keywords)
                if kind == "pdist":
                    return module.pdist(x, name, **keywords)
                return module.cdist(x, y, name, **keywords)

            args = [a, b] if given is None else [a, b, given]
            if module_name == "pdist":
                args[1] = 0
            check_against_scipy(
                lambda *v, f=call: f(distance, *v),
                lambda *v, f=call: f(theirs.distance, *v),
                *args,
            )


def test_minkowski_is_differentiated_by_its_exponent() -> None:
    """Also where a difference is 0."""
    a, b = draw(2, 3), draw(2, 3)
    b[0, 0] = a[0, 0]
    for name in ("cdist", "minkowski"):
        check_against_scipy(
            lambda x, y, p, n=name: (
                distance.minkowski(x[1], y[1], p) if n == "minkowski" else distance.cdist(x, y, "minkowski", p=p)
            ),
            lambda x, y, p, n=name: (
                theirs.distance.minkowski(x[1], y[1], p.item())
                if n == "minkowski"
                else theirs.distance.cdist(x, y, "minkowski", p=p.item())
            ),
            *(a, b + 0.1, np.array(3.0)),
        )
    gradient = gt.grad(lambda p: distance.cdist(a, b, "minkowski", p=p).sum())(gt.tensor(3.0))
    assert np.isfinite(float(gradient))


def test_the_distance_of_a_point_to_itself_has_the_derivative_zero() -> None:
    """So that `cdist(x, x)` can be differentiated."""
    x = draw(3, 2)
    gradient = gt.grad(lambda x: distance.cdist(x, x).sum())(x)
    numeric = gt.grad(lambda x: 2 * distance.pdist(x).sum())(x)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-12)


def test_functions_as_metrics_are_differentiated() -> None:
    """A function of two rows, which may read tensors from outside of it."""
    x, y = draw(2, 2), draw(3, 2)
    found = lambda x, s: distance.cdist(x, y, lambda u, v: s * np.sum((u - v) ** 4)).sum()
    assert bool(gt.gradcheck(found, x, 1.5))
    assert bool(gt.gradcheck(lambda s: distance.pdist(y, lambda u, v: s * np.abs(u - v).sum()), 1.5))
    assert type(distance.cdist(x, y, lambda u, v: 1.0)) is np.ndarray


def test_other_functions_of_distances() -> None:
    """Forms of a distance matrix, Hausdorff's distance, and those with an axis."""
    check_against_scipy(distance.squareform, theirs.distance.squareform, draw(6))
    matrix = theirs.distance.squareform(positive(6))
    found = gt.grad(lambda m: (distance.squareform(m) ** 2).sum())(matrix)
    np.testing.assert_allclose(found, 2 * np.triu(matrix))
    check_against_scipy(distance.directed_hausdorff, theirs.distance.directed_hausdorff, draw(3, 2), draw(4, 2))
    check_against_scipy(
        lambda p, q: distance.jensenshannon(p, q, 2.0, axis=1, keepdims=True),
        lambda p, q: theirs.distance.jensenshannon(p, q, 2.0, axis=1, keepdims=True),
        *(positive(2, 3), positive(2, 3)),
    )


@pytest.mark.filterwarnings("ignore:.*deprecated in favor of:DeprecationWarning")  # by SciPy 1.18, for arrays
def test_functions_of_points() -> None:
    """Distances of sets, great circles, Procrustes' analysis."""
    for p in (1, 2.0, 3.0, np.inf):
        check_against_scipy(
            lambda x, y, p=p: spatial.distance_matrix(x, y, p),
            lambda x, y, p=p: theirs.distance_matrix(x, y, p),
            *(draw(2, 3), draw(3, 3)),
        )
    start, end = (v / np.linalg.norm(v) for v in (draw(3), draw(3)))
    scipys = lambda t: theirs.geometric_slerp(start, end, t)
    check_against_scipy(lambda t: spatial.geometric_slerp(start, end, t), scipys, np.array([0.2, 0.55, 0.9]))
    unit: Any = lambda v: v / np.sqrt(np.sum(v * v))
    assert bool(gt.gradcheck(lambda a, b: spatial.geometric_slerp(unit(a), unit(b), 0.3), draw(3), draw(3)))
    check_against_scipy(spatial.procrustes, theirs.procrustes, draw(4, 2), draw(4, 2))


@pytest.mark.parametrize("name", ["KDTree", "cKDTree"])
def test_distances_to_neighbours_are_differentiated(name: str) -> None:
    """By the queries, and by the points of the tree."""
    points, queries = draw(5, 2), draw(3, 2)
    for k in (1, 2, [1, 3]):
        check_against_scipy(
            lambda x, q, k=k: getattr(spatial, name)(x).query(q, k)[0],
            lambda x, q, k=k: getattr(theirs, name)(x).query(q, k)[0],
            *(points, queries),
        )
    far = getattr(spatial, name)(points).query(gt.tensor(queries + 100.0), distance_upper_bound=1.0)
    assert np.all(np.isinf(far[0].numpy()))
    plain = getattr(spatial, name)(points)
    np.testing.assert_array_equal(plain.query(queries)[1], getattr(theirs, name)(points).query(queries)[1])


def test_rotations_are_differentiated() -> None:
    """Rotations by vectors, quaternions, matrices and parameters; what they do, and one after the other."""
    ours, scipys = spatial.transform.Rotation, theirs.transform.Rotation
    for rotvec in (draw(3), draw(2, 3), np.zeros(3)):
        for name in ("as_quat", "as_matrix", "as_rotvec", "as_mrp"):
            check_against_scipy(
                lambda v, n=name: getattr(ours.from_rotvec(v), n)(),
                lambda v, n=name: getattr(scipys.from_rotvec(v), n)(),
                rotvec,
            )
        for function in (
            lambda kind, v, x: kind.from_rotvec(v).apply(x, inverse=True),
            lambda kind, v, x: (kind.from_mrp(v).inv() * kind.from_mrp(x)).as_matrix(),
            lambda kind, v, x: (kind.from_matrix(kind.from_rotvec(v).as_matrix()) * kind.from_rotvec(x) ** 2).as_quat(),
        ):
            check_against_scipy(
                lambda *a, f=function: f(ours, *a), lambda *a, f=function: f(scipys, *a), rotvec, draw(3)
            )
    for of_quaternions in (
        lambda kind, q: kind.from_quat(q, scalar_first=True).magnitude(),
        lambda kind, q: kind.from_quat(q)[1].as_rotvec(degrees=True),
    ):
        check_against_scipy(
            lambda q, f=of_quaternions: f(ours, q), lambda q, f=of_quaternions: f(scipys, q), draw(2, 4)
        )


@pytest.mark.parametrize("seq", ["xyz", "ZYX", "zxz", "YXY"])
def test_euler_angles_are_differentiated(seq: str) -> None:
    """About axes that stay and axes that turn with the body."""
    ours, scipys = spatial.transform.Rotation, theirs.transform.Rotation
    check_against_scipy(
        lambda a: ours.from_euler(seq, a, degrees=True).as_matrix(),
        lambda a: scipys.from_euler(seq, a, degrees=True).as_matrix(),
        30 * draw(3),
    )
    check_against_scipy(
        lambda v: ours.from_rotvec(v).as_euler(seq),
        lambda v: scipys.from_rotvec(v).as_euler(seq),
        draw(2, 3),
        rtol=1e-4,
    )
    assert "gimbal lock" in refuses(
        lambda a: ours.from_euler("xyz", a).as_euler("xyz"), np.array([0.3, np.pi / 2, 0.1])
    )


def test_rotations_between_others_are_differentiated() -> None:
    """By the rotations and by the time; a rotation of SciPy's counts as one of ours."""
    times, turns = np.array([0.0, 1.0, 3.0]), draw(3, 3)
    check_against_scipy(
        lambda v, t: spatial.transform.Slerp(times, spatial.transform.Rotation.from_rotvec(v))(t).as_matrix(),
        lambda v, t: theirs.transform.Slerp(times, theirs.transform.Rotation.from_rotvec(v))(t).as_matrix(),
        *(turns, np.array([0.3, 2.2])),
    )
    plain = spatial.transform.Rotation.from_rotvec(turns)
    assert isinstance(plain, theirs.transform.Rotation)
    assert isinstance(plain, spatial.transform.Rotation)
    by_one = spatial.transform.Rotation.from_rotvec(gt.tensor(turns))
    twice = [by_one * plain]
    if NumpyVersion(scipy.__version__) >= "1.17.0":  # before, SciPy's rotations refuse every other class
        twice.append(plain * by_one)
    for each in twice:
        np.testing.assert_allclose(each.as_matrix().numpy(), (plain * plain).as_matrix(), atol=1e-12)
    with pytest.raises(gt.OperandError, match=r"Rotation.mean"):
        by_one.mean()


def test_distances_under_vmap_and_jit() -> None:
    """Batches of sets of points; compiled code agrees."""
    check_under_vmap_and_jit(lambda x, y: distance.cdist(x, y), draw(2, 3, 2), draw(2, 4, 2))
    turned = lambda v, x: spatial.transform.Rotation.from_rotvec(v).apply(x)
    check_under_vmap_and_jit(turned, draw(2, 3), draw(2, 4, 3))
    check_under_vmap_and_jit(lambda x: distance.squareform(distance.pdist(x, "cityblock")), draw(2, 4, 2))


def test_what_has_no_derivative_says_why() -> None:
    """Tracked tensors are refused with the reason, and wrong arguments with what is accepted."""
    assert "truth values agree" in refuses(distance.hamming, draw(3), draw(3))
    assert "accepted are braycurtis" in refuses(distance.cdist, draw(2, 2), draw(2, 2), "hamming")
    assert "takes bare arrays" in refuses(spatial.ConvexHull, draw(5, 2))
    assert "3 and of 2 dimensions" in refuses(distance.cdist, draw(2, 3), draw(2, 2))
