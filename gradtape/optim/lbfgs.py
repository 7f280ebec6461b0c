"""L-BFGS: Newton's method with a curvature that is guessed from the last steps. For losses without noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradtape.core.pytree import leaves, rebuild
from gradtape.core.tensor import Variable, plain
from gradtape.errors import NumericsError, OperandError, StructureError
from gradtape.explain.messages import problem
from gradtape.ops.arguments import refused
from gradtape.optim.leaves import (
    UNTOUCHED,
    check_finite,
    check_owners,
    checked_gradients,
    checked_parameters,
    matching,
)
from gradtape.optim.line_search import Point, strong_wolfe

CURVED_ENOUGH = 1e-10
"""A step along which the gradient changed less than this says nothing about the curvature."""


class LBFGS:
    """Limited-memory BFGS. One `step` makes up to `max_iter` iterations, and asks for the loss several times.

    With `line_search_fn="strong_wolfe"` the length of each step is searched for; without, it is `learning_rate`.

    >>> import numpy as np, gradtape as gt
    >>> loss = gt.value_and_grad(lambda p: ((p["x"] - 3.0) ** 2).sum())
    >>> opt, params = gt.optim.LBFGS(line_search_fn="strong_wolfe"), {"x": np.zeros(2)}
    >>> value, params, state = opt.minimise_step(loss, opt.init(params), params)
    >>> float(value), params["x"]
    (18.0, array([3., 3.]))
    """

    def __init__(
        self,
        learning_rate: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if line_search_fn not in (None, "strong_wolfe"):
            raise refused(OperandError, f"LBFGS: line_search_fn={line_search_fn!r}.", '"strong_wolfe" or None')
        sizes = {"max_iter": max_iter, "history_size": history_size, "learning_rate": learning_rate}
        for name, value in sizes.items():
            if not isinstance(value, int | float) or not value > 0:
                raise refused(OperandError, f"LBFGS: {name}={value!r}.", "a number above 0")
        self.learning_rate, self.max_iter, self.history_size = learning_rate, max_iter, history_size
        self.max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        self.tolerance_grad, self.tolerance_change = tolerance_grad, tolerance_change
        self.line_search_fn = line_search_fn
        self.state: Any = None
        self._owners: list[Variable] = []

    def init(self, params: Any) -> dict[str, Any]:
        """The state for `params`: nothing is known yet.

        >>> import numpy as np, gradtape as gt
        >>> int(gt.optim.LBFGS().init(np.zeros(2))["count"])
        0
        """
        width = sum(value.size for _, value in checked_parameters(params, "LBFGS"))
        empty = np.zeros(width)
        return {
            "count": np.array(0),
            "steps": [],
            "changes": [],
            "direction": empty,
            "distance": np.array(0.0),
            "gradient": empty,
            "scale": np.array(1.0),
        }

    def minimise_step(self, function: Callable[[Any], tuple[Any, Any]], state: Any, params: Any) -> Any:
        """The value of the loss at `params`, new parameters and a new state. Nothing that is given is changed.

        `function(params)` returns the loss and its gradient, as `gt.value_and_grad` does, or `gt.jit` of it.
        """
        named = checked_parameters(params, "LBFGS")
        if not isinstance(state, Mapping) or "direction" not in state:
            raise refused(StructureError, f"LBFGS: the state is a {type(state).__name__}.", "state = opt.init(params)")
        if np.shape(state["direction"]) != (sum(value.size for _, value in named),):
            raise refused(StructureError, "LBFGS: the state was made for other parameters.", "state = opt.init(params)")
        flat = _Flat(params, named, function)
        value, position, new = self._minimise(flat, dict(state))
        return value, flat.unpacked(position), new

    def _minimise(self, flat: _Flat, state: dict[str, Any]) -> tuple[float, Any, dict[str, Any]]:
        position = flat.packed(flat.params)
        first_value, gradient = flat.evaluate(position)
        value, evaluations = first_value, 1
        if np.abs(gradient).max(initial=0.0) <= self.tolerance_grad:
            return first_value, position, state
        for iteration in range(1, self.max_iter + 1):
            state = self._directed(state, gradient)
            direction = state["direction"]
            rate = self.learning_rate
            distance = min(1.0, 1.0 / np.abs(gradient).sum()) * rate if state["count"] == 1 else rate
            slope = float(gradient @ direction)
            state["gradient"], state["distance"] = gradient, np.array(distance)
            before = value
            if slope > -self.tolerance_change:
                break
            if self.line_search_fn:
                along = self._line(flat, position, direction)
                start = Point(0.0, value, gradient, slope)
                length, left = float(np.abs(direction).max()), self.max_eval - evaluations
                end, calls = strong_wolfe(along, start, distance, length, 1e-9, left)
                distance, value, gradient = end.at, end.value, end.gradient
                state["distance"] = np.array(distance)
                position = position + distance * direction
            else:
                position, calls = position + distance * direction, 0
                if iteration != self.max_iter:
                    (value, gradient), calls = flat.evaluate(position), 1
            evaluations += calls
            is_flat = np.abs(gradient).max() <= self.tolerance_grad
            stands = np.abs(direction * distance).max() <= self.tolerance_change
            stays = abs(value - before) < self.tolerance_change
            if evaluations >= self.max_eval or is_flat or stands or stays:
                break
        return first_value, position, state

    def _directed(self, state: dict[str, Any], gradient: Any) -> dict[str, Any]:
        """The state with the next direction: minus the guessed inverse Hessian times the gradient."""
        state = {**state, "count": state["count"] + 1}
        if state["count"] == 1:
            return {**state, "direction": -gradient, "scale": np.array(1.0)}
        change, step = gradient - state["gradient"], state["direction"] * state["distance"]
        curvature = float(change @ step)
        steps, changes = list(state["steps"]), list(state["changes"])
        if curvature > CURVED_ENOUGH:
            steps, changes = [*steps, step][-self.history_size :], [*changes, change][-self.history_size :]
            state["scale"] = np.array(curvature / (change @ change))
        weights = []
        direction = -gradient
        for s, y in zip(reversed(steps), reversed(changes), strict=True):
            weights.append((s @ direction) / (y @ s))
            direction = direction - weights[-1] * y
        direction = direction * state["scale"]
        for s, y, weight in zip(steps, changes, reversed(weights), strict=True):
            direction = direction + s * (weight - (y @ direction) / (y @ s))
        return {**state, "steps": steps, "changes": changes, "direction": direction}

    def _line(self, flat: _Flat, position: Any, direction: Any) -> Callable[[float], Point]:
        def along(distance: float) -> Point:
            value, gradient = flat.tried(position + distance * direction)
            return Point(distance, value, gradient, float(gradient @ direction))

        return along

    def step(self, variables: Any, closure: Callable[[], tuple[Any, Any]]) -> float:
        """Minimise over variables, and return the loss before. `closure()` returns the loss and the gradients now.

        If it raises, or the loss or a gradient is not finite, the variables are as they were.

        >>> import gradtape as gt
        >>> w, opt = gt.Variable([5.0]), gt.optim.LBFGS(line_search_fn="strong_wolfe")
        >>> def closure():
        ...     with gt.GradientTape() as tape:
        ...         loss = ((w - 1.0) ** 2).sum()
        ...     return loss, tape.gradient(loss, [w])
        >>> opt.step([w], closure), w
        (16.0, Variable([1.]))
        """
        targets = leaves(variables)
        for variable in targets:
            if not isinstance(variable, Variable):
                raise refused(
                    OperandError,
                    f"LBFGS.step: a {type(variable).__name__}; gt.Variable is accepted.",
                    "minimise_step(function, state, params) for arrays",
                )
        if self.state is not None:
            check_owners(self._owners, targets, "LBFGS")
        start = [np.array(plain(variable)) for variable in targets]

        def evaluate(params: Any) -> tuple[Any, Any]:
            for variable, array in zip(targets, leaves(params), strict=True):
                variable.assign(array)
            return closure()

        params = rebuild(variables, start)
        try:
            state = self.init(params) if self.state is None else self.state
            value, new, state = self.minimise_step(evaluate, state, params)
        except BaseException:
            for variable, array in zip(targets, start, strict=True):
                variable.assign(array)
            raise
        for variable, array in zip(targets, leaves(new), strict=True):
            variable.assign(array)
        self.state, self._owners = state, list(targets)
        return float(value)

    def __repr__(self) -> str:
        return f"LBFGS(learning_rate={self.learning_rate}, line_search_fn={self.line_search_fn!r})"


class _Flat:
    """Parameters as one vector of doubles, and the loss as a function of it."""

    def __init__(self, params: Any, named: list[tuple[str, Any]], function: Callable[[Any], tuple[Any, Any]]) -> None:
        self.params, self.named, self.function = params, named, function

    def packed(self, tree: Any) -> Any:
        arrays = [np.ravel(plain(x)).astype(float) for x in matching(tree, self.params, "LBFGS", "the gradients")]
        return np.concatenate(arrays) if arrays else np.zeros(0)

    def unpacked(self, vector: Any) -> Any:
        arrays, used = [], 0
        for _, value in self.named:
            part = vector[used : used + value.size]
            arrays.append(part.reshape(value.shape).astype(value.dtype))
            used += value.size
        return rebuild(self.params, arrays)

    def tried(self, vector: Any) -> tuple[float, Any]:
        """The value and the gradient at a place that a line search tries, which it leaves if they are not finite."""
        from gradtape.explain.kernel.check_numerics import allow_nonfinite_trial

        with allow_nonfinite_trial():
            value, gradients = self._called(vector)
        number, gradient = float(np.asarray(plain(value)).reshape(())), self.packed(rebuild(self.params, gradients))
        is_finite = math.isfinite(number) and bool(np.isfinite(gradient).all())
        return (number, gradient) if is_finite else (math.inf, np.zeros_like(gradient))

    def evaluate(self, vector: Any) -> tuple[float, Any]:
        value, gradients = self._called(vector)
        check_finite(self.named, gradients, "LBFGS")
        number = float(np.asarray(plain(value)).reshape(()))
        if not math.isfinite(number):
            raise NumericsError(
                problem(
                    "GT401",
                    f"LBFGS: the loss is {number}",
                    fixes="with gt.check_numerics(): around the loss finds the line",
                    consequence=UNTOUCHED,
                )
            )
        return number, self.packed(rebuild(self.params, gradients))

    def _called(self, vector: Any) -> tuple[Any, list[Any]]:
        """What the function returns at `vector`: the loss, and the gradients as a list."""
        found = self.function(self.unpacked(vector))
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise refused(
                OperandError,
                f"LBFGS: the function returned a {type(found).__name__}; the loss and its gradient are wanted.",
                "gt.value_and_grad(function)",
            )
        value, grads = found
        gradients = checked_gradients(self.named, matching(grads, self.params, "LBFGS", "the gradients"), "LBFGS")
        return value, gradients
