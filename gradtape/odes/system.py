"""A system of differential equations over a nested state: its slope as lists of arrays, checked against the state."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.errors import DtypeError, OperandError, ShapeError, StructureError
from gradtape.extend import (
    Op,
    Tensor,
    aligned,
    apply,
    batch_elementwise,
    children,
    leaf_paths,
    leaves,
    lists_as_arrays,
    map_structure,
    messages,
    rebuild,
    repeat_for_batch,
    solver_error,
    unshared,
)
from gradtape.odes.tableaus import Vector

Function = Callable[..., Any]
State = list[Any]  # the leaves of a state, as arrays or tensors

TITLE = "gt.odeint"


class System:
    """dy/dt = f(y, t, *args), for states like `y0`."""

    def __init__(self, function: Function, y0: Any, time_first: bool = False) -> None:
        if not callable(function):
            raise solver_error(
                OperandError, f"{TITLE}: a function is wanted; got a {type(function).__name__}.", f"{TITLE}(f, y0, t)"
            )
        if not time_first and _takes_time_first(function):
            raise solver_error(
                OperandError,
                f"{TITLE}: the function takes the time t first; {TITLE} calls it with the state first.",
                "tfirst=True; or def f(y, t, ...)",
            )
        self.function = function
        self.time_first = time_first
        self.name = str(getattr(function, "__name__", type(function).__name__))
        tree = lists_as_arrays(y0)
        self.single = children(tree) is None
        self.names = leaf_paths(tree, "y0")
        self.start: State = [_number(leaf, name) for leaf, name in zip(leaves(tree), self.names, strict=True)]
        self.tree = rebuild(tree, [None] * len(self.start))
        self.dtypes = [leaf.dtype for leaf in self.start]
        self.shapes = [leaf.shape for leaf in self.start]
        if not self.start:
            raise solver_error(ShapeError, f"{TITLE}: y0 holds no numbers.", "give y0 at least one number")
        self.precision = max(float(np.finfo(dtype).eps) for dtype in self.dtypes)

    def whole(self, state: State) -> Any:
        """The state in the user's structure."""
        return state[0] if self.single else rebuild(self.tree, state)

    def slope(self, state: State, t: Any, args: tuple[Any, ...]) -> State:
        """dy/dt, one array for each leaf, of its shape and dtype."""
        y = self.whole(state)
        value = self.function(t, y, *args) if self.time_first else self.function(y, t, *args)
        value = map_structure(unshared, value)  # it may be a buffer that the next call fills
        if self.single and isinstance(value, list | tuple):  # [dx, dv] for a vector [x, v]
            value = np.stack([x if isinstance(x, Tensor) else np.asarray(x) for x in value])
        if value is None:
            raise solver_error(OperandError, f"{TITLE}: {self.name} returned None.", "return dy/dt")
        try:
            parts = [value] if self.single else aligned(self.tree, value, "y0", f"what {self.name} returned")
        except StructureError as error:
            raise solver_error(
                StructureError,
                f"{TITLE}: what {self.name} returned does not have the structure of y0: {error.problem.title}.",
                "return dy/dt in the structure of y0",
            ) from None
        return [self._fitted(part, index) for index, part in enumerate(parts)]

    def _fitted(self, part: Any, index: int) -> Any:
        part = part if isinstance(part, Tensor) else np.asarray(part)
        if part.shape != self.shapes[index]:
            raise messages.wrong_slope(
                self.function,
                f"{TITLE}: {self.name} returned shape {part.shape} for {self.names[index]}, which has shape "
                f"{self.shapes[index]}",
                f"return dy/dt of shape {self.shapes[index]}, that of y",
            )
        dtype = self.dtypes[index]
        if part.dtype.kind == "c" and dtype.kind != "c":
            raise solver_error(
                DtypeError,
                f"{TITLE}: {self.name} returned complex numbers for {self.names[index]}, which is {dtype}.",
                "start with a complex state: y0.astype(complex)",
            )
        return part if part.dtype == dtype else part.astype(dtype)


def _takes_time_first(function: Function) -> bool:
    """Whether the parameters are called t and something else: written for a function that passes the time first."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return False
    return len(names) > 1 and names[0] in ("t", "time") and names[1] not in ("t", "time")


def _number(leaf: Any, name: str) -> Any:
    value = leaf if isinstance(leaf, Tensor) else np.asarray(leaf)
    if value.dtype.kind in "iub":
        value = value.astype(float)
    if value.dtype.kind not in "fc":
        raise solver_error(
            OperandError, f"{TITLE}: {name} is a {type(leaf).__name__}; a number or an array is wanted.", "numbers"
        )
    return value


def _sum_kernel(*arrays: Any, weights: tuple[float, ...]) -> Any:
    total = weights[0] * arrays[0]
    for weight, array in zip(weights[1:], arrays[1:]):
        total = total + weight * array
    return total


def _sum_batch(op: Op, flags: Sequence[bool], values: Sequence[Any], params: dict[str, Any]) -> Any:
    size = next(v.shape[0] for v, flag in zip(values, flags, strict=True) if flag)
    full = [v if flag else repeat_for_batch(v, size) for v, flag in zip(values, flags, strict=True)]
    return batch_elementwise(op, [True] * len(full), full, params)


def _sum_forward(node: Any, out: Any, inputs: Any, tangents: Sequence[Any]) -> Any:
    weights = node.params["weights"]
    moving = [(w, tangent) for w, tangent in zip(weights, tangents, strict=True) if tangent is not None]
    return weighted_sum([tangent for _, tangent in moving], [w for w, _ in moving])


_weighted_sum = Op(  # all arrays have one shape: one operation where products and sums would be a dozen
    "weighted_sum",
    _sum_kernel,
    reverse=lambda g, node, out, inputs: [g * weight for weight in node.params["weights"]],
    forward=_sum_forward,
    batch=_sum_batch,
    kind="linear",
)


def weighted_sum(arrays: Sequence[Any], weights: Sequence[float]) -> Any:
    """The sum of `arrays`, all of one shape, each times its weight, as one operation; zero weights are left out."""
    pairs = [(array, float(weight)) for array, weight in zip(arrays, weights, strict=True) if weight]
    return apply(_weighted_sum, tuple([array for array, _ in pairs]), {"weights": tuple([w for _, w in pairs])})


def advance_state(y: State, h: Any, slopes: Sequence[State], weights: Sequence[float] | Vector) -> State:
    """y + h sum_i weights[i] slopes[i], leaf by leaf; h may be a tensor."""
    used = [index for index, weight in enumerate(weights) if weight]
    if not used:
        return y
    if isinstance(h, Tensor):
        parts = [weighted_sum([slopes[i][n] for i in used], [weights[i] for i in used]) for n in range(len(y))]
        return [leaf + h.astype(leaf.real.dtype) * part for leaf, part in zip(y, parts, strict=True)]
    scaled = [1.0, *(h * weights[i] for i in used)]
    return [weighted_sum([leaf, *(slopes[i][n] for i in used)], scaled) for n, leaf in enumerate(y)]
