"""Jacobians and vmap: the first row or example that is not finite is examined as a gradient of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from gradtape.core.batch import Units
from gradtape.core.graph import Node, concrete_value
from gradtape.core.pytree import leaves, rebuild
from gradtape.core.tensor import Tensor
from gradtape.explain.kernel.examine import NO_ORIGINS, examine


def examine_rows(
    target: Tensor,
    seeds: Any,
    mask: int,
    arrivals: Sequence[tuple[Node, Any]],
    sources: Mapping[Node, Any],
    boundary: Container[Node] = (),
) -> None:
    """Report the origin of the NaN or infinity in the first row of `seeds` whose gradients are not finite.

    `arrivals` are the nodes of the sources with their gradients, or None; the first axis (or axes) is that of the rows.
    A gradient that is a tensor is part of a larger derivative, which is examined itself.
    """
    tables = [
        (node, np.asarray(rows).reshape(len(seeds), -1))
        for node, rows in [(node, concrete_value(rows)) for node, rows in arrivals]
        if isinstance(rows, (np.ndarray, np.generic)) and rows.size
    ]
    bad = np.zeros(len(seeds), bool)
    for _, table in tables:
        bad |= ~np.isfinite(table).all(axis=1)
    if not bad.any():
        return
    row = int(np.argmax(bad))
    seed = (seeds.dense() if isinstance(seeds, Units) else seeds)[row]
    value = np.asarray(target._array)[np.asarray(seed) != 0]
    found = [(node, table[row].reshape(node.shape)) for node, table in tables]
    examine([(target._node, seed)], mask, found, [value], NO_ORIGINS, boundary, sources)


_examined: deque[Any] = deque(maxlen=32)  # functions, compared by identity and therefore held


def examine_examples(
    function: Any, args: Any, kwargs: dict[str, Any], axes: Sequence[Any], values: Sequence[Any]
) -> None:
    """Run a function whose result under vmap is not finite for the first such example alone, once.

    If it takes a gradient, that gradient is examined like any other. Otherwise nothing is reported.
    """
    bad = next((row for value, place in values if (row := _first_nonfinite(value, place)) is not None), None)
    if bad is None or any(function is other for other in _examined):
        return
    _examined.append(function)
    flat = leaves(args)
    example = [x if axis is None else np.take(x, bad, axis=axis) for x, axis in zip(flat, axes, strict=True)]
    with np.errstate(all="ignore"):
        function(*rebuild(args, example), **kwargs)


def _first_nonfinite(value: Any, place: int | None) -> int | None:
    if place is None or not isinstance(value, np.ndarray) or value.dtype.kind not in "fc" or not value.size:
        return None
    bad = ~np.isfinite(np.moveaxis(value, place, 0).reshape(value.shape[place], -1)).all(axis=1)
    return int(np.argmax(bad)) if bad.any() else None
