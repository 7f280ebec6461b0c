"""Linear filters of signals: recursive ones (`scipy.signal.lfilter`), and those that change the rate (`upfirdn`).

SciPy is imported when a filter is first run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.batch import apply_to_each_example
from gradtape.core.operation import Op, apply
from gradtape.core.rules import general, linear, multilinear
from gradtape.core.tensor import Tensor
from gradtape.core.typing import Array, Draw
from gradtape.ops.arguments import index_at_axis

# -- recursive filters. With a_0 = 1, at most N coefficients in a and b, and zi the state (transposed direct form II),
#      sum_k a_k y[n-k] = sum_k b_k x[n-k] + zi[n]
#    (zi[n] = 0 from n = N - 1 on). So y = A^-1 (B x + zi) with lower triangular Toeplitz matrices, and with
#    u = A^-T g, which is the recursive part run backwards in time,
#      gx = B^T u,   gzi = u[:N-1],   gb_k = sum_n u[n] x[n-k],   ga_k = - sum_n u[n] y[n-k]


def _filter_kernel(b: Array, a: Array, x: Array, zi: Array, axis: int) -> Any:
    from scipy.signal import lfilter

    recursive = np.concatenate([np.ones(1, a.dtype), a])
    if not x.shape[axis]:
        return np.zeros(x.shape, np.result_type(b, a, x, zi))
    return lfilter(b, recursive, x, axis, zi)[0]


def _conjugate(x: Array) -> Any:
    return np.conj(x) if x.dtype.kind == "c" else x


def _no_state(b: Array, a: Array, x: Array, axis: int) -> Any:
    """A state of zeros for these coefficients."""
    order = max(b.shape[0] - 1, a.shape[0])
    return np.zeros((*x.shape[:axis], order, *x.shape[axis + 1 :]), np.result_type(b.dtype, a.dtype, x.dtype))


def _backwards(b: Array, a: Array, g: Array, axis: int) -> Any:
    """The transpose of a filter without a state: the filter with conjugate coefficients, run backwards in time."""
    b, a, turned = _conjugate(b), _conjugate(a), np.flip(g, axis)
    return np.flip(filter_signal(b, a, turned, _no_state(b, a, turned, axis), axis), axis)


def _first(u: Array, count: int, axis: int) -> Any:
    """The first `count` along an axis, with zeros behind them if there are not as many."""
    missing = count - u.shape[axis]
    if missing <= 0:
        return u[index_at_axis(axis, slice(0, count))]
    return np.concatenate([u, np.zeros((*u.shape[:axis], missing, *u.shape[axis + 1 :]), u.dtype)], axis)


def _state_of(g: Array, a: Array, zi: Array, axis: int) -> Any:
    one = np.ones(1, a.dtype)
    return _first(_backwards(one, a, g, axis), zi.shape[axis], axis)


def _at_lags(u: Array, x: Array, lags: range, axis: int) -> Any:
    """sum_n u[n] conj(x[n-k]) for each lag k."""
    n = u.shape[axis]
    sums = [
        np.sum(u[index_at_axis(axis, slice(k, None))] * _conjugate(x)[index_at_axis(axis, slice(0, max(n - k, 0)))])
        if k < n
        else np.zeros((), np.result_type(u.dtype, x.dtype))
        for k in lags
    ]
    return np.stack(sums) if sums else np.zeros(0, np.result_type(u.dtype, x.dtype))


def _at_delays(c: Array, x: Array, delays: range, axis: int) -> Any:
    """sum_k c_k x[n-k], cut to the length of x."""
    total: Any = np.zeros(x.shape, np.result_type(c.dtype, x.dtype))
    n = x.shape[axis]
    for i, k in enumerate(delays):
        if k < n:
            late = c[i] * x[index_at_axis(axis, slice(0, n - k))]
            before = np.zeros((*x.shape[:axis], k, *x.shape[axis + 1 :]), late.dtype)
            total = total + (np.concatenate([before, late], axis) if k else late)
    return total


def _filter_reverse(g: Array, b: Array, a: Array, x: Array, zi: Array, out: Array, axis: int) -> Any:
    u = _backwards(np.ones(1, a.dtype), a, g, axis)
    return (
        _at_lags(u, x, range(b.shape[0]), axis),
        -_at_lags(u, out, range(1, a.shape[0] + 1), axis),
        _backwards(b, np.zeros(0, b.dtype), u, axis),
        _first(u, zi.shape[axis], axis),
    )


def _filter_forward(
    db: Array, da: Array, dx: Array, dzi: Array, b: Array, a: Array, x: Array, out: Array, axis: int
) -> Any:
    driven = _at_delays(db, x, range(b.shape[0]), axis) - _at_delays(da, out, range(1, a.shape[0] + 1), axis)
    one = np.ones(1, b.dtype)
    return filter_signal(b, a, dx, dzi, axis) + filter_signal(one, a, driven, _no_state(one, a, driven, axis), axis)


def _batch_filter(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    b, a, x, zi = values
    if flags[0] or flags[1]:
        return apply_to_each_example(op, flags, values, params)
    size = (x if flags[2] else zi).shape[0]
    x, zi = (v if flag else np.broadcast_to(v, (size, *v.shape)) for v, flag in ((x, flags[2]), (zi, flags[3])))
    return apply(op, (b, a, x, zi), {"axis": params["axis"] + 1})


def _filter_samples(draw: Draw) -> list[Any]:
    return [
        ((draw(3), draw(2) / 4, draw(6), draw(2)), {"axis": 0}),
        ((draw(1), draw(3) / 6, draw(2, 5), draw(2, 3)), {"axis": 1}),
        ((draw(4), draw(1) / 3, draw(3, 2), draw(3, 2)), {"axis": 0}),
        ((draw(4), draw(2) / 3, draw(2), draw(3)), {"axis": 0}),
        ((draw(3), draw(0), draw(4), draw(2)), {"axis": 0}),
    ]


_NAMES = ("b", "a", "x", "zi")

_filter_by_coefficients = general(
    _filter_kernel,
    reverse=_filter_reverse,
    forward=_filter_forward,
    name="filter_by_coefficients",
    names=_NAMES,
    inputs=4,
    batch=_batch_filter,
    samples=_filter_samples,
)

_filter = linear(
    _filter_kernel,
    None,
    None,
    lambda g, b, a, axis: _backwards(b, a, g, axis),
    lambda g, a, zi, axis: _state_of(g, a, zi, axis),
    name="filter",
    names=_NAMES,
    batch=_batch_filter,
    samples=lambda draw: [
        ((np.array([2, -1, 3]), np.array([1, -1]), draw(6), draw(2)), {"axis": 0}),
        ((np.array([1]), np.array([1, 0, -1]), draw(2, 5), draw(2, 3)), {"axis": 1}),
        ((np.array([1, 2, -1, 1]), np.array([-1]), draw(2), draw(3)), {"axis": 0}),
    ],
)


def filter_signal(b: Any, a: Any, x: Any, zi: Any, axis: int) -> Any:
    """A linear filter with the coefficients `b` and 1, `a` along an axis, from the state `zi` on.

    It is one operation; if neither `b` nor `a` is a tensor it is a linear one, which saves nothing.

    >>> import numpy as np, gradtape as gt
    >>> b, a, zi = np.array([1.0]), np.array([-0.5]), np.zeros(1)
    >>> filter_signal(b, a, gt.tensor([1.0, 0.0, 0.0]), zi, 0)
    Tensor([1.  , 0.5 , 0.25])
    """
    by_coefficients = isinstance(b, Tensor) or isinstance(a, Tensor)
    return (_filter_by_coefficients if by_coefficients else _filter)(b, a, x, zi, axis=axis)


# -- filters between rates: y[m] = sum_j h[m down - j up] x[j]


def _resample_kernel(x: Array, h: Array, up: int, down: int, axis: int) -> Any:
    from scipy.signal import upfirdn

    return upfirdn(h, x, up, down, axis)


def _resample_transpose(g: Array, x: Array, h: Array, up: int, down: int, axis: int) -> Any:
    """gx[j] = sum_m g[m] h[m down - j up]: the rates exchanged and the coefficients turned round.

    The last coefficient has to be at a multiple of `up`, so that the results that are wanted are among the computed.
    """
    extra = -(h.shape[0] - 1) % up
    turned = np.flip(_conjugate(h), 0)
    if extra:
        turned = np.concatenate([np.zeros(extra, h.dtype), turned])
    start = (turned.shape[0] - 1) // up
    found = resample_signal(g, turned, up=down, down=up, axis=axis)[index_at_axis(axis, slice(start, None))]
    return _first(found, x.shape[axis], axis)


def _spread_out(x: Array, step: int, axis: int) -> Any:
    """`x` with `step - 1` zeros between neighbours along an axis."""
    if step == 1:
        return x
    columns = np.expand_dims(x, axis + 1)
    zeros = np.zeros((*x.shape[: axis + 1], step - 1, *x.shape[axis + 1 :]), x.dtype)
    length = x.shape[axis] * step
    joined = np.concatenate([columns, zeros], axis + 1).reshape((*x.shape[:axis], length, *x.shape[axis + 1 :]))
    return joined[index_at_axis(axis, slice(0, length - step + 1))]


def _resample_transpose_coefficients(g: Any, x: Any, h: Array, up: int, down: int, axis: int) -> Any:
    """gh[q] = sum of g[m] x[j] over all m down - j up = q."""
    signals = _conjugate(np.moveaxis(x, axis, -1))
    results = np.moveaxis(g, axis, -1)
    signals = _spread_out(signals.reshape((-1, x.shape[axis])), up, 1)
    results = _spread_out(results.reshape((-1, g.shape[axis])), down, 1)
    total: Any = np.zeros(h.shape[0], np.result_type(g.dtype, x.dtype))
    for row in range(signals.shape[0]):
        turned = np.flip(signals[row], 0)
        start = turned.shape[0] - 1
        found = resample_signal(results[row], turned, up=1, down=1, axis=0)[start : start + h.shape[0]]
        total = total + _first(found, h.shape[0], 0)
    return total


def _batch_resample(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    if flags[1]:
        return apply_to_each_example(op, flags, values, params)
    return apply(op, tuple(values), {**params, "axis": params["axis"] + 1})


resample_signal: Op = multilinear(
    _resample_kernel,
    _resample_transpose,
    _resample_transpose_coefficients,
    name="resample_signal",
    names=("x", "h"),
    batch=_batch_resample,
    samples=lambda draw: [
        ((draw(5), draw(3)), {"up": 1, "down": 1, "axis": 0}),
        ((draw(2, 4), draw(6)), {"up": 3, "down": 2, "axis": 1}),
        ((draw(5, 2), draw(4)), {"up": 2, "down": 5, "axis": 0}),
        ((draw(7), draw(1)), {"up": 1, "down": 3, "axis": 0}),
    ],
)
"""`scipy.signal.upfirdn` along one axis: `up - 1` zeros between samples, the filter `h`, each `down`-th sample kept."""
