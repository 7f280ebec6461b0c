"""`tf.nest`: nested structures; the keys of dictionaries in their sorted order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradtape_standins.missing_names import missing


def is_nested(structure: Any) -> bool:
    """Whether it is a list, a tuple or a dictionary."""
    return isinstance(structure, list | tuple | dict)


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves in order.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.nest.flatten({"b": 1, "a": [2, 3]})
    [2, 3, 1]
    """
    if isinstance(structure, dict):
        return [leaf for key in sorted(structure) for leaf in flatten(structure[key])]
    if isinstance(structure, list | tuple):
        return [leaf for part in structure for leaf in flatten(part)]
    return [structure]


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """A structure like `structure` with other leaves."""
    flat = list(flat_sequence)
    if len(flat) != len(flatten(structure)):
        raise ValueError(f"a structure of {len(flatten(structure))} leaves cannot hold {len(flat)}")
    return _packed(structure, iter(flat))


def _packed(structure: Any, supply: Any) -> Any:
    if isinstance(structure, dict):
        made = {key: _packed(structure[key], supply) for key in sorted(structure)}
        return type(structure)((key, made[key]) for key in structure)
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(_packed(part, supply) for part in structure))
    if isinstance(structure, list | tuple):
        return type(structure)(_packed(part, supply) for part in structure)
    return next(supply)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """`func` of the leaves of structures that match."""
    for other in structure[1:]:
        assert_same_structure(structure[0], other)
    rows = zip(*(flatten(one) for one in structure), strict=True)
    return pack_sequence_as(structure[0], [func(*row) for row in rows])


def flatten_up_to(shallow: Any, structure: Any) -> list[Any]:
    """The parts of `structure` that stand where `shallow` has leaves."""
    if isinstance(shallow, dict):
        return [leaf for key in sorted(shallow) for leaf in flatten_up_to(shallow[key], structure[key])]
    if isinstance(shallow, list | tuple):
        return [leaf for one, other in zip(shallow, structure, strict=True) for leaf in flatten_up_to(one, other)]
    return [structure]


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raise ValueError unless the two are nested alike."""
    if is_nested(nest1) != is_nested(nest2) or (is_nested(nest1) and len(nest1) != len(nest2)):
        raise ValueError("The two structures don't have the same nested structure.")
    if isinstance(nest1, dict):
        if not isinstance(nest2, dict) or set(nest1) != set(nest2):
            raise ValueError("The two structures don't have the same nested structure: their keys differ.")
        for key in nest1:
            assert_same_structure(nest1[key], nest2[key])
    elif is_nested(nest1):
        for one, other in zip(nest1, nest2):
            assert_same_structure(one, other)


__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]
__getattr__ = missing(__name__)
