"""Tools for the rules of primitives that broadcast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.extend import unbroadcast as sum_to_shape
from gradtape_standins import missing_names
from gradtape_standins.autograd.box_conversion import getval
from gradtape_standins.autograd.wrapping import metadata


def unbroadcast(x: Any, target_meta: Any, broadcast_idx: int = 0) -> Any:
    """`x` summed over the axes along which something with the `metadata` in `target_meta` was stretched to it.

    >>> unbroadcast(np.ones((2, 3)), metadata(np.ones(3)))
    array([2., 2., 2.])
    """
    shape, _, _, target_iscomplex = target_meta
    if np.ndim(x) > len(shape) and broadcast_idx == -1:
        x = np.sum(x, axis=tuple(range(len(shape), np.ndim(x))))
    summed = sum_to_shape(x if hasattr(x, "shape") else np.asarray(x), shape)
    return np.real(summed) if np.iscomplexobj(getval(summed)) and not target_iscomplex else summed


def unbroadcast_f(target: Any, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The rule `f`, its result summed to the shape of `target`."""
    target_meta = metadata(target)
    return lambda g: unbroadcast(f(g), target_meta)


def replace_zero(x: Any, val: Any) -> Any:
    """`x` with `val` in the places of zeros."""
    return np.where(getval(x) != 0, x, val)


def match_complex(target: Any, x: Any) -> Any:
    """`x` made real if `target` is, and complex if `target` is."""
    wanted, given = np.iscomplexobj(getval(target)), np.iscomplexobj(getval(x))
    if given and not wanted:
        return np.real(x)
    return x + 0j if wanted and not given else x


def repeat_to_match_shape(g: Any, shape: Any, dtype: Any, axis: Any, keepdims: bool) -> tuple[Any, Any]:
    """`g`, the cotangent of a reduction over `axis`, stretched to `shape`; and how many times each entry is there."""
    if shape == ():
        return g, 1
    axes = tuple(range(len(shape))) if axis is None else tuple(np.atleast_1d(axis) % len(shape))
    kept = tuple(1 if number in axes else length for number, length in enumerate(shape))
    count = int(np.prod([shape[number] for number in axes]))
    return np.broadcast_to(np.reshape(g, kept), shape), count


__getattr__ = missing_names.missing(__name__)
