"""How the value of a tensor leaves the tape, and what is noted of it for explanations.

A departure is a cut that no tensor carries. Those that may be meant to keep their gradient are judged when a gradient
is taken: whether the number, the text or the bytes came back as a constant.
"""

from __future__ import annotations

import os
import sys
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from gradtape.core import recording
from gradtape.core.explain_hooks import suspects
from gradtape.core.graph import FLAGS, UNTRACKED, Cut, Node, cut, departures, next_order

READINGS = frozenset({"operator.index()", "np.asarray()"})  # what NumPy does with a tensor that is an index
CONVERSIONS = frozenset({"float()", "int()", "complex()"})  # these do not say that the gradient is not wanted
_NUMPY_METHODS = frozenset({".item()", ".tolist()"})  # these say so, but not in code that was written for NumPy
STORED = frozenset(
    {"bytes()", ".tobytes()", ".tofile()", ".dump()", ".dumps()", "np.save", "np.savetxt", "np.savez"}
    | {"np.savez_compressed"}
)
"""Bytes and files, which may be read again, and mostly are not."""

NUMBERS_KEPT = 64
TEXT_KEPT = 2000


def note_departure(node: Node, how: str, value: Any, shape: tuple[int, ...]) -> None:
    """Note that the value of a tensor with this node leaves; `value()` is called where it is to be recognised."""
    if node.bits > FLAGS:
        departure = _departure(node, how, shape)
        departures.append(departure)
        if _is_suspect(how) and _is_held(node):
            array = value()
            departure.params["value"] = array.item() if array.size == 1 else None
            if how in STORED:
                departure.params["numbers"] = _sample(array)
            _suspect(departure)
    elif type(node) is Cut and how in READINGS:
        node.order = node.order or next_order()
        departures.append(node)


def note_text(node: Node, how: str, text: str, shape: tuple[int, ...]) -> str:
    """The text of a tensor, which is noted: it is lost only where it comes back, so it is no departure to be shown."""
    if node.bits > FLAGS and _is_held(node):
        departure = _departure(node, how, shape)
        departure.params["text"] = text[:TEXT_KEPT]
        _suspect(departure)
    return text


_pickled: WeakValueDictionary[tuple[int, int], Cut] = WeakValueDictionary()


def note_pickled(node: Node, shape: tuple[int, ...]) -> tuple[int, int]:
    """Note that the value of a watched tensor is pickled; the key by which this process knows it when it comes back."""
    departure = _departure(node, "pickle", shape)
    departures.append(departure)
    _suspect(departure)
    key = os.getpid(), departure.order
    _pickled[key] = departure
    return key


def node_of_pickled(key: tuple[int, int]) -> Node:
    """The node for a tensor that is read from a pickle: the cut where it left, as long as that may be judged."""
    return _pickled.get(key, UNTRACKED)


def note_computed_elsewhere(node: Cut, bits: int, shape: tuple[int, ...]) -> None:
    """Note that a value was computed in a thread which does not see the recorders in `bits`, which are on elsewhere."""
    node.order, node.params = next_order(), {"bits": bits, "shape": shape}
    departures.append(node)
    _suspect(node)


def _suspect(departure: Cut) -> None:
    recording.departed_bits |= departure.params["bits"]
    suspects.append(departure)


def _departure(node: Node, how: str, shape: tuple[int, ...]) -> Cut:
    departure = cut(how, (node,))
    assert isinstance(departure, Cut)
    departure.order = next_order()
    departure.params = {"bits": node.bits, "shape": shape, "is_leaf": node.op is None}
    return departure


def _is_held(node: Node) -> bool:
    """Whether the graph of a node is there, or tangents move along with it: where it was freed, the value is logged."""
    return node.op is None or bool(node.parents) or bool(node.bits & recording.current().forward)


def _is_suspect(how: str) -> bool:
    """Whether a value that leaves may be meant to keep its gradient; `.item()` only in code written for NumPy."""
    return how in CONVERSIONS or how in STORED or (how in _NUMPY_METHODS and "gradtape.numpy" in sys.modules)


def _sample(array: Any) -> Any:
    """Some numbers of an array, to recognise it by."""
    flat = np.ravel(array)
    return flat[:: flat.size // NUMBERS_KEPT + 1].copy()
