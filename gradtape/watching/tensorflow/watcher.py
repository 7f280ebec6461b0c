"""`Watcher`: begins and ends the watching of TensorFlow, and records each operation that is executed."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, MutableMapping
from contextlib import ExitStack
from types import FrameType
from typing import Any

import tensorflow as tf
from tensorflow.python.autograph.pyct import loader
from tensorflow.python.eager import execute
from tensorflow.python.framework import op_callbacks

from gradtape.core.location import forget_library_folder, register_library_folder
from gradtape.explain.model.problem import Problem
from gradtape.explain.source.libraries import recognising
from gradtape.watching.budget import Budget
from gradtape.watching.tensorflow import autograph, queries
from gradtape.watching.tensorflow.array_hooks import ArrayHooks
from gradtape.watching.tensorflow.batches import called_graph, uses_none
from gradtape.watching.tensorflow.compiled_calls import PREFIXES, note_call
from gradtape.watching.tensorflow.entry_hooks import EntryHooks
from gradtape.watching.tensorflow.errors import ErrorExplainer
from gradtape.watching.tensorflow.exit_hooks import ExitHooks
from gradtape.watching.tensorflow.failure_hooks import FailureHooks
from gradtape.watching.tensorflow.graph_hooks import GraphHooks
from gradtape.watching.tensorflow.hooks import Patches
from gradtape.watching.tensorflow.keras_hooks import KerasHooks
from gradtape.watching.tensorflow.losses import LossJudge
from gradtape.watching.tensorflow.optimiser_hooks import OptimiserHooks
from gradtape.watching.tensorflow.recorder import TensorFlowRecorder
from gradtape.watching.tensorflow.recording import Recording
from gradtape.watching.tensorflow.rule_hooks import RuleHooks
from gradtape.watching.tensorflow.tape_hooks import TapeHooks
from gradtape.watching.tensorflow.tapes import TapeWatch
from gradtape.watching.tensorflow.training import TrainingJudge
from gradtape.watching.tensorflow.variable_hooks import VariableHooks


class Watcher:
    """Watches TensorFlow in the thread that it was started in."""

    def __init__(self, budget: Budget, tell: Callable[[Problem], Any]) -> None:
        self.budget = budget
        self.recorder = TensorFlowRecorder()
        self.recorder.losses = LossJudge(self.recorder)
        self.training = TrainingJudge(self.recorder)
        self._errors = ErrorExplainer(self.recorder)
        self._recording = recording = Recording(self.recorder, budget, self._callback, self._break)
        self._variables = VariableHooks(recording)
        self._graphs = GraphHooks(recording, self._variables)
        self._optimisers = OptimiserHooks(recording)
        self._tapes = TapeHooks(recording, self._errors, self.training, self._graphs, self._optimisers, tell)
        self._hooks = (
            self._tapes,
            self._variables,
            self._graphs,
            KerasHooks(recording, self.training, self._graphs),
            RuleHooks(recording, self._errors),
            FailureHooks(recording, self._errors),
            ExitHooks(recording, self.training),
            EntryHooks(recording),
            ArrayHooks(recording),
            self._optimisers,
        )
        self._patches = Patches()
        self._stack = ExitStack()

    @property
    def tapes(self) -> MutableMapping[Any, TapeWatch]:
        """What is known of each tape that was opened."""
        return self._tapes.tapes

    def start(self) -> None:
        """Patch TensorFlow."""
        folder = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))
        if register_library_folder(folder):
            self._stack.callback(forget_library_folder, folder)
        self._stack.enter_context(recognising(self.recorder))
        self._stack.callback(autograph.forget)
        self._stack.callback(self._patches.undo)
        for hooks in self._hooks:
            hooks.patch(self._patches)
        self._patches.wrap(loader, "load_ast", autograph.wrap_loader)
        self._recording.resume()
        queries.watchers.begin(self)

    def stop(self, keep: bool = True) -> None:
        """Leave TensorFlow as it was; with `keep`, records are kept for questions until another block ends."""
        queries.watchers.end(self, keep)
        self._recording.pause()
        self._stack.close()
        if not op_callbacks.should_invoke_op_callbacks():
            execute.execute = execute.quick_execute

    def finish(self) -> None:
        """Report the variables that have never learned."""
        self._recording.guard.call(self.training.finish)
        self._recording.guard.call(self._optimisers.finish)

    def explain(self, error: BaseException) -> Problem | None:
        """The explanation of an error that ended the program."""
        if self._tapes.lost is not None and getattr(error, "problem", None) is None and uses_none(error):
            return self._errors.attach(error, self._tapes.lost)
        return self._recording.guard.attempt(self._errors.explain, error)  # type: ignore[no-any-return]

    def _break(self) -> None:
        """End the watching after an error of our own."""
        self._recording.pause()
        self._patches.undo()

    def _callback(
        self, kind: Any, inputs: Any, attributes: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> Any:
        """What TensorFlow calls after each operation that was executed, or built into a graph."""
        given = None if graph is None else outputs  # what the next callback gets
        if not self._recording.is_on or outputs is None or not self._recording.is_mine():
            return given
        began = time.perf_counter()
        name = kind.decode() if isinstance(kind, bytes) else kind
        self._recording.guard.call(self._record, name, inputs, attributes or (), outputs, sys._getframe(1))
        self.budget.spent += time.perf_counter() - began
        return given

    def _record(self, kind: str, inputs: Any, attributes: Any, outputs: Any, caller: FrameType) -> None:
        recorder = self.recorder
        self.training.note_used(inputs)
        if recorder.in_backward and not recorder.active:
            return
        if os.path.basename(caller.f_code.co_filename).startswith("gen_"):
            self._variables.note_operands(inputs, caller)
        if not isinstance(outputs, (list, tuple)):
            outputs = [outputs]
        if kind.startswith("__inference_"):
            self._graphs.executed(outputs, caller)
            self.budget.spend(kind.rpartition("_")[0])  # without the number of this trace
            if not self.budget.is_left:
                self._recording.pause()
                return
        recorder.record_operation(kind, inputs, attributes, outputs)
        if not recorder.active and outputs:
            self._optimisers.note_operation(kind, inputs, outputs)
        if kind.startswith(PREFIXES) and recorder.active:
            note_call(outputs, *called_graph(caller), recorder)


__all__ = ["Watcher"]
