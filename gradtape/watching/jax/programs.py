"""Programs under `jax.jit`: the session of one that is traced, and its operations in the place of a call."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import jax
from jax.tree_util import tree_flatten_with_path

from gradtape.explain.detectors.broadcast import Residual
from gradtape.watching.jax.calls import JitCall, argument_names
from gradtape.watching.jax.operations import Operation
from gradtape.watching.jax.recorder import Evaluation, Program, Session
from gradtape.watching.jax.values import ProgramValue, SlotValue, Tracer, is_concrete, trace_key
from gradtape.watching.record import CONSTANT, OperationRecord, ResultRecord, WatchedRecord
from gradtape.watching.recorder import BYTES_HELD_AT_MOST


def program_for(call: JitCall, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Program | None:
    """The session of a function that `jax.jit` traces now."""
    paths, _ = tree_flatten_with_path((args, kwargs))
    traced = [leaf for _, leaf in paths if isinstance(leaf, Tracer)]
    if not traced or len(paths) != len(call.leaves):
        return None
    program = Program(traced[0]._trace, call.location)
    names = argument_names(function, len(args))
    for (path, leaf), given in zip(paths, call.leaves):
        if isinstance(leaf, Tracer) and trace_key(leaf._trace) == trace_key(program.trace):
            name = names[path[1].idx] + jax.tree_util.keystr(path[2:]) if path[0].idx == 0 else str(path[1].key)
            known = None if call.outer is None else call.outer.find(given)
            program.add_leaf(leaf, name, known is not None and known.is_tracked)
        else:
            program.arguments.append(None)
    return program


def insert_program(outer: Session, program: Program, leaves: Sequence[Any], results: Sequence[Any]) -> None:
    """Put the operations of a program that was called inside `outer` in the place of the one call."""
    values = Evaluation(program, [outer.kept_of(leaf) if _is_number(leaf) else None for leaf in leaves])
    if isinstance(outer, Program):
        outer.nested.append(values)
    made: dict[WatchedRecord, WatchedRecord] = {}
    arguments = [leaf for leaf, slot in zip(leaves, program.arguments) if slot is not None]
    for leaf, argument in zip(program.leaves, arguments):
        made[leaf] = outer.parent_of(argument)
    for record in program.records:
        made[record] = _copied(outer, record, made, values, program)
    for output, result in zip(program.outputs, results):
        copied = None if output is None else made.get(output, output)
        if copied is not None and copied is not CONSTANT:
            outer.note(result, copied)


def _copied(
    outer: Session,
    record: WatchedRecord,
    made: dict[WatchedRecord, WatchedRecord],
    values: Evaluation,
    program: Program,
) -> WatchedRecord:
    """The record of an operation of a program as one of the session around its call."""
    slot = program.slot_of_record.get(record)
    kept = None if slot is None or program.size > watchable_bytes() else SlotValue(values, slot)
    if isinstance(record, ResultRecord):
        whole = made[record.parents[0]]
        if not isinstance(whole, OperationRecord):
            return whole
        part = ResultRecord(whole, record.part, record.shape, record.dtype, kept)
        outer.records.append(part)
        return part
    assert isinstance(record, OperationRecord)
    parents = [made.get(parent, CONSTANT) for parent in record.parents]
    is_tracked = any(parent.is_tracked for parent in parents)
    operation = Operation(record.operation, record.kind, record.params)
    cuts = [parent for parent in parents if parent.is_cut]
    is_cut = is_tracked and not (record.is_differentiable and record.dtype.kind in "fcV")
    if not outer.is_program and (is_cut or (cuts and not is_tracked)):
        return outer.add_cut(operation, parents, [] if is_cut else cuts, [record], record.location)
    copied = OperationRecord(
        record.operation,
        record.kind,
        record.params,
        [p if p.is_tracked or p.is_cut or outer.is_program else CONSTANT for p in parents],
        [spec._replace(is_tracked=p.is_tracked) for spec, p in zip(record.operands, parents)],
        [
            SlotValue(values, k.slot) if isinstance(k, ProgramValue) and k.program is program else k
            for k in record.inputs
        ],
        record.shape,
        record.dtype,
        record.location,
        kept=kept,
        replay=record.replay,
        library="jax",
        is_tracked=is_tracked,
        is_differentiable=record.is_differentiable,
    )
    copied.has_several_results = record.has_several_results
    if record in program.bodies:
        outer.bodies[copied] = program.bodies[record]
    finding = record.finding
    copied.finding = finding._replace(node=weakref.ref(copied)) if isinstance(finding, Residual) else finding
    outer.records.append(copied)
    return copied


def _is_number(leaf: Any) -> bool:
    return hasattr(leaf, "dtype") or is_concrete(leaf)


def watchable_bytes() -> int:
    """How large the intermediate values of a program may be that is evaluated again."""
    return BYTES_HELD_AT_MOST


__all__ = ["insert_program", "program_for", "watchable_bytes"]
