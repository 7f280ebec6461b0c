"""Hooks at variables: where they are made, and which operations read them."""

from __future__ import annotations

from types import FrameType
from typing import Any

import numpy as np
from tensorflow.python.eager import context
from tensorflow.python.ops import resource_variable_ops

from gradtape.core.location import Location
from gradtape.watching.tensorflow import values
from gradtape.watching.tensorflow.hooks import Patches
from gradtape.watching.tensorflow.recording import Recording

VARIABLES_AT_MOST = 1000
ELEMENTS_AT_MOST = 1 << 22


class VariableHooks:
    """Notes the variables that are made and read, with the tapes that are open then."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._recorder = recording.recorder

    def patch(self, patches: Patches) -> None:
        """Put the hooks in place."""
        patches.wrap(resource_variable_ops, "variable_accessed", self._wrap_access)
        patches.wrap(resource_variable_ops.ResourceVariable, "__init__", self._wrap_variable)

    def note_operands(self, inputs: Any, caller: FrameType) -> None:
        """Note the operands that the generated function in `caller` was given as variables.

        TensorFlow reads those itself, without an operation that is seen.
        """
        names = caller.f_code.co_varnames[: caller.f_code.co_argcount]
        given: list[Any] = []
        for name in names:
            value = caller.f_locals.get(name)
            if isinstance(value, (list, tuple)):
                given += value
            else:
                given.append(value)
        for value, operand in zip(given, inputs):
            is_variable = value is not operand and values.is_eager(operand) and values.handle_of(value) is not None
            if is_variable and operand.dtype.name != "resource":
                self._accessed(values.variable_of(value))
                self._recorder.note_read(operand)

    def read_all(self) -> dict[int, Any]:
        """The values of the variables that are alive, by the number of their handles."""
        found: dict[int, Any] = {}
        for number, record in list(self._recorder.variables.items())[:VARIABLES_AT_MOST]:
            variable = record.reference()
            if variable is not None and int(np.prod(record.shape, dtype=np.int64)) <= ELEMENTS_AT_MOST:
                found[number] = self._recording.read(variable)
        return found

    def _wrap_access(self, original: Any) -> Any:
        def variable_accessed(variable: Any) -> None:
            original(variable)
            if self._recording.is_on and self._recording.is_mine():
                self._recording.guard.call(self._accessed, variable)

        return variable_accessed

    def _accessed(self, variable: Any) -> None:
        recorder = self._recorder
        record = recorder.accessed = recorder.variable_record(variable)
        if not context.executing_eagerly():
            self._trace(variable)
        for watch in recorder.active:
            watch.read.add(record)
            if record.is_variable and watch.watches_variables:
                record.tapes |= {watch.number}

    def _trace(self, variable: Any) -> None:
        """Keep the value of a variable that a graph reads, as it is before the graph is executed."""
        handle = variable.handle
        if values.is_eager(handle) and len(self._recorder.traced) < VARIABLES_AT_MOST:
            size = int(np.prod(self._recorder.variable_record(variable).shape, dtype=np.int64))
            if size <= ELEMENTS_AT_MOST:
                self._recorder.traced[handle._id] = self._recording.read(variable)

    def _wrap_variable(self, original: Any) -> Any:
        def initialise(variable: Any, *arguments: Any, **options: Any) -> None:
            original(variable, *arguments, **options)
            if self._recording.is_on and self._recording.is_mine():
                self._recording.guard.call(self._made, variable)

        return initialise

    def _made(self, variable: Any) -> None:
        if values.is_eager(variable.handle):
            self._recorder.variable_record(variable, Location.here())


__all__ = ["VariableHooks"]
