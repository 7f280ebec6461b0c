"""Arrays of the user's that a tape has saved: a write to one is refused, or noticed before it can do harm.

An array that owns its memory is locked (`writeable = False`) for as long as a node holds it, so that a write raises at
the line that writes. A view cannot be locked for all who can reach its memory, so a fingerprint is compared when the
gradient is taken; above `SAMPLED_ABOVE` elements the fingerprint is of evenly spaced elements.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.explain import messages

if TYPE_CHECKING:
    from gradtape.core.graph import Node

SAMPLED_ABOVE = 4096


def _fingerprint(array: np.ndarray[Any, Any]) -> int:
    if array.size > SAMPLED_ABOVE:
        step = -(-array.size // SAMPLED_ABOVE)
        array = array.reshape(-1)[::step] if array.flags.c_contiguous else array.flat[::step]
    return hash(array.tobytes())


class Guarded:
    """An array of the user's, locked while this object lives."""

    __slots__ = ("__weakref__", "array", "fingerprint", "locked")

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        self.fingerprint = _fingerprint(array)
        self.locked = array.base is None and array.flags.writeable
        if self.locked:
            array.flags.writeable = False

    def __del__(self) -> None:
        if self.locked:
            self.array.flags.writeable = True

    def checked(self, node: Node) -> np.ndarray[Any, Any]:
        """The array, after making sure that it is still what `node` saved."""
        if _fingerprint(self.array) != self.fingerprint:
            raise messages.saved_array_changed(node, self.array.shape)
        return self.array


_guards: weakref.WeakValueDictionary[int, Guarded] = weakref.WeakValueDictionary()


def guard(array: np.ndarray[Any, Any]) -> Guarded:
    """The one guard of `array`, shared by all nodes that saved it."""
    held = _guards.get(id(array))
    if held is None:
        held = _guards[id(array)] = Guarded(array)
    return held
