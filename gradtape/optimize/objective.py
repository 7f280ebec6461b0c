"""Functions of nested structures as SciPy wants them: of one vector, with the derivatives that a method asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtape.errors import NumericsError, OperandError, UntrackedError
from gradtape.extend import (
    Packing,
    Tensor,
    ValuePacking,
    as_scalar,
    closed_over_error,
    concrete,
    describe_elements,
    is_recorded,
    keeps_saved_values,
    record_call,
    solver_error,
)
from gradtape.transforms.gradients import grad, linearize, value_and_grad
from gradtape.transforms.jacobians import hessian, jacobian
from gradtape.transforms.sparse import sparse_hessian, sparse_jacobian

Function = Callable[..., Any]


def function_name(function: Any) -> str:
    """The name that a function goes by in messages."""
    return str(getattr(function, "__name__", type(function).__name__))


def plain_number(value: Any, title: str) -> float:
    """A value of the objective as a Python number; an error if somebody else records it."""
    if isinstance(value, Tensor):
        if is_recorded(value):
            raise closed_over_error(title)
        value = concrete(value)
    return float(np.asarray(value).reshape(()))


@contextmanager
def ignore_nonfinite_trials(is_trial: bool) -> Iterator[None]:
    """Inside, a value that is not finite is no news: at a place that a method tries, it goes back from there."""
    if not is_trial or keeps_saved_values():
        yield
        return
    from gradtape.extend import configure

    with configure(GT401="note"), np.errstate(all="ignore"):
        yield


class Objective:
    """A function of one number, by vectors. The first gradient is looked at closely, the others for NaN."""

    def __init__(self, function: Function, packing: Packing, args: tuple[Any, ...], title: str, jit: bool) -> None:
        self.function, self.packing, self.args, self.title = function, packing, args, title
        self.name = function_name(function)
        self.compiled: Function | None = None
        self.linear: tuple[Any, Function] | None = None
        self.looked = False
        if jit:
            from gradtape.jit import jit as compile_function

            self.compiled = compile_function(value_and_grad(function))

    def value(self, flat: Any) -> float:
        """The value alone, on plain arrays."""
        with ignore_nonfinite_trials(self.looked):
            output = self._number(self.function(self.packing.unpack(flat), *self.args))
        value = plain_number(output, self.title)
        self._check_start(value)
        self.looked = True
        return np.inf if np.isnan(value) else value

    def value_and_gradient(self, flat: Any) -> tuple[float, Any]:
        """The value and the gradient as a vector. NaN counts as infinitely high, so that SciPy goes back from there."""
        tree = self.packing.unpack(flat)
        with ignore_nonfinite_trials(self.looked):
            if self.compiled is not None and self.looked:
                output, gradient = self.compiled(tree, *self.args)
                value, found = float(output), self.packing.pack(gradient)
            else:
                value, found = self._recorded(tree)
        if not np.isfinite(value):
            return np.inf if np.isnan(value) else value, np.full(self.packing.size, np.nan)
        found = np.array(found, dtype=float)
        if not np.isfinite(found).all():
            raise solver_error(
                NumericsError,
                f"{self.title}: the value of {self.name} is finite ({value:.6g}) and its gradient is not, in "
                f"{describe_elements(self.packing.guilty(lambda x: ~np.isfinite(x), found))}.",
                "gt.check_numerics() around the call names the operation; keep x away from there by bounds=",
            )
        return value, found

    def _recorded(self, tree: Any) -> tuple[float, Any]:
        run = record_call(self.function, (tree, *self.args), {}, [0])
        output = self._number(run.result)
        value = plain_number(output, self.title)
        self._check_start(value)
        found: list[Any] = [None] * len(run.sources)
        if isinstance(output, Tensor) and np.isfinite(value):
            found = run.pull_back([output], [np.ones(output.shape, output.dtype)], last=True)
        if not self.looked:
            missing = [index for index, part in enumerate(found) if part is None and run.sources[index].size]
            if missing:
                reason = str(run.why_unconnected(run.result, missing[0])).splitlines()[0]
                raise solver_error(
                    UntrackedError,
                    f"{self.title}: {self.name} does not depend on {self.packing.names[missing[0]]}, so there is no "
                    f"gradient by it: {reason.removeprefix('[GT202] no gradient: ').strip()}",
                    "take it out of x0 and pass it by args=(...); or mend the path that the value has lost",
                )
            self.looked = True
        parts = [np.zeros(s.shape, s.dtype) if g is None else g for g, s in zip(found, run.sources, strict=True)]
        return value, np.concatenate([np.asarray(x).reshape(-1) for x in parts])

    def _number(self, output: Any) -> Any:
        if isinstance(output, tuple):
            raise solver_error(
                OperandError,
                f"{self.title}: {self.name} returned a tuple of {len(output)}; one number is wanted.",
                "the function of x itself: its gradient, which gt.value_and_grad would add, is found by gt.optimize",
                "GT311",
            )
        return as_scalar(output, self.name)

    def _check_start(self, value: float) -> None:
        if not self.looked and not np.isfinite(value):
            raise solver_error(
                NumericsError,
                f"{self.title}: {self.name} is {value} at x0; there is no way down from there.",
                "start where the function is finite; gt.check_numerics() names the operation",
            )

    def _gradient(self, flat: Any) -> Any:
        return self.packing.pack(grad(self.function)(self.packing.unpack(flat), *self.args))

    def hessian_product(self, flat: Any, vector: Any) -> Any:
        """The Hessian times a vector: one run for a point, one push through it for a vector."""
        if self.linear is None or not np.array_equal(self.linear[0], flat):
            flat = np.array(flat, dtype=self.packing.dtype)
            self.linear = flat, linearize(self._gradient, flat)[1]
        return self.linear[1](np.asarray(vector, dtype=self.packing.dtype)).astype(float)

    def hessian(self, flat: Any) -> Any:
        """The Hessian as a matrix."""
        whole = lambda z: self.function(self.packing.unpack(z), *self.args)
        return np.asarray(hessian(whole)(np.array(flat, dtype=self.packing.dtype)), dtype=float)

    def sparse_hessian(self) -> Function:
        """A function that returns the Hessian as a sparse matrix; the pattern is found once."""
        whole = lambda z: self.function(self.packing.unpack(z), *self.args)
        return sparse_hessian(whole, pattern="cached")


class VectorObjective:
    """A function of several numbers, by vectors, and its Jacobian, dense or sparse."""

    def __init__(self, function: Function, packing: Packing, args: tuple[Any, ...], title: str, jit: bool) -> None:
        self.function, self.packing, self.args, self.title = function, packing, args, title
        self.name = function_name(function)
        self.values = ValuePacking(self.name)
        self.dense: Function = jacobian(self._flat)
        self.sparse = sparse_jacobian(self._flat, pattern="cached")
        self.run: Function = self._flat
        self.looked = False
        if jit:
            from gradtape.jit import jit as compile_function

            self.dense, self.run = compile_function(self.dense), compile_function(self._flat)

    def _flat(self, flat: Any) -> Any:
        return self.values.pack(self.function(self.packing.unpack(flat), *self.args))

    def _at(self, flat: Any) -> Any:
        return np.array(flat, dtype=self.packing.dtype)

    def __call__(self, flat: Any) -> Any:
        value = self.run(self._at(flat))
        if isinstance(value, Tensor):
            if is_recorded(value):
                raise closed_over_error(self.title)
            value = concrete(value)
        value = np.asarray(value, dtype=float)
        if not self.looked and not np.isfinite(value).all():
            bad = int(np.count_nonzero(~np.isfinite(value)))
            raise solver_error(
                NumericsError,
                f"{self.title}: {bad} of {value.size} values of {self.name} are NaN or infinite at the start.",
                "start where the function is finite; gt.check_numerics() names the operation",
            )
        self.looked = True
        return value

    def jacobian(self, flat: Any) -> Any:
        """The Jacobian as a matrix with a row for each value."""
        return self._checked(np.asarray(self.dense(self._at(flat)), dtype=float))

    def sparse_jacobian(self, flat: Any) -> Any:
        """The Jacobian as a sparse matrix."""
        matrix = self.sparse(self._at(flat))
        self._checked(matrix.data)
        return matrix.astype(float)

    def _checked(self, matrix: Any) -> Any:
        if not np.isfinite(matrix).all():
            columns = ~np.isfinite(matrix).all(axis=0) if matrix.ndim == 2 else None
            where = "" if columns is None else f", by {describe_elements(self.packing.guilty(lambda x: x, columns))}"
            raise solver_error(
                NumericsError,
                f"{self.title}: the Jacobian of {self.name} has elements that are NaN or infinite{where}.",
                "gt.check_numerics() around the call names the operation; keep x away from there by bounds=",
            )
        return matrix

    def curvature(self, flat: Any, weights: Any) -> Any:
        """The Hessian of the values' sum with `weights`, as a matrix."""
        weights = np.asarray(weights, dtype=self.packing.dtype)
        return np.asarray(hessian(lambda z: np.sum(weights * self._flat(z)))(self._at(flat)), dtype=float)
