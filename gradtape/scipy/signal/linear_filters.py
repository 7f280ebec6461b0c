"""Filters with given coefficients: recursive, in second-order sections, forwards and backwards, and their states."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import ShapeError
from gradtape.extend import one_axis
from gradtape.ops.filters import filter_signal
from gradtape.scipy.arraylike import along, as_floating, as_vector, is_tensor, one_of, refusal
from gradtape.scipy.signal.mirrored import original

PADDINGS = ("odd", "even", "constant", None)


def _coefficients(name: str, b: Any, a: Any) -> tuple[Any, Any]:
    """The coefficients divided by the first of `a`, so that this one is 1."""
    b, a = as_vector(b, f"{name}: b"), as_vector(a, f"{name}: a")
    if not (b.shape[0] and a.shape[0]):
        raise refusal(
            f"{name}: b of length {b.shape[0]}, a of length {a.shape[0]}.", "at least one coefficient in each"
        )
    if not is_tensor(a) and a[0] == 0:
        raise refusal(f"{name}: a[0] is 0.", "a whose first coefficient is not 0")
    if not is_tensor(a) and a[0] == 1:
        return b, a
    return b / a[0], a / a[0]


@original.differentiated
def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """A linear filter along an axis; differentiated by its coefficients, the signal and the state.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import lfilter
    >>> lfilter([1.0], [1.0, -0.5], gt.tensor([1.0, 0.0, 0.0]))
    Tensor([1.  , 0.5 , 0.25])
    >>> gt.grad(lambda decay: lfilter([1.0], [1.0, -decay], [1.0, 0.0, 0.0])[-1])(gt.tensor(0.5))
    Tensor(1.)
    """
    b, a = _coefficients("lfilter", b, a)
    x = as_floating(x)
    place = one_axis(axis, x.ndim)
    order = max(b.shape[0], a.shape[0]) - 1
    shape = (*x.shape[:place], order, *x.shape[place + 1 :])
    if zi is None:
        state = np.zeros(shape, np.result_type(b.dtype, a.dtype, x.dtype))
        return filter_signal(b, a[1:], x, state, place)
    zi = as_floating(zi)
    if zi.ndim != x.ndim or any(have not in (1, want) for have, want in zip(zi.shape, shape, strict=True)):
        raise refusal(f"lfilter: zi has shape {zi.shape}; {shape} is accepted.", f"zi of shape {shape}", ShapeError)
    if zi.shape[place] != order:
        raise refusal(f"lfilter: zi has shape {zi.shape}; {shape} is accepted.", f"zi of shape {shape}", ShapeError)
    zi = np.broadcast_to(zi, shape)
    y = filter_signal(b, a[1:], x, zi, place)
    return y, _final_state(b, a, x, y, zi, place)


def _final_state(b: Any, a: Any, x: Any, y: Any, zi: Any, axis: int) -> Any:
    """The state behind the last sample: what the samples so far add to the sums of those to come."""
    order, length = zi.shape[axis], x.shape[axis]
    if not order:
        return zi
    parts = []
    for i in range(order):
        total = zi[along(axis, slice(length + i, length + i + 1))] if length + i < order else 0.0
        for c, signal, sign in ((b, x, 1.0), (a, y, -1.0)):
            used = range(max(i + 1, 0), min(c.shape[0], length + i + 1))  # c[k] with signal[length + i - k]
            if used:
                recent = signal[along(axis, slice(length + i - used[-1], length + i - used[0] + 1))]
                weights = np.flip(c[used[0] : used[-1] + 1], 0).reshape((-1,) + (1,) * (x.ndim - axis - 1))
                total = total + sign * np.sum(recent * weights, axis=axis, keepdims=True)
        parts.append(total + np.zeros((*x.shape[:axis], 1, *x.shape[axis + 1 :])))
    return np.concatenate(parts, axis).astype(np.result_type(b.dtype, a.dtype, x.dtype, zi.dtype))


@original.differentiated
def lfilter_zi(b: Any, a: Any) -> Any:
    """The state of `lfilter` in which a signal of ones gives a constant result.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import lfilter_zi
    >>> lfilter_zi([0.5], gt.tensor([1.0, -0.5]))
    Tensor([0.5])
    """
    a = as_vector(a, "lfilter_zi: a")
    if not is_tensor(a):
        a = np.trim_zeros(a, "f")
    b, a = _coefficients("lfilter_zi", b, a)
    length = max(b.shape[0], a.shape[0])
    b, a = (np.concatenate([c, np.zeros(length - c.shape[0], c.dtype)]) for c in (b, a))
    # z_k = b_(k+1) - a_(k+1) y + z_(k+1) with y = b_0 + z_0, summed from the first on
    gained = np.cumsum(b - a * b[0])
    first = gained[-1] / np.sum(a)
    return (first * np.cumsum(a) - gained)[: length - 1]


@original.differentiated
def lfiltic(b: Any, a: Any, y: Any, x: Any = None) -> Any:
    """The state of `lfilter` behind the given last results and samples, the latest first."""
    b, a = _coefficients("lfiltic", b, a)
    y = as_vector(y, "lfiltic: y")
    x = np.zeros(0) if x is None else as_vector(x, "lfiltic: x")
    order = max(a.shape[0], b.shape[0]) - 1
    if not order:
        return np.zeros(0, np.result_type(b.dtype, a.dtype, x.dtype, y.dtype))
    x, y = (np.concatenate([v, np.zeros(max(c.shape[0] - 1 - v.shape[0], 0), v.dtype)]) for v, c in ((x, b), (y, a)))
    parts = []
    for m in range(order):
        total: Any = np.zeros((), np.result_type(b.dtype, a.dtype, x.dtype, y.dtype))
        if m + 1 < b.shape[0]:
            total = total + np.sum(b[m + 1 :] * x[: b.shape[0] - 1 - m])
        if m + 1 < a.shape[0]:
            total = total - np.sum(a[m + 1 :] * y[: a.shape[0] - 1 - m])
        parts.append(total)
    return np.stack(parts)


def _sections(name: str, sos: Any) -> Any:
    sos = as_floating(sos)
    if sos.ndim != 2 or sos.shape[1] != 6:
        raise refusal(f"{name}: sos has shape {sos.shape}; (sections, 6) is accepted.", "output='sos'", ShapeError)
    if not is_tensor(sos) and not np.all(sos[:, 3] == 1):
        raise refusal(f"{name}: sos[:, 3] is not all ones.", "each section divided by its fourth coefficient")
    return sos


@original.differentiated
def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """A filter in second-order sections, one after the other.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import sosfilt
    >>> sosfilt([[1.0, 1.0, 0.0, 1.0, -0.5, 0.0]], gt.tensor([1.0, 0.0, 0.0]))
    Tensor([1.  , 1.5 , 0.75])
    """
    sos, x = _sections("sosfilt", sos), as_floating(x)
    if not x.ndim:
        raise refusal("sosfilt: x is a single number.", "x with at least one axis", ShapeError)
    place = one_axis(axis, x.ndim)
    if zi is None:
        for section in range(sos.shape[0]):
            x = lfilter(sos[section, :3], sos[section, 3:], x, place)
        return x
    zi = as_floating(zi)
    shape = (sos.shape[0], *x.shape[:place], 2, *x.shape[place + 1 :])
    if zi.shape != shape:
        raise refusal(f"sosfilt: zi has shape {zi.shape}; {shape} is accepted.", f"zi of shape {shape}", ShapeError)
    states = []
    for section in range(sos.shape[0]):
        x, state = lfilter(sos[section, :3], sos[section, 3:], x, place, zi[section])
        states.append(state)
    return x, np.stack(states)


@original.differentiated
def sosfilt_zi(sos: Any) -> Any:
    """The state of `sosfilt` in which a signal of ones gives a constant result."""
    sos = _sections("sosfilt_zi", sos)
    states, scale = [], 1.0
    for section in range(sos.shape[0]):
        b, a = sos[section, :3], sos[section, 3:]
        states.append(scale * lfilter_zi(b, a))
        scale = scale * (np.sum(b) / np.sum(a))
    return np.stack(states)


# -- forwards and backwards


def extended(x: Any, width: int, kind: str | None, axis: int) -> Any:
    """`x` with as many samples at both ends: mirrored ("even"), mirrored about the end ("odd"), constant or zeros."""
    length = x.shape[axis]
    if width < 1:
        return x
    first, last = x[along(axis, slice(0, 1))], x[along(axis, slice(length - 1, length))]
    if kind in ("odd", "even"):
        before = np.flip(x[along(axis, slice(1, width + 1))], axis)
        behind = np.flip(x[along(axis, slice(length - 1 - width, length - 1))], axis)
        if kind == "odd":
            before, behind = 2 * first - before, 2 * last - behind
    else:
        ones = np.ones((*x.shape[:axis], width, *x.shape[axis + 1 :]), x.dtype)
        before, behind = (first * ones, last * ones) if kind == "constant" else (0 * ones, 0 * ones)
    return np.concatenate([before, x, behind], axis)


def _padded(name: str, x: Any, axis: int, padtype: Any, padlen: Any, taps: int) -> tuple[int, Any]:
    one_of(f"{name}: padtype", padtype, PADDINGS)
    edge = 0 if padtype is None else taps * 3 if padlen is None else int(padlen)
    if x.shape[axis] <= edge:
        raise refusal(
            f"{name}: x has {x.shape[axis]} samples along axis {axis}; more than padlen={edge} are accepted.",
            f"padlen={x.shape[axis] - 1} or less",
        )
    return edge, extended(x, edge, padtype, axis)


@original.differentiated
def filtfilt(
    b: Any,
    a: Any,
    x: Any,
    axis: int = -1,
    padtype: str | None = "odd",
    padlen: int | None = None,
    method: str = "pad",
    irlen: int | None = None,
) -> Any:
    """A linear filter forwards and then backwards, without a delay.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.scipy.signal import filtfilt
    >>> filtfilt([0.5, 0.5], [1.0], gt.tensor(np.arange(8.0))).round(6)
    Tensor([0., 1., 2., 3., 4., 5., 6., 7.])
    """
    one_of("filtfilt: method", method, ("pad", "gust"))
    b, a = _coefficients("filtfilt", b, a)
    x = as_floating(x)
    place = one_axis(axis, x.ndim)
    if method == "gust":
        return _filtfilt_by_gustafsson(b, a, x, place, irlen)
    edge, wide = _padded("filtfilt", x, place, padtype, padlen, max(a.shape[0], b.shape[0]))
    state = lfilter_zi(b, a).reshape((-1,) + (1,) * (x.ndim - place - 1))
    for _ in range(2):
        wide = lfilter(b, a, wide, place, state * wide[along(place, slice(0, 1))])[0]
        wide = np.flip(wide, place)
    return wide[along(place, slice(edge, wide.shape[place] - edge))]


def _filtfilt_by_gustafsson(b: Any, a: Any, x: Any, axis: int, irlen: int | None) -> Any:
    """Forwards and backwards with the states for which the order of the two makes no difference (Gustafsson, 1996).

    With O what a state of the forward filter adds to its result, S what that is after the backward filter, and R the
    reversal of time, the states solve [R S - O, R O - S] z = backwards first - forwards first by least squares.
    """
    order = max(b.shape[0], a.shape[0]) - 1
    if not order:
        return b[0] ** 2 * x
    x = np.moveaxis(x, axis, -1)
    length = x.shape[-1]
    used = length if irlen is None or length <= 2 * irlen else int(irlen)
    first = lfilter(b, a, np.zeros(used), zi=np.eye(1, order)[0])[0]
    columns = [first] + [np.concatenate([np.zeros(k), first[: used - k]]) for k in range(1, order)]
    observed = np.stack(columns, axis=1)
    smoothed = lfilter(b, a, observed[::-1], axis=0)
    pair = smoothed[::-1] - observed, observed[::-1] - smoothed
    forwards = np.flip(lfilter(b, a, np.flip(lfilter(b, a, x), -1)), -1)
    backwards = lfilter(b, a, np.flip(lfilter(b, a, np.flip(x, -1)), -1))
    difference = backwards - forwards
    if used == length:
        matrix, added = np.concatenate(pair, axis=1), np.concatenate([smoothed[::-1], observed[::-1]], axis=1)
    else:
        nothing = np.zeros((used, order))
        matrix, added = (
            np.concatenate([np.concatenate([p, nothing], axis=1), np.concatenate([nothing, q], axis=1)])
            for p, q in (pair, (smoothed[::-1], observed[::-1]))
        )
        difference = np.concatenate([difference[..., :used], difference[..., length - used :]], axis=-1)
    rows = difference.reshape((-1, difference.shape[-1]))
    states = np.linalg.lstsq(matrix, rows.T, rcond=None)[0]
    correction = np.matmul(added, states).T.reshape(difference.shape)
    if used < length:
        middle = np.zeros((*x.shape[:-1], length - 2 * used))
        correction = np.concatenate([correction[..., :used], middle, correction[..., used:]], axis=-1)
    return np.moveaxis(forwards + correction, -1, axis)


@original.differentiated
def sosfiltfilt(sos: Any, x: Any, axis: int = -1, padtype: str | None = "odd", padlen: int | None = None) -> Any:
    """A filter in second-order sections forwards and then backwards, without a delay."""
    sos, x = _sections("sosfiltfilt", sos), as_floating(x)
    place = one_axis(axis, x.ndim)
    taps = 2 * sos.shape[0] + 1
    if padlen is None and padtype is not None:  # coefficients that are 0 make it shorter
        taps -= min(int(np.sum(sos[:, 2] == 0)), int(np.sum(sos[:, 5] == 0)))
    edge, wide = _padded("sosfiltfilt", x, place, padtype, padlen, taps)
    state = sosfilt_zi(sos).reshape((sos.shape[0],) + (1,) * place + (2,) + (1,) * (x.ndim - place - 1))
    for _ in range(2):
        wide = sosfilt(sos, wide, place, state * wide[along(place, slice(0, 1))])[0]
        wide = np.flip(wide, place)
    return wide[along(place, slice(edge, wide.shape[place] - edge))]
