"""The user's own arrays that a tape has saved: a write to one is refused, or noticed before a gradient uses it.

An array that owns its memory is locked (`writeable = False`) for as long as a node holds it, so that a write raises at
the line that writes. A view cannot be locked, as its memory can be written through other views, so a fingerprint is
compared when the gradient is taken. Above `SAMPLED_ABOVE` elements it is of evenly spaced elements: it notices writes
to a larger part of the array, not to every single element.
"""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.explain import entry_points, messages

if TYPE_CHECKING:
    from gradtape.core.graph import Node

SMALL = 4096  # elements whose bytes are hashed
SAMPLED_ABOVE = 1 << 16  # elements, above which only some are looked at


def fingerprint(array: np.ndarray[Any, Any]) -> int:
    """A number that changes when the elements do: a hash of the bytes, or of sums over blocks of a larger array."""
    if array.size > SAMPLED_ABOVE:
        step = -(-array.size // SMALL)
        array = array.reshape(-1)[::step] if array.flags.c_contiguous else array.flat[::step]
    elif array.size > SMALL and array.flags.c_contiguous and array.itemsize in (4, 8):
        words = array.reshape(-1).view(f"u{array.itemsize}")
        array = np.add.reduceat(words, np.arange(0, words.size, 64))
    return hash(array.tobytes())


class LockedArray:
    """One of the user's arrays, locked while this object lives."""

    __slots__ = ("__weakref__", "array", "fingerprint", "locked")

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        self.fingerprint = fingerprint(array)
        # memory of another library's (that of MINPACK, say) has no base, but could not be unlocked
        self.locked = array.flags.owndata and array.flags.writeable
        if self.locked:
            array.flags.writeable = False
            watch_errors()

    def __del__(self) -> None:
        if getattr(self, "locked", False):  # unset if __init__ was interrupted
            self.array.flags.writeable = True

    def check(self, node: Node) -> np.ndarray[Any, Any]:
        """The array, after making sure that it is still what `node` saved."""
        if fingerprint(self.array) != self.fingerprint:
            raise messages.saved_array_changed(node, self.array.shape)
        return self.array


@functools.cache
def watch_errors() -> None:
    """Install the hook that explains errors of locked arrays and of gradients that are None, at the first of them."""
    entry_points.watch()


_guards: weakref.WeakValueDictionary[int, LockedArray] = weakref.WeakValueDictionary()


def guard(array: np.ndarray[Any, Any]) -> LockedArray:
    """The one guard of `array`, shared by all nodes that saved it."""
    held = _guards.get(id(array))
    if held is None:
        held = _guards[id(array)] = LockedArray(array)
    return held


def guard_of(array: np.ndarray[Any, Any]) -> LockedArray | None:
    """The guard that holds `array`, or what it is a view of, if one does."""
    held = _guards.get(id(array))
    if held is None and isinstance(array.base, np.ndarray):
        return guard_of(array.base)
    return held if held is not None and held.array is array else None
