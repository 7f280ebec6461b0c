"""Watches PyTorch.

hooks       where PyTorch calls us
operations  its functions in gradtape's table; operation_tables has the names
recorder    the records of its tensors
calls       makes a record of each call
replay      an operation once more, on copies
gradients   what is judged after a backward pass
losses      what loss functions are given
training    optimisers, and parameters that do not train
program_errors  errors of the program's own expressions: tuples, numbers and classes in the place of tensors
errors      PyTorch's own exceptions, explained where a call raised: shapes, writes to leaves, what was asked for
layer_errors, argument_errors   sizes of layers; labels and dtypes
engine_errors   exceptions of a backward pass, from their traceback
known_messages, message_table   what other messages of PyTorch mean, at the user's line
dropped_axis    shapes that do not fit because squeeze() has dropped the axis of the examples
queries     why a gradient is what it is; whether the examples of a batch are independent
"""

from __future__ import annotations

import cmath
import os
import site
import sys
import traceback
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from time import perf_counter
from typing import Any

import torch

from gradtape.core.location import Location, forget_library_folder, register_library_folder
from gradtape.errors import GradTapeError
from gradtape.explain.model.problem import Problem
from gradtape.explain.source.libraries import recognising
from gradtape.watching.budget import Budget
from gradtape.watching.observers import observers
from gradtape.watching.torch import queries
from gradtape.watching.torch.calls import CallRecorder
from gradtape.watching.torch.dropped_axis import blame_squeeze
from gradtape.watching.torch.engine_errors import explain_error, tensors_at
from gradtape.watching.torch.errors import explain_call
from gradtape.watching.torch.gradients import BackwardPass, judge_backward, release
from gradtape.watching.torch.hooks import Hooks
from gradtape.watching.torch.operations import BACKWARD, GRAD, IGNORED, OPERATION, SWITCH, WRITE, Rule, rule_for
from gradtape.watching.torch.recorder import TorchRecorder, is_plain
from gradtape.watching.torch.replay import flat_tensors
from gradtape.watching.torch.training import Training, asked_by_user
from gradtape.watching.torch.tried_edits import try_edits

EXPLAINED_AT_MOST = 50
SURVEYED_SECONDS = 0.3  # a step that takes longer is not run again for notes


class Watcher:
    """Watches a program that uses PyTorch: the `LibraryWatcher` of torch."""

    def __init__(self, budget: Budget, tell: Callable[[Problem], Any]) -> None:
        self.budget = budget
        self.tell = tell
        self.recorder = TorchRecorder()
        self.calls = CallRecorder(self.recorder)
        self.training = Training(self.recorder, self.calls, tell)
        self.hooks = Hooks(self)
        self._rules: dict[Any, Rule] = {}
        self._blocks = ExitStack()
        self._folders: list[str] = []
        self._explained = 0
        self._has_failed = False
        self._surveyed: set[Any] = set()
        self._failed_pass: tuple[BaseException, BackwardPass] | None = None

    # -- as a LibraryWatcher

    def start(self) -> None:
        """Begin to record."""
        folders = {os.path.dirname(os.path.dirname(os.path.abspath(torch.__file__)))}
        folders.update(path for path in sys.path if path.rstrip(os.sep).endswith(("site-packages", "dist-packages")))
        folders.add(site.getusersitepackages() if site.ENABLE_USER_SITE else next(iter(folders)))
        self._folders = [folder for folder in folders if register_library_folder(folder)]
        self._blocks.enter_context(recognising(self.recorder))
        self.hooks.install()
        self.hooks.record()
        queries.watchers.begin(self)

    def stop(self, keep: bool = True) -> None:
        """Leave the library as it was; with `keep`, records are kept for questions until another block ends."""
        self.hooks.remove()
        self._blocks.close()
        for folder in self._folders:
            forget_library_folder(folder)
        queries.watchers.end(self, keep)

    def finish(self) -> None:
        """Report the parameters that have not been trained."""
        with self._own_work():
            self.training.finish()

    def explain(self, error: BaseException) -> Problem | None:
        """The explanation of an error of PyTorch."""
        known: Problem | None = getattr(error, "problem", None)
        if known is None and not self._has_failed:
            with self._own_work():
                known = explain_error(error, self.recorder, self.training)
                if known is not None:
                    given = [self.recorder.record_of(x) for x in tensors_at(error)]
                    if self._failed_pass is not None and self._failed_pass[0] is error:
                        given += self._failed_pass[1].records
                    known = blame_squeeze(known, given)
                    attach(error, known)
        return known

    # -- our own work

    @contextmanager
    def _own_work(self) -> Any:
        """Measures what recording costs; a mistake of ours ends the watching and leaves the program alone."""
        started = perf_counter()
        self.hooks.pauses += 1
        try:
            with torch._C.DisableTorchFunction():
                yield
        except (GradTapeError, Warning):
            raise
        except Exception:
            if os.environ.get("GRADTAPE_WATCH_DEBUG"):
                traceback.print_exc()
                raise
            self._has_failed = True
            self.hooks.rest()
        finally:
            self.hooks.pauses -= 1
            self.budget.spent += perf_counter() - started

    def _is_foreign(self) -> bool:
        """Whether something other than plain eager execution is going on, which is left alone."""
        return bool(
            torch._C._len_torch_dispatch_stack()
            or torch._C._get_tracing_state() is not None
            or torch._C._functorch.peek_interpreter_stack() is not None
            or torch.compiler.is_compiling()
        )

    # -- what the hooks call

    def call(self, func: Any, args: Any, kwargs: Any) -> Any:
        """A function of PyTorch was called: call it, and record it."""
        hooks = self.hooks
        if hooks.pauses or not hooks.is_recording:
            return func(*args, **kwargs)
        try:
            rule = self._rules.get(func)
        except TypeError:
            return func(*args, **kwargs)
        if rule is None:
            rule = rule_for(func)
            if len(self._rules) < 4096:
                self._rules[func] = rule
        if rule.what == IGNORED or self._is_foreign():
            return func(*args, **kwargs)
        if rule.what == SWITCH:
            was_enabled = torch.is_grad_enabled()
            result = func(*args, **kwargs)
            with self._own_work():
                self.calls.switch(was_enabled)
            return result
        if rule.what == GRAD:
            result = func(*args, **kwargs)
            if result is None:
                with self._own_work():
                    self.training.grad_read(args[0])
            elif asked_by_user():
                self.training.grad_used()
            return result
        random_state = None
        if rule.what == OPERATION and kwargs.get("inplace") is True:
            rule = rule._replace(what=WRITE)
        if rule.what == WRITE:
            with self._own_work():
                self.calls.prepare_write(args, kwargs)
        elif rule.is_random:
            random_state = torch.random.get_rng_state()
        try:
            result = func(*args, **kwargs)
        except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError) as error:
            self._explain_call(error, func, rule, args, kwargs)
            raise
        if rule.what != BACKWARD and not self._has_failed:
            with self._own_work():
                self.calls.record(rule, func, args, kwargs, result, random_state)
            if not self.budget.is_left:
                hooks.rest()
        return result

    def _explain_call(self, error: Exception, func: Callable[..., Any], rule: Rule, args: Any, kwargs: Any) -> None:
        """Attach an explanation to an error of PyTorch."""
        if getattr(error, "problem", None) is not None or self._explained > EXPLAINED_AT_MOST or self._has_failed:
            return
        self._explained += 1
        with self._own_work():
            found = explain_call(error, rule, args, kwargs, self.recorder, self.training)
            if found is not None:
                found = try_edits(found, func, rule, args, kwargs)
                given = [self.recorder.record_of(x) for x in flat_tensors([*args, *kwargs.values()])]
                attach(error, blame_squeeze(found, given))

    def backward(self, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """The autograd engine is called, for `backward` or `grad`."""
        hooks = self.hooks
        self.training.has_walked_back = True
        if self._has_failed or self._is_foreign():
            return original(*args, **kwargs)
        if not hooks.is_recording:
            hooks.settle()
            result = original(*args, **kwargs)
            self._look_again(args)
            return result
        run: BackwardPass | None = None
        with self._own_work():
            run = BackwardPass(self.recorder, args, kwargs)
            self.training.before_backward(run)
        started = perf_counter()
        with hooks.pause():
            try:
                result = original(*args, **kwargs)
            except RuntimeError as error:
                self._explain_backward(error, run)
                raise
        took = perf_counter() - started
        if run is not None:
            self._judge(run, result, took)
        return result

    def _judge(self, run: BackwardPass, result: Any, seconds: float) -> None:
        place = run.location.code, run.location.offset
        with self._own_work():
            surveys = place not in self._surveyed and seconds < SURVEYED_SECONDS
            self._surveyed.add(place)
            if observers:
                self._name_leaves(run)
            computation = judge_backward(self.recorder, run, result, self.tell, surveys)
            self.training.after_backward(run, result, computation)
            if computation is not None and not run.retains and not run.creates_graph:
                release(computation, run.location)
            self.budget.spend(place)
        if not self.budget.is_left:
            self.hooks.rest()

    def _name_leaves(self, run: BackwardPass) -> None:
        """Name the parameters behind a gradient as their modules do, for a report."""
        parents = self.training.registry.parents()
        for leaf in run.leaves:
            record = self.recorder.record_of(leaf)
            if record is not None and not record.is_shared and not record.name:
                record.name = self.training.registry.path_of(leaf, parents)

    def _explain_backward(self, error: RuntimeError, run: BackwardPass | None) -> None:
        if run is None or getattr(error, "problem", None) is not None:
            return
        self._failed_pass = error, run
        with self._own_work():
            found = explain_error(error, self.recorder, self.training, run)
            if found is not None:
                attach(error, blame_squeeze(found, run.records))

    def _look_again(self, args: Any) -> None:
        """Record again for some gradients at a place that is new, or when a loss is no longer finite."""
        location = Location.here()
        self.budget.spend((location.code, location.offset))
        if not self._has_extended and _is_lost(args[0]):
            self._has_extended = True
            self.budget.extend()
        if self.budget.is_left:
            self.hooks.record()

    _has_extended = False

    def custom_function(self, cls: Any, call: Callable[[], Any], args: Any, kwargs: Any) -> Any:
        """`Function.apply` of the user's class was called."""
        if self._is_foreign() or self._has_failed:
            return call()
        with self.hooks.pause():
            result = call()
        with self._own_work():
            self.training.custom_call(cls, args, kwargs, result)
        return result

    def before_step(self, optimiser: Any, args: Any, kwargs: Any) -> None:
        """An optimiser is about to change its parameters."""
        if self._has_failed or (not self.hooks.is_recording and not self.training.waits_for(optimiser)):
            return
        self.hooks.settle()
        with self._own_work():
            self.training.before_step(optimiser)

    def after_step(self, optimiser: Any, args: Any, kwargs: Any) -> None:
        """An optimiser has changed its parameters."""
        if self._has_failed or not self.hooks.is_recording:
            self.training.in_step = False
            return
        with self._own_work():
            self.training.after_step(optimiser)

    def parameter_made(self, parameter: Any, data: Any) -> None:
        """`nn.Parameter(data)` was called."""
        if self._has_failed or self._is_foreign():
            return
        with self._own_work():
            self.training.registry.note_made(parameter)
            self.calls.parameter_made(parameter, data)

    def parameter_registered(self, module: Any, name: str, parameter: Any) -> None:
        """A module got a parameter."""
        if self._has_failed or self.hooks.pauses:
            return
        with self._own_work():
            self.training.parameter_registered(module, name, parameter)

    def module_registered(self, module: Any, name: str, part: Any) -> None:
        """A module got a part."""
        if not self._has_failed:
            self.training.registry.modules.add(module)

    def optimiser_made(self, optimiser: Any) -> None:
        """An optimiser was made."""
        if self._has_failed:
            return
        self.hooks.settle()
        with self._own_work():
            self.training.optimiser_made(optimiser)


def _is_lost(targets: Any) -> bool:
    """Whether a number that is differentiated is NaN or infinite, as far as that is known without waiting for it."""
    with torch._C.DisableTorchFunction():
        numbers = [target.detach() for target in targets if is_plain(target) and target.numel() == 1]
        return any(number.device.type == "cpu" and not cmath.isfinite(number.item()) for number in numbers)


def attach(error: BaseException, found: Problem) -> None:
    """Add an explanation to an error, which stays what it is."""
    error.problem = found  # type: ignore[attr-defined]
    error.add_note(found.to_text())


__all__ = ["Watcher"]
