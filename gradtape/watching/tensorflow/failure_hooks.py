"""Hooks where an operation fails: its error is explained while its operands are known."""

from __future__ import annotations

import os
import sys
from typing import Any

from tensorflow.python.eager import core, execute
from tensorflow.python.framework import op_def_library

from gradtape.core.location import is_library
from gradtape.watching.tensorflow.errors import FUNCTIONS, ErrorExplainer
from gradtape.watching.tensorflow.hooks import Patches
from gradtape.watching.tensorflow.recording import Recording


class FailureHooks:
    """Gives the errors of operations, executed or built into a graph, to the `ErrorExplainer`."""

    def __init__(self, recording: Recording, errors: ErrorExplainer) -> None:
        self._recording = recording
        self._errors = errors

    def patch(self, patches: Patches) -> None:
        """Put the hooks in place."""
        patches.wrap(core, "_status_to_exception", self._wrap_failure)
        patches.wrap(execute, "quick_execute", self._wrap_execution)
        patches.wrap(op_def_library, "_apply_op_helper", self._wrap_building)

    def _is_forward(self) -> bool:
        return self._recording.is_mine() and not self._recording.recorder.in_backward

    def _wrap_failure(self, original: Any) -> Any:
        def _status_to_exception(*arguments: Any, **options: Any) -> Any:
            error = original(*arguments, **options)
            if self._is_forward():
                self._recording.guard.attempt(self._explain_failure, error)
            return error

        return _status_to_exception

    def _wrap_execution(self, original: Any) -> Any:
        def quick_execute(*arguments: Any, **options: Any) -> Any:
            try:
                return original(*arguments, **options)
            except Exception as error:
                if self._is_forward():
                    self._recording.guard.attempt(self._explain_failure, error)
                raise

        return quick_execute

    def _explain_failure(self, error: BaseException) -> None:
        frame: Any = sys._getframe(1)
        while frame is not None and is_library(frame.f_code.co_filename):
            kind = FUNCTIONS.get(frame.f_code.co_name)
            if kind is not None and os.path.basename(frame.f_code.co_filename).startswith("gen_"):
                self._errors.explain_operation(error, kind, dict(frame.f_locals))
                return
            frame = frame.f_back

    def _wrap_building(self, original: Any) -> Any:
        def _apply_op_helper(kind: Any, name: Any = None, **operands: Any) -> Any:
            try:
                return original(kind, name, **operands)
            except (ValueError, TypeError) as error:
                if self._is_forward():
                    self._recording.guard.attempt(self._errors.explain_operation, error, kind, operands)
                raise

        return _apply_op_helper


__all__ = ["FailureHooks"]
