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

from gradtape.core.graph import AMBIENT, Node
from gradtape.core.location import Location
from gradtape.core.tensor import Tensor as Value
from gradtape.errors import MutationError
from gradtape.explain import messages
from gradtape.explain.source import span_of

NUMBERS_AT_MOST = 64


class Replaced:
    """An array that was written over: where, and the node of the write itself, which may go on using it."""

    def __init__(self, array: Any, where: Location, writer: Node) -> None:
        self.where = where
        self.shape = np.shape(array)
        self.writer = weakref.ref(writer)
        self.held = array if isinstance(array, np.generic) else None  # a number cannot be referred to weakly


_replaced: dict[int, Replaced] = {}


def _unheld() -> int:
    """How many references are counted to an array that only a tensor and a caller of `note` hold."""
    value = Value(np.empty(1))
    array = value._array
    return sys.getrefcount(array)


_UNHELD = _unheld()


def note(old: Value, new: Value) -> None:
    """Remember that the array of `old` was written over by `new`, if anybody else still holds it."""
    array = old._array
    if sys.getrefcount(array) <= _UNHELD:
        return
    key = id(array)
    entry = Replaced(array, Location.here(), new._node)
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
    pending = [target._node for target in targets]
    seen = set(pending)
    while pending:
        node = pending.pop()
        for item in (*node.inputs, node.out):
            for part in item if isinstance(item, tuple) else (item,):
                entry = _replaced.get(id(part)) or _replaced.get(id(getattr(part, "base", None)))
                if entry is not None and entry.writer() is not node:
                    raise _changed(node, entry)
        for parent in node.parents:
            if parent.bits & AMBIENT and parent not in seen:
                seen.add(parent)
                pending.append(parent)


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
