"""Whether a loss is a sum or a mean over its rows; if not, the line where rows meet otherwise.

Some rows are cut in two: the values and gradients of both parts, put together as a sum and as a mean, are compared with
those of all, at the parameters that were given and at others nearby. What depends on more rows than these is not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.checking.audit_batch import ancestors_of, push_example
from gradtape.errors import GradTapeError, OperandError
from gradtape.extend import (
    RecordedCall,
    Tensor,
    argument_error,
    function_name,
    leaves,
    map_structure,
    node_of,
    plain,
    problem,
    record_call,
    withhold,
)
from gradtape.transforms.gradients import value_and_grad

if TYPE_CHECKING:
    from gradtape.extend import Span

Function = Callable[..., Any]
Cut = Callable[[int, int], tuple[Any, ...]]
"""The arguments with the rows from one number to another."""
ROWS = 96
"""How many rows are looked at, at most."""


def find_reduction(
    title: str, function: Function, params: Any, cut: Cut, rows: int, places: list[int], declared: str | None
) -> str:
    """ "mean" or "sum": how the loss puts its rows together. Raises GT601 if it does neither, or not as declared.

    `places` are the numbers of the arguments that have rows, to say where these meet.
    """
    if rows < 2:
        return declared or "mean"
    whole, one, two = _whole_and_parts(function, params, cut, rows)
    if not all(np.isfinite(x).all() for x in (*whole, *one, *two)):
        return _undecided(title, function, declared, f"its value or gradient for the first {rows} rows is not finite")
    errors = _errors(whole, one, two, rows)
    tolerance = 1e-4 if any(x.dtype.itemsize <= 4 for x in whole) else 1e-9
    for there, parts in _elsewhere(function, params, cut, rows):
        more = _errors(parts[0], parts[1], parts[2], rows)
        if any(errors[name] <= tolerance < error for name, error in more.items()):  # it is told there what it is
            params, (whole, one, two) = there, parts
        errors = {name: max(error, more[name]) for name, error in errors.items()}
    fitting = [name for name, error in errors.items() if error <= tolerance]
    if declared is not None and declared in fitting:
        return declared
    if len(fitting) == 2:
        return _undecided(title, function, declared, f"its value and gradient for the first {rows} rows are zero")
    if len(fitting) == 1 and declared is None:
        return fitting[0]
    surplus = [a + b - c for a, b, c in zip(one, two, whole, strict=True)]
    raise _refusal(title, function, params, cut, rows, places, errors, fitting, declared, surplus)


def _whole_and_parts(function: Function, params: Any, cut: Cut, rows: int) -> list[list[Any]]:
    """Value and gradient of all rows, of their first third, and of the rest."""
    first = _first_part(rows)
    with withhold():  # what there is to say of the loss is said when it runs
        return [_numbers(function, params, cut(*ends)) for ends in ((0, rows), (0, first), (first, rows))]


def _first_part(rows: int) -> int:
    return max(1, rows // 3)


def _errors(whole: list[Any], one: list[Any], two: list[Any], rows: int) -> dict[str, float]:
    """By how much the parts are off, put together as a mean and as a sum."""
    first = _first_part(rows)
    return {
        "mean": _distance(whole, [(first * a + (rows - first) * b) / rows for a, b in zip(one, two)], one, two),
        "sum": _distance(whole, [a + b for a, b in zip(one, two)], one, two),
    }


def _elsewhere(function: Function, params: Any, cut: Cut, rows: int) -> Iterator[tuple[Any, list[list[Any]]]]:
    """Parameters nearby, with value and gradient of all rows and of both parts, if the loss is finite there.

    At zeros, where fits often start, all rows may have the same value: then the root of a mean is the mean of roots.
    """
    random = np.random.default_rng(0)

    def moved(x: Any) -> Any:
        array = np.asarray(x)
        if array.dtype.kind != "f":
            return x
        step = 0.1 * (1.0 + np.abs(array)) * random.uniform(-1.0, 1.0, array.shape)
        return (array + step).astype(array.dtype)[()]

    try:
        with np.errstate(all="ignore"):
            there = map_structure(moved, params)
            found = _whole_and_parts(function, there, cut, rows)
    except Exception:  # a matrix that is not positive there, a range that is left: nothing is asked of the loss there
        return
    if all(np.isfinite(x).all() for numbers in found for x in numbers):
        yield there, found


def _numbers(function: Function, params: Any, args: tuple[Any, ...]) -> list[Any]:
    """The value and the gradient as arrays, of the precision that they were computed in."""
    value, gradient = value_and_grad(function)(params, *args)
    return [np.asarray(plain(x)) for x in (value, *leaves(gradient))]


def _distance(whole: list[Any], combined: list[Any], one: list[Any], two: list[Any]) -> float:
    """The largest difference, relative to the largest number of what it belongs to."""
    found = 0.0
    for each in zip(whole, combined, one, two, strict=True):
        scale = max(float(np.max(np.abs(x), initial=0.0)) for x in each)
        difference = float(np.max(np.abs(np.asarray(each[0], complex) - each[1]), initial=0.0))
        found = max(found, difference / scale if scale else 0.0)
    return found


def _undecided(title: str, function: Function, declared: str | None, why: str) -> str:
    if declared is not None:
        return declared
    raise argument_error(
        OperandError,
        f"{title}: whether {function_name(function)} is a sum or a mean of rows cannot be seen, as {why}.",
        'reduction="mean" or reduction="sum"; or start from other parameters',
    )


def _refusal(
    title: str,
    function: Function,
    params: Any,
    cut: Cut,
    rows: int,
    places: list[int],
    errors: dict[str, float],
    fitting: list[str],
    declared: str | None,
    surplus: list[Any],
) -> GradTapeError:
    """The error that says by how much the loss is off, where rows meet, and what to do."""
    name = function_name(function)
    if fitting:
        found = problem(
            "GT601",
            f'{title}: reduction="{declared}", but {name} is a {fitting[0]} of rows',
            consequence=f"as a {declared}, its value or gradient is off by {errors[str(declared)]:.1g} of its size",
            fixes=f'reduction="{fitting[0]}", or leave reduction out: it is found out',
        )
        return OperandError(found)
    spans = find_meetings(function, params, cut(0, rows), places)
    fixes = [
        "a function of sums over all rows: finish=, with a function that returns the sums",
        "a term of the parameters alone, beside a sum over rows: penalty=",
    ]
    if _is_constant_surplus(function, params, cut, rows, surplus):
        fixes.reverse()
        spans = [span.labelled("a term without rows is added to their sum, and counted once a chunk") for span in spans]
    found = problem(
        "GT601",
        f"{title}: {name} is neither a sum nor a mean of rows",
        spans=[*spans] or None,
        consequence=(
            f"put together from the parts of {rows} rows, its value or gradient is off by {errors['mean']:.1g} of its "
            f"size as a mean, {errors['sum']:.1g} as a sum"
        ),
        fixes=fixes,
    )
    return OperandError(found)


def _is_constant_surplus(function: Function, params: Any, cut: Cut, rows: int, surplus: list[Any]) -> bool:
    """Whether four rows give the same surplus over a sum: a term without rows is counted once for each part."""
    if rows <= 4:
        return False
    with withhold(), np.errstate(all="ignore"):
        whole, one, two = (_numbers(function, params, cut(*ends)) for ends in ((0, 4), (0, 2), (2, 4)))
    found = [a + b - c for a, b, c in zip(one, two, whole, strict=True)]
    return _distance(found, surplus, found, surplus) < 1e-4


def find_meetings(function: Function, params: Any, args: tuple[Any, ...], places: list[int]) -> list[Span]:
    """Where two rows meet first, and the first operation behind that which is not linear; empty if it is not known."""
    from gradtape.extend import span_of  # with the modules that read source files, which are loaded when needed

    numbers = [1 + place for place in places if np.asarray(args[place]).dtype.kind == "f"]
    if not numbers:
        return []
    with withhold():
        run = record_call(function, (params, *args), {}, numbers)
        nodes = _nodes_before(run)
        moved = [push_example(run, nodes, example) for example in (0, 1)] if nodes else [[], []]
    spans: list[Span] = []
    for node, one, two in zip(nodes, *moved):
        if one is None or two is None or node.op is None or node.op.outputs or node.op.part is not None:
            continue
        both = (np.asarray(one) != 0) & (np.asarray(two) != 0)
        if both.shape != node.shape or not both.any():
            continue
        if not spans:
            spans.append(span_of(node.location, "rows meet here"))
        if not _is_linear_in(node, nodes):
            spans.append(span_of(node.location, "applied to what all rows gave together"))
            break
    return spans[::-1] if len(spans) > 1 and spans[0] != spans[-1] else spans[:1]


def _is_linear_in(node: Any, nodes: list[Any]) -> bool:
    """Whether what an operation gives is linear in those of its operands that depend on the rows."""
    if node.op.kind == "linear" or node.op.name in ("add", "subtract", "negative"):
        return True
    known = set(nodes)
    moving = [place for place, parent in enumerate(node.parents) if parent in known]
    if node.op.kind == "multilinear" or node.op.name == "multiply":
        return len(moving) == 1
    return node.op.name == "divide" and moving == [0]


def _nodes_before(run: RecordedCall) -> list[Any]:
    """The operations behind the value of a loss, the oldest first; none if one of them has no forward rule."""
    output = run.result
    if not isinstance(output, Tensor):
        return []
    last = node_of(output)
    nodes: list[Any] = [node for node in (last, *ancestors_of(last, run.tape.bit)) if node.op is not None]
    nodes.sort(key=lambda node: node.order)
    if any(node.op.forward is None and node.op.part is None for node in nodes):
        return []
    return nodes


def check_residuals(title: str, function: Function, params: Any, cut: Cut, rows: int, places: list[int]) -> None:
    """Raise GT601 unless the residuals of all rows are those of the first ones, and then those of the others."""
    if rows < 2:
        return
    first = max(1, rows // 3)
    with withhold():
        whole, one, two = (
            [np.asarray(plain(x)) for x in leaves(function(params, *cut(*ends)))]
            for ends in ((0, rows), (0, first), (first, rows))
        )
    name = function_name(function)
    for all_rows, a, b in zip(whole, one, two, strict=True):
        if not all_rows.ndim or len(all_rows) != rows or len(a) + len(b) != rows:
            raise argument_error(
                OperandError,
                f"{title}: {name} returned an array of shape {all_rows.shape} for {rows} rows.",
                "residuals with a row for each row of data: no sum or mean over them",
            )
        joined = np.concatenate([a, b])
        tolerance = 1e-4 if all_rows.dtype.itemsize <= 4 else 1e-9
        error = _distance([all_rows], [joined], [joined], [joined])
        if not error <= tolerance and np.isfinite(all_rows).all():
            raise OperandError(
                problem(
                    "GT601",
                    f"{title}: the residuals of a row that {name} gives depend on the other rows",
                    consequence=f"cut in two, {rows} rows have residuals that are off by {error:.1g} of their size",
                    fixes="what is taken of all rows (a mean, a maximum) computed before, and passed in",
                )
            )
