"""The neighbours of each element of an array, with what lies beyond its edges, for filters that choose among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.scipy.arraylike import is_tensor, one_of

MODES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant", "grid-wrap")
"""What an array is taken for beyond its edges, as `scipy.ndimage` calls it."""


def inside(places: Any, length: int, mode: str) -> Any:
    """Where the elements at `places` along an axis come from; -1 for those that are constant.

    >>> inside(np.arange(-3, 6), 3, "reflect").tolist()
    [2, 1, 0, 0, 1, 2, 2, 1, 0]
    >>> inside(np.arange(-3, 6), 3, "mirror").tolist()
    [1, 2, 1, 0, 1, 2, 1, 0, 1]
    """
    one_of("filter: mode", mode, MODES)
    if mode in ("constant", "grid-constant"):
        return np.where((places < 0) | (places >= length), -1, places)
    if mode == "nearest":
        return np.clip(places, 0, length - 1)
    if mode in ("wrap", "grid-wrap"):
        return places % length
    if mode == "mirror":
        period = max(2 * length - 2, 1)
        turned = places % period
        return np.where(turned < length, turned, period - turned)
    turned = places % (2 * length)
    return np.where(turned < length, turned, 2 * length - 1 - turned)


def neighbours(x: Any, footprint: Any, modes: Sequence[str], cval: Any, origins: Sequence[int]) -> Any:
    """The elements of `x` under a footprint moved over it, along a last axis of their own.

    `footprint` has as many axes as `x`. Its middle is at `length // 2`, moved by `origins`.

    >>> neighbours(np.array([1.0, 2.0, 3.0]), np.ones(3, bool), ["nearest"], 0.0, [0])
    array([[1., 1., 2.],
           [1., 2., 3.],
           [2., 3., 3.]])
    """
    offsets = np.nonzero(footprint)
    flat: Any = np.zeros((*x.shape, len(offsets[0])), int)
    beyond = np.zeros(flat.shape, bool)
    for axis, length in enumerate(x.shape):
        middle = footprint.shape[axis] // 2 + origins[axis]
        shape = [1] * x.ndim
        shape[axis] = length
        places = np.arange(length).reshape((*shape, 1)) + (offsets[axis] - middle)
        found = inside(places, length, modes[axis])
        beyond = beyond | (found < 0)
        flat = flat * length + np.maximum(found, 0)
    around = x.reshape((-1,))[flat]
    if not beyond.any():
        return around
    fill = cval if is_tensor(cval) else np.asarray(cval, x.dtype)
    return np.where(beyond, fill, around)


def of_rank(around: Any, rank: int) -> Any:
    """The element of this rank of those along the last axis; its gradient is that of the element chosen.

    >>> of_rank(np.array([[3.0, 1.0, 2.0]]), 1)
    array([2.])
    """
    count = around.shape[-1]
    if rank in (0, -count):
        return np.min(around, axis=-1)
    if rank in (-1, count - 1):
        return np.max(around, axis=-1)
    return np.sort(around, axis=-1)[..., rank]
