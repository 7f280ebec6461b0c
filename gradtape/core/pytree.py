"""Nested structures: lists, tuples, named tuples, dictionaries and dataclasses of tensors, in any nesting."""

from __future__ import annotations

import dataclasses
from collections import UserString
from collections.abc import Callable, Iterator, Sequence
from types import NoneType
from typing import Any

import numpy as np

from gradtape.explain import messages

LEAVES: set[type] = {np.ndarray, np.float64, np.float32, float, int, complex, bool, NoneType}
"""Types that are leaves without a question, so that structures of one leaf cost next to nothing."""

_NO_AXES = (str, bytes, bytearray, memoryview, range, UserString)
"""Sequences that hold no tensors: those of characters, bytes and whole numbers."""


def is_sequence(kind: type) -> bool:
    """Whether objects of a class are an axis of an array for NumPy: lists, named tuples, deques, and their like.

    >>> from collections import deque
    >>> is_sequence(tuple), is_sequence(deque), is_sequence(str), is_sequence(dict)
    (True, True, False, False)
    """
    return kind is list or kind is tuple or (issubclass(kind, Sequence) and not issubclass(kind, _NO_AXES))


def _children(tree: Any) -> tuple[Any, list[Any]] | None:
    """What kind of container `tree` is (equal for containers of the same structure) and its children, or None."""
    if type(tree) in LEAVES:
        return None
    if isinstance(tree, dict):
        keys = list(tree)
        return (dict, tuple(keys)), [tree[key] for key in keys]
    if isinstance(tree, (list, tuple)):
        return (type(tree), len(tree)), list(tree)
    if hasattr(type(tree), "__dataclass_fields__"):
        names = [field.name for field in dataclasses.fields(tree)]
        return (type(tree), tuple(names)), [getattr(tree, name) for name in names]
    return None


def _rebuild(tree: Any, children: list[Any]) -> Any:
    """A container like `tree` that holds `children`."""
    if isinstance(tree, dict):
        items = zip(tree, children, strict=True)
        return dict(items) if type(tree) is dict else type(tree)(items)
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*children)
    if isinstance(tree, (list, tuple)):
        return type(tree)(children)
    names = [field.name for field in dataclasses.fields(tree)]
    return dataclasses.replace(tree, **dict(zip(names, children, strict=True)))


def children(tree: Any) -> list[Any] | None:
    """The parts of a container, or None for a leaf."""
    branch = _children(tree)
    return None if branch is None else branch[1]


def leaves(tree: Any) -> list[Any]:
    """The leaves of `tree`, in order. `None` is a leaf.

    >>> leaves({"a": [1, 2], "b": (3, None)})
    [1, 2, 3, None]
    """
    if type(tree) in LEAVES:
        return [tree]
    found: list[Any] = []
    pending = [tree]
    while pending:
        current = pending.pop()
        branch = _children(current)
        if branch is None:
            found.append(current)
        else:
            pending.extend(reversed(branch[1]))
    return found


def rebuild(tree: Any, new_leaves: list[Any]) -> Any:
    """A structure like `tree` whose leaves are `new_leaves`.

    >>> rebuild({"a": [1, 2], "b": (3,)}, ["x", "y", "z"])
    {'a': ['x', 'y'], 'b': ('z',)}
    """
    return new_leaves[0] if type(tree) in LEAVES else _fill(tree, iter(new_leaves))


def _fill(tree: Any, supply: Iterator[Any]) -> Any:
    branch = _children(tree)
    if branch is None:
        return next(supply)
    return _rebuild(tree, [_fill(child, supply) for child in branch[1]])


def named_leaves(tree: Any, name: str) -> list[tuple[str, Any]]:
    """The leaves of `tree` in the order of `leaves`, each with the expression that picks it.

    >>> named_leaves({"w": 1, "b": [2]}, "p")
    [("p['w']", 1), ("p['b'][0]", 2)]
    """
    if isinstance(tree, dict):
        parts = [(f"{name}[{key!r}]", tree[key]) for key in tree]
    elif isinstance(tree, tuple) and hasattr(tree, "_fields"):
        parts = [(f"{name}.{field}", part) for field, part in zip(tree._fields, tree, strict=True)]
    elif isinstance(tree, list | tuple):
        parts = [(f"{name}[{index}]", part) for index, part in enumerate(tree)]
    elif dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        parts = [(f"{name}.{field.name}", getattr(tree, field.name)) for field in dataclasses.fields(tree)]
    else:
        return [(name, tree)]
    return [leaf for part_name, part in parts for leaf in named_leaves(part, part_name)]


def map_structure(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Apply `function` to the leaves of structures that match.

    >>> map_structure(lambda a, b: a - b, {"w": 3, "b": [4]}, {"b": [1], "w": 1})
    {'w': 2, 'b': [3]}
    """
    columns = [leaves(tree), *(aligned(tree, other, "the first structure", "another") for other in others)]
    return rebuild(tree, [function(*row) for row in zip(*columns, strict=True)])


def aligned(tree: Any, other: Any, tree_name: str, other_name: str, arrays: bool = False) -> list[Any]:
    """The leaves of `other` in the order of `tree`'s; raises where the two structures part, naming the place.

    With `arrays`, a list of plain numbers in the place of a leaf is that leaf: an array written out.
    """
    found: list[Any] = []
    pending = [(tree, other, "")]
    while pending:
        left, right, path = pending.pop()
        left_branch, right_branch = _children(left), _children(right)
        if left_branch is None and (right_branch is None or (arrays and _is_written_out(right))):
            found.append(right)
            continue
        if left_branch is not None and isinstance(left, dict) and isinstance(right, dict) and set(left) == set(right):
            right_branch = left_branch[0], [right[key] for key in left]
        if left_branch is None or right_branch is None or left_branch[0] != right_branch[0]:
            raise messages.different_structures(tree_name, other_name, path, _describe(left), _describe(right))
        kind = left_branch[0]
        names = kind[1] if isinstance(kind[1], tuple) else range(len(left_branch[1]))
        rows = list(zip(names, left_branch[1], right_branch[1], strict=True))
        pending.extend((a, b, f"{path}[{name!r}]") for name, a, b in reversed(rows))
    return found


def _is_written_out(tree: Any) -> bool:
    """Whether `tree` is an array written as nested lists of numbers."""
    numbers = (int, float, complex, np.generic)
    return isinstance(tree, (list, tuple)) and all(isinstance(x, numbers) for x in leaves(tree))


def _describe(tree: Any) -> str:
    branch = _children(tree)
    if branch is None:
        return f"a single {type(tree).__name__}"
    kind, detail = branch[0]
    if kind is dict:
        return f"a dict with keys {list(detail)}"
    return f"a {kind.__name__} of {len(branch[1])}"
