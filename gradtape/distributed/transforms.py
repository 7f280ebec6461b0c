"""Derivatives of functions of rows: `value_and_grad`, `grad`, `hvp`, `hessian`, `gauss_newton` over Dask arrays."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.distributed.check import ROWS, check_residuals, find_reduction
from gradtape.distributed.engine_choice import choose_engine
from gradtape.distributed.engines import Broadcast, Engine
from gradtape.distributed.programs import Program, weighted_sum
from gradtape.distributed.reduction import Part, hand_out
from gradtape.distributed.rows import Blocks, Rows, fill_arguments
from gradtape.distributed.shipping import Shipped, one_thread
from gradtape.errors import OperandError, TapeError
from gradtape.extend import (
    Tensor,
    argument_error,
    concrete,
    function_name,
    is_recorded,
    leaves,
    map_structure,
    plain,
    rebuild,
)
from gradtape.transforms.gradients import value_and_grad as value_and_grad_here
from gradtape.transforms.jacobians import hessian as hessian_here
from gradtape.transforms.jacobians import hvp as hvp_here

Function = Callable[..., Any]
REDUCTIONS = ("mean", "sum")
PLANS_KEPT = 4


class Plan:
    """What is known of some rows and an engine: their blocks, and how the function puts rows together."""

    def __init__(self, rows: Rows, engine: Engine, blocks: Blocks) -> None:
        self.rows, self.engine, self.blocks = rows, engine, blocks
        self.reduction: str | None = None


class RowFunction:
    """A function of parameters and rows, which computes derivatives chunk by chunk; see `value_and_grad`."""

    def __init__(
        self,
        name: str,
        function: Function,
        reduction: str | None = None,
        hold: bool | None = None,
        groups: int | None = None,
        on: Any = None,
        penalty: Function | None = None,
        check: bool = True,
        jit: bool = True,
    ) -> None:
        self.name, self.title, self.function = name, f"gt.distributed.{name}", function
        if not callable(function):
            raise argument_error(
                OperandError,
                f"{self.title}: a {type(function).__name__} was given.",
                "a function of parameters and rows",
            )
        if reduction is not None and reduction not in REDUCTIONS:
            raise argument_error(
                OperandError, f"{self.title}: reduction={reduction!r}.", '"mean", "sum", or None to find out'
            )
        if groups is not None and (not isinstance(groups, int) or groups < 1 or groups & (groups - 1)):
            raise argument_error(
                OperandError, f"{self.title}: groups={groups!r}.", "a power of two: 1, 2, 4, 8, ...; None to choose"
            )
        self.reduction, self.hold, self.groups, self.on = reduction, hold, groups, on
        self.penalty, self.check, self.jit = penalty, check, jit
        self._programs: dict[str, Shipped] = {}
        self._plans: OrderedDict[Any, Plan] = OrderedDict()
        self.__name__, self.__doc__, self.__wrapped__ = function_name(function), function.__doc__, function

    def __repr__(self) -> str:
        return f"<{self.title} of {function_name(self.function)}>"

    # -- what is the same in every call

    def program(self, kind: str) -> Shipped:
        """The computation for a chunk, to be sent to where chunks are."""
        if kind not in self._programs:
            self._programs[kind] = Shipped(Program, kind, self.function)
        return self._programs[kind]

    def plan(self, params: Any, args: tuple[Any, ...]) -> tuple[Plan, list[Any]]:
        """The plan for these rows, and the arguments that are none; what was found out of the same rows is kept."""
        given = Rows(self.name, args)
        engine = choose_engine(self.name, self.on, given.arrays)
        key = (given.identity, given.arrays[0].chunks[0], engine.get)
        others = [_as_numpy(x, self.title) for place, x in enumerate(leaves(args)) if place not in set(given.places)]
        found = self._plans.get(key)
        if found is None:
            if engine.client is not None and given.has_memmap():
                raise argument_error(
                    OperandError,
                    f"{self.title}: a Dask array is made of a numpy.memmap, and would be sent to the workers with all "
                    "its numbers.",
                    "dask.array.from_zarr(path), or dask.array.map_blocks of a function that opens the file in the "
                    "worker; on threads (on='threads') a memmap is fine",
                )
            engine.check_chunks(given)
            is_held = self.hold
            if is_held is None:
                memory = engine.memory()
                is_held = memory is not None and given.nbytes <= memory / 2
            if is_held:
                engine.hold(given)
            found = self._plans[key] = Plan(given, engine, engine.blocks(given, self.groups))
            while len(self._plans) > PLANS_KEPT:
                self._plans.popitem(last=False)
        self._plans.move_to_end(key)
        if found.reduction is None:
            found.reduction = self.find_reduction(found, params, others)
        return found, others

    def find_reduction(self, plan: Plan, params: Any, others: list[Any]) -> str:
        """How the function puts rows together, by what it makes of the first rows."""
        if self.reduction is not None and not self.check:
            return self.reduction
        return find_reduction(self.title, self.function, params, *self.sample(plan, others), self.reduction)

    def sample(self, plan: Plan, others: list[Any]) -> tuple[Callable[[int, int], tuple[Any, ...]], int, list[int]]:
        """The arguments with some of the first rows, as a function; how many these are; which arguments have rows."""
        rows = plan.rows
        arrays = plan.engine.compute(rows.sample(ROWS))

        def cut(start: int, stop: int) -> tuple[Any, ...]:
            return fill_arguments(rows.form, others, rows.places, [x[start:stop] for x in arrays])

        whole = [place for place, argument in enumerate(rows.form) if argument in rows.places]
        return cut, len(arrays[0]), whole

    def total(self, kind: str, params: Any, extra: Any, plan: Plan, others: list[Any]) -> Part:
        """The sum over all chunks, weighted by rows if the function is a mean, and divided by their number then."""
        rows, is_mean = plan.rows, plan.reduction == "mean"
        shared = Broadcast(params, extra, rows.form, others, rows.places, is_mean, self.jit)
        label = f"{function_name(self.function)}-{kind}"
        part = plan.engine.run(label, self.program(kind), shared, plan.blocks, rows)
        if is_mean:
            for array in part.arrays:
                np.divide(array, float(rows.total), out=array)
        return part

    def with_penalty(self, part: Part, derivative: Callable[[Function], Any]) -> Part:
        """The part plus what `derivative` gives for the penalty, which does not depend on rows."""
        if self.penalty is not None:
            with one_thread():
                found = leaves(derivative(self.penalty))
            for array, more in zip(part.arrays, found, strict=True):
                np.add(array, more, out=array)
        return part


class ValueAndGrad(RowFunction):
    """The value and the gradient of a function that is a sum or a mean of rows."""

    def __call__(self, params: Any, *args: Any) -> tuple[Any, Any]:
        """The value and the gradient at `params`, as NumPy arrays."""
        params = _as_numpy(params, self.title)
        plan, others = self.plan(params, args)
        part = self.total("value_and_grad", params, None, plan, others)
        part = self.with_penalty(part, lambda penalty: value_and_grad_here(penalty)(params))
        found = [hand_out(array, dtype) for array, dtype in zip(part.arrays, part.dtypes, strict=True)]
        return found[0], rebuild(params, found[1:])

    def value(self, params: Any, *args: Any) -> Any:
        """The value alone."""
        params = _as_numpy(params, self.title)
        plan, others = self.plan(params, args)
        part = self.total("sums", params, None, plan, others)
        part = self.with_penalty(part, lambda penalty: plain(penalty(params)))
        return hand_out(part.arrays[0], part.dtypes[0])


class ValueAndGradOfSums(RowFunction):
    """The value and the gradient of `finish(sums)`, where the function gives sums over rows."""

    def __init__(self, name: str, function: Function, finish: Function, **options: Any) -> None:
        super().__init__(name, function, **options)
        self.finish = finish
        if not callable(finish):
            raise argument_error(
                OperandError, f"{self.title}: finish is a {type(finish).__name__}.", "a function of the sums"
            )
        if self.reduction == "mean":
            raise argument_error(
                OperandError, f'{self.title}: reduction="mean" and finish=.', "return sums, and divide in finish"
            )

    def find_reduction(self, plan: Plan, params: Any, others: list[Any]) -> str:
        """The sums have to be sums: with random weights, their sum is one."""
        if not self.check:
            return "sum"
        cut, rows, places = self.sample(plan, others)
        with one_thread():
            shapes = [np.shape(_as_numpy(x, self.title)) for x in leaves(self.function(params, *cut(0, rows)))]
        random = np.random.default_rng(0)
        weights = [random.uniform(0.5, 1.5, shape) for shape in shapes]

        @functools.wraps(self.function)
        def weighted(params: Any, *args: Any) -> Any:
            return weighted_sum(self.function(params, *args), weights)

        return find_reduction(self.title, weighted, params, cut, rows, places, "sum")

    def __call__(self, params: Any, *args: Any) -> tuple[Any, Any]:
        """The value and the gradient at `params`: a pass for the sums, and one for the gradient."""
        params = _as_numpy(params, self.title)
        plan, others = self.plan(params, args)
        part = self.total("sums", params, None, plan, others)
        arrays = [hand_out(array, dtype) for array, dtype in zip(part.arrays, part.dtypes, strict=True)]
        sums = map_structure(lambda number: arrays[number], part.form)
        value, seeds = value_and_grad_here(self.finish)(sums)
        part = self.total("pulled_sums", params, seeds, plan, others)
        if self.penalty is not None:
            with one_thread():
                more, gradient = value_and_grad_here(self.penalty)(params)
            value = value + more
            part = self.with_penalty(part, lambda penalty: gradient)
        found = [hand_out(array, dtype) for array, dtype in zip(part.arrays, part.dtypes, strict=True)]
        return value, rebuild(params, found)


class HessianProduct(RowFunction):
    """The Hessian of a sum or a mean of rows, times a vector."""

    def __call__(self, params: Any, vector: Any, *args: Any) -> Any:
        """The product at `params`, in their structure."""
        params, vector = _as_numpy(params, self.title), _as_numpy(vector, self.title)
        plan, others = self.plan(params, args)
        part = self.total("hvp", params, vector, plan, others)
        part = self.with_penalty(part, lambda penalty: hvp_here(penalty, params, vector))
        return rebuild(params, [hand_out(*each) for each in zip(part.arrays, part.dtypes, strict=True)])


class Hessian(RowFunction):
    """The Hessian of a sum or a mean of rows."""

    def __call__(self, params: Any, *args: Any) -> Any:
        """The matrix at `params`; for a structure of parameters, a structure of structures of blocks."""
        params = _as_numpy(params, self.title)
        plan, others = self.plan(params, args)
        part = self.with_penalty(
            self.total("hessian", params, None, plan, others), lambda penalty: hessian_here(penalty)(params)
        )
        arrays = [hand_out(*each) for each in zip(part.arrays, part.dtypes, strict=True)]
        return map_structure(lambda number: arrays[number], part.form)


class GaussNewton(RowFunction):
    """J^T J of residuals of rows, times a vector."""

    def find_reduction(self, plan: Plan, params: Any, others: list[Any]) -> str:
        """A sum over residuals, each of which belongs to a row."""
        if self.check:
            with one_thread():
                check_residuals(self.title, self.function, params, *self.sample(plan, others))
        return "sum"

    def __call__(self, params: Any, vector: Any, *args: Any) -> Any:
        """The product at `params`, in their structure."""
        params, vector = _as_numpy(params, self.title), _as_numpy(vector, self.title)
        plan, others = self.plan(params, args)
        part = self.total("gauss_newton", params, vector, plan, others)
        return rebuild(params, [hand_out(*each) for each in zip(part.arrays, part.dtypes, strict=True)])


class NormalEquations(GaussNewton):
    """J^T J, J^T r and r^T r of residuals r of rows, whose parameters are a vector."""

    def __call__(self, params: Any, *args: Any) -> tuple[Any, Any, Any]:
        """The matrix, the vector and the number at `params`."""
        plan, others = self.plan(params, args)
        part = self.total("normal_equations", params, None, plan, others)
        matrix, slope, squares = (hand_out(*each) for each in zip(part.arrays, part.dtypes, strict=True))
        return matrix, slope, squares


def _as_numpy(tree: Any, title: str) -> Any:
    """A structure with the numbers of its tensors; a tensor that a tape records would lose its gradient."""

    def numbers(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return x
        if is_recorded(x):
            raise argument_error(
                TapeError,
                f"{title}: an argument is recorded on a tape, which does not reach into other processes.",
                "call it outside of the tape, with x.numpy(); the derivatives that it gives are those of one call",
            )
        return concrete(x)

    return map_structure(numbers, tree)


def value_and_grad(
    function: Function,
    *,
    reduction: str | None = None,
    finish: Function | None = None,
    penalty: Function | None = None,
    hold: bool | None = None,
    groups: int | None = None,
    on: Any = None,
    check: bool = True,
    jit: bool = True,
) -> Callable[..., tuple[Any, Any]]:
    """The value and gradient of `function(params, *args)`, a sum or a mean over rows of Dask arrays among `args`.

    The gradient is by `params`, in their structure and dtypes. Chunks are computed one by one where they are: on
    threads of this process, so that data may exceed memory, or on the workers of a cluster if there is a current
    client. The answer is that of all rows in one call, up to rounding, with the same bits on any number of workers.

    - `reduction`: "mean" or "sum"; None finds out. Either is checked on some rows, unless `check=False`, and a loss
      that is neither is refused (GT601).
    - `finish`: for functions of sums: `function` returns sums over rows, and `finish(sums)` is the value.
    - `penalty`: a function of the parameters alone, which is added once.
    - `hold`: True keeps the chunks in memory from call to call, False reads them again; None holds them on a cluster if
      they take up half of its memory at most.
    - `groups`: the number of chunks a task, a power of two; None chooses.
    - `on`: None for the current client of `distributed`, else threads; "threads", "synchronous", a client, an executor;
      `Shards` for hundreds of workers, a communicator of mpi4py for steps of milliseconds.
    - `jit=False` runs the function as it is instead of compiling it.

    >>> import gradtape as gt
    >>> from gradtape import distributed as gd
    >>> loss = lambda w, X, y: np.mean((X @ w - y) ** 2)
    >>> f = gd.value_and_grad(loss, reduction="mean")
    >>> f
    <gt.distributed.value_and_grad of <lambda>>
    """
    options = {
        **{"reduction": reduction, "penalty": penalty, "hold": hold, "groups": groups},
        **{"on": on, "check": check, "jit": jit},
    }
    if finish is not None:
        return ValueAndGradOfSums("value_and_grad", function, finish, **options)
    return ValueAndGrad("value_and_grad", function, **options)


def grad(function: Function, **options: Any) -> Callable[..., Any]:
    """The gradient of a sum or a mean over rows of Dask arrays; `options` are those of `value_and_grad`.

    >>> from gradtape import distributed as gd
    >>> gd.grad(lambda w, X: np.mean((X @ w) ** 2)).__name__
    '<lambda>'
    """
    with_value = value_and_grad(function, **options)

    @functools.wraps(function)
    def gradient(params: Any, *args: Any) -> Any:
        return with_value(params, *args)[1]

    return gradient


def hvp(function: Function, **options: Any) -> Callable[..., Any]:
    """A function `(params, vector, *args)`: the Hessian of a sum or a mean over rows of Dask arrays, times a vector.

    It is what SciPy takes as `hessp=`. `options` are those of `value_and_grad`, without `finish`.

    >>> from gradtape import distributed as gd
    >>> gd.hvp(lambda w, X: np.mean((X @ w) ** 2))
    <gt.distributed.hvp of <lambda>>
    """
    return HessianProduct("hvp", function, **options)


def hessian(function: Function, **options: Any) -> Callable[..., Any]:
    """The Hessian of a sum or a mean over rows of Dask arrays.

    It is what SciPy takes as `hess=`. `options` are those of `value_and_grad`, without `finish`.

    >>> from gradtape import distributed as gd
    >>> gd.hessian(lambda w, X: np.mean((X @ w) ** 2))
    <gt.distributed.hessian of <lambda>>
    """
    return Hessian("hessian", function, **options)


def gauss_newton(
    residuals: Function,
    *,
    hold: bool | None = None,
    groups: int | None = None,
    on: Any = None,
    check: bool = True,
    jit: bool = True,
) -> Callable[..., Any]:
    """A function `(params, vector, *args)`: J^T J times a vector, J the Jacobian of `residuals(params, *args)`.

    The residuals have a row for each row of the Dask arrays among `args`. The options are those of `value_and_grad`.

    >>> from gradtape import distributed as gd
    >>> gd.gauss_newton(lambda w, X, y: X @ w - y)
    <gt.distributed.gauss_newton of <lambda>>
    """
    return GaussNewton("gauss_newton", residuals, hold=hold, groups=groups, on=on, check=check, jit=jit)
