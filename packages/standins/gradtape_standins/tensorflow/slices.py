"""IndexedSlices: rows of a tensor and their places, which is how TensorFlow gives the gradient of a `gather`.

A gather of rows is noted on the tapes that record it. Where all of a gradient comes through such gathers, it is given
as the rows that were gathered; where the source is used in another way too, it is dense.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

import gradtape as gt
from gradtape.extend import concrete, node_of
from gradtape_standins.tensorflow import dtypes
from gradtape_standins.tensorflow.conversion import Holder, value_of
from gradtape_standins.tensorflow.errors import explained
from gradtape_standins.tensorflow.shapes import TensorShape
from gradtape_standins.tensorflow.tensor import wrap


class IndexedSlices:
    """Rows of a tensor and their places.

    >>> from gradtape_standins import tensorflow as tf
    >>> table = tf.Variable(tf.ones([4, 2]))
    >>> with tf.GradientTape() as tape:
    ...     loss = tf.reduce_sum(tf.gather(table, [3, 1, 3]))
    >>> rows = tape.gradient(loss, table)
    >>> rows.indices.numpy(), rows.values.shape, rows.shape
    (array([3, 1, 3], dtype=int32), TensorShape([3, 2]), TensorShape([4, 2]))
    >>> tf.convert_to_tensor(rows).numpy().sum(axis=1)
    array([0., 2., 0., 4.], dtype=float32)
    """

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self.values, self.indices, self.dense_shape = values, indices, dense_shape

    @property
    def dtype(self) -> dtypes.DType:
        """The kind of number."""
        return dtypes.as_dtype(value_of(self.values).dtype)

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole tensor."""
        if self.dense_shape is None:
            return TensorShape([None, *value_of(self.values).shape[1:]])
        return TensorShape([int(n) for n in concrete(value_of(self.dense_shape))])

    @property
    def device(self) -> str:
        """Where the numbers are: always on the CPU."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(wrap(-value_of(self.values)), self.indices, self.dense_shape)

    def __tf_tensor__(self) -> Any:
        if self.dense_shape is None:
            raise ValueError(explained("IndexedSlices without dense_shape cannot be made dense"))
        rows = value_of(self.values)
        return wrap(gt.at(gt.Tensor(np.zeros(tuple(self.shape), rows.dtype)))[value_of(self.indices)].add(rows))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"'IndexedSlices' object has no attribute {name!r}: it holds the rows of a gradient that are not zero.\n"
            "  fix: tf.convert_to_tensor(gradient) for the whole, or its .values and .indices"
        )

    def __str__(self) -> str:
        shape = "" if self.dense_shape is None else f", dense_shape={self.dense_shape!s}"
        return f"IndexedSlices(indices={self.indices!s}, values={self.values!s}{shape})"


def values_of(t: Any) -> Any:
    """The numbers in `t` as gradtape has them; of slices, those of the rows, as TensorFlow's clipping takes them."""
    return value_of(t.values if isinstance(t, IndexedSlices) else t)


def with_values(t: Any, values: Any) -> Any:
    """`values` in the place of the numbers in `t`."""
    return IndexedSlices(wrap(values), t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else wrap(values)


class Gathered(NamedTuple):
    """A gather of rows: from what, the places, and what came out."""

    source: Any
    places: Any
    result: Any


notebooks: ContextVar[tuple[list[Gathered], ...]] = ContextVar("gathers on the tapes that record", default=())


def note(source: Any, indices: Any, result: Any) -> None:
    """Write a gather of the rows of `source` down for the tapes that record."""
    if isinstance(source, Holder):
        for notebook in notebooks.get():
            notebook.append(Gathered(source._value, value_of(indices), result))


def sliced_sources(targets: list[Any], sources: list[Any], gathered: list[Gathered]) -> dict[int, list[Gathered]]:
    """For each source (by its number) that `targets` reach through gathers of rows only: those gathers."""
    found: dict[int, list[Gathered]] = {}
    for number, source in enumerate(sources):
        through = [g for g in gathered if g.source is source and node_of(g.result) is not None]
        if through:
            ends = {id(node_of(g.result)) for g in through}
            reached = _reached([node_of(t) for t in targets if isinstance(t, gt.Tensor)], ends)
            if id(node_of(source)) not in reached and ends & reached:
                found[number] = [g for g in through if id(node_of(g.result)) in reached]
    return found


def _reached(starts: list[Any], ends: set[int]) -> set[int]:
    """The nodes that are met on the ways back from `starts`, none of which goes beyond `ends`."""
    seen: set[int] = set()
    waiting = [node for node in starts if node is not None]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if id(node) not in ends:
            waiting.extend(node.parents)
    return seen


def slices_of(source: Any, through: list[Gathered], gradients: list[Any]) -> IndexedSlices:
    """The gradient of `source`, of which `gradients` arrived at the results of the gathers."""
    rows = [gt.reshape(g, (-1, *source.shape[1:])) for g in gradients]
    places = [gt.reshape(one.places, (-1,)) for one in through]
    values, indices = (parts[0] if len(parts) == 1 else gt.concatenate(parts, 0) for parts in (rows, places))
    return IndexedSlices(wrap(values), wrap(indices), wrap(gt.Tensor(np.array(source.shape, np.int32))))
