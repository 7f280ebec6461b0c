"""Writes to read-only arrays that gradient rules have saved, or that are the memory of tensors, found for the detector.

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
from gradtape.core.location import Location, is_library
from gradtape.core.saved_arrays import LockedArray, guard_of
from gradtape.core.tensor import Tensor
from gradtape.explain.detectors.locked_write import saved_array_problem, tensor_memory_problem
from gradtape.explain.emit.listeners import notify_of_error
from gradtape.explain.model.problem import Problem
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import one_line


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
            (
                saved_array_problem(site, name, _saving_location(held))
                for name, array in arrays
                if (held := guard_of(array))
            ),
            None,
        )
        found = found or next(
            (tensor_memory_problem(site, name) for name, array in arrays if _is_tensor_memory(array)), None
        )
    if found is None and by_tape:
        found = saved_array_problem(site, "", None)
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


def _saving_location(held: LockedArray) -> Location | None:
    """The location of the oldest operation that saved a guarded array, as far as it is found."""
    node = min(_saving_nodes(held), key=lambda node: node.order, default=None)
    return None if node is None else node.location


def _saving_nodes(held: LockedArray) -> Iterator[Node]:
    """The operations that saved a guarded array. Slow (it asks the garbage collector), but only after an error."""
    for saved in gc.get_referrers(held):
        if isinstance(saved, tuple):
            yield from (node for node in gc.get_referrers(saved) if isinstance(node, Node))


def _is_tensor_memory(array: Any) -> bool:
    """Whether an array, or what it is a view of, is the value of a tensor."""
    owners = (array, array.base) if isinstance(array.base, np.ndarray) else (array,)
    return any(isinstance(holder, Tensor) for owner in owners for holder in gc.get_referrers(owner))
