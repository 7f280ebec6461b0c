"""Functions of `torch.nn.functional` that are made of others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete
from gradtape.nn import functional as ours
from gradtape_standins.torch.random import numpy_generator
from gradtape_standins.torch.wrapping import function

__all__ = [
    "alpha_dropout",
    "embedding_bag",
    "local_response_norm",
    "lp_pool1d",
    "lp_pool2d",
    "pdist",
    "rrelu",
]


@function("Add")
def alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Dropout after `selu`: what is dropped is its lowest value, and mean and variance stay."""
    if not training or not p:
        return input
    lowest = -1.0507009873554805 * 1.6732632423543772
    kept = numpy_generator().random(input.shape) >= p
    scale = 1 / math.sqrt((1 - p) * (1 + p * lowest**2))
    return gt.where(kept, input, np.asarray(lowest, input.dtype)) * scale - scale * lowest * p


@function("RreluWithNoise")
def rrelu(input: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False) -> Any:
    """`leaky_relu` with a slope that is drawn anew for each element when training, and is in the middle otherwise."""
    slope = numpy_generator().uniform(lower, upper, input.shape) if training else np.asarray((lower + upper) / 2)
    return gt.where(input > 0, input, input * slope.astype(input.dtype))


@function("Div")
def local_response_norm(input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    """Each element over a power of k + alpha times the mean of squares in `size` neighbouring channels."""
    around = [(0, 0)] * len(input.shape)
    around[1] = (size // 2, (size - 1) // 2)
    squares = gt.pad(input * input, around)
    windows = [gt.take(squares, np.arange(start, start + input.shape[1]), 1) for start in range(size)]
    return input / (k + alpha * (gt.sum(gt.stack(windows), 0) / size)) ** beta


def _powers(rank: int) -> Any:
    pool = getattr(ours, f"avg_pool{rank}d")

    @function("Pow")
    def pooled(input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
        """The p-norm of windows."""
        sizes = (kernel_size,) * rank if isinstance(kernel_size, int) else tuple(kernel_size)
        mean = pool(input**norm_type, sizes, sizes if stride is None else stride, 0, ceil_mode)
        return (gt.sign(mean) * gt.relu(gt.abs(mean)) * math.prod(sizes)) ** (1 / norm_type)

    return pooled


lp_pool1d, lp_pool2d = _powers(1), _powers(2)


@function("Index")
def pdist(input: Any, p: float = 2.0) -> Any:
    """The distances between all pairs of rows."""
    first, second = np.triu_indices(input.shape[0], 1)
    return gt.linalg.vector_norm(gt.take(input, first, 0) - gt.take(input, second, 0), ord=p, axis=-1)


@function("EmbeddingBag")
def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: Any = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """The sum, mean or maximum of the rows of `weight` in each bag; bags begin at `offsets`, or are rows of `input`."""
    if max_norm is not None or scale_grad_by_freq:
        raise NotImplementedError("embedding_bag: max_norm and scale_grad_by_freq are not in the stand-in")
    places = np.asarray(concrete(input))
    if places.ndim == 2:
        starts = np.arange(0, places.size, max(places.shape[1], 1))
        places = places.reshape(-1)
    else:
        starts = np.asarray(concrete(offsets))[: -1 if include_last_offset else None]
    bags = np.searchsorted(starts, np.arange(places.size), side="right") - 1
    there = np.ones(places.size, bool) if padding_idx is None else places != padding_idx
    rows = gt.take(weight, places[there], 0)
    if per_sample_weights is not None:
        rows = rows * gt.reshape(gt.reshape(per_sample_weights, (-1,))[there], (-1, 1))
    empty = np.zeros((len(starts), weight.shape[1]), weight.dtype)
    counts = np.bincount(bags[there], minlength=len(starts))[:, None]
    if mode == "max":
        largest = gt.at(np.full_like(empty, -np.inf))[bags[there]].max(rows)
        return gt.where(counts > 0, largest, empty)
    total = gt.at(empty)[bags[there]].add(rows)
    return total / np.maximum(counts, 1).astype(weight.dtype) if mode == "mean" else total
