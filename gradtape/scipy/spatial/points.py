"""Distances of points, neighbours, and points on spheres and after Procrustes' analysis."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.spatial

from gradtape.errors import ShapeError
from gradtape.extend import concrete
from gradtape.ops.elementwise import where
from gradtape.scipy.arraylike import as_array, as_floating, is_tensor, refusal, surely
from gradtape.scipy.spatial.distance import root
from gradtape.scipy.spatial.mirrored import original


@original.differentiated
def minkowski_distance_p(x: Any, y: Any, p: Any = 2.0) -> Any:
    """The p-th power of the p-norm of y - x along the last axis."""
    apart = as_floating(y) - as_floating(x)
    if not is_tensor(p) and np.isinf(p):
        return np.max(np.abs(apart), axis=-1)
    nothing = apart == 0
    return np.sum(where(nothing, 0.0, where(nothing, 1.0, np.abs(apart)) ** p), axis=-1)


@original.differentiated
def minkowski_distance(x: Any, y: Any, p: Any = 2.0) -> Any:
    """The p-norm of y - x along the last axis.

    >>> import gradtape as gt
    >>> from gradtape.scipy.spatial import minkowski_distance
    >>> minkowski_distance(gt.tensor([[0.0, 0.0]]), [[3.0, 4.0]])
    Tensor([5.])
    """
    total = minkowski_distance_p(x, y, p)
    return total if not is_tensor(p) and (np.isinf(p) or p == 1) else root(total, p)


@original.differentiated
def distance_matrix(x: Any, y: Any, p: Any = 2.0, threshold: int = 1000000) -> Any:
    """The p-norms of the differences of each point of one set and each of another."""
    x, y = as_floating(x), as_floating(y)
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
        raise refusal(f"distance_matrix: points of shapes {x.shape} and {y.shape}.", "as many columns", ShapeError)
    return minkowski_distance(x[:, None, :], y[None, :, :], p)


@original.differentiated
def geometric_slerp(start: Any, end: Any, t: Any, tol: float = 1e-7) -> Any:
    """Points on the great circle from one point of the unit sphere to another; differentiated by both and by `t`.

    >>> import gradtape as gt
    >>> from gradtape.scipy.spatial import geometric_slerp
    >>> geometric_slerp([1.0, 0.0], [0.0, 1.0], gt.tensor(0.5)).round(6)
    Tensor([0.707107, 0.707107])
    """
    start, end, t = as_floating(start), as_floating(end), as_floating(t)
    if start.ndim != 1 or start.shape != end.shape or start.shape[0] < 2 or t.ndim > 1:
        raise refusal(
            f"geometric_slerp: start, end and t of shapes {start.shape}, {end.shape} and {t.shape}.",
            "two vectors of one length, and a vector or a number",
            ShapeError,
        )
    for point in (start, end):
        if surely(np.abs(np.sum(point * point) - 1.0) > 1e-8):
            raise refusal("geometric_slerp: start or end is not on the unit sphere.", "x / np.linalg.norm(x)")
    cosine = np.sum(start * end)
    across = end - cosine * start
    sine2 = np.sum(across * across)
    if surely(sine2 == 0):
        raise refusal("geometric_slerp: start and end lie on one line; no great circle is given.", "other points")
    sine = np.sqrt(sine2)
    angle = np.arctan2(sine, cosine)
    turn = t.reshape((-1, 1)) * angle
    found = np.cos(turn) * start + np.sin(turn) * (across / sine)
    return found if t.ndim else found[0]


@original.differentiated
def procrustes(data1: Any, data2: Any) -> tuple[Any, Any, Any]:
    """Two sets of points, centred and scaled, the second turned to fit the first, and how far they are apart."""
    first, second = as_floating(data1), as_floating(data2)
    if first.ndim != 2 or first.shape != second.shape or not first.size:
        raise refusal(f"procrustes: points of shapes {first.shape} and {second.shape}.", "one shape", ShapeError)
    first, second = (x - np.mean(x, axis=0) for x in (first, second))
    sizes = [np.sqrt(np.sum(x * x)) for x in (first, second)]
    if any(surely(size == 0) for size in sizes):
        raise refusal("procrustes: all points of a set are the same.", "two points that differ, at least")
    first, second = first / sizes[0], second / sizes[1]
    u, singular, v = np.linalg.svd(np.matmul(second.T, first).T, full_matrices=False)
    turned = np.matmul(second, np.matmul(u, v).T) * np.sum(singular)
    return first, turned, np.sum((first - turned) ** 2)


class _Neighbours:
    """What `KDTree` and `cKDTree` have in common: distances to neighbours, differentiated by points and queries."""

    def _keep(self, data: Any) -> Any:
        """The numbers of the points for the tree, which keeps the points themselves for derivatives."""
        self._points = as_array(data)
        return concrete(self._points) if is_tensor(self._points) else data

    def _differentiated(self, x: Any, found: Any, p: float, boxsize: Any) -> Any:
        """Distances and indices with the distances as tensors; those to no neighbour are infinite."""
        if boxsize is not None:
            raise refusal("KDTree.query: boxsize with tensors; only None is accepted.", "boxsize=None")
        indices = found[1]
        count = self._points.shape[0]
        missing = indices >= count
        queries = as_floating(x)
        if np.ndim(indices) == queries.ndim:
            queries = np.expand_dims(queries, -2)
        near = self._points[np.where(missing, 0, indices)]
        return where(missing, np.inf, minkowski_distance(near, queries, p)), indices


def _tree(base: Any, called: str) -> Any:
    """A tree of SciPy's that takes tensors as points and as queries."""

    class Tree(_Neighbours, base):  # type: ignore[misc]
        def __init__(self, data: Any, *args: Any, **kwargs: Any) -> None:
            super().__init__(self._keep(data), *args, **kwargs)

        def query(
            self,
            x: Any,
            k: Any = 1,
            eps: float = 0.0,
            p: float = 2.0,
            distance_upper_bound: float = np.inf,
            workers: int = 1,
        ) -> Any:
            """Distances and indices of the nearest neighbours; the distances are differentiated."""
            x = as_array(x)
            numbers = concrete(x) if is_tensor(x) else x
            found = super().query(numbers, k, eps, p, distance_upper_bound, workers=workers)
            return self._differentiated(x, found, p, self.boxsize) if is_tensor(x, self._points) else found

    Tree.__name__ = Tree.__qualname__ = called
    Tree.__doc__ = f"`scipy.spatial.{called}`, whose `query` gives distances that are differentiated."
    return Tree


KDTree = _tree(scipy.spatial.KDTree, "KDTree")
cKDTree = _tree(scipy.spatial.cKDTree, "cKDTree")
original.functions.update(KDTree=KDTree, cKDTree=cKDTree)
