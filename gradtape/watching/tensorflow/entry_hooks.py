"""Hooks where arrays of NumPy's become tensors: those that were computed from tensors have lost the gradient.

NumPy reads the memory of a tensor without a call that could be seen. What is seen is the array that comes back: the
statements that made it are read, and a function of NumPy in them that was given a tensor on a tape is noted.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np
from tensorflow.python.framework import constant_op

from gradtape.core.location import Location, is_library
from gradtape.explain.source.files import SourceFile, one_line, source_of
from gradtape.watching.record import WatchedRecord
from gradtape.watching.tensorflow import values
from gradtape.watching.tensorflow.hooks import Patches
from gradtape.watching.tensorflow.recorder import NumpyDetour
from gradtape.watching.tensorflow.recording import Recording

STATEMENTS_AT_MOST = 50
ELEMENTS_AT_MOST = 64
_COLLECTING = ("append", "extend", "insert")
_ARRAY_MODULES = ("numpy", "scipy")


class EntryHooks:
    """Notes the arrays that enter while a tape is recording and were computed by NumPy from tensors on it."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._recorder = recording.recorder
        self._calls: dict[tuple[int, int], tuple[Any, list[tuple[ast.Call, set[str]]]]] = {}

    def patch(self, patches: Patches) -> None:
        """Put the hook in place."""
        patches.wrap(constant_op, "convert_to_eager_tensor", self._wrap_conversion)

    def _wrap_conversion(self, original: Any) -> Any:
        recording = self._recording

        def convert_to_eager_tensor(value: Any, *arguments: Any, **options: Any) -> Any:
            tensor = original(value, *arguments, **options)
            is_seen = recording.is_on and self._recorder.active and not self._recorder.in_backward
            if is_seen and isinstance(value, (np.ndarray, np.floating, list)) and recording.is_mine():
                recording.guard.attempt(self._entered)
            return tensor

        return convert_to_eager_tensor

    def _entered(self) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and is_library(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is None:
            return
        location = Location(frame.f_code, frame.f_lasti)
        key = id(frame.f_code), frame.f_lasti
        if key not in self._calls:
            source = source_of(location.file)
            self._calls[key] = frame.f_code, list(_numpy_calls_before(source, source.find(location)))
        for call, names in self._calls[key][1]:
            called = call.func.id if isinstance(call.func, ast.Name) else ""
            if called and not _takes_arrays(frame.f_locals.get(called, frame.f_globals.get(called))):
                continue
            if any(self._holds_tracked(frame.f_locals.get(name, frame.f_globals.get(name))) for name in names):
                source = source_of(location.file)
                function = one_line(source.text(call.func))
                order = WatchedRecord((), np.dtype(float)).order
                self._recorder.detours.append(NumpyDetour(function, source.span(call), location, order))
                return

    def _holds_tracked(self, value: Any, depth: int = 0) -> bool:
        """Whether a value is a tensor on a tape or a layer with variables, or a list of such."""
        if values.is_eager(value) or values.handle_of(value) is not None:
            record = self._recorder.record_of(value)
            return record is not None and record.is_tracked
        if isinstance(value, (list, tuple)) and depth == 0:
            return any(self._holds_tracked(each, 1) for each in value[:ELEMENTS_AT_MOST])
        return hasattr(value, "trainable_variables") and callable(value)


def _numpy_calls_before(source: SourceFile, node: ast.AST | None) -> Iterator[tuple[ast.Call, set[str]]]:
    """The calls of NumPy's functions in the statements that made what an expression uses, and the names in each.

    A function that is called by a name of its own may be NumPy's: that is seen when it is known what is bound to it.
    """
    statement = None if node is None else source.statement(node)
    scope = None if statement is None else next(iter(source.scopes(statement)), source.tree)
    if statement is None or scope is None:
        return
    begin = _lambda_around(source, node) or statement
    pending: list[ast.AST] = [begin]
    seen: set[ast.AST] = {begin, statement}
    while pending and len(seen) < STATEMENTS_AT_MOST:
        current = pending.pop(0)
        for call in ast.walk(current):
            function = call.func if isinstance(call, ast.Call) else None
            module = source.imports.get(getattr(getattr(function, "value", None), "id", ""), "").partition(".")[0]
            if isinstance(call, ast.Call) and (module in _ARRAY_MODULES or isinstance(function, ast.Name)):
                yield call, {each.id for part in call.args for each in ast.walk(part) if isinstance(each, ast.Name)}
        used = {each.id for each in ast.walk(current) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
        for other in ast.walk(scope):
            if isinstance(other, ast.stmt) and other not in seen and _binds(other) & used:
                seen.add(other)
                pending.append(other)


def _takes_arrays(function: Any) -> bool:
    """Whether a function is one of NumPy's or SciPy's: `np.vectorize(f)`, or imported by its name."""
    module = getattr(function, "__module__", None) or type(function).__module__
    return callable(function) and not isinstance(function, type) and module.partition(".")[0] in _ARRAY_MODULES


def _lambda_around(source: SourceFile, node: ast.AST | None) -> ast.AST | None:
    """The innermost lambda that an expression is in: the others of its statement compute something else."""
    while node is not None and not isinstance(node, ast.Lambda | ast.stmt):
        node = source.parents.get(node)
    return node if isinstance(node, ast.Lambda) else None


def _binds(statement: ast.stmt) -> set[str]:
    """The names that a simple statement binds, or the list that it adds to."""
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
        return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    call = statement.value if isinstance(statement, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    if isinstance(function, ast.Attribute) and function.attr in _COLLECTING and isinstance(function.value, ast.Name):
        return {function.value.id}
    return set()


__all__ = ["EntryHooks"]
