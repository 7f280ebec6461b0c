"""NaN and infinity inside `jax.lax.scan`, `cond` and `jax.checkpoint`, which are recorded as one operation each.

What they execute is evaluated again with NumPy, equation by equation, until one makes a number that is not finite. JAX
keeps the line of the user's code with each equation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.location import Location, is_library
from gradtape.explain.detectors.nonfinite.origin import forward_origin_problem
from gradtape.explain.model.problem import Problem
from gradtape.explain.source.operation_site import is_finite
from gradtape.watching.computation import RecordedComputation
from gradtape.watching.jax.evaluate import evaluate, evaluate_jaxpr
from gradtape.watching.jax.operations import called_jaxpr, describe
from gradtape.watching.jax.replay import replay_of
from gradtape.watching.record import CONSTANT, ArrayValue, OperandSpec, OperationRecord, WatchedRecord

STEPS_AT_MOST = 2000


class Body(NamedTuple):
    """What an operation with a body executes."""

    primitive: Any
    params: Mapping[str, Any]


class _Found(Exception):
    """An equation that made a number which is not finite of finite ones."""

    def __init__(self, equation: Any, inputs: Sequence[Any], result: Any, step: int | None) -> None:
        super().__init__()
        self.equation, self.inputs, self.result, self.step = equation, inputs, result, step


def nonfinite_origin(computation: RecordedComputation, bodies: Mapping[WatchedRecord, Body]) -> Problem | None:
    """The problem for the first equation in a loop or branch that returned NaN or infinity; None if there is none."""
    for record in reversed(computation.records):
        body = bodies.get(record)
        inputs = computation.inputs(record) if body is not None else []
        if body is None or any(value is None or not _is_finite(value) for value in inputs):
            continue
        try:
            _execute(body, inputs)
        except _Found as found:
            return _problem(found)
    return None


def _is_finite(value: Any) -> bool:
    return not isinstance(value, np.ndarray | np.generic) or is_finite(np.asarray(value))


def _execute(body: Body, inputs: Sequence[Any]) -> None:
    """Evaluate a body until an equation makes a number that is not finite, which is raised as `_Found`."""
    name, params = body.primitive.name, body.params
    if name == "scan":
        consts, carries = params["num_consts"], params["num_carry"]
        fixed, carried, rows = inputs[:consts], list(inputs[consts : consts + carries]), inputs[consts + carries :]
        order = range(params["length"])
        for step in list(reversed(order) if params["reverse"] else order)[:STEPS_AT_MOST]:
            results = _evaluate(params["jaxpr"], [*fixed, *carried, *(row[step] for row in rows)], step)
            carried = results[:carries]
    elif name == "cond":
        _evaluate(params["branches"][int(inputs[0])], inputs[1:], None)
    else:
        jaxpr = called_jaxpr(name, params)
        if jaxpr is not None:
            _evaluate(jaxpr, inputs, None)


def _evaluate(jaxpr: Any, values: Sequence[Any], step: int | None) -> list[Any]:
    def observe(equation: Any, given: Sequence[Any]) -> list[Any]:
        results = evaluate(equation.primitive, equation.params, given)
        if all(map(_is_finite, given)) and not all(map(_is_finite, results)):
            inner = Body(equation.primitive, equation.params)
            if equation.primitive.name in BODIES or _line_of(equation) is None:
                _execute(inner, given)
            raise _Found(equation, given, next(r for r in results if not _is_finite(r)), step)
        return results

    return evaluate_jaxpr(jaxpr, values, observe)


BODIES: frozenset[str] = frozenset({"scan", "cond", "remat2", "checkpoint", "remat"})
"""Primitives with a body that is looked into."""


def _line_of(equation: Any) -> Location | None:
    """The user's line that an equation was traced from."""
    trace = getattr(equation.source_info, "traceback", None)
    if trace is None or not hasattr(trace, "raw_frames"):
        return None
    for code, offset in zip(*trace.raw_frames()):
        if not is_library(code.co_filename):
            return Location(code, offset)
    return None


def _problem(found: _Found) -> Problem | None:
    location = _line_of(found.equation)
    if location is None:
        return None
    problem = _origin_problem(found.equation.primitive, found.equation.params, found.inputs, found.result, location)
    if found.step is None:
        return problem
    notes = [f"in step {found.step} of the loop", *problem.details.get("notes", ())]
    return problem.with_(details={**problem.details, "notes": notes})


def _origin_problem(
    primitive: Any, params: Mapping[str, Any], given: Sequence[Any], value: Any, location: Location
) -> Problem:
    """The problem for a primitive that returned NaN or infinity for these operands."""
    inputs, result = list(given), np.asarray(value)
    shapes = [np.shape(operand) for operand in inputs]
    operation = describe(primitive.name, params, shapes, result.shape, called_jaxpr(primitive.name, params))
    replay = replay_of(lambda *values: primitive.bind(*values, **params), primitive.multiple_results)
    ordered = inputs
    if operation.order is not None:
        ordered = [inputs[index] for index in operation.order]
        replay = replay.reordered([operation.order.index(index) for index in range(len(inputs))])
    record = OperationRecord(
        operation.name,
        operation.kind,
        operation.params,
        [CONSTANT] * len(ordered),
        [OperandSpec(np.shape(operand), np.asarray(operand).dtype, False) for operand in ordered],
        [ArrayValue(np.asarray(operand)) for operand in ordered],
        result.shape,
        result.dtype,
        location,
        kept=ArrayValue(result),
        replay=replay.as_replay(),
        library="jax",
    )
    return forward_origin_problem(RecordedComputation([(record, np.ones_like(result))]), record)


# -- what was computed from constants


class SpoiledConstant(NamedTuple):
    """An operation on arrays without a gradient that returned NaN or infinity for finite numbers."""

    primitive: Any
    params: Mapping[str, Any]
    inputs: Sequence[Any]
    result: Any
    location: Location


def spoiled_constant(
    primitive: Any, params: Mapping[str, Any], args: Sequence[Any], results: Sequence[Any]
) -> SpoiledConstant | None:
    """What is kept of an operation on concrete arrays: it, if it made a number that is not finite of finite ones."""
    bad = next((r for r in results if _is_small(r) and not is_finite(np.asarray(r))), None)
    if bad is None or not all(_is_small(x) and is_finite(np.asarray(x)) for x in args if hasattr(x, "dtype")):
        return None
    location = Location.here()
    return SpoiledConstant(primitive, params, args, bad, location) if location.is_known else None


def _is_small(value: Any) -> bool:
    return getattr(getattr(value, "dtype", None), "kind", "") in "fiub" and value.size <= ELEMENTS_AT_MOST


ELEMENTS_AT_MOST = 100_000
"""How many elements an array may have that is looked at for NaN at each operation on constants."""


def constant_origin(
    computation: RecordedComputation, spoiled: Sequence[SpoiledConstant], around: Sequence[WatchedRecord]
) -> Problem | None:
    """The problem for the operation on constants that made the first NaN which the recorded ones were given.

    `spoiled` were executed by themselves; `around` are the records of the program under `jax.jit` around the gradient.
    """
    for record in reversed(computation.records):
        for index, parent in enumerate(record.parents):
            value = None if parent.is_tracked else record.operand_value(index)
            if value is not None and not _is_finite(value) and np.asarray(value).dtype.kind == "f":
                if not spoiled:
                    return _first_spoiled(around)
                first = spoiled[0]
                return _origin_problem(first.primitive, first.params, first.inputs, first.result, first.location)
        kept = computation.values.get(record)
        if record.operation and kept is not None and not _is_finite(kept):
            return None  # an operation that was recorded made it
    return None


def _first_spoiled(records: Sequence[WatchedRecord]) -> Problem | None:
    """The problem for the first of some records that returned NaN or infinity for finite operands."""
    for record in records:
        value = record.value() if isinstance(record, OperationRecord) and not record.has_several_results else None
        if value is None or value.dtype.kind != "f" or _is_finite(value):
            continue
        assert isinstance(record, OperationRecord)
        inputs = [record.operand_value(index) for index in range(len(record.operands))]
        if any(operand is None or not _is_finite(operand) for operand in inputs) or not record.location.is_known:
            return None
        alone = OperationRecord(
            record.operation,
            record.kind,
            record.params,
            [CONSTANT] * len(inputs),
            record.operands,
            [ArrayValue(np.asarray(operand)) for operand in inputs],
            record.shape,
            record.dtype,
            record.location,
            kept=ArrayValue(value),
            replay=record.replay,
            library="jax",
        )
        return forward_origin_problem(RecordedComputation([(alone, np.ones_like(value))]), alone)
    return None


__all__ = ["BODIES", "Body", "SpoiledConstant", "constant_origin", "nonfinite_origin", "spoiled_constant"]
