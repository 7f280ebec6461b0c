"""The stand-in for `autograd.scipy.signal`: `convolve`, which can also contract axes and leave others alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import Location
from gradtape_standins import missing_names
from gradtape_standins.autograd.box_conversion import holds_tensor, settled


def convolve(
    A: Any,
    B: Any,
    axes: Sequence[Sequence[int]] | None = None,
    dot_axes: Sequence[Sequence[int]] = ((), ()),
    mode: str = "full",
) -> Any:
    """The convolution of `A` and `B` along `axes`, summed over `dot_axes`.

    Both are pairs: the axes of `A`, and the axes of `B` that belong to them. All others are kept apart. The result has
    those of `A` first, then those of `B`, then the convolved ones. Without `axes` all that are not summed over are
    convolved. `mode` is "full", "valid" or "same", which
    is the middle of "full" in the lengths of `A`.

    >>> convolve(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.5]))
    array([0. , 1. , 2.5, 4. , 1.5])
    """
    if mode not in ("full", "valid", "same"):
        raise ValueError(f"convolve: mode={mode!r}; accepted are 'full', 'valid', 'same'.\n{Location.here().show()}")
    a, b = (gt.array(x) if holds_tensor(x) else np.asarray(x) for x in (A, B))
    dots = tuple(tuple(np.arange(x.ndim)[list(axis)]) for x, axis in zip((a, b), dot_axes, strict=True))
    if axes is None:
        moving = tuple(tuple(n for n in range(x.ndim) if n not in dot) for x, dot in zip((a, b), dots, strict=True))
    else:
        moving = tuple(tuple(np.arange(x.ndim)[list(axis)]) for x, axis in zip((a, b), axes, strict=True))
    if len(moving[0]) != len(moving[1]):
        raise ValueError(
            f"convolve: {len(moving[0])} axes of A (shape {a.shape}) and {len(moving[1])} of B (shape {b.shape}).\n"
            f"{Location.here().show()}\n  fix: axes=[axes of A, axes of B], as many of one as of the other"
        )
    return settled(_sums_of_products(a, b, moving, dots, mode))


def _sums_of_products(a: Any, b: Any, moving: Any, dots: Any, mode: str) -> Any:
    """The kernel turned round and summed over all windows of the other, as one einsum."""
    lengths = [(a.shape[i], b.shape[j]) for i, j in zip(*moving, strict=True)]
    exchanged = mode == "valid" and any(of_b > of_a for of_a, of_b in lengths)
    if exchanged:
        a, b, moving, dots = b, a, moving[::-1], dots[::-1]
    if mode != "valid":
        pads = [(0, 0)] * a.ndim
        for i, j in zip(*moving, strict=True):
            before, after = (
                (b.shape[j] - 1, b.shape[j] - 1) if mode == "full" else (b.shape[j] // 2, (b.shape[j] - 1) // 2)
            )
            pads[i] = (before, after)
        a = np.pad(a, pads)
    windows = a
    if moving[0]:
        windows = gt.sliding_window_view(a, tuple(b.shape[j] for j in moving[1]), axis=moving[0])
    letters = iter("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    of_a = [next(letters) for _ in range(a.ndim)]
    within = [next(letters) for _ in moving[0]]
    of_b = [next(letters) for _ in range(b.ndim)]
    for place, j in enumerate(moving[1]):
        of_b[j] = within[place]
    for i, j in zip(*dots, strict=True):
        of_b[j] = of_a[i]
    apart_a = [of_a[i] for i in range(a.ndim) if i not in moving[0] and i not in dots[0]]
    apart_b = [of_b[j] for j in range(b.ndim) if j not in moving[1] and j not in dots[1]]
    kept = [*apart_b, *apart_a] if exchanged else [*apart_a, *apart_b]
    result = "".join([*kept, *(of_a[i] for i in moving[0])])
    turned = np.flip(b, moving[1]) if moving[1] else b
    return np.einsum(f"{''.join(of_a + within)},{''.join(of_b)}->{result}", windows, turned)


__getattr__ = missing_names.missing(__name__)
