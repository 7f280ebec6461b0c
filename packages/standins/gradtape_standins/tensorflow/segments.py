"""TensorFlow's functions that count, sum by segment, and find the greatest few."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete
from gradtape_standins.tensorflow import dtypes
from gradtape_standins.tensorflow.conversion import integers, value_of
from gradtape_standins.tensorflow.elementwise import truncatediv
from gradtape_standins.tensorflow.errors import in_tensorflow_terms, invalid
from gradtape_standins.tensorflow.tensor import check_kind, documented, wrap

TopKV2 = namedtuple("TopKV2", ["values", "indices"])


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Any:
    """How often each of 0, 1, 2, ... appears, or the sum of the `weights` there."""
    places = np.asarray(concrete(value_of(arr))).ravel()
    if maxlength is not None:
        places = places[places < integers(maxlength)]
    if weights is not None:
        return wrap(gt.bincount(places, gt.ravel(value_of(weights)), integers(minlength) or 0))
    return wrap(gt.Tensor(np.bincount(places, minlength=integers(minlength) or 0).astype(dtypes.numpy_of(dtype))))


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    weights: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Any:
    """How often each label (row) was given each prediction (column)."""
    rows, columns = (np.asarray(concrete(value_of(x))).astype(np.int64) for x in (labels, predictions))
    count = integers(num_classes) if num_classes is not None else int(max(rows.max(), columns.max())) + 1
    table = np.zeros((count, count), dtypes.numpy_of(dtype))
    np.add.at(table, (rows, columns), 1 if weights is None else np.asarray(concrete(value_of(weights))))
    return wrap(gt.Tensor(table))


def _segments(data: Any, segment_ids: Any, count: Any) -> tuple[Any, Any, int]:
    ids = np.asarray(concrete(value_of(segment_ids)))
    return value_of(data), ids, int(ids.max(initial=-1)) + 1 if count is None else integers(count)


@in_tensorflow_terms
def unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The sum of the rows of each segment."""
    value, ids, count = _segments(data, segment_ids, num_segments)
    zeros = gt.Tensor(np.zeros((count, *value.shape[ids.ndim :]), value.dtype))
    return wrap(gt.at(zeros)[ids].add(value))


def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The sum of the rows of each segment; the ids are sorted."""
    return unsorted_segment_sum(data, segment_ids, None)


@in_tensorflow_terms
def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The mean of the rows of each segment."""
    value, ids, count = _segments(data, segment_ids, num_segments)
    counts = np.maximum(np.bincount(ids.ravel(), minlength=count), 1).astype(value.dtype)
    total = value_of(unsorted_segment_sum(data, segment_ids, count))
    return wrap(total / gt.Tensor(counts.reshape(-1, *(1,) * (total.ndim - 1))))


@in_tensorflow_terms
def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The mean of the rows of each segment; the ids are sorted. Integers stay integers, rounded towards zero."""
    value, ids, count = _segments(data, segment_ids, None)
    check_kind(value, "fciu", "segment_mean")
    if value.dtype.kind in "fc":
        return unsorted_segment_mean(data, segment_ids, None)
    counts = np.maximum(np.bincount(ids.ravel(), minlength=count), 1).astype(value.dtype)
    total = segment_sum(data, segment_ids)
    return truncatediv(total, wrap(gt.Tensor(counts.reshape(-1, *(1,) * (len(total.shape) - 1)))))


def _by_segment(op: Any, empty: Any, name: str, document: str, is_sorted: bool, kinds: str = "fiu") -> Any:
    """A reduction of the rows of each segment, one segment after the other; where there are none, `empty(dtype)`."""

    def reduced(data: Any, segment_ids: Any, count: Any) -> Any:
        value, ids, total = _segments(data, segment_ids, count)
        check_kind(value, kinds, name)
        nothing = gt.Tensor(np.full(value.shape[ids.ndim :], empty(value.dtype), value.dtype))
        rows = [op(value[ids == which], 0) if np.any(ids == which) else nothing for which in range(total)]
        return wrap(gt.stack(rows))

    @in_tensorflow_terms
    def of_sorted(data: Any, segment_ids: Any, name: str | None = None) -> Any:
        return reduced(data, segment_ids, None)

    @in_tensorflow_terms
    def of_unsorted(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        return reduced(data, segment_ids, num_segments)

    return documented(of_sorted if is_sorted else of_unsorted, name, document, "")


def _limits(dtype: np.dtype[Any]) -> Any:
    return np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)


def _zero(dtype: np.dtype[Any]) -> int:
    return 0


def _one(dtype: np.dtype[Any]) -> int:
    return 1


def _least(dtype: np.dtype[Any]) -> Any:
    return _limits(dtype).min


def _greatest(dtype: np.dtype[Any]) -> Any:
    return _limits(dtype).max


segment_max = _by_segment(gt.max, _zero, "segment_max", "The greatest of the rows of each segment.", True)
segment_min = _by_segment(gt.min, _zero, "segment_min", "The least of the rows of each segment.", True)
segment_prod = _by_segment(gt.prod, _one, "segment_prod", "The product of the rows of each segment.", True, "fciu")
unsorted_segment_max = _by_segment(
    gt.max, _least, "unsorted_segment_max", "The greatest of the rows of each segment.", False
)
unsorted_segment_min = _by_segment(
    gt.min, _greatest, "unsorted_segment_min", "The least of the rows of each segment.", False
)
unsorted_segment_prod = _by_segment(
    gt.prod, _one, "unsorted_segment_prod", "The product of the rows of each segment.", False, "fciu"
)


@in_tensorflow_terms
def top_k(input: Any, k: Any = 1, sorted: bool = True, index_type: Any = dtypes.int32, name: str | None = None) -> Any:
    """The `k` greatest elements along the last axis and their places."""
    value, count = value_of(input), integers(k)
    if not value.ndim or value.shape[-1] < count:
        raise invalid(f"top_k: input must have at least {count} columns; its shape is {value.shape}")
    check_kind(value, "fiu", "top_k")
    array = concrete(value)
    # of integers, the complement orders the other way round, and no number of them overflows
    places = np.argsort(-array if array.dtype.kind == "f" else ~array, axis=-1, kind="stable")[..., :count]
    return TopKV2(
        wrap(gt.take_along_axis(value, places, -1)), wrap(gt.Tensor(places.astype(dtypes.numpy_of(index_type))))
    )


def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> Any:
    """Whether each target is among the `k` greatest predictions of its row."""
    labels, scores = np.asarray(concrete(value_of(targets))), np.asarray(concrete(value_of(predictions)))
    own = np.take_along_axis(scores, labels[:, None], 1)
    return wrap(gt.Tensor((scores > own).sum(1) < integers(k)))


__all__ = ["bincount", "confusion_matrix", "in_top_k", "segment_max", "segment_mean", "segment_min", "segment_prod"]
__all__ += ["segment_sum", "top_k", "unsorted_segment_max", "unsorted_segment_mean", "unsorted_segment_min"]
__all__ += ["unsorted_segment_prod", "unsorted_segment_sum"]
