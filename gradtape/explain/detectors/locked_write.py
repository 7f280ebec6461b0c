"""Detector: a write to a read-only array that a gradient rule has saved, or that is the memory of a tensor.

NumPy refuses the write with a `ValueError` of its own, wherever it happens. That error is explained where it surfaces:
by Python's hook for uncaught errors and below a notebook's cell (`gradtape.explain.emit.excepthook`), in a report of
pytest's, by `gradtape run`, and when it leaves the block of a tape. It stays NumPy's error, with a note and a
`.problem`.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import numpy as np

from gradtape.core.graph import Node
from gradtape.core.location import is_library
from gradtape.core.saved_arrays import Guarded, guard_of
from gradtape.core.tensor import Tensor
from gradtape.explain.emit.listeners import notify_of_error
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem, Span
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import one_line, span_of


def is_refused_write(error: BaseException | None) -> bool:
    """Whether `error` is NumPy's refusal to write to a read-only array, and carries no explanation yet."""
    return isinstance(error, ValueError) and "read-only" in str(error) and not hasattr(error, "problem")


def explain_refused_write(error: BaseException | None, by_tape: bool = False) -> Problem | None:
    """Put a note and a `.problem` on NumPy's `error`, if gradtape has locked the array. The problem, or None.

    With `by_tape` the error leaves the block of a tape: then it is explained even if the array cannot be found.
    """
    if error is None or not is_refused_write(error):
        return None
    site = _innermost_user_expression(error.__traceback__)
    found = None
    if site is not None:
        arrays = list(_read_only_arrays(site))
        found = next(
            (_saved_array_problem(site, name, held) for name, array in arrays if (held := guard_of(array))), None
        )
        found = found or next(
            (_tensor_memory_problem(site, name) for name, array in arrays if _is_tensor_memory(array)), None
        )
    if found is None and by_tape:
        found = _saved_array_problem(site, "", None)
    if found is not None:
        vars(error)["problem"] = found
        error.add_note(f"gradtape: {found}")
        notify_of_error(found)
    return found


def _innermost_user_expression(trace: TracebackType | None) -> UserExpression | None:
    """The innermost expression of the user's that an error passed through."""
    frame = offset = None
    while trace is not None:
        if not is_library(trace.tb_frame.f_code.co_filename):
            frame, offset = trace.tb_frame, trace.tb_lasti
        trace = trace.tb_next
    return None if frame is None or offset is None else UserExpression(frame, offset)


def _read_only_arrays(site: UserExpression) -> Iterator[tuple[str, Any]]:
    """The read-only arrays among the names in the statement, those that are assigned to first."""
    statement = None if site.node is None else site.source.statement(site.node)
    if statement is None:
        return
    parts = [site.node, statement] if isinstance(site.node, ast.expr) else [statement]
    for part in parts:
        for node in ast.walk(part):
            if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
                value = site.value(node)
                if isinstance(value, np.ndarray) and not value.flags.writeable:
                    yield one_line(site.source.text(node)), value


def _saved_array_problem(site: UserExpression | None, name: str, held: Guarded | None) -> Problem:
    """An array that gradient rules have saved: the line that writes, and the line that saved it."""
    spans: list[Span] = [] if site is None else [site.span.labelled("written here")]
    nodes = [] if held is None else sorted(_saving_nodes(held), key=lambda node: node.order)
    if nodes:
        spans.append(span_of(nodes[0].location, "saved here"))
    return problem(
        "GT309",
        f"{name or 'an array that a tape has saved'} is locked until its gradient has been taken",
        spans=spans,
        notes=["the derivative of what was computed from it needs these numbers as they are"] if name else [],
        consequence="written to, it would no longer be what the value was computed from",
        fixes=[
            f"compute with a copy ({name or 'array'}.copy())",
            "write after the gradient has been taken: tape.gradient(...), or loss.backward()",
            "under gt.no_grad() if no gradient is wanted, and nothing is saved",
        ],
    )


def _saving_nodes(held: Guarded) -> Iterator[Node]:
    """The operations that saved a guarded array. Slow (it asks the garbage collector), but only after an error."""
    for saved in gc.get_referrers(held):
        if isinstance(saved, tuple):
            yield from (node for node in gc.get_referrers(saved) if isinstance(node, Node))


def _tensor_memory_problem(site: UserExpression, name: str) -> Problem:
    """The problem for a write to the array of a tensor, which `.numpy()` gave without a copy."""
    return problem(
        "GT309",
        f"{name} is the memory of a tensor, which only the tensor itself writes to",
        spans=[site.span.labelled("written here")],
        consequence="written to, the tensor would no longer be what its gradient is of",
        fixes=[f"write to a copy: {name} = {name}.copy()", "gt.at(x)[i].set(v) is a new tensor"],
    )


def _is_tensor_memory(array: Any) -> bool:
    """Whether an array, or what it is a view of, is the value of a tensor."""
    owners = (array, array.base) if isinstance(array.base, np.ndarray) else (array,)
    return any(isinstance(holder, Tensor) for owner in owners for holder in gc.get_referrers(owner))
