"""What a loss expects of its input, and a cheap look at whether it is something else: probabilities for logits.

Only computed tensors are looked at, one row of them first; what is suspicious is judged by
`gradtape.explain.detectors.loss_input`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.graph import Node, with_numbers
from gradtape.core.typing import Array

__all__: list[str] = []

_RESHAPING = frozenset({"reshape", "getitem", "transpose", "copy", "positive", "identity", "broadcast_to"})


def note_probabilities(name: str, input: Any, axis: int) -> None:
    """Tell of an input of logits whose every row along `axis` is a distribution: softmax would be applied twice."""
    array = _computed(input)
    if array is None or array.size == 0 or array.shape[axis] < 2:
        return
    row = array[(0,) * axis + (slice(None),) + (0,) * (array.ndim - axis - 1)]
    if abs(row.sum() - 1) < 1e-4 and row.min() >= 0:
        within = 1e-12 * array.shape[axis] if array.dtype.itemsize >= 8 else 1e-5
        least = array.min()
        is_sure = least > 0 or (least == 0 and _source(input._node).op.name == "softmax")  # of zeros there are others
        if is_sure and np.abs(array.sum(axis=axis) - 1).max() <= within:
            from gradtape.explain.detectors.loss_input import warn_softmax_twice

            warn_softmax_twice(name, input, axis)


def note_doubled(name: str, input: Array, axes: tuple[int, ...]) -> None:
    """Tell of a softmax, or its logarithm, that is taken of a softmax along the same axis."""
    node = getattr(input, "_node", None)
    if node is None or node.op is None or node.op.name != "softmax" or node.params.get("axis") != axes:
        return
    if _computed(input) is not None and all(node.shape[axis] > 1 for axis in axes):
        from gradtape.explain.detectors.loss_input import warn_softmax_twice

        warn_softmax_twice(name, input, axes[0])


def note_sigmoid(name: str, input: Any) -> None:
    """Tell of an input of logits that is the result of a sigmoid."""
    if _computed(input) is None:
        return
    node = _source(input._node)
    if node.op.name == "sigmoid" or _is_written_out(node):
        from gradtape.explain.detectors.loss_input import warn_sigmoid_twice

        warn_sigmoid_twice(name, node)


def note_positive(name: str, input: Array, axis: int | None = None) -> None:
    """Tell of an input of logarithms of probabilities that has numbers above 0."""
    array = _computed(input)
    if array is not None and array.size and with_numbers(array).max() > 1e-3:
        from gradtape.explain.detectors.loss_input import warn_not_log_probabilities

        warn_not_log_probabilities(name, input, axis)


def _source(node: Any) -> Any:
    """The operation that computed a value, before its shape was changed."""
    while node.op.name in _RESHAPING and node.parents and node.parents[0].op is not None:
        node = node.parents[0]
    return node


def _computed(input: Any) -> Any:
    """The array of a tensor that a tape has seen being computed; None of anything else."""
    node = getattr(input, "_node", None)
    if node is None or node.op is None or node.op.name == "positive":  # a leaf, or a copy of one
        return None
    array = input._array
    is_array = isinstance(array, np.ndarray) or (hasattr(array, "check_later") and not array.is_scalar)
    return array if is_array and input.dtype.kind == "f" else None


def _is_written_out(node: Node) -> bool:
    """Whether `node` is 1 / (1 + exp(-x))."""
    if node.op is None or node.op.name != "divide" or node.parents[0].op is not None:
        return False
    below = node.parents[1]
    if below.op is None or below.op.name != "add":
        return False
    powers = [parent for parent in below.parents if parent.op is not None]
    return len(powers) == 1 and powers[0].op is not None and powers[0].op.name == "exp"
