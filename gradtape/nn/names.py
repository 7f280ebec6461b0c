"""Names of parameters: dotted and nested, and the checks that what is given has the right ones."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradtape.errors import DtypeError, OperandError, ShapeError, StructureError
from gradtape.extend import Tensor, argument_error, leave_tape

Shape = tuple[int, ...]


def joined(prefix: str, name: str) -> str:
    """The dotted name of a part of a module."""
    return f"{prefix}.{name}" if prefix else name


def nested(by_name: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted names as nested dictionaries.

    >>> nested({"0.weight": 1, "0.bias": 2, "scale": 3})
    {'0': {'weight': 1, 'bias': 2}, 'scale': 3}
    """
    tree: dict[str, Any] = {}
    for name, value in by_name.items():
        *path, last = name.split(".")
        branch = tree
        for part in path:
            branch = branch.setdefault(part, {})
        branch[last] = value
    return tree


def flat(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Nested dictionaries as one with dotted names.

    >>> flat({"0": {"weight": 1, "bias": 2}, "scale": 3})
    {'0.weight': 1, '0.bias': 2, 'scale': 3}
    """
    if not isinstance(tree, Mapping):
        raise argument_error(
            StructureError,
            f"parameters are a {type(tree).__name__}; a nested dictionary of arrays is accepted.",
            "module.init(rng) or module.params",
        )
    found: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            found.update({f"{name}.{rest}": part for rest, part in flat(value).items()})
        else:
            found[str(name)] = value
    return found


def check_names(function: str, ours: str, theirs: str, wanted: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raise if `given` does not have the names of `wanted`, and say which differ."""
    missing = [name for name in wanted if name not in given]
    unknown = [name for name in given if name not in wanted]
    if not missing and not unknown:
        return
    parts = []
    if missing:
        parts.append(f"{_listed(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    if unknown:
        parts.append(f"{_listed(unknown)} {'is' if len(unknown) == 1 else 'are'} not in {ours}")
    near = difflib.get_close_matches(str(unknown[0]), missing, 1) if unknown and missing else []
    fix = (
        f"{near[0]!r} instead of {unknown[0]!r}" if near else f"{theirs} with the names of {ours}, no more and no fewer"
    )
    raise argument_error(StructureError, f"{function}: of {theirs}, {' and '.join(parts)}.", fix)


def _listed(names: list[str], most: int = 4) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def checked_array(function: str, path: str, given: Any, shape: Shape, dtype: np.dtype[Any]) -> Any:
    """`given` as an array of `dtype`, if it has the shape and is of a kind that can be put there."""
    array = np.asarray(leave_tape(given, function) if isinstance(given, Tensor) else given)
    if array.shape != shape:
        raise argument_error(
            ShapeError,
            f"{function}: {path!r} has shape {array.shape} in what is given, and {shape} in the model.",
            "numbers of a model that was made with the same sizes",
        )
    if not np.can_cast(array.dtype, dtype, "same_kind"):
        raise argument_error(
            DtypeError,
            f"{function}: {path!r} has dtype {array.dtype} in what is given, and {dtype} in the model.",
            f"array.astype(np.{dtype}), if that is meant",
        )
    return array.astype(dtype)


def checked_generator(rng: Any, name: str) -> np.random.Generator:
    """`rng`, if it is a generator of NumPy's."""
    if isinstance(rng, np.random.Generator):
        return rng
    raise argument_error(
        OperandError,
        f"{name}: rng is a {type(rng).__name__}; a generator of NumPy's is wanted.",
        "rng = np.random.default_rng(seed), made once",
    )
