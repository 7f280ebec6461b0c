"""`Recording`: whether operations are recorded now, and in which thread."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tensorflow.python.framework import op_callbacks

from gradtape.watching.budget import Budget
from gradtape.watching.tensorflow import values
from gradtape.watching.tensorflow.hooks import Guard
from gradtape.watching.tensorflow.recorder import TensorFlowRecorder
from gradtape.watching.tensorflow.replay import is_muted, muted


class Recording:
    """Turns the recording of operations on and off, as the budget allows, in the thread that it was made in."""

    def __init__(self, recorder: TensorFlowRecorder, budget: Budget, callback: Any, end: Callable[[], None]) -> None:
        self.recorder = recorder
        self.budget = budget
        self.guard = Guard(end)
        self.is_on = False
        self._callback = callback
        self._thread = threading.get_ident()
        self._process = os.getpid()

    def is_mine(self) -> bool:
        """Whether the caller's thread is the one that is watched."""
        return (
            not self.guard.is_broken
            and not is_muted()
            and threading.get_ident() == self._thread
            and os.getpid() == self._process
        )

    def pause(self) -> None:
        """Stop to record: operations run at full speed."""
        if self.is_on:
            self.is_on = False
            if threading.get_ident() == self._thread:
                with suppress(KeyError):  # the program may have removed all callbacks
                    op_callbacks.remove_op_callback(self._callback)
            self.recorder.active.clear()
            values.forget_arrays()

    def resume(self) -> None:
        """Record operations from now on."""
        if not self.is_on and not self.guard.is_broken:
            self.is_on = True
            op_callbacks.add_op_callback(self._callback)

    def read(self, variable: Any) -> Any:
        """The value of a variable, read without being recorded."""
        with muted():
            return self.recorder.array_of(variable)


__all__ = ["Recording"]
