"""Running extremes, and running sums of exponentials: what `np.maximum.accumulate` and its like are made of.

Running extremes and running sums of exponentials are recurrences s_k = a_k s_(k-1) + b_k, as running products are.

Extremes: where the extreme changes a new stretch begins (a_k = 0, else 1); in a stretch the elements that are tied
with the extreme so far share its derivative equally. With t_k the tied ones and n_k how many they are by now,
    dout_k = s_k / n_k  with  s_k = a_k s_(k-1) + t_k dx_k
Exponentials:
    dout_k = s_k        with  s_k = exp(out_(k-1) - out_k) s_(k-1) + exp(x_k - out_k) dx_k
The reverse rules are the same recurrences from the other end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.batch import repeat_for_batch
from gradtape.core.operation import Op, apply
from gradtape.core.rules import constant, general
from gradtape.core.typing import Array
from gradtape.ops import elementwise
from gradtape.ops.arguments import batch_shift_axes, index_at_axis
from gradtape.ops.cumulative import recurrence


def _stretches_kernel(x: Array, out: Array, axis: int) -> Any:
    """For each place: whether it is in the stretch of the one before, whether it is tied, how many are tied by now."""
    tied = (x == out) | (np.isnan(x) & np.isnan(out))
    behind, ahead = out[index_at_axis(axis, slice(None, -1))], out[index_at_axis(axis, slice(1, None))]
    same = np.zeros(x.shape, bool)
    same[index_at_axis(axis, slice(1, None))] = (behind == ahead) | (np.isnan(behind) & np.isnan(ahead))
    running = np.cumsum(tied, axis)
    before = np.maximum.accumulate(np.where(same, 0, running - tied), axis)
    kind = out.real.dtype
    return same.astype(kind), tied.astype(kind), (running - before).astype(kind)


def _batch_stretches(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    size = next(v.shape[0] for v, flag in zip(values, flags, strict=True) if flag)
    both = [v if flag else repeat_for_batch(v, size) for v, flag in zip(values, flags, strict=True)]
    return apply(op, tuple(both), {"axis": params["axis"] + 1})


_stretches = constant(
    _stretches_kernel,
    name="stretches",
    outputs=True,
    batch=_batch_stretches,
    samples=lambda draw: [((np.array([1.0, 3.0, 3.0, 2.0]), np.array([1.0, 3.0, 3.0, 3.0])), {"axis": 0})],
)


def _solved_backwards(factors: Any, terms: Any, axis: int) -> Any:
    """The solution of s_k = a_(k+1) s_(k+1) + b_k."""
    following = np.roll(np.flip(factors, axis), 1, axis)
    return np.flip(recurrence(following, np.flip(terms, axis), axis), axis)


def _extreme_forward(dx: Array, x: Array, out: Array, axis: int) -> Any:
    same, tied, count = _stretches(x, out, axis=axis)
    return recurrence(same, tied * dx, axis) / count


def _extreme_reverse(g: Array, x: Array, out: Array, axis: int) -> Any:
    same, tied, count = _stretches(x, out, axis=axis)
    return tied * _solved_backwards(same, g / count, axis)


def _running_extreme(ufunc: np.ufunc) -> Op:
    return general(
        lambda x, axis: ufunc.accumulate(x, axis),
        reverse=_extreme_reverse,
        forward=_extreme_forward,
        name=f"{ufunc.__name__} so far",
        batch=batch_shift_axes("axis"),
        samples=lambda draw: [
            ((draw(6),), {"axis": 0}),
            ((draw(2, 4),), {"axis": 1}),
            ((draw(0, 2),), {"axis": 0}),
            ((draw(2, 0),), {"axis": 1}),
        ],
    )


def _kept_share(out: Array, axis: int) -> Any:
    """exp(out_(k-1) - out_k), and 0 at the first place."""
    behind, ahead = out[index_at_axis(axis, slice(None, -1))], out[index_at_axis(axis, slice(1, None))]
    first = np.zeros_like(out[index_at_axis(axis, slice(0, 1))])
    return np.concatenate([first, elementwise.log_share(behind, ahead)], axis)


_log_sum_so_far = general(
    lambda x, axis: np.logaddexp.accumulate(x, axis),
    reverse=lambda g, x, out, axis: elementwise.log_share(x, out) * _solved_backwards(_kept_share(out, axis), g, axis),
    forward=lambda dx, x, out, axis: recurrence(_kept_share(out, axis), elementwise.log_share(x, out) * dx, axis),
    name="logaddexp so far",
    batch=batch_shift_axes("axis"),
    samples=lambda draw: [((draw(5),), {"axis": 0}), ((draw(2, 3),), {"axis": 1}), ((draw(0, 2),), {"axis": 0})],
)

RUNNING: dict[np.ufunc, Callable[..., Any]] = {
    **{ufunc: _running_extreme(ufunc) for ufunc in (np.maximum, np.minimum, np.fmax, np.fmin)},
    np.logaddexp: _log_sum_so_far,
    np.logaddexp2: lambda x, axis: _log_sum_so_far(x * elementwise.LN2, axis=axis) / elementwise.LN2,
}
