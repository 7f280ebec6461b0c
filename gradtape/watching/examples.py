"""The examples of a batch, for `gt.audit_batch`: how many there are, and which of them a gradient reaches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtape.errors import OperandError, ShapeError
from gradtape.explain.model.record import Shape

Leak = tuple[int, int, int, float]
"""An example of the result, another one that it depends on, the argument that holds it, and how much."""

ROUNDING = 64
"""How many units of rounding, of the largest gradient, are taken for zero."""


def count_examples(output: Any, is_array: bool, sources: Sequence[Any]) -> int:
    """The number of examples: the length of the first axis, which the result and the arguments have to share.

    >>> count_examples(np.ones((4, 2)), True, [np.ones((4, 3))])
    4
    """
    if not is_array:
        raise OperandError(
            f"audit_batch: the function returned {type(output).__name__}, not an array.\n  fix: return one array "
            "with a row for each example"
        )
    result, *given = shapes = [_shape_of(value) for value in (output, *sources)]
    lengths = {shape[0] if shape else None for shape in shapes}
    if len(lengths) != 1 or None in lengths:
        raise ShapeError(
            f"audit_batch: the result {result} and the arguments {given} do not share their first axis, the one of the "
            "examples.\n  fix: return one row for each example; argnums= says which arguments hold examples"
        )
    return int(result[0])


def _shape_of(value: Any) -> Shape:
    return tuple(int(length) for length in value.shape)


def weights_of(shape: Shape) -> np.ndarray[Any, Any]:
    """Weights of the elements of the result, so that their gradients do not cancel."""
    return np.random.default_rng(0).uniform(0.5, 1.5, shape)


def leaks_of(example: int, size: int, number: int, gradient: Any, rounding: float) -> list[Leak]:
    """The other examples in argument `number` that one example of the result has a gradient by.

    `rounding` is the unit of rounding of the gradient's dtype.

    >>> leaks_of(0, 2, 0, np.array([[1.0, 0.0], [0.5, 0.0]]), 2e-16)
    [(0, 1, 0, 0.5)]
    """
    sizes = np.abs(np.asarray(gradient)).reshape(size, -1).max(axis=1, initial=0.0)
    least = ROUNDING * rounding * float(sizes.max(initial=0.0))
    return [
        (example, other, number, float(sizes[other]))
        for other in range(size)
        if other != example and sizes[other] > least
    ]


__all__ = ["Leak", "count_examples", "leaks_of", "weights_of"]
