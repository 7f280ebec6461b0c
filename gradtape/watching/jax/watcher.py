"""`Watcher`: watches the gradients of JAX that a program takes."""

from __future__ import annotations

import math
import os
import site
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import jax
import numpy as np
from jax.tree_util import tree_leaves

from gradtape.core.location import forget_library_folder, register_library_folder
from gradtape.errors import GradTapeError
from gradtape.explain.model.problem import Problem
from gradtape.explain.source.libraries import recognising
from gradtape.watching.budget import Budget
from gradtape.watching.imports import calling_after_import
from gradtape.watching.jax import errors, queries, rules
from gradtape.watching.jax.calls import GradientCall, JitCall, gradients_of, user_function
from gradtape.watching.jax.discarded_results import forget, judge_discarded
from gradtape.watching.jax.gradient_of_other_argument import judge_use
from gradtape.watching.jax.gradients import TakenGradient, is_known, judge, judge_nothing_asked
from gradtape.watching.jax.hooks import Hooks
from gradtape.watching.jax.optimisers import OptimiserObserver
from gradtape.watching.jax.programs import insert_program, watchable_bytes
from gradtape.watching.jax.recorder import JaxRecorder, Program, local
from gradtape.watching.jax.updates import UpdateObserver, UsageObserver
from gradtape.watching.jax.values import bytes_of, dtype_of, is_concrete

APPLYING = ("optax", "equinox")
"""The packages whose `apply_updates` is watched, when the program has imported them."""

CALLS_UNREAD = 16
"""How many calls of a compiled function are kept before their numbers are looked at."""
BYTES_UNREAD = 1 << 26


class Watcher:
    """Watches the gradients of JAX that a program takes."""

    def __init__(self, budget: Budget, tell: Callable[[Problem], Any]) -> None:
        self.budget = budget
        self.tell = tell
        self.recorder = JaxRecorder()
        self.is_working = True
        self.hooks = Hooks(self)
        self._blocks = ExitStack()
        self._folders: list[str] = []
        self._surveyed: set[tuple[int, int]] = set()
        self.updates = UpdateObserver()
        self.usage = UsageObserver()
        self.optimisers = OptimiserObserver()
        self._failed: tuple[Exception, Any] | None = None

    # -- as `LibraryWatcher`

    def start(self) -> None:
        """Begin to record."""
        folders = [os.path.dirname(os.path.dirname(os.path.abspath(jax.__file__))), *site.getsitepackages()]
        self._folders = [folder for folder in folders if register_library_folder(folder)]
        if queries.active:  # the one around this block records what is executed in it
            queries.active[-1].budget.extend(self.budget.steps)
            return
        queries.active.append(self)
        self._blocks.enter_context(recognising(self.recorder))
        self._blocks.callback(forget)
        self.hooks.install()
        self._blocks.enter_context(calling_after_import(APPLYING, self.hooks.observe_updates))
        os.register_at_fork(after_in_child=self._disable)
        _hide_our_frames()

    def stop(self) -> None:
        """Leave JAX as it was."""
        self.is_working = False
        if self in queries.active:
            queries.active.remove(self)
        self.hooks.remove()
        self._blocks.close()
        for folder in self._folders:
            forget_library_folder(folder)

    def finish(self) -> None:
        """Report the parameters that nothing used or changed, which only the end of a program shows."""
        for jitted in list(self.hooks.jitted):
            self.look_at_unread(jitted, is_last=True)
        with self.guarded(is_whole=True):
            self.usage.finish()
            self.updates.finish(self.optimisers.only_place())
            self.optimisers.finish()

    def explain(self, error: BaseException) -> Problem | None:
        """The explanation of an error that JAX raised, which is added to it as a note."""
        with self.guarded(is_whole=True):
            failed = self._failed[1] if self._failed is not None and self._failed[0] is error else None
            return errors.explain(error, failed)
        return None

    def note_failure(self, error: Exception, call: Any) -> None:
        """Remember the innermost call that an error has ended."""
        if self._failed is None or self._failed[0] is not error:
            self._failed = (error, call)

    # -- for the hooks

    def is_due(self, call: GradientCall | JitCall) -> bool:
        """Whether a call that is about to be made is to be recorded; inside of what is recorded, all are."""
        return bool(local.order) or self.budget.is_due(call.place)

    def guarded(self, is_whole: bool = False) -> _Guard:
        """Around our own work: it is timed, and if it fails, the program goes on without being watched."""
        return _Guard(self, is_whole)

    def _disable(self) -> None:
        self.is_working = False

    def finish_gradient(self, call: GradientCall) -> None:
        """Judge a gradient that was taken, now or when the values of the program around it are known."""
        session = call.session
        if session is None and self.is_working and call.outer is None and not gradients_of(call):
            judge_nothing_asked(call)
        if session is None or not self.is_working:
            return
        self.budget.spend(call.place)
        judge_discarded(user_function(call.function), call.location.code)
        judge_use(call)
        gradients = gradients_of(call)
        taken = TakenGradient(call, session, gradients)
        if isinstance(call.outer, Program):
            call.outer.pending.append(taken)
        elif call.outer is None and is_known(gradients):
            self._judge(taken)

    def finish_function(self, call: GradientCall) -> None:
        """Judge the value of a function that `jax.vjp` has called."""

    def arguments_before(self, call: JitCall) -> list[Any] | None:
        """Copies of the arguments of a call whose memory JAX may use for the results; None if they stay as they are."""
        if not call.proxy.donates or not is_known(call.leaves):
            return None
        size = sum(map(bytes_of, call.leaves))
        if size > watchable_bytes():
            return [None] * len(call.leaves)
        return [np.array(leaf) if dtype_of(leaf).kind in "fciub" else leaf for leaf in call.leaves]

    def finish_program(self, call: JitCall, before: list[Any] | None, result: Any) -> None:
        """Judge the gradients that were taken inside a program, with the values of this call."""
        program = call.program
        assert program is not None
        if not self.is_working:
            return
        if not is_known(call.leaves):
            if call.outer is not None and any(call.outer.find(leaf) is not None for leaf in call.leaves):
                insert_program(call.outer, program, call.leaves, tree_leaves(result))
            return
        if call.outer is None:
            self.optimisers.see_program(program, call.leaves)
            self.judge_program(program, call.leaves if before is None else before)

    def judge_program(self, program: Program, leaves: list[Any]) -> None:
        """Evaluate a program and judge the gradients in it."""
        if not program.has_gradients or program.size > watchable_bytes():
            return
        local.is_judging = True
        try:
            program.evaluate([leaf if hasattr(leaf, "dtype") or is_concrete(leaf) else None for leaf in leaves])
            for taken in program.all_pending():
                self._judge(taken)
        finally:
            local.is_judging = False
            program.forget()

    def look_at(self, call: GradientCall, result: Any) -> None:
        """After the budget was spent: record again if the value of the function is not finite."""
        self.budget.spend(call.place)
        if not call.wants_value or call.is_jacobian:
            return
        value = result[0][0] if isinstance(result[0], tuple) else result[0]
        is_number = isinstance(value, jax.Array) and not isinstance(value, jax.core.Tracer) and value.size == 1
        if is_number and not np.isfinite(np.asarray(value)).all():
            self.budget.extend()

    def look_at_program(self, call: JitCall, result: Any) -> None:
        """After the budget was spent: keep the call and its result, and look at them with some others.

        JAX computes while the program goes on: a look at each number would wait for it.
        """
        jitted = call.proxy
        self.budget.skip(call.place)
        if not jitted.programs or jitted.donates or jitted.was_broken:
            return
        jitted.unread.append((call, result))
        if len(jitted.unread) > jitted.window:
            self.look_at_unread(jitted)

    def look_at_unread(self, jitted: Any, is_last: bool = False) -> None:
        """See whether the numbers that the latest calls returned are finite; judge the first call whose are not.

        A number that is not finite spoils those of the calls after it: only then all are looked at. The latest call is
        left for the next time, as it may not be computed yet.
        """
        with self.guarded(is_whole=True):
            kept = 0 if is_last else 1
            waiting, jitted.unread = jitted.unread[: len(jitted.unread) - kept], jitted.unread[-1:] * kept
            if not waiting:
                return
            latest, result = waiting[-1]
            if self._has_finite_numbers(jitted, result):
                size = sum(bytes_of(leaf) for leaf in (*latest.leaves, *tree_leaves(result)) if hasattr(leaf, "dtype"))
                jitted.window = max(1, min(CALLS_UNREAD, BYTES_UNREAD // max(size, 1)))
                return
            call = next(call for call, result in waiting if not self._has_finite_numbers(jitted, result))
            program = jitted.programs.get(jitted.key_of(call.leaves))
            if program is not None:
                jitted.was_broken = True
                jitted.unread.clear()
                self.judge_program(program, call.leaves)

    def _has_finite_numbers(self, jitted: Any, result: Any) -> bool:
        numbers = jitted.numbers_in(tree_leaves(result))
        return not is_known(numbers) or all(math.isfinite(number.item()) for number in numbers)

    def _judge(self, taken: TakenGradient) -> None:
        was = local.is_judging
        local.is_judging = True
        try:
            rules.check(taken.session)
            place = (id(taken.location.code), taken.location.offset)
            surveys = place not in self._surveyed and self.budget.spent < self.budget.seconds
            self._surveyed.add(place)
            for note in judge(taken, surveys, self.usage):
                self.tell(note)
            gradients = [None if kept is None else kept.array() for kept in taken.gradients]
            if not taken.is_jacobian and len(gradients) == len(taken.leaves):
                self.updates.see(taken.location, taken.leaves, gradients, taken.function)
        finally:
            local.is_judging = was


class _Guard:
    """Times our own work, and keeps its failures from the program."""

    __slots__ = ("_is_whole", "_started", "_watcher")

    def __init__(self, watcher: Watcher, is_whole: bool) -> None:
        self._watcher = watcher
        self._is_whole = is_whole

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        self._watcher.budget.spent += time.perf_counter() - self._started
        if error is None or isinstance(error, GradTapeError | Warning) or not isinstance(error, Exception):
            return False
        self._watcher._disable()
        return os.environ.get("GRADTAPE_WATCH_DEBUG") != "1"


def _hide_our_frames() -> None:
    """Let JAX leave our frames out of the tracebacks and source lines that it shows, as it does with its own."""
    from jax._src import source_info_util, traceback_util

    folder = os.path.dirname(os.path.abspath(__file__))
    for module in (traceback_util, source_info_util):
        register: Callable[[str], None] | None = getattr(module, "register_exclusion", None)
        for name in os.listdir(folder):
            if name.endswith(".py") and register is not None:
                register(os.path.join(folder, name))


__all__ = ["Watcher"]
