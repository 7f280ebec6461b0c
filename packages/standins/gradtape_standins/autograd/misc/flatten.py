"""Nested structures as vectors, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.extend import Tensor, children, leaves
from gradtape_standins import missing_names

Function = Callable[..., Any]


def flatten(value: Any) -> tuple[Any, Function]:
    """All numbers of a nested structure in one vector, and the function that puts such a vector back into it.

    Dictionaries are read in the order of their sorted keys.

    >>> vector, unflatten = flatten({"b": 3.0, "a": (1.0, np.array([2.0, 4.0]))})
    >>> vector
    array([1., 2., 4., 3.])
    >>> unflatten(vector)["b"]
    np.float64(3.0)
    """
    ordered = _in_order(value)
    parts = [part if isinstance(part, Tensor) else np.asarray(part) for part in leaves(ordered)]
    shapes = [part.shape for part in parts]
    vector = np.concatenate([np.ravel(part) for part in parts]) if parts else np.array([])

    def unflatten(vector: Any) -> Any:
        supply = iter(_split(vector, shapes))
        return _filled(value, supply)

    return vector, unflatten


def _in_order(tree: Any) -> Any:
    """A structure without dictionaries: lists of what they hold, by sorted keys."""
    if isinstance(tree, dict):
        return [_in_order(tree[key]) for key in sorted(tree)]
    parts = children(tree)
    return tree if parts is None else [_in_order(part) for part in parts]


def _filled(tree: Any, supply: Any) -> Any:
    from gradtape.extend import rebuild

    if isinstance(tree, dict):
        filled = {key: _filled(tree[key], supply) for key in sorted(tree)}
        return {key: filled[key] for key in tree}
    parts = children(tree)
    if parts is None:
        return next(supply)
    return _with_parts(tree, [_filled(part, supply) for part in parts], rebuild)


def _with_parts(tree: Any, parts: list[Any], rebuild: Function) -> Any:
    """A list, tuple, named tuple or dataclass like `tree` with other entries."""
    if isinstance(tree, (list, tuple)):
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return rebuild(tree, [leaf for part in parts for leaf in leaves(part)])


def _split(vector: Any, shapes: list[tuple[int, ...]]) -> Any:
    start = 0
    for shape in shapes:
        size = int(np.prod(shape))
        part = vector[start : start + size]
        yield np.reshape(part, shape) if shape else part[0]
        start += size


def flatten_func(func: Function, example: Any) -> tuple[Function, Function, Any]:
    """`func` as a function between vectors, the way back, and the vector of `example`."""
    vector, unflatten = flatten(example)

    def flat(vector: Any, *args: Any) -> Any:
        return flatten(func(unflatten(vector), *args))[0]

    return flat, unflatten, vector


__getattr__ = missing_names.missing(__name__)
