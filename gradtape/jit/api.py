"""`jit` and `Compiled`: lookup of an executable, guards, running it, compiling the first time, and falling back."""

from __future__ import annotations

import copy
import functools
import inspect
import sys
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from gradtape.config import config
from gradtape.core import recording
from gradtape.core.backprop import keep_saved
from gradtape.core.graph import VARIABLE
from gradtape.core.location import Location
from gradtape.core.tensor import Tensor
from gradtape.errors import GradTapeError, OperandError
from gradtape.forking import fork_safe
from gradtape.jit.diagnostics import explain_call, loop_report, retrace_reasons
from gradtape.jit.diagnostics.explain_call import is_suspect
from gradtape.jit.diagnostics.retrace_report import VARIANTS_AT_MOST, RetraceReport
from gradtape.jit.diagnostics.slowness_reason import Reason
from gradtape.jit.errors import GuardFailed, Untraceable, warn
from gradtape.jit.guards.signature import CallArguments, Inline, parse_static_arguments
from gradtape.jit.inspection import Inspection, Statistics, refusals_as_errors
from gradtape.jit.ir.program import Program, ProgramError
from gradtape.jit.ir.results import Write
from gradtape.jit.pipeline import compile_call
from gradtape.jit.runtime import backends
from gradtape.jit.runtime.cache import ExecutableCache
from gradtape.jit.runtime.executable import Executable
from gradtape.jit.runtime.fast_entry import FastEntry
from gradtape.jit.runtime.sample import Sample

Function = Callable[..., Any]
_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
TRACES_AT_MOST = 16
"""How many traces a function may have for the same shapes, dtypes and static values before it is run as it is."""


class Compiled(Inspection):
    """A compiled function: what `jit` returns.

    Call it as the function itself. `program`, `memory` and `stats` tell what was made of it.
    """

    # `__call__` below is replaced by one in machine code (`gradtape.jit.native.runtime.call`) when a function is called
    # for the second time. That one runs what `_fast` describes, and calls the method below where it does not fit.

    # All attributes are slots: decorators copy the `__dict__` of what they wrap (`functools.wraps`), and would carry
    # executables along, which a trace of the wrapper would have to compare.

    __slots__ = (
        "_cache",
        "_fast",
        "_fast_executable",
        "_function",
        "_is_unsettled",
        "_lock",
        "_misfits",
        "_options",
        "_ran_last",
        "_static",
        "_warned",
        "is_silent",
        "stats",
    )
    _fast: FastEntry | None

    def __init__(
        self,
        function: Function,
        static_argnums: int | Sequence[int] = (),
        static_argnames: str | Sequence[str] = (),
        cache_size: int = 128,
    ) -> None:
        functools.update_wrapper(self, function, updated=())
        self._function = function
        self._static = parse_static_arguments(function, static_argnums, static_argnames)
        self._options = static_argnums, static_argnames, cache_size
        if not isinstance(cache_size, int) or cache_size < 1:
            raise OperandError(f"jit: cache_size={cache_size!r}; an integer of at least 1 is wanted")
        self._cache = ExecutableCache(cache_size)
        self._lock = fork_safe(threading.RLock())  # held while something is compiled
        self._fast = None
        self._fast_executable: Executable | None = None  # the one that `_fast` is for
        self._ran_last: Executable | None = None  # of those that were run by Python code
        self._retraces = RetraceReport(function)
        self._is_unsettled = False  # whether it was warned that each call is traced anew
        self._misfits = 0  # how many executables failed a guard in the call they were compiled in
        self._warned: set[tuple[object, ...]] = set()  # the reasons that were reported
        self.is_silent = False  # without warnings: it was compiled by the library, not by the user
        self.stats = Statistics()

    @property
    def traced_function(self) -> Function:
        """The function that is compiled."""
        return self._function

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    # a copy is another function to compile: native code is never copied, nor sent anywhere

    def __copy__(self) -> Compiled:
        return Compiled(self._function, *self._options)

    def __deepcopy__(self, memo: dict[int, Any]) -> Compiled:
        made = memo[id(self)] = Compiled(copy.deepcopy(self._function, memo), *self._options)
        return made

    def __reduce__(self) -> Any:
        found: Any = sys.modules.get(self.__module__)
        for name in getattr(self, "__qualname__", "").split("."):
            found = getattr(found, name, None)
        return self.__qualname__ if found is self else (Compiled, (self._function, *self._options))

    def __repr__(self) -> str:
        count = self.stats.traces
        return f"<jit of {getattr(self._function, '__name__', 'a function')}, {count} trace{'' if count == 1 else 's'}>"

    # -- calling

    @property
    def _latest(self) -> Executable | None:
        return self._fast_executable if self.stats.counters.is_latest else self._ran_last

    @_latest.setter
    def _latest(self, executable: Executable | None) -> None:
        self._ran_last = executable
        self.stats.counters.is_latest = False

    def _use_fast_entry(self, entry: FastEntry | None, executable: Executable | None) -> None:
        """Let native calls run `entry`, which is of `executable`."""
        self._latest = self._latest  # native calls are counted for the executable that they are made for
        self._fast, self._fast_executable = entry, executable

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's answer: NumPy arrays for NumPy arrays, tensors for tensors."""
        if keep_saved.get():  # `gt.check_numerics()`: the function itself stops at the line where a NaN is made
            self.stats.uncompiled += 1
            return self._function(*args, **kwargs)
        try:
            call, why = CallArguments.of(self._function, self._static, args, kwargs), None
        except Inline:
            call, why = None, None
        except Untraceable as reason:
            call, why = None, retrace_reasons.explain_untraceable(reason, self._function)
        if call is None:  # after that, so that an error of the function's does not seem to come of another
            return self._function(*args, **kwargs) if why is None else self._run_uncompiled(args, kwargs, why)
        key = tuple(call.key)
        executables = self._cache.lookup(key)
        if executables is None:
            self.stats.uncompiled += 1
            return self._function(*args, **kwargs)
        found, answer = self._try(executables, call, args, kwargs)
        return answer if found else self._first_call(key, call, args, kwargs, executables)

    def _try(self, executables: list[Executable], call: CallArguments, args: Any, kwargs: Any) -> tuple[bool, Any]:
        """Run the first of `executables` whose guards hold: whether there was one, and its answer."""
        for executable in executables:
            environment: list[Any] | None = (
                [] if executable.reads_only_arguments else executable.read_captures(len(call.arrays))
            )
            if environment is None:
                continue
            fits, answer = self._run(executable, call, environment, args, kwargs)
            if fits:
                return True, answer
        return False, None

    def _run(self, executable: Executable, call: CallArguments, environment: list[Any], args: Any, kwargs: Any) -> Any:
        """Run `executable`: whether its guards hold, and its answer."""
        if (executable.has_tensors or call.variables) and _is_recorded(executable, call, environment):
            return True, self._function(*args, **kwargs)
        if executable.in_place and _do_writes_overlap(executable.in_place, call, environment):
            return True, self._function(*args, **kwargs)
        arrays, failed = executable.arrays(call, environment), None
        try:
            answer = executable.run(call, environment, arrays)
        except GuardFailed:
            self.stats.guards_failed += 1
            return False, None
        except Exception as error:
            _raise_if_checking(error)
            failed = error
        if failed is not None:  # what fails in the program fails in the function, which says at which line
            self.stats.uncompiled += 1
            answer = self._function(*args, **kwargs)
            self._disable(executable, failed)
            return True, answer
        self.stats.counters.runs += 1
        self._latest = executable
        is_first = not executable.has_run
        entry = executable.find_fast_entry(call, self.stats.counters)
        if entry is not None:
            self._use_fast_entry(entry, executable)
            backends.install_call(Compiled, "_fast")
        elif not is_first:
            backends.quicken(executable.runner)
        if is_first or is_suspect(answer, self.stats.runs):
            self._explain_nonfinite(
                executable, answer, args, kwargs, explain_call.ExecutableRun(call, environment, arrays)
            )
        return True, answer

    def _explain_nonfinite(
        self,
        executable: Executable,
        answer: Any,
        args: Any,
        kwargs: Any,
        run: explain_call.ExecutableRun = explain_call.WITHOUT_WRITES,
    ) -> None:
        """Explain results that are not finite, once; and gradients of zeros, if tracing has not computed them."""
        unchecked, executable.unchecked = executable.unchecked, ()
        if not self.stats.counters.is_explained and not explain_call.is_finite(answer):
            self.stats.counters.is_explained = True
            explain_call.explain(self._function, args, kwargs, executable, run)
        elif explain_call.has_zero_gradient(answer, unchecked):
            explain_call.explain(self._function, args, kwargs, executable, run)
        executable.hides_errors = False

    def _disable(self, executable: Executable, error: Exception) -> None:
        """`executable` failed and the function did not: warn, and never run it again."""
        with self._lock:
            self._cache.disable(executable)
        warn(
            f"jit: {self._name} is not compiled any more for arguments like these, because its program failed where "
            f"the function does not ({retrace_reasons.first_line(error)}). The answer is the function's; please report "
            "this."
        )

    def _first_call(self, key: Any, call: CallArguments, args: Any, kwargs: Any, tried: list[Executable]) -> Any:
        with self._lock:
            executables = self._cache.lookup(key)
            if executables is None:
                return self._function(*args, **kwargs)
            made_meanwhile = [executable for executable in executables if executable not in tried]
            found, answer = self._try(made_meanwhile, call, args, kwargs)
            if found:
                return answer
            if len(executables) >= TRACES_AT_MOST:
                self._keep(key, None)
                return self._run_uncompiled(args, kwargs, retrace_reasons.explain_too_many(self._function, executables))
            why, failed = None, None
            try:
                made = self._compile(call, args, kwargs)
            except Inline:
                made = None
            except Untraceable as reason:
                made, why = None, retrace_reasons.explain_untraceable(reason, self._function)
            except Exception as error:
                _raise_if_checking(error)
                made, failed = None, error
            if made is None:
                return self._run_untraced(key, why, failed, args, kwargs)
            executable, environment = made
            self._keep(key, [*executables, executable])
            self._report_findings(executable, call, environment, args, kwargs)
            self._warn_if_unsettled(executable, executables, call)
            self._warn_if_slow(executable, executables, args, kwargs)
            fits, answer = self._run(executable, call, environment, args, kwargs)
            if fits:
                return answer
            self._misfits += 1
            if self._misfits < 2 and not retrace_reasons.inexact_guards(executable):
                # another thread may have changed what it reads in between
                return self._function(*args, **kwargs)
            self._keep(key, None)
            return self._run_uncompiled(args, kwargs, retrace_reasons.explain_inexact(executable))

    def _run_untraced(self, key: Any, why: Reason | None, error: Exception | None, args: Any, kwargs: Any) -> Any:
        """Run the function, which was not traced for a reason, an error, or because a tape is on."""
        if error is not None:
            return self._run_after_trace_error(key, error, args, kwargs)
        if why is None:
            return self._function(*args, **kwargs)
        self._keep(key, None)
        return self._run_uncompiled(args, kwargs, why)

    def _run_after_trace_error(self, key: Any, error: Exception, args: Any, kwargs: Any) -> Any:
        """Run a function that failed while it was traced. If it fails as well, the more informative error is raised."""
        try:
            answer = self._function(*args, **kwargs)
        except Exception as own:
            if isinstance(error, GradTapeError) and not isinstance(own, GradTapeError):  # of bare arrays, NumPy's
                raise error from error.__cause__
            raise
        self._keep(key, None)
        self.stats.uncompiled += 1
        self._warn(retrace_reasons.explain_trace_error(error, self._function))
        return answer

    def _warn_if_unsettled(self, executable: Executable, before: list[Executable], call: CallArguments) -> None:
        """Warn, once, if the function changes what it reads in each call, and so is traced in each."""
        executable.is_current = (
            executable.reads_only_arguments or executable.read_captures(len(call.arrays)) is not None
        )
        if executable.is_current or self._is_unsettled or not before or before[-1].is_current:
            return  # the first time may be the only one: something that it keeps for later calls
        self._is_unsettled = True
        self._warn(retrace_reasons.explain_unsettled(self._function, executable))

    def _warn_if_slow(self, executable: Executable, before: list[Executable], args: Any, kwargs: Any) -> None:
        """Warn, once for each reason, if the function is traced again and again, or its loops call NumPy kernels."""
        if not before:
            why = self._retraces.note(args, kwargs, self.stats.runs)
        elif len(before) == VARIANTS_AT_MOST and not self._is_unsettled:
            why = retrace_reasons.explain_variants(self._function, before, TRACES_AT_MOST)
        else:
            why = None
        for reason in (*([] if why is None else [why]), *loop_report.explain_loops(executable.runner.steps)):
            self._warn(reason)

    def _run_uncompiled(self, args: Any, kwargs: Any, why: Reason) -> Any:
        self.stats.uncompiled += 1
        self._warn(why)
        return self._function(*args, **kwargs)

    def _warn(self, why: Reason) -> None:
        """Report a reason, once for each line."""
        if not self.is_silent and why.key not in self._warned:
            self._warned.add(why.key)
            why.report(self._name)

    def _keep(self, key: Any, executables: list[Executable] | None) -> None:
        if self._cache.keep(key, executables):
            self._use_fast_entry(None, None)

    def _compile(self, call: CallArguments, args: Any, kwargs: Any) -> tuple[Executable, list[Any]]:
        """A new executable, and the values that the function has read besides its arguments."""
        self.stats.traces += 1
        with explain_call.withhold_findings() as found:
            executable, environment = compile_call(self._function, self._static, call, args, kwargs)
        executable.withheld = found
        executable.sample = Sample(executable.arrays(call, environment))
        return executable, environment

    def _report_findings(
        self, executable: Executable, call: CallArguments, environment: list[Any], args: Any, kwargs: Any
    ) -> None:
        """Report what was found about gradients while tracing, before the first run."""
        if executable.withheld:
            self.stats.counters.is_explained |= "not finite" in executable.withheld.deferred
            run = explain_call.ExecutableRun(call, environment, executable.arrays(call, environment), is_over=False)
            explain_call.explain(self._function, args, kwargs, executable, run)

    # -- compiling ahead

    def lower(self, *args: Any, **kwargs: Any) -> Program:
        """Compile for these arguments ahead of the first call; the program, simplified.

        >>> import numpy as np
        >>> from gradtape.jit import jit
        >>> step = jit(lambda x: x * 1.0 + 0.5)
        >>> len(step.lower(np.ones(3)))
        1
        """
        with refusals_as_errors(self._name):
            call = CallArguments.of(self._function, self._static, args, kwargs)
            with self._lock:
                self._latest = self._find_or_compile(tuple(call.key), call, args, kwargs)
            return self.program

    def _find_or_compile(self, key: Any, call: CallArguments, args: Any, kwargs: Any) -> Executable:
        executables = self._cache.lookup(key) or []
        for executable in executables:
            if executable.read_captures(len(call.arrays)) is not None:
                return executable
        executable, environment = self._compile(call, args, kwargs)
        self._keep(key, [*executables, executable])
        self._report_findings(executable, call, environment, args, kwargs)
        return executable

    def _candidates(self, args: Any, kwargs: Any) -> Iterator[tuple[Executable, list[Any]]]:
        """The executables whose captures fit, with the arrays to run them on; a new one at last."""
        call = CallArguments.of(self._function, self._static, args, kwargs)
        key = tuple(call.key)
        for executable in self._cache.lookup(key) or []:
            environment = executable.read_captures(len(call.arrays))
            if environment is not None:
                yield executable, executable.arrays(call, environment)
        with self._lock:
            executable, environment = self._compile(call, args, kwargs)
            self._keep(key, [*(self._cache.lookup(key) or []), executable])
        yield executable, executable.arrays(call, environment)

    def clear(self) -> None:
        """Forget all traces."""
        with self._lock:
            self._cache.clear()
            self._use_fast_entry(None, None)
            self._latest = None


def _raise_if_checking(error: Exception) -> None:
    """In the checking modes a defect of the compiler is an error, not a reason to run the function uncompiled."""
    if config.check != "off" and isinstance(error, ProgramError):
        raise error


def _is_recorded(executable: Executable, call: CallArguments, environment: list[Any]) -> bool:
    """Whether a tape outside watches something that the function reads besides its arguments."""
    state = recording.current()
    if state.variables and (executable.has_variables or call.variables):
        return True
    return any(isinstance(x, Tensor) and x._node.bits & state.bits & ~VARIABLE for x in environment)


def _do_writes_overlap(writes: list[Write], call: CallArguments, environment: list[Any]) -> bool:
    """Whether an array that is written to shares memory with another one, in which the write would be seen."""
    arrays = [x for x in (*call.arrays, *environment) if isinstance(x, np.ndarray)]
    targets = [write.target(call, environment) for write in writes]
    return any(sum(np.may_share_memory(target, array) for array in arrays) > 1 for target in targets)


@overload
def jit(
    function: Function,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    cache_size: int = 128,
) -> Compiled: ...


@overload
def jit(
    function: None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    cache_size: int = 128,
) -> Callable[[Function], Compiled]: ...


def jit(
    function: Function | None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    cache_size: int = 128,
) -> Compiled | Callable[[Function], Compiled]:
    """Compile `function`: it is traced when it is first called, forward and backward pass in one program.

    Arrays in, arrays out; arguments and results are nested structures as everywhere. There is one trace for each
    combination of shapes, dtypes, structure and static values. What is not an array (a Python number, a string, a
    function) is static: another value is traced anew, and so are the arguments named in `static_argnums` and
    `static_argnames`, whatever they are. At most `cache_size` combinations are kept, those that were used last.

    >>> import numpy as np, gradtape as gt
    >>> from gradtape.jit import jit
    >>> def loss(w, x):
    ...     return np.mean(np.tanh(x @ w) ** 2)
    >>> step = jit(gt.value_and_grad(loss))
    >>> value, gradient = step(np.zeros((3, 2)), np.ones((5, 3)))
    >>> gradient.shape
    (3, 2)
    """
    if function is None:
        return functools.partial(
            jit, static_argnums=static_argnums, static_argnames=static_argnames, cache_size=cache_size
        )
    if not callable(function):
        raise OperandError(f"jit: something of type {type(function).__name__} was given; a function is wanted")
    if getattr(getattr(function, "__code__", None), "co_flags", 0) & _SUSPENDED:
        raise OperandError(
            f"jit: {function.__name__!r} is a generator or a coroutine, which runs after it has returned; a function "
            f"that returns its results is wanted.\n{Location.here().show()}\n"
            f"  fix: compile the function that computes one step, and call it from there"
        )
    return Compiled(function, static_argnums, static_argnames, cache_size)
