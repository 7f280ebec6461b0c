"""`scipy.spatial.distance` with gradients by points, weights, exponents and covariances.

A distance whose root is taken has the derivative 0 where it is 0, as between a point and itself.

>>> import numpy as np, gradtape as gt
>>> from gradtape.scipy.spatial import distance
>>> points = np.array([[0.0, 0.0], [3.0, 4.0]])
>>> gt.grad(lambda x: distance.pdist(x).sum())(points)
array([[-0.6, -0.8],
       [ 0.6,  0.8]])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import ShapeError
from gradtape.extend import BatchTensor, concrete
from gradtape.mirror import Original, holds_tensor
from gradtape.ops.elementwise import where
from gradtape.ops.special import rel_entr
from gradtape.scipy.arraylike import as_floating, is_tensor, one_of, refusal, surely

original = Original("scipy.spatial.distance")


def root(total: Any, p: Any = 2.0) -> Any:
    """total^(1/p), with the derivative 0 at 0.

    >>> import gradtape as gt
    >>> gt.grad(lambda x: root(x).sum())(gt.tensor([0.0, 4.0]))
    Tensor([0.  , 0.25])
    """
    nothing = total == 0
    safe = where(nothing, 1.0, total)
    return where(nothing, 0.0, np.sqrt(safe) if not is_tensor(p) and p == 2 else safe ** (1.0 / p))


def _powers(x: Any, p: Any) -> Any:
    """|x|^p, smooth in p where x is 0 too."""
    if not is_tensor(p):
        if p == 1:
            return np.abs(x)
        if p == 2:
            return x * x
    nothing = x == 0
    return where(nothing, 0.0, where(nothing, 1.0, np.abs(x)) ** p)


def _total(x: Any, w: Any) -> Any:
    return np.sum(x if w is None else x * w, axis=-1)


# -- each metric of pairs of vectors along the last axis


def _euclidean(u: Any, v: Any, w: Any = None) -> Any:
    return root(_total((u - v) ** 2, w))


def _sqeuclidean(u: Any, v: Any, w: Any = None) -> Any:
    return _total((u - v) ** 2, w)


def _cityblock(u: Any, v: Any, w: Any = None) -> Any:
    return _total(np.abs(u - v), w)


def _chebyshev(u: Any, v: Any, w: Any = None) -> Any:
    apart = np.abs(u - v)
    return np.max(apart if w is None else where(w > 0, apart, 0.0), axis=-1)


def _minkowski(u: Any, v: Any, p: Any = 2, w: Any = None) -> Any:
    if not surely(p > 0) and not isinstance(p, BatchTensor):
        raise refusal("minkowski: p is not positive.", "p=2")
    if not is_tensor(p) and np.isinf(p):
        return _chebyshev(u, v, w)
    return root(_total(_powers(u - v, p), w), p)


def _correlation(u: Any, v: Any, w: Any = None, centered: bool = True) -> Any:
    if w is not None:
        w = w / np.sum(w)
    if centered:
        u, v = (x - (np.mean(x, -1, keepdims=True) if w is None else np.sum(x * w, -1, keepdims=True)) for x in (u, v))
    return 1.0 - _total(u * v, w) / np.sqrt(_total(u * u, w) * _total(v * v, w))


def _cosine(u: Any, v: Any, w: Any = None) -> Any:
    return _correlation(u, v, w, centered=False)


def _braycurtis(u: Any, v: Any, w: Any = None) -> Any:
    return _total(np.abs(u - v), w) / _total(np.abs(u + v), w)


def _canberra(u: Any, v: Any, w: Any = None) -> Any:
    size = np.abs(u) + np.abs(v)
    nothing = size == 0
    return _total(where(nothing, 0.0, np.abs(u - v) / where(nothing, 1.0, size)), w)


def _seuclidean(u: Any, v: Any, V: Any) -> Any:
    return _euclidean(u, v, 1.0 / V)


def _mahalanobis(u: Any, v: Any, VI: Any) -> Any:
    apart = u - v
    return root(np.sum(np.matmul(apart, VI) * apart, axis=-1))


def _jensenshannon(u: Any, v: Any, base: Any = None) -> Any:
    u, v = (x / np.sum(x, axis=-1, keepdims=True) for x in (u, v))
    middle = (u + v) / 2.0
    total = np.sum(rel_entr(u, middle), axis=-1) + np.sum(rel_entr(v, middle), axis=-1)
    return root((total if base is None else total / np.log(base)) / 2.0)


METRICS: dict[str, Any] = {
    alias: function
    for function, aliases in {
        _braycurtis: "braycurtis",
        _canberra: "canberra",
        _chebyshev: "chebyshev ch cheb cheby chebychev",
        _cityblock: "cityblock c cb cblock",
        _correlation: "correlation co",
        _cosine: "cosine cos",
        _euclidean: "euclidean e eu euclid",
        _jensenshannon: "jensenshannon js",
        _mahalanobis: "mahalanobis mah mahal",
        _minkowski: "minkowski m mi pnorm",
        _seuclidean: "seuclidean s se",
        _sqeuclidean: "sqeuclidean sqe sqeuclid",
    }.items()
    for alias in aliases.split()
}
"""The metrics with a derivative, by the names that `cdist` and `pdist` take."""


# -- two vectors


def _vector(name: str, x: Any) -> Any:
    x = as_floating(x)
    if x.ndim != 1:
        raise refusal(f"{name}: an array of shape {x.shape}; a vector is accepted.", "x.ravel()", ShapeError)
    return x


def _pair(name: str, u: Any, v: Any, w: Any = None) -> tuple[Any, Any, Any]:
    u, v = _vector(name, u), _vector(name, v)
    if u.shape != v.shape:
        raise refusal(
            f"{name}: vectors of {u.shape[0]} and {v.shape[0]} elements.", "vectors of one length", ShapeError
        )
    if w is not None:
        w = _vector(name, w)
        if surely(np.any(w < 0)):
            raise refusal(f"{name}: a weight in w is negative.", "weights from 0 on")
    return u, v, w


@original.differentiated
def euclidean(u: Any, v: Any, w: Any = None) -> Any:
    """The Euclidean distance of two vectors."""
    return _euclidean(*_pair("euclidean", u, v, w))


@original.differentiated
def sqeuclidean(u: Any, v: Any, w: Any = None) -> Any:
    """The squared Euclidean distance of two vectors."""
    return _sqeuclidean(*_pair("sqeuclidean", u, v, w))


@original.differentiated
def cityblock(u: Any, v: Any, w: Any = None) -> Any:
    """The sum of the absolute differences of two vectors."""
    return _cityblock(*_pair("cityblock", u, v, w))


@original.differentiated
def chebyshev(u: Any, v: Any, w: Any = None) -> Any:
    """The greatest absolute difference of two vectors."""
    return _chebyshev(*_pair("chebyshev", u, v, w))


@original.differentiated
def minkowski(u: Any, v: Any, p: Any = 2, w: Any = None) -> Any:
    """The p-norm of the difference of two vectors; differentiated by `p` too.

    >>> import gradtape as gt
    >>> from gradtape.scipy.spatial.distance import minkowski
    >>> minkowski(gt.tensor([0.0, 0.0]), [3.0, 4.0], 2)
    Tensor(5.)
    """
    u, v, w = _pair("minkowski", u, v, w)
    return _minkowski(u, v, p, w)


@original.differentiated
def correlation(u: Any, v: Any, w: Any = None, centered: bool = True) -> Any:
    """1 less the correlation of two vectors."""
    return _correlation(*_pair("correlation", u, v, w), centered)


@original.differentiated
def cosine(u: Any, v: Any, w: Any = None) -> Any:
    """1 less the cosine of the angle between two vectors."""
    return _cosine(*_pair("cosine", u, v, w))


@original.differentiated
def braycurtis(u: Any, v: Any, w: Any = None) -> Any:
    """The distance of Bray and Curtis."""
    return _braycurtis(*_pair("braycurtis", u, v, w))


@original.differentiated
def canberra(u: Any, v: Any, w: Any = None) -> Any:
    """The Canberra distance."""
    return _canberra(*_pair("canberra", u, v, w))


@original.differentiated
def seuclidean(u: Any, v: Any, V: Any) -> Any:
    """The Euclidean distance with each component divided by the variance in `V`."""
    u, v, _ = _pair("seuclidean", u, v)
    return _seuclidean(u, v, _vector("seuclidean", V))


@original.differentiated
def mahalanobis(u: Any, v: Any, VI: Any) -> Any:
    """The distance under the inverse `VI` of a covariance matrix."""
    u, v, _ = _pair("mahalanobis", u, v)
    return _mahalanobis(u, v, as_floating(VI))


@original.differentiated
def jensenshannon(p: Any, q: Any, base: Any = None, *, axis: int = 0, keepdims: bool = False) -> Any:
    """The distance of Jensen and Shannon between probabilities along an axis."""
    p, q = (np.moveaxis(x, axis, -1) for x in np.broadcast_arrays(as_floating(p), as_floating(q)))
    found = _jensenshannon(p, q, base)
    return np.expand_dims(found, axis) if keepdims else found


# -- many points


def _points(name: str, x: Any) -> Any:
    x = as_floating(x)
    if x.ndim != 2:
        raise refusal(f"{name}: points of shape {x.shape}; (points, dimensions) is accepted.", "x[None]", ShapeError)
    return x


def _metric(name: str, metric: Any, points: Any, keywords: dict[str, Any]) -> Any:
    """A metric as a function of pairs along the last axis."""
    called = str(metric).lower()
    if called not in METRICS:
        known = sorted({function.__name__[1:] for function in METRICS.values()})
        raise refusal(
            f"{name}: metric={metric!r} with tensors; accepted are {', '.join(known)}, and functions. The metrics of "
            "truth values are counts, which have no derivative.",
            "metric='euclidean', or arrays if no gradient is wanted",
        )
    function = METRICS[called]
    keywords = {key: value for key, value in keywords.items() if value is not None}
    for key in ("w", "V", "VI"):
        if key in keywords:
            keywords[key] = as_floating(keywords[key])
    if function is _seuclidean and "V" not in keywords:
        keywords["V"] = np.var(points, axis=0, ddof=1)
    if function is _mahalanobis and "VI" not in keywords:
        count, dimensions = points.shape
        if count <= dimensions:
            raise refusal(
                f"{name}: {count} points of {dimensions} dimensions have a singular covariance.",
                f"at least {dimensions + 1} points, or VI",
            )
        keywords["VI"] = np.linalg.inv(np.cov(points.T).reshape((dimensions, dimensions))).T
    return lambda u, v: function(u, v, **keywords)


def _by_function(rows: list[Any]) -> Any:
    """Distances that a function of the user's returned, as an array."""
    return np.stack(rows) if is_tensor(*rows) else np.array(rows, float)


@original.differentiated_with_callbacks
def cdist(XA: Any, XB: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    """The distances of each point of one set to each of another.

    >>> import gradtape as gt
    >>> from gradtape.scipy.spatial.distance import cdist
    >>> cdist(gt.tensor([[0.0, 0.0], [3.0, 0.0]]), [[0.0, 4.0]])
    Tensor([[4.],
            [5.]])
    """
    given = (XA, XB, out, *kwargs.values())
    if isinstance(metric, str) and not holds_tensor(given):
        return original.contents.cdist(XA, XB, metric, out=out, **kwargs)
    a, b = _points("cdist", XA), _points("cdist", XB)
    if a.shape[1] != b.shape[1]:
        raise refusal(f"cdist: points of {a.shape[1]} and of {b.shape[1]} dimensions.", "as many columns", ShapeError)
    if out is not None:
        raise refusal("cdist: out with tensors; only None is accepted.", "distances = cdist(XA, XB)")
    if callable(metric):
        pairs = [metric(a[i], b[j], **kwargs) for i in range(a.shape[0]) for j in range(b.shape[0])]
        return _by_function(pairs).reshape((a.shape[0], b.shape[0]))
    return _metric("cdist", metric, np.concatenate([a, b]), kwargs)(a[:, None, :], b[None, :, :])


@original.differentiated_with_callbacks
def pdist(X: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    """The distances of all pairs of points, in the order of `squareform`."""
    given = (X, out, *kwargs.values())
    if isinstance(metric, str) and not holds_tensor(given):
        return original.contents.pdist(X, metric, out=out, **kwargs)
    x = _points("pdist", X)
    if out is not None:
        raise refusal("pdist: out with tensors; only None is accepted.", "distances = pdist(X)")
    first, second = np.triu_indices(x.shape[0], 1)
    if callable(metric):
        return _by_function([metric(x[int(i)], x[int(j)], **kwargs) for i, j in zip(first, second, strict=True)])
    return _metric("pdist", metric, x, kwargs)(x[first], x[second])


@original.differentiated
def squareform(X: Any, force: str = "no", checks: bool = True) -> Any:
    """A vector of distances as a symmetric matrix, or the reverse.

    >>> import gradtape as gt
    >>> from gradtape.scipy.spatial.distance import squareform
    >>> squareform(gt.tensor([1.0, 2.0, 3.0]))
    Tensor([[0., 1., 2.],
            [1., 0., 3.],
            [2., 3., 0.]])
    """
    x = as_floating(X)
    one_of("squareform: force", force.lower(), ("no", "tomatrix", "tovector"))
    wanted = {"tomatrix": 1, "tovector": 2}.get(force.lower(), x.ndim)
    if x.ndim != wanted or x.ndim not in (1, 2):
        raise refusal(
            f"squareform: an array of shape {x.shape} with force={force!r}.", "a vector or a matrix", ShapeError
        )
    if x.ndim == 1:
        size = int(np.ceil(np.sqrt(x.shape[0] * 2))) if x.shape[0] else 1
        if size * (size - 1) != x.shape[0] * 2:
            raise refusal(f"squareform: {x.shape[0]} distances are not those of all pairs.", "n (n - 1) / 2 of them")
        place = np.zeros((size, size), int)
        rows, columns = np.triu_indices(size, 1)
        place[rows, columns] = place[columns, rows] = np.arange(x.shape[0])
        return where(np.eye(size, dtype=bool), 0.0, x[place]) if x.shape[0] else np.zeros((1, 1))
    if x.shape[0] != x.shape[1]:
        raise refusal(f"squareform: a matrix of shape {x.shape}; a square one is accepted.", "cdist(X, X)", ShapeError)
    if checks and not isinstance(x, BatchTensor):
        original.contents.is_valid_dm(concrete(x) if is_tensor(x) else x, throw=True, name="X")
    return x[np.triu_indices(x.shape[0], 1)]


@original.differentiated
def directed_hausdorff(u: Any, v: Any, rng: Any = 0, **kwargs: Any) -> tuple[Any, Any, Any]:
    """The greatest distance of a point of `u` to the closest of `v`, and which two these are."""
    u, v = _points("directed_hausdorff", u), _points("directed_hausdorff", v)
    numbers = [concrete(x) if is_tensor(x) else x for x in (u, v)]
    _, i, j = original.contents.directed_hausdorff(*numbers, rng, **kwargs)
    return _euclidean(u[i], v[j]), i, j


REASONS = {
    "counts places where truth values agree, and has no derivative": (
        "dice hamming jaccard rogerstanimoto russellrao sokalsneath yule sokalmichener kulczynski1 matching"
    ),
    "says whether a condition holds": "is_valid_dm is_valid_y",
    "returns whole numbers, which have no gradient": "num_obs_dm num_obs_y",
    "is a helper of SciPy's; gradtape.scipy.linalg and gradtape.scipy.special have it": "norm rel_entr",
}
"""Why functions refuse tensors whose gradient is recorded: names for each reason."""

__getattr__, __dir__, __test__ = original.module(globals(), REASONS)
