"""Hooks in Keras: `fit` and its batches, and layers that are asked for their variables."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from gradtape.core.location import Location, is_library
from gradtape.explain.emit.policy import is_due, report
from gradtape.watching.tensorflow.batches import batch_length, first_batch
from gradtape.watching.tensorflow.equal_units import EqualUnits
from gradtape.watching.tensorflow.graph_hooks import GraphHooks
from gradtape.watching.tensorflow.hooks import Patches
from gradtape.watching.tensorflow.recording import Recording
from gradtape.watching.tensorflow.training import TrainingJudge, frozen_model_problem


class KerasHooks:
    """Notes what `fit` is given, and looks at the model before and after it."""

    def __init__(self, recording: Recording, training: TrainingJudge, graphs: GraphHooks) -> None:
        self._recording = recording
        self._recorder = recording.recorder
        self._training = training
        self._graphs = graphs
        self._equal = EqualUnits()

    def patch(self, patches: Patches) -> None:
        """Put the hooks in place, if this is Keras 3."""
        try:
            trainer = importlib.import_module("keras.src.backend.tensorflow.trainer")
            losses = importlib.import_module("keras.src.losses.losses")
            backend = importlib.import_module("keras.src.backend.tensorflow.nn")
        except ImportError:  # another Keras than version 3
            return
        self._recorder.losses.add_keras(losses, backend)
        for name in ("fit", "evaluate", "train_on_batch", "test_on_batch"):
            patches.wrap(trainer.TensorFlowTrainer, name, self._wrap_fit(name))
        callbacks = importlib.import_module("keras.src.callbacks.callback_list")
        patches.wrap(callbacks.CallbackList, "on_train_batch_end", self._wrap_batch_end)
        layer = importlib.import_module("keras.src.layers.layer").Layer
        for name in ("trainable_variables", "trainable_weights"):
            patches.wrap_property(layer, name, self._wrap_reading)

    def _wrap_reading(self, original: Any) -> Any:
        def variables(layer: Any) -> Any:
            found = original(layer)
            reads = self._recording.is_on and not layer.built and self._recording.is_mine()
            if reads and not is_library(sys._getframe(1).f_code.co_filename):
                self._recording.guard.call(self._training.note_unbuilt, layer, Location.here())
            return found

        return variables

    def _wrap_fit(self, name: str) -> Callable[[Any], Any]:
        guard = self._recording.guard

        def make(original: Any) -> Any:
            def fit(model: Any, x: Any = None, y: Any = None, *arguments: Any, **options: Any) -> Any:
                if not self._recording.is_mine():
                    return original(model, x, y, *arguments, **options)
                before = self._recorder.batch_length
                self._recorder.batch_length = guard.call(batch_length, x, arguments, options, name)
                self._graphs.batch = guard.call(first_batch, x, y, self._recorder.batch_length) or []
                guard.call(self._look_at_units, model)
                if name == "fit":
                    guard.attempt(self._judge_frozen, model, Location.here())
                try:
                    result = original(model, x, y, *arguments, **options)
                finally:
                    self._recorder.batch_length = before
                    self._graphs.batch = []
                if name == "fit":
                    guard.call(self._equal.judge, self._recording.read, Location.here(), lambda v: v.path)
                return result

            return fit

        return make

    def _judge_frozen(self, model: Any, where: Location) -> None:
        found = frozen_model_problem(model, where) if model.built else None
        if found is not None and is_due(found.code, *found.place[1:]):
            report(found)

    def _look_at_units(self, model: Any) -> None:
        self._equal.look(model.trainable_variables if model.built else (), self._recording.read)

    def _wrap_batch_end(self, original: Any) -> Any:
        def on_train_batch_end(callbacks: Any, batch: Any, logs: Any = None) -> Any:
            result = original(callbacks, batch, logs)
            self._graphs.batch_ended(logs)
            return result

        return on_train_batch_end


__all__ = ["KerasHooks"]
