"""`Watcher`: begins and ends the watching of TensorFlow, and says what runs at each hook."""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import FrameType
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.autograph.pyct import loader
from tensorflow.python.eager import backprop, context, core, execute
from tensorflow.python.eager import record as tape_record
from tensorflow.python.eager.polymorphic_function import polymorphic_function
from tensorflow.python.framework import op_callbacks, op_def_library
from tensorflow.python.ops import resource_variable_ops, script_ops

from gradtape.core.location import Location, forget_library_folder, is_library, register_library_folder
from gradtape.explain.model.problem import Problem
from gradtape.explain.source.libraries import recognising
from gradtape.watching.budget import Budget
from gradtape.watching.record import CONSTANT
from gradtape.watching.tensorflow import autograph, queries, values
from gradtape.watching.tensorflow.batches import batch_length, called_graph, first_batch, has_lost_number, uses_none
from gradtape.watching.tensorflow.errors import FUNCTIONS, ErrorExplainer
from gradtape.watching.tensorflow.functions import GraphEvaluation, evaluated
from gradtape.watching.tensorflow.gradients import Request, judge_none, judge_request, judge_values, quiet_none
from gradtape.watching.tensorflow.hooks import Guard, Patches
from gradtape.watching.tensorflow.losses import LossJudge
from gradtape.watching.tensorflow.recorder import HeldCut, TensorFlowRecorder
from gradtape.watching.tensorflow.replay import as_array, is_muted, muted
from gradtape.watching.tensorflow.request_errors import watch_problem
from gradtape.watching.tensorflow.rules import CustomRule
from gradtape.watching.tensorflow.tapes import TapeWatch
from gradtape.watching.tensorflow.training import EqualUnits, TrainingJudge, nothing_asked_problem

_EXITS = {
    "numpy": ".numpy()",
    "__float__": "float()",
    "__int__": "int()",
    "__complex__": "complex()",
    "__bool__": "bool()",
    "__index__": "operator.index()",
    "__array__": "np.asarray()",
    "tolist": ".tolist()",
}


VARIABLES_AT_MOST = 1000


ELEMENTS_AT_MOST = 1 << 22


class Watcher:
    """Watches TensorFlow in the thread that it was started in."""

    def __init__(self, budget: Budget, tell: Callable[[Problem], Any]) -> None:
        self.budget = budget
        self.tell = tell
        self.recorder = TensorFlowRecorder()
        self.recorder.losses = LossJudge(self.recorder)
        self.errors = ErrorExplainer(self.recorder)
        self.training = TrainingJudge(self.recorder)
        self.equal = EqualUnits()
        self.guard = Guard(self._break)
        self.tapes: weakref.WeakKeyDictionary[Any, TapeWatch] = weakref.WeakKeyDictionary()
        self._patches = Patches()
        self._stack = ExitStack()
        self._thread = threading.get_ident()
        self._process = os.getpid()
        self._is_recording = False
        self._is_leaving = 0
        self._waiting: list[Request] = []  # gradients inside graphs, until the graph is executed
        self._batch: list[Any] = []  # the first batch that `fit` was given
        self._lost: tuple[Problem, Location] | None = None  # the latest gradient that was None
        self._latest: list[Request] = []  # the gradients inside graphs that were judged last
        self._has_looked_again = False  # after a loss that was not finite
        self._is_lost = False  # a graph has given such a loss, and is looked at when it is executed next

    # -- beginning and end

    def start(self) -> None:
        """Patch TensorFlow."""
        folder = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))
        if register_library_folder(folder):
            self._stack.callback(forget_library_folder, folder)
        self._stack.enter_context(recognising(self.recorder))
        self._stack.callback(autograph.forget)
        self._stack.callback(self._patches.undo)
        self._patch()
        self._resume()
        queries.active.append(self)

    def stop(self) -> None:
        """Leave TensorFlow as it was."""
        if self in queries.active:
            queries.active.remove(self)
        self._pause()
        self._stack.close()
        if not op_callbacks.should_invoke_op_callbacks():
            execute.execute = execute.quick_execute

    def finish(self) -> None:
        """Report the variables that have never learned."""
        self.guard.call(self.training.finish)

    def explain(self, error: BaseException) -> Problem | None:
        """The explanation of an error that ended the program."""
        if self._lost is not None and getattr(error, "problem", None) is None and uses_none(error):
            return self.errors.attach(error, self._lost[0])
        return self.guard.attempt(self.errors.explain, error)  # type: ignore[no-any-return]

    def _break(self) -> None:
        """End the watching after an error of our own."""
        self._pause()
        self._patches.undo()

    def _is_mine(self) -> bool:
        return (
            not self.guard.is_broken
            and not is_muted()
            and threading.get_ident() == self._thread
            and os.getpid() == self._process
        )

    def _pause(self) -> None:
        """Stop to record: operations run at full speed."""
        if self._is_recording:
            self._is_recording = False
            if threading.get_ident() == self._thread:
                with suppress(KeyError):  # the program may have removed all callbacks
                    op_callbacks.remove_op_callback(self._callback)
            self.recorder.active.clear()
            values.forget_arrays()

    def _resume(self) -> None:
        """Record operations from now on."""
        if not self._is_recording and not self.guard.is_broken:
            self._is_recording = True
            op_callbacks.add_op_callback(self._callback)

    # -- patches

    def _patch(self) -> None:
        wrap = self._patches.wrap
        tape = backprop.GradientTape
        wrap(tape, "_push_tape", self._wrap_push)
        wrap(tape, "_pop_tape", self._wrap_pop)
        wrap(tape, "watch", self._wrap_watch)
        wrap(tape, "gradient", self._wrap_gradient)
        wrap(tape, "jacobian", self._wrap_jacobian)
        wrap(tape, "batch_jacobian", self._wrap_jacobian)
        wrap(resource_variable_ops, "variable_accessed", self._wrap_access)
        wrap(resource_variable_ops.ResourceVariable, "__init__", self._wrap_variable)
        wrap(loader, "load_ast", autograph.wrap_loader)
        wrap(polymorphic_function.Function, "__call__", self._wrap_function)
        wrap(script_ops, "py_func_common", self._wrap_numpy_function)
        self._patch_keras()
        wrap(tape_record, "record_operation", self._wrap_record_operation)
        wrap(core, "_status_to_exception", self._wrap_failure)
        wrap(execute, "quick_execute", self._wrap_execution)
        wrap(op_def_library, "_apply_op_helper", self._wrap_building)
        for name, reason in _EXITS.items():
            wrap(values.EagerBase, name, self._wrap_exit(name, reason))

    def _patch_keras(self) -> None:
        try:
            trainer = importlib.import_module("keras.src.backend.tensorflow.trainer")
            losses = importlib.import_module("keras.src.losses.losses")
            backend = importlib.import_module("keras.src.backend.tensorflow.nn")
        except ImportError:  # another Keras than version 3
            return
        self.recorder.losses.add_keras(losses, backend)
        for name in ("fit", "evaluate", "train_on_batch", "test_on_batch"):
            self._patches.wrap(trainer.TensorFlowTrainer, name, self._wrap_fit(name))
        callbacks = importlib.import_module("keras.src.callbacks.callback_list")
        self._patches.wrap(callbacks.CallbackList, "on_train_batch_end", self._wrap_batch_end)
        layer = importlib.import_module("keras.src.layers.layer").Layer
        for name in ("trainable_variables", "trainable_weights"):
            self._patches.wrap_property(layer, name, self._wrap_reading)

    def _wrap_reading(self, original: Any) -> Any:
        def variables(layer: Any) -> Any:
            found = original(layer)
            reads = self._is_recording and not layer.built and self._is_mine()
            if reads and not is_library(sys._getframe(1).f_code.co_filename):
                self.guard.call(self.training.note_unbuilt, layer, Location.here())
            return found

        return variables

    def _wrap_fit(self, name: str) -> Callable[[Any], Any]:
        def make(original: Any) -> Any:
            def fit(model: Any, x: Any = None, y: Any = None, *arguments: Any, **options: Any) -> Any:
                if not self._is_mine():
                    return original(model, x, y, *arguments, **options)
                before = self.recorder.batch_length
                self.recorder.batch_length = self.guard.call(batch_length, x, arguments, options, name)
                self._batch = self.guard.call(first_batch, x, y, self.recorder.batch_length) or []
                self.guard.call(self._look_at_units, model)
                try:
                    result = original(model, x, y, *arguments, **options)
                finally:
                    self.recorder.batch_length = before
                    self._batch = []
                if name == "fit":
                    self.guard.call(self.equal.judge, self._read_muted, Location.here(), lambda v: v.path)
                return result

            return fit

        return make

    def _look_at_units(self, model: Any) -> None:
        self.equal.look(model.trainable_variables if model.built else (), self._read_muted)

    def _read_muted(self, variable: Any) -> Any:
        with muted():
            return self.recorder.array_of(variable)

    def _callback(
        self, kind: Any, inputs: Any, attributes: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> Any:
        given = None if graph is None else outputs  # what the next callback gets
        if not self._is_recording or outputs is None or not self._is_mine():
            return given
        began = time.perf_counter()
        name = kind.decode() if isinstance(kind, bytes) else kind
        self.guard.call(self._record, name, inputs, attributes or (), outputs, sys._getframe(1))
        self.budget.spent += time.perf_counter() - began
        return given

    def _record(self, kind: str, inputs: Any, attributes: Any, outputs: Any, caller: FrameType) -> None:
        recorder = self.recorder
        self.training.note_used(inputs)
        if recorder.in_backward and not recorder.active:
            return
        if os.path.basename(caller.f_code.co_filename).startswith("gen_"):
            self._note_variables(inputs, caller)
        if not isinstance(outputs, (list, tuple)):
            outputs = [outputs]
        if kind.startswith("__inference_"):
            if self._waiting:
                self._evaluate(caller)
            elif self._latest and not self._has_looked_again and (self._is_lost or has_lost_number(outputs)):
                self._evaluate_again(caller)
            self.budget.spend(kind.rpartition("_")[0])  # without the number of this trace
            if not self.budget.is_left:
                self._pause()
                return
        recorder.record_operation(kind, inputs, attributes, outputs)

    def _evaluate(self, caller: FrameType) -> None:
        """Judge the gradients inside a graph that was executed for the first time, by their numbers."""
        graph, arguments = called_graph(caller)
        waiting, self._waiting = self._waiting, []
        if graph is None:
            return
        self._latest = waiting
        GraphEvaluation(self.recorder.traced, self._batch).run(graph, arguments)
        for request in waiting:
            judge_values(request, self.recorder)
        evaluated.clear()
        self.recorder.traced.clear()

    def _evaluate_again(self, caller: FrameType) -> None:
        """Judge the gradients inside a graph whose loss is no longer finite, with the variables as they are now."""
        graph, arguments = called_graph(caller)
        if graph is None:
            return
        GraphEvaluation(self._read_variables(), self._batch).run(graph, arguments)
        inside = [request for request in self._latest if any(id(target) in evaluated for target in request.targets)]
        for request in inside:
            judge_values(request, self.recorder)
        evaluated.clear()
        if inside:  # else it was another graph
            self._has_looked_again, self._latest = True, []

    def _read_variables(self) -> dict[int, Any]:
        """The values of the variables that are alive, by the number of their handles."""
        found: dict[int, Any] = {}
        for number, record in list(self.recorder.variables.items())[:VARIABLES_AT_MOST]:
            variable = record.reference()
            if variable is not None and int(np.prod(record.shape, dtype=np.int64)) <= ELEMENTS_AT_MOST:
                found[number] = self._read_muted(variable)
        return found

    def _look_again(self, losses: Any) -> None:
        """Record again for some gradients when a loss is no longer finite."""
        if has_lost_number(losses):
            self._has_looked_again, self._is_lost = not self._latest, bool(self._latest)
            self.budget.extend()
            self._resume()

    def _wrap_batch_end(self, original: Any) -> Any:
        def on_train_batch_end(callbacks: Any, batch: Any, logs: Any = None) -> Any:
            result = original(callbacks, batch, logs)
            looks = self._latest and not self._is_recording and not self._has_looked_again and not self._is_lost
            if looks and isinstance(logs, dict) and self._is_mine():
                self.guard.call(self._look_again, [logs.get("loss")])
            return result

        return on_train_batch_end

    def _wrap_function(self, original: Any) -> Any:
        def call(function: Any, *arguments: Any, **options: Any) -> Any:
            result = original(function, *arguments, **options)
            if self._latest and not self._is_recording and not self._has_looked_again and self._is_mine():
                self.guard.call(self._look_again, tf.nest.flatten(result))
            return result

        return call

    def _note_variables(self, inputs: Any, caller: FrameType) -> None:
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
                self.recorder.note_read(operand)

    def _wrap_push(self, original: Any) -> Any:
        def push(tape: Any) -> None:
            is_new = tape._tape is None
            original(tape)
            if self._is_mine():
                self.guard.call(self._opened, tape, is_new)

        return push

    def _opened(self, tape: Any, is_new: bool) -> None:
        if self.budget.is_left:
            self._resume()
        if not self._is_recording:
            return
        if is_new:
            self.tapes[tape] = TapeWatch(tape, self.recorder)
        watch = self.tapes.get(tape)
        if watch is not None:
            self.recorder.active.append(watch)

    def _wrap_pop(self, original: Any) -> Any:
        def pop(tape: Any) -> None:
            original(tape)
            if self._is_mine():
                self.guard.call(self._closed, tape)

        return pop

    def _closed(self, tape: Any) -> None:
        watch = self.tapes.get(tape)
        if watch in self.recorder.active:
            self.recorder.active.remove(watch)

    def _wrap_watch(self, original: Any) -> Any:
        def watch(tape: Any, tensor: Any) -> None:
            try:
                original(tape, tensor)
            except ValueError as error:
                if self._is_mine():
                    self.guard.attempt(self._explain_watch, error, tensor)
                raise
            if self._is_mine() and self._is_recording:
                self.guard.call(self._watched, tape, tensor)

        return watch

    def _explain_watch(self, error: ValueError, tensor: Any) -> None:
        refused = next((x for x in tf.nest.flatten(tensor) if not self.recorder.is_tensor(x)), None)
        if refused is not None:
            self.errors.attach(error, watch_problem(refused))

    def _watched(self, tape: Any, tensor: Any) -> None:
        found = self.tapes.get(tape)
        if found is not None:
            for each in tf.nest.flatten(tensor):
                if self.recorder.is_tensor(each):
                    self.recorder.watch(found, each)

    def _wrap_access(self, original: Any) -> Any:
        def variable_accessed(variable: Any) -> None:
            original(variable)
            if self._is_recording and self._is_mine():
                self.guard.call(self._accessed, variable)

        return variable_accessed

    def _accessed(self, variable: Any) -> None:
        recorder = self.recorder
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
        if values.is_eager(handle) and len(self.recorder.traced) < VARIABLES_AT_MOST:
            size = int(np.prod(self.recorder.variable_record(variable).shape, dtype=np.int64))
            if size <= ELEMENTS_AT_MOST:
                self.recorder.traced[handle._id] = self._read_muted(variable)

    def _wrap_variable(self, original: Any) -> Any:
        def initialise(variable: Any, *arguments: Any, **options: Any) -> None:
            original(variable, *arguments, **options)
            if self._is_recording and self._is_mine():
                self.guard.call(self._made, variable)

        return initialise

    def _made(self, variable: Any) -> None:
        if values.is_eager(variable.handle):
            self.recorder.variable_record(variable, Location.here())

    def _wrap_exit(self, name: str, reason: str) -> Callable[[Any], Any]:
        def make(original: Any) -> Any:
            def leave(tensor: Any, *arguments: Any, **options: Any) -> Any:
                if not self._is_recording or self._is_leaving or not self._is_mine():
                    return original(tensor, *arguments, **options)
                self._is_leaving += 1
                try:
                    result = original(tensor, *arguments, **options)
                finally:
                    self._is_leaving -= 1
                self.guard.call(self._left, tensor, reason, result)
                return result

            return leave

        return make

    def _left(self, tensor: Any, reason: str, result: Any) -> None:
        self.training.note_used([tensor])
        record = self.recorder.record_of(tensor)
        if record is None or record is CONSTANT or not (record.is_tracked or record.is_cut):
            return
        frame: Any = sys._getframe(1)
        outermost = ""
        while frame is not None and is_library(frame.f_code.co_filename):
            if frame.f_code.co_filename.startswith(os.path.dirname(tf.__file__)) or "keras" in frame.f_code.co_filename:
                outermost = frame.f_code.co_name
            frame = frame.f_back
        value = float(result) if np.ndim(result) == 0 and isinstance(result, (float, np.floating)) else None
        cut = self.recorder.cut(_EXITS.get(outermost, reason), [record], None, Location.here(), value)
        cut.library = "tensorflow"
        cut.params = {**cut.params, "shape": np.shape(result)}
        cut.held = record  # type: ignore[attr-defined]

    def _wrap_numpy_function(self, original: Any) -> Any:
        def py_func_common(function: Any, inputs: Any, *arguments: Any, **options: Any) -> Any:
            result = original(function, inputs, *arguments, **options)
            if self._is_recording and self._is_mine():
                self.guard.call(self._left_for_numpy, inputs, result)
            return result

        return py_func_common

    def _left_for_numpy(self, inputs: Any, results: Any) -> None:
        """Note that results were computed by a function of NumPy's arrays, for which there is no gradient."""
        records = [self.recorder.record_of(x) for x in tf.nest.flatten(inputs)]
        tracked = [record for record in records if record is not None and record.is_tracked]
        for result in tf.nest.flatten(results) if tracked else ():
            if self.recorder.is_tensor(result):
                shape, dtype = self.recorder.spec_of(result)
                self.recorder.note(result, HeldCut("tf.numpy_function", shape, dtype, Location.here(), tracked))

    # -- rules of the user's

    def _wrap_record_operation(self, original: Any) -> Any:
        def record_operation(
            name: Any, outputs: Any, inputs: Any, backward_function: Any, *rest: Any, **options: Any
        ) -> Any:
            if (
                getattr(backward_function, "__name__", "") == "actual_grad_fn"
                and self._is_recording
                and self._is_mine()
            ):
                watched = self.guard.call(self._watch_rule, name, outputs, inputs, backward_function)
                backward_function = watched or backward_function
            return original(name, outputs, inputs, backward_function, *rest, **options)

        return record_operation

    def _watch_rule(self, name: str, outputs: Any, inputs: Any, backward: Any) -> Any:
        found = self.recorder.record_custom(name, outputs, inputs)
        if found is None:
            return None
        rule = CustomRule(*found, backward, found[0].tapes)

        def watched(*seeds: Any) -> Any:
            try:
                given = backward(*seeds)
            except ValueError as error:
                if "expected to return" in str(error):
                    self.guard.attempt(self._explain_count, error, rule)
                raise
            if self._is_recording and self._is_mine():
                self.guard.call(self._judge_rule, rule, seeds, given)
            return given

        return watched

    def _explain_count(self, error: Exception, rule: CustomRule) -> None:
        self.errors.attach(error, rule.count_problem(str(error)))

    def _judge_rule(self, rule: CustomRule, seeds: Any, given: Any) -> None:
        if not all(seed is None or values.is_eager(seed) for seed in seeds):
            return
        with muted():
            arrays = [as_array(seed) for seed in seeds], [as_array(each) for each in given]
        rule.judge(*arrays)

    # -- operations that fail

    def _wrap_failure(self, original: Any) -> Any:
        def _status_to_exception(*arguments: Any, **options: Any) -> Any:
            error = original(*arguments, **options)
            if self._is_mine() and not self.recorder.in_backward:
                self.guard.attempt(self._explain_failure, error)
            return error

        return _status_to_exception

    def _wrap_execution(self, original: Any) -> Any:
        def quick_execute(*arguments: Any, **options: Any) -> Any:
            try:
                return original(*arguments, **options)
            except Exception as error:
                if self._is_mine() and not self.recorder.in_backward:
                    self.guard.attempt(self._explain_failure, error)
                raise

        return quick_execute

    def _explain_failure(self, error: BaseException) -> None:
        frame: Any = sys._getframe(1)
        while frame is not None and is_library(frame.f_code.co_filename):
            kind = FUNCTIONS.get(frame.f_code.co_name)
            if kind is not None and os.path.basename(frame.f_code.co_filename).startswith("gen_"):
                self.errors.explain_operation(error, kind, dict(frame.f_locals))
                return
            frame = frame.f_back

    def _wrap_building(self, original: Any) -> Any:
        def _apply_op_helper(kind: Any, name: Any = None, **operands: Any) -> Any:
            try:
                return original(kind, name, **operands)
            except (ValueError, TypeError) as error:
                if self._is_mine() and not self.recorder.in_backward:
                    self.guard.attempt(self.errors.explain_operation, error, kind, operands)
                raise

        return _apply_op_helper

    # -- gradients

    def _wrap_gradient(self, original: Any) -> Any:
        def gradient(
            tape: Any, target: Any, sources: Any, output_gradients: Any = None, *rest: Any, **options: Any
        ) -> Any:
            if not self._is_mine():
                return original(tape, target, sources, output_gradients, *rest, **options)
            self.recorder.in_backward += 1
            try:
                found = original(tape, target, sources, output_gradients, *rest, **options)
            except Exception as error:
                self.guard.attempt(self._explain_request, error, tape, target, output_gradients)
                raise
            finally:
                self.recorder.in_backward -= 1
            self._judged(tape, target, sources, output_gradients, bool(rest or options), found)
            return found

        return gradient

    def _wrap_jacobian(self, original: Any) -> Any:
        def jacobian(tape: Any, target: Any, sources: Any, *rest: Any, **options: Any) -> Any:
            if not self._is_mine() or self.recorder.in_backward:
                return original(tape, target, sources, *rest, **options)
            self.recorder.in_backward += 1
            try:
                found = original(tape, target, sources, *rest, **options)
            except Exception as error:
                self.guard.attempt(self._explain_request, error, tape, target, None)
                raise
            finally:
                self.recorder.in_backward -= 1
            watch = self.tapes.get(tape)
            if watch is not None and self._is_recording:
                request = Request(watch, target, sources, None, bool(rest), Location.here())
                problem = self.guard.call(judge_none, request, tf.nest.flatten(found), self.recorder)
                if problem is not None:
                    self._lost = problem, request.location
            return found

        return jacobian

    def _explain_request(self, error: Exception, tape: Any, target: Any, seeds: Any) -> None:
        given = None if seeds is None else tf.nest.flatten(seeds)
        self.errors.explain_request(error, self.tapes.get(tape), tf.nest.flatten(target), given)

    def _judged(self, tape: Any, target: Any, sources: Any, seeds: Any, says_unconnected: bool, found: Any) -> None:
        if self.recorder.in_backward:
            return
        began = time.perf_counter()
        location = Location.here()
        place = id(location.code), location.offset
        watch = self.tapes.get(tape)
        if watch is not None and self._is_recording:
            request = Request(watch, target, sources, seeds, says_unconnected, location)
            problem = self.guard.call(judge_request, request, found, self.recorder, self.training, self.tell)
            if problem is None and not request.sources:
                problem = self.guard.call(nothing_asked_problem, watch, location)
            if problem is None and not says_unconnected:
                problem = self.guard.attempt(quiet_none, request, tf.nest.flatten(found), self.recorder)
            if problem is not None:
                self._lost = problem, location
            self.guard.call(self.training.note_answers, tf.nest.flatten(found))
            if request.answers:
                self._waiting.append(request)
            if not watch.persistent:
                watch.spent = location
        self.budget.spent += time.perf_counter() - began
        self.budget.spend(place)
        if not self._is_recording and not self._has_looked_again:
            self.guard.call(self._look_again, tf.nest.flatten(target))
        if not self.budget.is_left and not self._waiting:
            self._pause()


__all__ = ["Watcher"]
