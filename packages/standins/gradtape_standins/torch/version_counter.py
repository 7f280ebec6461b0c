"""What was written in place although a gradient still needs the old numbers: PyTorch's version counters.

A write never changes numbers that the graph has saved, because it makes a new array. So that a program that PyTorch
refuses is refused here too, the array that was replaced is remembered for as long as somebody holds it, and
`.backward()` looks for it among what it is about to use.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from gradtape.errors import MutationError
from gradtape.extend import AMBIENT, Location, Node, array_of, messages, node_of, span_of
from gradtape.extend import Tensor as Value
from gradtape_standins.torch.grad_fn import labels

NUMBERS_AT_MOST = 64


_SAVED = (
    "Amax Amin Angle CholeskyInverse Cumprod Dist Exp Exp2 Expm1 Hypot LinalgCholeskyEx LinalgInvEx LinalgMatrixExp "
    "LinalgVectorNorm LogSigmoid LogSoftmax Logcumsumexp Logsumexp Max Median Min Nanmedian Norm Pow Prod Reciprocal "
    "Relu Rsqrt Sgn Sigmoid Softmax Sqrt Std Tan Tanh Threshold"
)
_SAVED_RESULTS = frozenset(_SAVED.split())
"""The operations that save their result in PyTorch, by what it calls them without "Backward0".

Others may be written over when they have been computed: gradtape's gradient needs the result of a division, say, and
has it, but PyTorch's does not look at it.
"""

_ALONE = "Exp Exp2 Expm1 LinalgCholeskyEx LogSoftmax Reciprocal Relu Rsqrt Sigmoid Softmax Sqrt Tan Tanh"
_ONLY_RESULTS = frozenset(_ALONE.split())
"""Those among them that do not save their operands, which may be written over."""


class Replaced:
    """An array that was written over: where, and the nodes of the write itself, which may go on using it."""

    def __init__(self, array: Any, where: Location, writers: Iterable[Node]) -> None:
        self.where = where
        self.shape = np.shape(array)
        self.writers = [weakref.ref(writer) for writer in writers]
        self.held = array if isinstance(array, np.generic) else None  # a number cannot be referred to weakly

    def was_written_by(self, *nodes: Node) -> bool:
        """Whether one of `nodes` is part of the write."""
        return any(writer() is node for writer in self.writers for node in nodes)


_replaced: dict[int, Replaced] = {}


def _unheld() -> int:
    """How many references are counted to an array that only a tensor and a caller of `note` hold."""
    value = Value(np.empty(1))
    array = array_of(value)
    return sys.getrefcount(array)


_UNHELD = _unheld()


def note(old: Value, new: Value, *others: Node) -> None:
    """Remember that the array of `old` was written over by `new`, if anybody else still holds it.

    `others` are more nodes of the same write: that of the numbers which were written through a view.
    """
    array = array_of(old)
    if sys.getrefcount(array) <= _UNHELD:
        return
    key = id(array)
    entry = Replaced(array, Location.here(), (node_of(new), *others))
    if entry.held is None:
        weakref.finalize(array, _replaced.pop, key, None).atexit = False
    else:
        numbers = [k for k, e in _replaced.items() if e.held is not None]
        for stale in numbers[: len(numbers) - NUMBERS_AT_MOST]:
            del _replaced[stale]
    _replaced[key] = entry


def check(targets: Iterable[Value]) -> None:
    """Raise if a node that the gradient of `targets` goes through has saved numbers that were written over."""
    if not _replaced:
        return
    pending = [(node_of(target), node_of(target)) for target in targets]
    seen = {node for node, _ in pending}
    while pending:
        node, operation = pending.pop()
        own = [(item, _is_operand(node, place)) for place, item in enumerate(node.inputs)]
        for item, is_operand in (*own, (node.out, False)):
            for part in item if isinstance(item, tuple) else (item,):
                entry = _replaced.get(id(part)) or _replaced.get(id(getattr(part, "base", None)))
                if entry is None or entry.was_written_by(node, operation):
                    continue
                if _is_saved(labels.get(operation), is_operand):
                    raise _changed(node, entry)
        for parent in node.parents:
            if parent.bits & AMBIENT and parent not in seen:
                seen.add(parent)
                pending.append((parent, parent if parent.op is None or parent in labels else operation))


def _is_operand(node: Node, place: int) -> bool:
    """Whether an input of a node is an operand of the operation that PyTorch has a name for, and not made within it."""
    parent = node.parents[place] if place < len(node.parents) else None
    return parent is None or parent.op is None or parent in labels


def _is_saved(label: str | None, is_operand: bool) -> bool:
    """Whether PyTorch's operation of this name saves its operands, or its result."""
    if label is None:
        return True
    name = label.partition("Backward")[0]
    return name not in _ONLY_RESULTS if is_operand else name in _SAVED_RESULTS


def _changed(node: Node, entry: Replaced) -> MutationError:
    name = "an operation" if node.op is None else repr(node.op.name)
    return MutationError(
        messages.problem(
            "GT309",
            f"a tensor of shape {entry.shape} that the gradient of {name} needs was modified by an in-place operation",
            spans=[span_of(node.location, "needs the old numbers"), span_of(entry.where, "overwrites them")],
            consequence="the gradient would be that of the new numbers, which the value was not computed from",
            fixes=["write out of place (x = x + 1 instead of x += 1)", "give the first operation x.clone()"],
        )
    )
