"""Strings in tensors: gradtape's operations are of numbers, so places are moved in the stead of strings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete
from gradtape_standins.tensorflow import nest
from gradtape_standins.tensorflow.conversion import Holder, value_of

_REARRANGING = {
    "__getitem__",
    "boolean_mask",
    "broadcast_to",
    "concat",
    "ensure_shape",
    "expand_dims",
    "fill",
    "gather",
}
_REARRANGING |= {"gather_nd", "identity", "repeat", "reshape", "reverse", "roll", "slice", "split", "squeeze", "stack"}
_REARRANGING |= {"strided_slice", "tile", "tensor_scatter_nd_update", "transpose", "unstack", "where"}


def can_rearrange(function: Callable[..., Any], args: Any, kwargs: Any) -> bool:
    """Whether `function` only moves elements, and these are strings."""
    return function.__name__ in _REARRANGING and any(_is_string(x) for x in nest.flatten((args, kwargs)))


def _is_string(x: Any) -> bool:
    return x._value.dtype == object if isinstance(x, Holder) else isinstance(x, str | bytes)


def rearranged(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What `function` gives for strings: it is called with numbers for them, and these are looked up."""
    from gradtape_standins.tensorflow.tensor import wrap

    pool: list[Any] = []

    def numbered(x: Any) -> Any:
        if not _is_string(x):
            return x
        found = np.asarray(concrete(value_of(x)), object)
        start = len(pool)
        pool.extend(found.ravel().tolist())
        return wrap(gt.Tensor(np.arange(start, len(pool)).reshape(found.shape)))

    given_args, given_kwargs = nest.map_structure(numbered, (args, kwargs))
    known = np.array([*pool, None], object)

    def named(x: Any) -> Any:
        return wrap(gt.Tensor(np.array(known[np.asarray(concrete(value_of(x)))], object)))

    return nest.map_structure(named, function(*given_args, **given_kwargs))
