"""Filters that choose one of the neighbours: medians and other ranks. The gradient is that of the chosen element."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import ShapeError
from gradtape.scipy.arraylike import as_array, as_constant, refusal
from gradtape.scipy.neighbourhoods import neighbours, of_rank
from gradtape.scipy.signal.mirrored import original


def _ranked(name: str, x: Any, domain: Any, rank: int) -> Any:
    if domain.ndim != x.ndim or any(length % 2 == 0 for length in domain.shape):
        raise refusal(
            f"{name}: a window of shape {domain.shape} for an array of shape {x.shape}.",
            "an odd length along each axis",
            ShapeError,
        )
    if x.dtype.kind == "c":
        raise refusal(f"{name}: an array of {x.dtype}; complex numbers have no order.", "x.real or abs(x)")
    around = neighbours(x, domain, ["constant"] * x.ndim, 0.0, [0] * x.ndim)
    return of_rank(around, rank)


@original.differentiated
def order_filter(a: Any, domain: Any, rank: int) -> Any:
    """The element of a rank among the neighbours that `domain` marks; zeros beyond the edges.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import order_filter
    >>> order_filter(gt.tensor([3.0, 1.0, 2.0]), [1, 1, 1], 2)
    Tensor([3., 3., 2.])
    """
    return _ranked("order_filter", as_array(a), as_constant(domain, "order_filter: domain") != 0, rank)


@original.differentiated
def medfilt(volume: Any, kernel_size: Any = None) -> Any:
    """The median of the neighbours; zeros beyond the edges.

    >>> import gradtape as gt
    >>> from gradtape.scipy.signal import medfilt
    >>> gt.grad(lambda x: medfilt(x)[1])(gt.tensor([3.0, 1.0, 2.0]))
    Tensor([0., 0., 1.])
    """
    volume = as_array(volume)
    sizes = [int(n) for n in np.broadcast_to(3 if kernel_size is None else kernel_size, volume.ndim)]
    window = np.ones(sizes, bool)
    return _ranked("medfilt", volume, window, window.size // 2)


@original.differentiated
def medfilt2d(input: Any, kernel_size: Any = 3) -> Any:
    """The median of the neighbours in a matrix; zeros beyond the edges."""
    image = as_array(input)
    if image.ndim != 2:
        raise refusal(f"medfilt2d: an array of shape {image.shape}; a matrix is accepted.", "medfilt", ShapeError)
    window = np.ones([int(n) for n in np.broadcast_to(kernel_size, 2)], bool)
    return _ranked("medfilt2d", image, window, window.size // 2)
