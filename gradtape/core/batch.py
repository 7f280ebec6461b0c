"""Batching: an interpreter whose tensors stand for one example and hold them all, along a first axis of their own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core import recording
from gradtape.core.graph import LIFTED_NODE, UNTRACKED, Node
from gradtape.core.operation import Level, Lifted, Op, apply
from gradtape.core.shapes import Shape
from gradtape.core.tensor import Tensor
from gradtape.explain import messages


class Units:
    """A batch of as many examples as each has elements: example i has `weights[i]` at element i, and 0 elsewhere.

    A Jacobian is the answer to such a batch. What is done to each element by itself is done to the weights, and a
    product with a matrix is that matrix with its rows scaled: a whole product of matrices less.
    """

    def __init__(self, weights: Any) -> None:
        self.weights = weights
        self.shape: Shape = (math.prod(weights.shape), *weights.shape)
        self.dtype: np.dtype[Any] = weights.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def dense(self) -> Any:
        """The array that this stands for: `weights` along the diagonal of the examples, zeros elsewhere."""
        return np.diagflat(self.weights).reshape(self.shape)


NO_ARRAY = np.empty(0, bool)  # in the place of a batched tensor's array, which is its level's


class BatchTensor(Lifted):
    """One example of a batch, as the function inside `vmap` sees it; `value` has all of them along axis 0."""

    __slots__ = ()

    _held: Any
    holds_array: Any = Tensor._viewed  # type: ignore[attr-defined]  # a slot of Tensor under another name

    def __init__(self, value: Any, level: BatchLevel, node: Node = LIFTED_NODE) -> None:
        super().__init__(NO_ARRAY, node)
        self._held = value
        self.level = level
        self.holds_array = False  # whether an example without axes is an array, and no number

    @property
    def value(self) -> Any:
        """The array of all examples; units are written out the first time they are read."""
        if type(self._held) is Units:
            self._held = self._held.dense()
        return self._held

    @property
    def weights(self) -> Any:
        """The weights of a batch of unit vectors; None for any other."""
        return self._held.weights if type(self._held) is Units else None

    def _on(self, node: Node) -> BatchTensor:
        assert isinstance(self.level, BatchLevel)
        moved = BatchTensor(self._held, self.level, LIFTED_NODE if node is UNTRACKED else node)
        moved.holds_array = self.holds_array
        return moved

    def _is_number(self) -> bool:
        return not self.shape and not self.holds_array

    def _hold_array(self) -> None:
        self.holds_array = True

    def _make_alike(self, other: Tensor) -> None:
        is_array = isinstance(other._array, np.ndarray)
        super()._make_alike(other)
        if isinstance(other, BatchTensor):
            other.holds_array = is_array

    def _check_leaf(self) -> None:
        raise messages.leaf_in_batch(self.shape)

    @property
    def shape(self) -> Shape:
        """The shape of one example."""
        shape: Shape = self._held.shape[1:]
        return shape

    @shape.setter
    def shape(self, lengths: Any) -> None:
        self._set_shape(lengths)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of every example."""
        dtype: np.dtype[Any] = self._held.dtype
        return dtype

    def _become(self, new: Tensor) -> None:
        super()._become(new)
        if isinstance(new, BatchTensor):
            self._held, self.level = new._held, new.level

    def _memory(self) -> Any:
        held = self._held
        return held._memory() if isinstance(held, Tensor) else held

    def _set_memory(self, array: Any) -> None:
        held = self._held
        if not isinstance(held, Tensor):
            self._held = array
            return
        self._held = held._on(held._node) if isinstance(held, Lifted) else Tensor(held._array, held._node)
        self._held._set_memory(array)

    def _concrete(self) -> Any:
        assert isinstance(self.level, BatchLevel)
        raise messages.one_of_a_batch(self.level.size, self.shape)

    def __round__(self, decimals: int | None = None) -> Any:
        return np.round(self, decimals or 0)  # the examples have no single integer

    def __repr__(self) -> str:
        return f"BatchTensor(shape={self.shape}, dtype={self.dtype}, one of {getattr(self.level, 'size', '?')})"

    __str__ = __repr__


class BatchLevel(Level):
    """One `vmap`: `size` examples."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        recording.interpreters.add(id(self))

    def __del__(self) -> None:
        recording.interpreters.discard(id(self))

    def process(self, op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Run an operation on whole batches by its batching rule; inputs of no or another level are shared."""
        flags = [isinstance(x, BatchTensor) and x.level is self for x in inputs]
        if op.units is not None and flags.count(True) == 1:
            index = flags.index(True)
            if inputs[index].weights is not None:
                answer = op.units(index, [*inputs[:index], inputs[index].weights, *inputs[index + 1 :]])
                if answer is not None:
                    return BatchTensor(answer, self)
        values = [
            x.value if flag else np.asarray(x) if isinstance(x, (list, tuple)) else x
            for x, flag in zip(inputs, flags, strict=True)
        ]
        out = (op.batch or apply_to_each_example)(op, flags, values, params)
        if op.outputs:
            return tuple(BatchTensor(part, self) for part in out)
        return BatchTensor(out, self)


def align_ranks(flags: Sequence[bool], values: Sequence[Any]) -> list[Any]:
    """Values whose examples broadcast together: batched ones get axes of length 1 behind the batch axis."""
    ranks = [len(np.shape(v)) - flag for v, flag in zip(values, flags, strict=True)]
    rank = max(ranks)
    return [
        v.reshape((v.shape[0],) + (1,) * (rank - r) + v.shape[1:]) if flag and r < rank else v
        for v, flag, r in zip(values, flags, ranks, strict=True)
    ]


def batch_elementwise(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    """The batching rule of everything elementwise."""
    return apply(op, tuple(align_ranks(flags, values)), params)


def apply_to_each_example(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    """The batching rule of operations that have none: one example after the other."""
    size = next(v.shape[0] for v, flag in zip(values, flags, strict=True) if flag)
    if size == 0:  # one example of ones tells the shape
        values = [np.ones((1, *v.shape[1:]), v.dtype) if flag else v for v, flag in zip(values, flags, strict=True)]
    results = [
        apply(op, tuple(v[i] if flag else v for v, flag in zip(values, flags, strict=True)), params)
        for i in range(max(size, 1))
    ]
    if op.outputs:
        return tuple(_stack([result[part] for result in results], size) for part in range(len(results[0])))
    return _stack(results, size)


def _stack(results: list[Any], size: int) -> Any:
    stacked: Any = np.stack(results)
    return stacked[:size]


def repeat_for_batch(value: Any, size: int) -> Any:
    """A value that is the same for all examples, as a batch of `size`."""
    shape = (size, *np.shape(value))
    return np.broadcast_to(value, shape)


def unbatch(value: Any, level: BatchLevel) -> Any:
    """What a value of this level holds; anything else is spread over the batch."""
    if isinstance(value, BatchTensor) and value.level is level:
        return value.value
    return repeat_for_batch(value if isinstance(value, Tensor) else np.asarray(value), level.size)


CHUNK = 1 << 24  # elements of the widest array that one batched pass may hold


def for_each_row(function: Callable[[BatchTensor, bool], list[Any]], rows: Any, widest: int) -> list[Any]:
    """`function` of every row at once: what it returns, None or with an axis for the rows in front.

    Where `widest` elements a row would be too many at once, chunk by chunk; `function` is told which is the last.
    """
    step = max(1, CHUNK // max(widest, 1))
    if isinstance(rows, Units) and step < len(rows):
        rows = rows.dense()
    starts = range(0, max(len(rows), 1), step)
    pieces = []
    for start in starts:
        chunk = rows if len(starts) == 1 else rows[start : start + step]
        level = BatchLevel(len(chunk))
        results = function(BatchTensor(chunk, level), start == starts[-1])
        pieces.append([None if result is None else unbatch(result, level) for result in results])
    if len(pieces) == 1:
        return pieces[0]
    return [None if column[0] is None else np.concatenate(column) for column in zip(*pieces, strict=True)]
