"""Hooks where arrays of NumPy's become tensors: those that were computed from tensors have lost the gradient.

NumPy reads the memory of a tensor without a call that could be seen. What is seen is the array that comes back: the
statements that made it are read, and a function of NumPy in them that was given a tensor on a tape is noted.
"""

from __future__ import annotations

import ast
import sys
from collections import ChainMap
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
        self._calls: dict[tuple[int, int], tuple[Any, list[tuple[ast.Call | ast.Assign, set[str]]]]] = {}

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
        scope = ChainMap(frame.f_locals, frame.f_globals)
        for call, names in self._calls[key][1]:
            source, taken = source_of(location.file), call
            if isinstance(call, ast.Assign):
                if not isinstance(scope.get(_written_array(call)), np.ndarray):
                    continue
            elif isinstance(call.func, ast.Name) and not _takes_arrays(scope.get(call.func.id)):
                inside = _numpy_call_inside(scope.get(call.func.id))
                if inside is None:
                    continue
                source, taken = inside
            if any(self._holds_tracked(scope.get(name)) for name in names):
                is_write = isinstance(taken, ast.Assign)
                function = one_line(source.text(taken.targets[0] if isinstance(taken, ast.Assign) else taken.func))
                order = WatchedRecord((), np.dtype(float)).order
                self._recorder.detours.append(NumpyDetour(function, source.span(taken), location, order, is_write))
                return

    def _holds_tracked(self, value: Any, depth: int = 0) -> bool:
        """Whether a value is a tensor on a tape or a layer with variables, or a list of such."""
        if values.is_eager(value) or values.handle_of(value) is not None:
            record = self._recorder.record_of(value)
            return record is not None and record.is_tracked
        if isinstance(value, (list, tuple)) and depth == 0:
            return any(self._holds_tracked(each, 1) for each in value[:ELEMENTS_AT_MOST])
        return hasattr(value, "trainable_variables") and callable(value)


def _written_array(statement: ast.Assign) -> str:
    """The name of `path` in `path[t] = x`; empty for other statements."""
    target = statement.targets[0]
    is_item = isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)
    return target.value.id if is_item else ""  # type: ignore[attr-defined]


def _numpy_call_inside(function: Any) -> tuple[SourceFile, ast.Call] | None:
    """The call of a function of NumPy's, in a function of the program, that is given one of its arguments."""
    code = getattr(function, "__code__", None)
    if code is None or is_library(code.co_filename):
        return None
    source = source_of(code.co_filename)
    arguments = {*code.co_varnames[: code.co_argcount]}
    for node in [] if source.tree is None else ast.walk(source.tree):
        if not isinstance(node, ast.FunctionDef) or node.name != code.co_name or node.lineno != code.co_firstlineno:
            continue
        for call in ast.walk(node):
            if not isinstance(call, ast.Call) or not _is_of_numpy(source, call):
                continue
            names = {each.id for part in call.args for each in ast.walk(part) if isinstance(each, ast.Name)}
            if names & arguments:
                return source, call
    return None


def _is_of_numpy(source: SourceFile, call: ast.Call) -> bool:
    """Whether a call is of a function of NumPy's or SciPy's, or of one in a module of theirs: `np.random.normal`."""
    owner: Any = getattr(call.func, "value", None)
    while isinstance(owner, ast.Attribute):
        owner = owner.value
    return source.imports.get(getattr(owner, "id", ""), "").partition(".")[0] in _ARRAY_MODULES


def _numpy_calls_before(source: SourceFile, node: ast.AST | None) -> Iterator[tuple[ast.Call | ast.Assign, set[str]]]:
    """The calls of NumPy's functions in the statements that made what an expression uses, and the names in each.

    A function that is called by a name of its own may be NumPy's, or may call one: that is seen when it is known what
    is bound to it. So it is whether `path[t] = x` writes to an array of NumPy's.
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
        if isinstance(current, ast.Assign) and _written_array(current):
            yield current, {each.id for each in ast.walk(current.value) if isinstance(each, ast.Name)}
        for call in ast.walk(current):
            if isinstance(call, ast.Call) and (isinstance(call.func, ast.Name) or _is_of_numpy(source, call)):
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
    if isinstance(statement, ast.Assign) and (written := _written_array(statement)):
        return {written}
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
        return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    call = statement.value if isinstance(statement, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    if isinstance(function, ast.Attribute) and function.attr in _COLLECTING and isinstance(function.value, ast.Name):
        return {function.value.id}
    return set()


__all__ = ["EntryHooks"]
