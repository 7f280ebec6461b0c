"""`scan` and `fori_loop`: what goes in and comes out is checked here, and the steps are run, traced or checkpointed."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.early_binding import bind_early
from gradtape.core.location import Location
from gradtape.core.operation import Lifted, Op, apply
from gradtape.core.pytree import leaves, rebuild
from gradtape.core.tensor import Tensor, is_tracked
from gradtape.core.unshared import unshare
from gradtape.errors import OperandError
from gradtape.loops import checks, memory
from gradtape.ops import concatenate, stack

Function = Callable[..., Any]
ScanTracer = Callable[[Function, Any, Any, int, bool, int | None, bool], tuple[Any, Any] | None]
"""Gives the results of a scan (f, carry, xs, steps, reverse, memory, recompute) as those of one loop of a program that
is being traced; None if none is, or if the steps have to be traced one by one. With `recompute`, the carries are all
that is kept for a gradient."""
_tracers: list[ScanTracer] = []


def register_tracer(trace: ScanTracer) -> None:
    """Ask `trace` before the steps of a scan are run. `jit` registers its own when it is loaded."""
    _tracers.append(trace)


def scan(
    f: Function,
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    memory: float | None = None,
) -> tuple[Any, Any]:
    """Carry a value through a loop: `carry, y = f(carry, x)` for each row x of `xs`; the last carry, and the y stacked.

    `init`, `xs`, the carry and y are nested structures of arrays. The carry keeps its structure, shapes and dtypes from
    step to step. All arrays of `xs` have the same number of rows; without `xs`, `length` says how many steps there are,
    and f is given None. With `reverse`, the rows are taken from the last to the first, and each y is put where its x
    was. The arrays that f is given are its own: it may write to them, and neither `init` nor `xs` nor what was stacked
    before changes. What is differentiated, mapped or compiled around it goes through, to any order.

    For a gradient, the intermediate values of all steps are kept. `memory`, in bytes, says how much they may take: some
    carries are kept then, and steps are run again on the walk back, once or several times as needed.

    >>> import numpy as np, gradtape as gt
    >>> def step(h, x):
    ...     h = np.tanh(0.5 * h + x)
    ...     return h, h**2
    >>> last, squares = gt.scan(step, np.zeros(2), np.ones((4, 2)))
    >>> last.shape, squares.shape
    ((2,), (4, 2))
    >>> gradient = gt.grad(lambda h: gt.scan(step, h, np.ones((1000, 2)), memory=300_000)[1].sum())(np.zeros(2))
    >>> gradient.shape
    (2,)
    """
    f = bind_early(f)
    steps = checks.number_of_steps(xs, length)
    budget = checks.as_bytes(memory)
    carry = checks.as_carry(init)
    for trace in _tracers if steps else ():
        found = trace(f, carry, xs, steps, reverse, budget, False)
        if found is not None:
            return found
    if any(isinstance(x, Lifted) for x in leaves((carry, xs))):
        budget = None
    return _scan(f, carry, xs, steps, reverse, budget)


def scan_in_trace(f: Function, init: Any, xs: Any, recompute: bool) -> Any:
    """The results of a scan as those of one loop of the program that is traced; None if that is not possible."""
    carry, steps = checks.as_carry(init), checks.number_of_steps(xs, None)
    for trace in _tracers:
        found = trace(f, carry, xs, steps, False, None, recompute)
        if found is not None:
            return found
    return None


def fori_loop(lower: int, upper: int, body: Function, init: Any, memory: float | None = None) -> Any:
    """`value = body(i, value)` for i = lower, ..., upper - 1, from `init` on; the last value.

    `init` is a nested structure of arrays, and the value keeps its structure, shapes and dtypes. `memory` is as in
    `scan`.

    >>> import numpy as np, gradtape as gt
    >>> gt.fori_loop(0, 5, lambda i, value: value + i, np.float64(0.0))
    np.float64(10.0)
    >>> def power(x, n):
    ...     return gt.fori_loop(0, n, lambda i, value: value * x, np.ones(()))
    >>> gt.grad(power)(3.0, 4)
    np.float64(108.0)
    """
    bounds = []
    for what, bound in (("lower", lower), ("upper", upper)):
        try:
            bounds.append(operator.index(bound))
        except TypeError:
            raise OperandError(
                f"fori_loop: {what} is a {type(bound).__name__}; the number of steps has to be known, so an integer is "
                f"wanted.\n{Location.here().show()}\n  fix: int({what}), or gt.scan over the rows of an array"
            ) from None
    counter = np.arange(bounds[0], max(bounds))
    step = _Counted(bind_early(body))
    return scan(step, init, counter, memory=memory)[0]


class _Counted:
    """The body of a `fori_loop` as that of a scan."""

    loop = "fori_loop"

    def __init__(self, body: Function) -> None:
        self.body = body
        self.__name__ = getattr(body, "__name__", "body")
        self.__wrapped__ = body

    def __call__(self, carry: Any, i: Any) -> tuple[Any, None]:
        return self.body(i, carry), None


# -- running the steps


def _scan(f: Function, carry: Any, xs: Any, steps: int, reverse: bool, budget: int | None) -> tuple[Any, Any]:
    if not steps:
        return carry, checks.empty_results(f, carry, xs)
    checked = checks.CheckedBody(f, carry)
    if budget is None or steps == 1:
        return _run(checked, carry, xs, steps, reverse)
    # the first step is recorded as it is, and what it keeps is measured: no step is run just to be measured
    edge = steps - 1 if reverse else 1
    pieces = [_pieces(leaf, [0, edge, steps]) for leaf in leaves(xs)]
    one, others = (1, 0) if reverse else (0, 1)
    x = rebuild(xs, unshare([None if of is None else of[one][0] for of in pieces]))
    before = carry
    each, (carry, y) = memory.record_step(
        lambda: checked.step(rebuild(before, unshare(leaves(before))), x, 0 if not reverse else edge)
    )
    form, first = rebuild(y, [None] * len(leaves(y))), [_stacked([part]) for part in unshare(leaves(y))]
    plan = memory.choose_plan(each, before, steps, budget)
    rest = rebuild(xs, [None if of is None else of[others] for of in pieces])
    if plan.levels:
        carry, ys = _in_segments(f, carry, rest, steps - 1, reverse, plan, plan.levels)
    else:
        carry, ys = _run(checked, carry, rest, steps - 1, reverse, 0 if reverse else 1)
    pairs = zip(leaves(ys), first, strict=True) if reverse else zip(first, leaves(ys), strict=True)
    return carry, rebuild(form, [_joined(pair) for pair in pairs])


def _run(
    checked: checks.CheckedBody, carry: Any, xs: Any, steps: int, reverse: bool, first: int = 0
) -> tuple[Any, Any]:
    """Step by step, recorded as ever; `first` is the number of the first row, for messages."""
    rows = [_rows(leaf) for leaf in leaves(xs)]
    form, flat = carry, leaves(carry)
    results: list[list[Any]] = []
    form_of_results: Any = None
    for t in reversed(range(steps)) if reverse else range(steps):
        x = rebuild(xs, unshare([None if of is None else of[t] for of in rows]))
        carry, y = checked.step(rebuild(form, unshare(flat)), x, first + t)
        flat, parts = leaves(carry), leaves(y)
        form_of_results = rebuild(y, [None] * len(parts))
        del carry, y, x  # so that the lists have the only references to what nothing else has
        results.append(unshare(parts))
    if reverse:
        results.reverse()
    columns = [_stacked(column) for column in zip(*results, strict=True)]
    return rebuild(form, flat), rebuild(form_of_results, columns)


def _in_segments(
    f: Function, carry: Any, xs: Any, steps: int, reverse: bool, plan: memory.SegmentPlan, levels: int
) -> tuple[Any, Any]:
    """In segments of which only the first carry is kept; they are run again, in segments themselves, to walk back."""
    size = plan.segment * plan.branching ** (levels - 1)
    bounds = [*range(0, steps, size), steps]
    pieces = [_pieces(leaf, bounds) for leaf in leaves(xs)]
    results: list[list[Any]] = []
    ys: Any = None
    numbers = range(len(bounds) - 1)
    for number in reversed(numbers) if reverse else numbers:
        part = rebuild(xs, [None if of is None else of[number] for of in pieces])
        count = bounds[number + 1] - bounds[number]
        carry, ys = plan.kept(_Segment(f, count, reverse, plan, levels - 1))(carry, part)
        results.append(leaves(ys))
    if reverse:
        results.reverse()
    return carry, rebuild(ys, [_joined(column) for column in zip(*results, strict=True)])


class _Segment:
    """Some of the steps, as a function of the carry before them and their rows."""

    def __init__(self, f: Function, steps: int, reverse: bool, plan: memory.SegmentPlan, levels: int) -> None:
        self.f, self.steps, self.reverse, self.plan, self.levels = f, steps, reverse, plan, levels
        self.__name__ = getattr(f, "__name__", "f")
        self.__wrapped__ = f

    def __call__(self, carry: Any, xs: Any) -> tuple[Any, Any]:
        if self.levels and self.steps > self.plan.segment:
            return _in_segments(self.f, carry, xs, self.steps, self.reverse, self.plan, self.levels)
        return _run(checks.CheckedBody(self.f, carry), carry, xs, self.steps, self.reverse)


def _stacked(column: Sequence[Any]) -> Any:
    if column[0] is None:
        return None
    return stack(column) if any(isinstance(y, Tensor) for y in column) else np.stack(column)


def _joined(column: Sequence[Any]) -> Any:
    if column[0] is None:
        return None
    return concatenate(column) if any(isinstance(y, Tensor) for y in column) else np.concatenate(column)


# -- rows and pieces of what is differentiated: their cotangents are put together once, and not one by one in zeros


def _parts_kernel(x: Any, bounds: Sequence[int] | None) -> tuple[Any, ...]:
    if bounds is None:
        return tuple(x)
    return tuple([x[begin:end] for begin, end in itertools.pairwise(bounds)])


def _parts_reverse(g: Any, node: Any, out: Any, inputs: Any) -> tuple[Any]:
    together = np.stack if node.params["bounds"] is None else np.concatenate
    return (together(list(g)),)


def _parts_forward(node: Any, out: Any, inputs: Any, tangents: Any) -> tuple[Any, ...]:
    bounds = node.params["bounds"]
    tangent = tangents[0]
    if bounds is None:
        return tuple([tangent[t] for t in range(tangent.shape[0])])
    return tuple([tangent[begin:end] for begin, end in itertools.pairwise(bounds)])


PARTS = Op("parts", _parts_kernel, reverse=_parts_reverse, forward=_parts_forward, needs=(frozenset(),), outputs=True)
"""The rows of an array; or, with `bounds`, stretches of them."""


def _rows(leaf: Any) -> Any:
    """The rows of an array, by number."""
    if isinstance(leaf, Tensor) and not isinstance(leaf, Lifted) and is_tracked(leaf):
        return apply(PARTS, (leaf,), {"bounds": None})
    return leaf


def _pieces(leaf: Any, bounds: list[int]) -> Any:
    if leaf is None:
        return None
    if isinstance(leaf, Tensor) and is_tracked(leaf):
        return apply(PARTS, (leaf,), {"bounds": bounds})
    return [leaf[begin:end] for begin, end in itertools.pairwise(bounds)]
