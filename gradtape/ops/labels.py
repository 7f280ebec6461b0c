"""Class labels: integers that say which place along an axis is meant, and what is read and written there.

A label of -1 stands for an example that is to be ignored: nothing is read there, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.core.operation import Op, apply
from gradtape.core.rules import constant, linear
from gradtape.core.typing import Array, DTypeLike, TensorLike
from gradtape.errors import IndexingError, OperandError
from gradtape.ops.arguments import argument_error, as_value, one_axis

__all__ = ["one_hot"]

IGNORED = -1


def _checked_kernel(labels: Array, classes: int, ignored: int | None, name: str, what: str) -> Any:
    """`labels` as positions, with `IGNORED` for those that are to be; an error if one is no class."""
    if labels.size and labels.min() >= 0 and labels.max() < classes and (ignored is None or ignored < 0):
        return labels.astype(np.intp)
    skip = labels == ignored if ignored is not None else np.zeros(labels.shape, bool)
    outside = ((labels < 0) | (labels >= classes)) & ~skip
    if outside.any():
        distance = np.where(outside, np.maximum(-labels, labels - (classes - 1)), 0)
        worst = np.unravel_index(int(np.argmax(distance)), labels.shape)
        place = f"[{', '.join(str(int(i)) for i in worst)}]" if labels.ndim else ""
        note = "" if ignored is None else f" (or {ignored}, to be ignored)"
        kinds, there = ("ids", f"the table has {classes} rows") if name == "embedding" else ("labels", "")
        fix = f"{kinds} that count from 0 to {classes - 1}"
        if name == "embedding" and labels.min(initial=0) >= 0:
            fix = f"a table of {int(labels.max()) + 1} rows: Embedding({int(labels.max()) + 1}, ...); or {fix}"
        elif labels.max(initial=0, where=~skip) == classes and labels.min(initial=classes, where=~skip) >= 1:
            fix += f"; {what} - 1, if they count from 1"
        raise argument_error(
            IndexingError,
            f"{name}: {what}{place} is {int(labels[worst])}, and {int(outside.sum())} of {labels.size} {kinds} are out "
            f"of range; {there or f'there are {classes} classes'}, so 0 to {classes - 1} is accepted{note}.",
            fix,
        )
    return np.where(skip, IGNORED, labels).astype(np.intp)


def _as_it_is(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    return apply(op, tuple(values), params)


_LABELS = np.array([1, 0, -100, 2])

_checked = constant(
    _checked_kernel,
    name="checked labels",
    batch=_as_it_is,
    samples=lambda draw: [
        ((_LABELS,), {"classes": 3, "ignored": -100, "name": "f", "what": "target"}),
        ((np.array(1),), {"classes": 2, "ignored": None, "name": "f", "what": "target"}),
    ],
)


def checked_labels(
    labels: TensorLike, classes: int, name: str, what: str = "target", ignored: int | None = None
) -> Array:
    """`labels` of `classes` classes as positions, `IGNORED` where they are `ignored`; all must be in range."""
    labels = as_value(labels)
    if labels.dtype.kind not in "iu":
        raise argument_error(
            OperandError,
            f"{name}: {what} has dtype {labels.dtype}; integers are accepted.",
            f"{what}.astype(int), if it holds labels",
        )
    checked: Array = _checked(labels, classes=classes, ignored=ignored, name=name, what=what)
    return checked


# -- one place along an axis, read and written


def _hot_kernel(labels: Array, classes: int, axis: int, dtype: DTypeLike) -> Any:
    axis %= labels.ndim + 1
    return (np.expand_dims(labels, axis) == _ladder(classes, axis, labels.ndim)).astype(dtype)


def _ladder(classes: int, axis: int, ndim: int) -> Any:
    """0, 1, 2, ... along `axis` of ndim + 1."""
    return np.arange(classes).reshape((-1,) + (1,) * (ndim - axis))


def _batch_hot(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    return apply(op, tuple(values), {**params, "axis": params["axis"] + 1})


hot = constant(
    _hot_kernel,
    name="one hot",
    batch=_batch_hot,
    samples=lambda draw: [
        ((np.array([1, 0, -1, 2]),), {"classes": 3, "axis": 1, "dtype": np.dtype(int)}),
        ((np.array([[1, 0], [0, 1]]),), {"classes": 2, "axis": 1, "dtype": np.dtype(float)}),
    ],
)


def _pick_kernel(x: Any, labels: Any, axis: int, classes: int) -> Any:
    if not classes:
        return np.zeros(labels.shape, x.dtype)
    if axis == 1 and x.ndim == 2:
        picked = x[np.arange(len(labels)), labels]
    else:
        picked = np.squeeze(np.take_along_axis(x, np.expand_dims(np.maximum(labels, 0), axis), axis), axis)
    return np.where(labels < 0, x.dtype.type(0), picked) if labels.min(initial=0) < 0 else picked


def _place_kernel(x: Array, labels: Array, axis: int, classes: int) -> Any:
    out = np.zeros((*x.shape[:axis], classes, *x.shape[axis:]), x.dtype)
    if classes:
        values = np.where(labels < 0, x.dtype.type(0), x)
        np.put_along_axis(out, np.expand_dims(np.maximum(labels, 0), axis), np.expand_dims(values, axis), axis)
    return out


def batch_labelled(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    """The batching rule of an array and its labels: both with the examples in front."""
    size = next(value.shape[0] for value, flag in zip(values, flags, strict=True) if flag)
    each = [v if flag else np.broadcast_to(v, (size, *v.shape)) for v, flag in zip(values, flags, strict=True)]
    return apply(op, tuple(each), {**params, "axis": params["axis"] + 1})


_PLACES = np.array([1, 0, -1, 2])

pick: Op = linear(
    _pick_kernel,
    lambda g, labels, axis, classes: place(g, labels, axis=axis, classes=classes),
    None,
    name="pick labelled",
    names=("x", "labels"),
    batch=batch_labelled,
    samples=lambda draw: [
        ((draw(4, 3), _PLACES), {"axis": 1, "classes": 3}),
        ((draw(2, 3, 2), np.array([[0, 2], [1, 1]])), {"axis": 1, "classes": 3}),
        ((draw(3), np.array(2)), {"axis": 0, "classes": 3}),
    ],
)
place: Op = linear(
    _place_kernel,
    lambda g, labels, axis, classes: pick(g, labels, axis=axis, classes=classes),
    None,
    name="place labelled",
    names=("x", "labels"),
    batch=batch_labelled,
    samples=lambda draw: [
        ((draw(4), _PLACES), {"axis": 1, "classes": 3}),
        ((draw(2, 2), np.array([[0, 2], [1, 1]])), {"axis": 1, "classes": 3}),
    ],
)


def one_hot(labels: TensorLike, num_classes: int, axis: int = -1, dtype: DTypeLike = int) -> Any:
    """An axis of `num_classes` for each label, with a 1 at its place and 0 elsewhere. Labels have no gradient.

    >>> import gradtape as gt
    >>> gt.nn.functional.one_hot([1, 0], 3)
    array([[0, 1, 0],
           [1, 0, 0]])
    """
    labels = checked_labels(labels, num_classes, "one_hot", "labels")
    return hot(labels, classes=num_classes, axis=one_axis(axis, labels.ndim + 1), dtype=np.dtype(dtype))
