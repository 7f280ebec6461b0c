"""Hooks at compiled functions: the gradients inside a graph are judged when the graph is executed."""

from __future__ import annotations

import math
from collections import deque
from types import FrameType
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager.polymorphic_function import polymorphic_function

from gradtape.core.location import Location
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.messages.build import at
from gradtape.watching.tensorflow.batches import called_graph, has_lost_number
from gradtape.watching.tensorflow.functions import GraphEvaluation, evaluated
from gradtape.watching.tensorflow.gradients import Request, judge_values
from gradtape.watching.tensorflow.hooks import Patches
from gradtape.watching.tensorflow.recording import Recording
from gradtape.watching.tensorflow.variable_hooks import VariableHooks

STEPS_COMPARED = 20
GROWTH_AT_LEAST = 1e3


class GraphHooks:
    """Evaluates graphs that compute gradients: when they are executed first, and after a loss that is not finite."""

    def __init__(self, recording: Recording, variables: VariableHooks) -> None:
        self.waiting: list[Request] = []  # gradients inside graphs, until the graph is executed
        self.batch: list[Any] = []  # the first batch that `fit` was given
        self._recording = recording
        self._recorder = recording.recorder
        self._variables = variables
        self._latest: list[Request] = []  # the gradients inside graphs that were judged last
        self._has_looked_again = False  # after a loss that was not finite
        self._losses: deque[float] = deque(maxlen=STEPS_COMPARED)  # of the latest steps of `fit`
        self._is_lost = False  # a graph has given such a loss, and is looked at when it is executed next

    def patch(self, patches: Patches) -> None:
        """Put the hook in place."""
        patches.wrap(polymorphic_function.Function, "__call__", self._wrap_function)

    def executed(self, outputs: Any, caller: FrameType) -> None:
        """Judge the gradients inside a graph that has just been executed, if that is due."""
        if self.waiting:
            self._evaluate(caller)
        elif self._latest and not self._has_looked_again and (self._is_lost or has_lost_number(outputs)):
            self._evaluate_again(caller)

    def look_again(self, losses: Any) -> None:
        """Record again for some gradients when a loss is no longer finite; at most once."""
        if not self._has_looked_again and has_lost_number(losses):
            self._has_looked_again, self._is_lost = not self._latest, bool(self._latest)
            self._recording.budget.extend()
            self._recording.resume()

    def batch_ended(self, logs: Any) -> None:
        """Look again if the loss in the logs of `fit` is not finite."""
        loss: Any = logs.get("loss") if isinstance(logs, dict) else None
        if hasattr(loss, "device") and "CPU" in str(loss.device):  # of another device, reading would wait for the step
            loss = self._recording.guard.attempt(self._recording.recorder.array_of, loss)
        if isinstance(loss, (float, np.floating, np.ndarray)) and np.size(loss) == 1 and self._recording.is_mine():
            self._recording.guard.attempt(self._judge_growth, float(loss))
        if isinstance(logs, dict) and self._may_look_again():
            self._recording.guard.call(self.look_again, [logs.get("loss")])

    def _judge_growth(self, loss: float) -> None:
        """Report a loss that has grown from step to step until it was no longer finite."""
        if math.isfinite(loss):
            self._losses.append(loss)
            return
        losses, self._losses = [*self._losses], deque(maxlen=STEPS_COMPARED)
        if len(losses) < 2 or losses[-1] < GROWTH_AT_LEAST * abs(losses[0]) or losses != sorted(losses):
            return
        found = problem(
            "GT401",
            f"the loss grows in every step, from {losses[0]:.3g} to {losses[-1]:.3g} within {len(losses)}, and is no "
            "longer finite: each step overshoots",
            spans=[at(Location.here(), "trained here")],
            consequence="the variables overflow: from here on they are NaN",
            fixes="a smaller learning rate; inputs and targets of about 1 (keras.layers.Normalization); clipnorm=1.0",
        )
        if is_due("GT401", *found.place[1:]):
            report(found)

    def _may_look_again(self) -> bool:
        looks = self._latest and not self._recording.is_on and not self._has_looked_again and not self._is_lost
        return bool(looks) and self._recording.is_mine()

    def _wrap_function(self, original: Any) -> Any:
        def call(function: Any, *arguments: Any, **options: Any) -> Any:
            result = original(function, *arguments, **options)
            if self._latest and not self._recording.is_on and not self._has_looked_again and self._recording.is_mine():
                self._recording.guard.call(self.look_again, tf.nest.flatten(result))
            return result

        return call

    def _evaluate(self, caller: FrameType) -> None:
        """Judge the gradients inside a graph that was executed for the first time, by their numbers."""
        graph, arguments = called_graph(caller)
        waiting, self.waiting = self.waiting, []
        if graph is None:
            return
        self._latest = waiting
        GraphEvaluation(self._recorder.traced, self.batch).run(graph, arguments)
        for request in waiting:
            judge_values(request, self._recorder)
        evaluated.clear()
        self._recorder.traced.clear()

    def _evaluate_again(self, caller: FrameType) -> None:
        """Judge the gradients inside a graph whose loss is no longer finite, with the variables as they are now."""
        graph, arguments = called_graph(caller)
        if graph is None:
            return
        GraphEvaluation(self._variables.read_all(), self.batch).run(graph, arguments)
        inside = [request for request in self._latest if any(id(target) in evaluated for target in request.targets)]
        for request in inside:
            judge_values(request, self._recorder)
        evaluated.clear()
        if inside:  # else it was another graph
            self._has_looked_again, self._latest = True, []


__all__ = ["GraphHooks"]
