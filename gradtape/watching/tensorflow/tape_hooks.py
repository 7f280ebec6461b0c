"""Hooks at `tf.GradientTape`: when it records, what it watches, and the gradients that it is asked for."""

from __future__ import annotations

import functools
import time
import weakref
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import backprop

from gradtape.core.location import Location
from gradtape.explain.model.problem import Problem
from gradtape.watching.tensorflow.errors import ErrorExplainer
from gradtape.watching.tensorflow.gradients import Request, judge_none, judge_request, quiet_none
from gradtape.watching.tensorflow.graph_hooks import GraphHooks
from gradtape.watching.tensorflow.hooks import Patches
from gradtape.watching.tensorflow.optimiser_hooks import OptimiserHooks
from gradtape.watching.tensorflow.recording import Recording
from gradtape.watching.tensorflow.request_errors import watch_problem
from gradtape.watching.tensorflow.tapes import TapeWatch
from gradtape.watching.tensorflow.training import TrainingJudge, nothing_asked_problem


class TapeHooks:
    """Follows each tape, and has its gradients judged."""

    def __init__(
        self,
        recording: Recording,
        errors: ErrorExplainer,
        training: TrainingJudge,
        graphs: GraphHooks,
        optimisers: OptimiserHooks,
        tell: Callable[[Problem], Any],
    ) -> None:
        self.tapes: weakref.WeakKeyDictionary[Any, TapeWatch] = weakref.WeakKeyDictionary()
        self.lost: Problem | None = None  # what explains the latest gradient that was None
        self._recording = recording
        self._recorder = recording.recorder
        self._errors = errors
        self._training = training
        self._graphs = graphs
        self._optimisers = optimisers
        self._tell = tell

    def patch(self, patches: Patches) -> None:
        """Put the hooks in place."""
        tape = backprop.GradientTape
        patches.wrap(tape, "_push_tape", self._wrap_push)
        patches.wrap(tape, "_pop_tape", self._wrap_pop)
        patches.wrap(tape, "watch", self._wrap_watch)
        patches.wrap(tape, "gradient", self._wrap_gradient)
        patches.wrap(tape, "jacobian", self._wrap_jacobian)
        patches.wrap(tape, "batch_jacobian", functools.partial(self._wrap_jacobian, per_example=True))

    # -- when it records

    def _wrap_push(self, original: Any) -> Any:
        def push(tape: Any) -> None:
            is_new = tape._tape is None
            original(tape)
            if self._recording.is_mine():
                self._recording.guard.call(self._opened, tape, is_new)

        return push

    def _opened(self, tape: Any, is_new: bool) -> None:
        if self._recording.budget.is_left:
            self._recording.resume()
        if not self._recording.is_on:
            return
        if is_new:
            before = self.tapes.get(tape)
            self.tapes[tape] = TapeWatch(tape, self._recorder)
            if before is not None:  # tape.reset(), or a second with block of one tape
                self.tapes[tape].cleared = Location.here()
        watch = self.tapes.get(tape)
        if watch is not None:
            self._recorder.active.append(watch)

    def _wrap_pop(self, original: Any) -> Any:
        def pop(tape: Any) -> None:
            original(tape)
            if self._recording.is_mine():
                self._recording.guard.call(self._closed, tape)

        return pop

    def _closed(self, tape: Any) -> None:
        watch = self.tapes.get(tape)
        if watch in self._recorder.active:
            self._recorder.active.remove(watch)

    # -- what it watches

    def _wrap_watch(self, original: Any) -> Any:
        def watch(tape: Any, tensor: Any) -> None:
            try:
                original(tape, tensor)
            except ValueError as error:
                if self._recording.is_mine():
                    self._recording.guard.attempt(self._explain_watch, error, tensor)
                raise
            if self._recording.is_mine() and self._recording.is_on:
                self._recording.guard.call(self._watched, tape, tensor)

        return watch

    def _explain_watch(self, error: ValueError, tensor: Any) -> None:
        refused = next((x for x in tf.nest.flatten(tensor) if not self._recorder.is_tensor(x)), None)
        if refused is not None:
            self._errors.attach(error, watch_problem(refused))

    def _watched(self, tape: Any, tensor: Any) -> None:
        found = self.tapes.get(tape)
        if found is not None:
            for each in tf.nest.flatten(tensor):
                if self._recorder.is_tensor(each):
                    self._recorder.watch(found, each)

    # -- gradients

    def _wrap_gradient(self, original: Any) -> Any:
        def gradient(
            tape: Any, target: Any, sources: Any, output_gradients: Any = None, *rest: Any, **options: Any
        ) -> Any:
            if not self._recording.is_mine():
                return original(tape, target, sources, output_gradients, *rest, **options)
            self._recorder.in_backward += 1
            try:
                found = original(tape, target, sources, output_gradients, *rest, **options)
            except Exception as error:
                self._recording.guard.attempt(self._explain_request, error, tape, target, output_gradients, sources)
                raise
            finally:
                self._recorder.in_backward -= 1
            self._judged(tape, target, sources, output_gradients, bool(rest or options), found)
            return found

        return gradient

    def _wrap_jacobian(self, original: Any, per_example: bool = False) -> Any:
        def jacobian(tape: Any, target: Any, sources: Any, *rest: Any, **options: Any) -> Any:
            if not self._recording.is_mine() or self._recorder.in_backward:
                return original(tape, target, sources, *rest, **options)
            self._recorder.in_backward += 1
            try:
                found = original(tape, target, sources, *rest, **options)
            except Exception as error:
                self._recording.guard.attempt(self._explain_request, error, tape, target, None, sources, per_example)
                raise
            finally:
                self._recorder.in_backward -= 1
            watch = self.tapes.get(tape)
            if watch is not None and self._recording.is_on:
                request = Request(watch, target, sources, None, bool(rest), Location.here())
                problem = self._recording.guard.call(judge_none, request, tf.nest.flatten(found), self._recorder)
                if problem is not None:
                    self.lost = problem
            return found

        return jacobian

    def _explain_request(
        self, error: Exception, tape: Any, target: Any, seeds: Any, sources: Any, per_example: bool = False
    ) -> None:
        given = None if seeds is None else tf.nest.flatten(seeds)
        asked = tf.nest.flatten(sources)
        self._errors.explain_request(error, self.tapes.get(tape), tf.nest.flatten(target), given, asked, per_example)

    def _judged(self, tape: Any, target: Any, sources: Any, seeds: Any, says_unconnected: bool, found: Any) -> None:
        if self._recorder.in_backward:
            return
        budget = self._recording.budget
        began = time.perf_counter()
        location = Location.here()
        place = id(location.code), location.offset
        watch = self.tapes.get(tape)
        if watch is not None and self._recording.is_on:
            request = Request(watch, target, sources, seeds, says_unconnected, location)
            problem = self._problem_of(request, found)
            if problem is not None:
                self.lost = problem
            answers = tf.nest.flatten(found)
            self._recording.guard.call(self._training.note_answers, answers)
            if len(answers) == len(request.sources):
                self._recording.guard.call(self._optimisers.note_answers, request, answers)
            if request.answers:
                self._graphs.waiting.append(request)
            if not watch.persistent:
                watch.spent = location
        budget.spent += time.perf_counter() - began
        budget.spend(place)
        if not self._recording.is_on:
            self._recording.guard.call(self._graphs.look_again, tf.nest.flatten(target))
        if not budget.is_left and not self._graphs.waiting:
            self._recording.pause()

    def _problem_of(self, request: Request, found: Any) -> Problem | None:
        """What is wrong with the answer to a request: reported, or kept for an error that it leads to."""
        guard = self._recording.guard
        problem = guard.call(judge_request, request, found, self._recorder, self._training, self._tell)
        if problem is None and not request.sources:
            problem = guard.call(nothing_asked_problem, request.watch, request.location)
        if problem is None and not request.says_unconnected:
            problem = guard.attempt(quiet_none, request, tf.nest.flatten(found), self._recorder)
        return problem  # type: ignore[no-any-return]


__all__ = ["TapeHooks"]
