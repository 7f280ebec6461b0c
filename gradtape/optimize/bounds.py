"""Bounds of nested unknowns, in the ways that people write them, as two vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import OperandError, ShapeError, StructureError
from gradtape.extend import WRONG_VALUE, Packing, Tensor, children, concrete, describe_elements, solver_error

FORMS = (
    "(lower, upper) with numbers or structures like x0, None for no bound; a structure like x0 with a pair for each "
    "leaf; scipy.optimize.Bounds; or a list of pairs, one for each element of a vector"
)


def flat_bounds(bounds: Any, packing: Packing, title: str, sides_first: bool = False) -> tuple[Any, Any] | None:
    """The lower and the upper bound of each element; None if there are none.

    Two rows for a vector of two elements are a pair for each, as in `scipy.optimize.minimize`, unless they are arrays;
    with `sides_first` they are the lower and the upper bounds, as in `scipy.optimize.least_squares`.
    """
    if bounds is None:
        return None
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        lower, upper = (np.broadcast_to(np.asarray(x, float), (packing.size,)) for x in (bounds.lb, bounds.ub))
    elif packing.single and _is_list_of_pairs(bounds, packing.size) and not (sides_first and len(bounds) == 2):
        lower, upper = _columns(bounds)
    elif isinstance(bounds, tuple | list) and not hasattr(bounds, "_fields") and len(bounds) == 2:
        lower = _spread(bounds[0], packing, -np.inf, "the lower bounds", title)
        upper = _spread(bounds[1], packing, np.inf, "the upper bounds", title)
    elif isinstance(bounds, dict) or hasattr(bounds, "_fields") or hasattr(type(bounds), "__dataclass_fields__"):
        lower, upper = _by_leaf(bounds, packing, title)
    else:
        raise solver_error(OperandError, f"{title}: bounds= was given a {type(bounds).__name__}.", FORMS)
    lower, upper = np.array(lower, float), np.array(upper, float)
    _check(lower, upper, packing, title)
    return lower, upper


def _is_list_of_pairs(bounds: Any, size: int) -> bool:
    if not isinstance(bounds, list | tuple | np.ndarray) or len(bounds) != size:
        return False
    rows = np.ndarray if isinstance(bounds, np.ndarray) else list | tuple
    return all(isinstance(pair, rows) and len(pair) == 2 for pair in bounds)


def _columns(pairs: Any) -> tuple[Any, Any]:
    low = [-np.inf if pair[0] is None else pair[0] for pair in pairs]
    high = [np.inf if pair[1] is None else pair[1] for pair in pairs]
    return np.array(low, float), np.array(high, float)


def _spread(given: Any, packing: Packing, missing: float, what: str, title: str) -> Any:
    """One side of the bounds: a number for all, or a structure of numbers and arrays; None where there is no bound."""
    if given is None:
        return np.full(packing.size, missing)
    rows: list[Any] = [given] * len(packing.names)
    if not packing.single and children(given) is not None:
        rows = _matched(packing.tree, given, what, title)
    return _filled(rows, packing, missing, what, title)


def _filled(rows: list[Any], packing: Packing, missing: float, what: str, title: str) -> Any:
    parts = []
    for row, shape, name in zip(rows, packing.shapes, packing.names, strict=True):
        value = missing if row is None else row
        value = concrete(value) if isinstance(value, Tensor) else np.asarray(value, dtype=float)
        try:
            parts.append(np.broadcast_to(value, shape).reshape(-1))
        except ValueError:
            raise solver_error(
                ShapeError,
                f"{title}: {what} of {name} have shape {value.shape}; {name} has shape {shape}.",
                f"a number, or an array of shape {shape}",
            ) from None
    return np.concatenate(parts)


def _by_leaf(bounds: Any, packing: Packing, title: str) -> tuple[Any, Any]:
    """Bounds in a structure like x0, with a pair for each leaf; None, or a key left out, is a leaf without bounds.

    A leaf that is a vector may have a list of pairs, one for each of its elements.
    """
    rows = _matched(packing.tree, bounds, "bounds", title, pairs=True)
    pairs = []
    for pair, shape, name in zip(rows, packing.shapes, packing.names, strict=True):
        if pair is None:
            pair = (None, None)
        elif isinstance(pair, list) and len(shape) == 1 and _is_list_of_pairs(pair, shape[0]):
            pair = _columns(pair)
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            accepted = "a pair (lower, upper)" + (f", or a list of {shape[0]} pairs" if len(shape) == 1 else "")
            raise solver_error(OperandError, f"{title}: the bounds of {name} are a {type(pair).__name__}.", accepted)
        pairs.append(pair)
    sides = ("the lower bounds", [p[0] for p in pairs], -np.inf), ("the upper bounds", [p[1] for p in pairs], np.inf)
    lower, upper = (_filled(rows, packing, missing, what, title) for what, rows, missing in sides)
    return lower, upper


def _matched(tree: Any, given: Any, what: str, title: str, pairs: bool = False, path: str = "x0") -> list[Any]:
    """What `given` has for each leaf of `tree`. None stands for a whole branch, and so does a number if not `pairs`."""
    parts = children(tree)
    if parts is None:
        return [given]
    whole = given is None or (not pairs and children(given) is None)
    if isinstance(tree, dict) and isinstance(given, dict):
        strange = [key for key in given if key not in tree]
        if strange:
            raise solver_error(
                StructureError, f"{title}: {what} have a key {strange[0]!r}; {path} has {list(tree)}.", "the same keys"
            )
        rows = [(f"{path}[{key!r}]", part, given.get(key)) for key, part in tree.items()]
    elif whole:
        rows = [(path, part, given) for part in parts]
    else:
        found = children(given)
        if found is None or len(found) != len(parts) or isinstance(tree, dict) or isinstance(given, dict):
            raise solver_error(
                StructureError,
                f"{title}: {what} are a {type(given).__name__}, {path} is a {type(tree).__name__} of {len(parts)}.",
                FORMS,
            )
        rows = [(f"{path}[{index}]", part, one) for index, (part, one) in enumerate(zip(parts, found, strict=True))]
    return [leaf for name, part, one in rows for leaf in _matched(part, one, what, title, pairs, name)]


def _check(lower: Any, upper: Any, packing: Packing, title: str) -> None:
    crossed = packing.guilty(lambda x: ~(lower <= upper), packing.sample)
    if crossed:
        raise solver_error(
            ShapeError,
            f"{title}: the lower bound is above the upper one (or one is NaN) for {describe_elements(crossed)}; "
            f"nothing lies between.",
            "lower <= upper for every element",
            WRONG_VALUE,
        )
    outside = packing.guilty(lambda x: (x < lower) | (x > upper), packing.sample)
    if outside:
        raise solver_error(
            ShapeError,
            f"{title}: the start is outside of the bounds: {describe_elements(outside)}.",
            "start between the bounds: np.clip(x0, lower, upper)",
            WRONG_VALUE,
        )
