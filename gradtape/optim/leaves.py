"""Nested structures of parameters, leaf by leaf with names, and what is refused about them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from gradtape.errors import DtypeError, GradTapeError, NumericsError, ShapeError, StructureError
from gradtape.extend import Lifted, Tensor, aligned, children, messages, plain, problem


def named_leaves(tree: Any, prefix: str = "") -> list[tuple[str, Any]]:
    """The leaves of `tree` with their dotted names, in the order of `gradtape.core.pytree.leaves`.

    >>> named_leaves({"dense": {"w": 1, "b": 2}, "scales": [3]})
    [('dense.w', 1), ('dense.b', 2), ('scales.0', 3)]
    """
    parts = children(tree)
    if parts is None:
        return [(prefix, tree)]
    found: list[tuple[str, Any]] = []
    for name, part in zip(_names(tree), parts, strict=True):
        found += named_leaves(part, f"{prefix}.{name}" if prefix else str(name))
    return found


def _names(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        return list(tree)
    if isinstance(tree, list | tuple):
        return list(getattr(tree, "_fields", range(len(tree))))
    return [field.name for field in dataclasses.fields(tree)]


def called(path: str) -> str:
    """How messages speak of a leaf; a structure that is one leaf has no name for it."""
    return repr(path) if path else "the parameter"


def _error(kind: type[GradTapeError], code: str, title: str, fix: str, consequence: str = "") -> GradTapeError:
    return kind(problem(code, title, fixes=fix, consequence=consequence))


UNTOUCHED = "nothing was updated: parameters and state are as they were"


def matching(tree: Any, params: Any, optimiser: str, what: str) -> list[Any]:
    """The leaves of `tree` in the order of those of `params`; an error that says where they part if they do."""
    try:
        return aligned(params, tree, "the parameters", what)
    except GradTapeError as error:
        title = f"{optimiser}: {error.problem.title}"
        raise _error(
            StructureError, "GT306", title, f"{what} in the structure of the parameters, leaf for leaf", UNTOUCHED
        ) from None


def checked_parameters(params: Any, optimiser: str) -> list[tuple[str, Any]]:
    """The named leaves of `params`, which are all floating point arrays or tensors."""
    found = []
    for path, value in named_leaves(params):
        array = value if isinstance(value, Tensor | np.ndarray) else None
        if array is None and isinstance(value, float | np.floating):
            array = np.asarray(value)
        if array is None:
            raise _error(
                DtypeError,
                "GT314",
                f"{optimiser}: {called(path)} is a {type(value).__name__}; parameters are floating point arrays",
                "np.array(value, dtype=np.float32), or leave it out of the parameters",
            )
        if array.dtype.kind != "f":
            advice = "its real and imaginary parts as two arrays" if array.dtype.kind == "c" else "astype(np.float32)"
            raise _error(
                DtypeError,
                "GT310",
                f"{optimiser}: {called(path)} has dtype {array.dtype}; only real floating point numbers are trained",
                f"{advice}, or leave it out of the parameters",
            )
        found.append((path, array))
    return found


def checked_gradients(named: list[tuple[str, Any]], grads: list[Any], optimiser: str) -> list[Any]:
    """The gradients as arrays or tensors, if there is one for each parameter and it has its shape."""
    found = []
    for (path, value), gradient in zip(named, grads, strict=True):
        if gradient is None:
            raise messages.gradient_missing(
                optimiser,
                called(path),
                "the loss was not computed from it",
                value,
                "tape.why(loss, variable) names the reason; leave out parameters that are not used, or pass "
                "allow_none=True to skip them",
                UNTOUCHED,
            )
        array = gradient if isinstance(gradient, Tensor) else np.asarray(gradient)
        if array.shape != value.shape:
            raise _error(
                ShapeError,
                "GT110",
                f"{optimiser}: the gradient of {called(path)} has shape {array.shape}; the parameter has {value.shape}",
                "gradients and parameters in the same order, as gt.grad and tape.gradient return them",
                UNTOUCHED,
            )
        if array.dtype.kind != "f":
            raise _error(
                DtypeError,
                "GT314",
                f"{optimiser}: the gradient of {called(path)} has dtype {array.dtype}; the parameter has {value.dtype}",
                "a gradient of real floating point numbers",
                UNTOUCHED,
            )
        found.append(array)
    return found


def check_finite(named: list[tuple[str, Any]], grads: list[Any], optimiser: str) -> None:
    """Raise if a gradient has a NaN or an infinity. In a compiled program this is one guard."""
    every: Any = True
    for gradient in grads:
        finite = np.isfinite(gradient).all()
        every = np.logical_and(every, finite) if isinstance(finite, Tensor) else every and finite
    if every:
        return
    for (path, _), gradient in zip(named, grads, strict=True):
        array = plain(gradient)
        wrong = int(np.sum(~np.isfinite(array)))
        if wrong:
            what = "NaN" if np.isnan(array).any() else "infinite"
            raise _error(
                NumericsError,
                "GT402",
                f"{optimiser}: the gradient of {called(path)} is {what} in {wrong} of {array.size} numbers",
                "with gt.check_numerics(): around the loss finds the line; clip_norm=1.0 or a smaller learning rate if "
                "it grew; check_finite=False to let it through",
                UNTOUCHED,
            )


def check_owners(owners: list[Any], variables: list[Any], optimiser: str) -> None:
    """Raise if a state was made for other variables: what is remembered of one would move another."""
    if any(isinstance(variable, Lifted) for variable in variables):  # in a trace others stand in for them
        return
    if len(variables) != len(owners) or any(a is not b for a, b in zip(variables, owners, strict=True)):
        raise _error(
            StructureError,
            "GT306",
            f"{optimiser}: the state was made for {len(owners)} variables, and {len(variables)} are given: others, or "
            f"in another order",
            "the same variables in every step; for others, an optimiser of their own",
            UNTOUCHED,
        )
