"""`map`: independent tasks on threads, processes, executors or a cluster, with draws that depend on the seed only."""

from __future__ import annotations

import inspect
import operator
import os
import pickle
import queue
import reprlib
import sys
import traceback
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

import numpy as np

from gradtape.distributed.engines import once_each
from gradtape.distributed.results_file import ResultsFile
from gradtape.distributed.shipping import Shipped, one_thread
from gradtape.errors import GradTapeError, OperandError
from gradtape.extend import (
    PathLike,
    Problem,
    Tensor,
    argument_error,
    collect_reports,
    function_name,
    import_library,
    is_library,
    problem,
    report,
)
from gradtape.progress import open_bar

Function = Callable[..., Any]
TITLE = "gt.distributed.map"
FAILURES_ALONE = 8
"""If so many tasks have ended, and all of them failed, the others are not waited for."""
SHOWN = 3
"""How many failed tasks an error describes."""


class TaskError(GradTapeError, RuntimeError):
    """Tasks of `gt.distributed.map` that failed, after all others were done.

    `failures` are the errors by position, `results` those of the other tasks by position.

    >>> from gradtape import distributed as gd
    >>> try:
    ...     gd.map(lambda task: 1 // task, [1, 0, 2], on="synchronous")
    ... except gd.TaskError as error:
    ...     error.results, error.failures
    ({0: 1, 2: 0}, {1: ZeroDivisionError('integer division or modulo by zero')})
    """

    def __init__(self, found: Any, failures: Any = None, results: Any = None) -> None:
        super().__init__(found)
        self.failures: dict[int, BaseException] = failures or {}
        self.results: dict[int, Any] = results or {}


@dataclass(frozen=True)
class Call:
    """A task on its way: its position, the seed, and whether it draws."""

    task: Any
    position: int
    seed: int
    draws: str
    """How the function takes its generator: "" (not at all), "position" or "name"."""


@dataclass(frozen=True)
class Outcome:
    """What came of a task: a result or an error, and what was reported meanwhile."""

    result: Any = None
    error: BaseException | None = None
    place: str = ""
    problems: list[Problem] = field(default_factory=list)


def generator_for(seed: int, position: int) -> np.random.Generator:
    """The generator of the task at `position`: the same wherever and however often it runs.

    >>> from gradtape.distributed.mapping import generator_for
    >>> float(generator_for(0, 3).normal()) == float(generator_for(0, 3).normal())
    True
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(position,)))


def run_task(function: Shipped, call: Call | bytes) -> Outcome:
    """Run a task where it is. Errors come back with what was reported, as they may not survive the way themselves."""
    if isinstance(call, bytes):
        call = pickle.loads(call)
        assert isinstance(call, Call)
    with one_thread(), collect_reports() as kept:
        try:
            given: dict[str, Any] = {"rng": generator_for(call.seed, call.position)} if call.draws else {}
            if call.draws == "position":
                result = function.content(call.task, given["rng"])
            else:
                result = function.content(call.task, **given)
        except Exception as error:
            return Outcome(None, _portable(error), _place(error), once_each(kept.problems))
    return Outcome(result, None, "", once_each(kept.problems))


def _portable(error: Exception) -> Exception:
    """An error that can be sent to another process: itself, or one with its text."""
    try:
        if type(pickle.loads(pickle.dumps(error))) is type(error):
            return error
    except Exception:  # what pickle and the class of an error raise is anything
        return RuntimeError(f"{type(error).__name__}: {error}")
    return RuntimeError(f"{type(error).__name__}: {error}")


def _place(error: BaseException) -> str:
    """The line of the user's that raised an error, with its source."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not is_library(frame.filename)]
    if not frames:
        return ""
    frame = frames[-1]
    return f"{os.path.basename(frame.filename)}:{frame.lineno}   {frame.line or ''}".rstrip()


def map(
    run: Function,
    tasks: Iterable[Any],
    *,
    seed: int = 0,
    retries: int = 2,
    checkpoint: PathLike | None = None,
    on: Any = None,
    progress: bool | None = None,
) -> list[Any]:
    """What `run(task)` or `run(task, rng)` gives for each of the tasks, in order: sweeps, ensembles, chains, fits.

    The generator depends on `seed` and the position of the task only, so that equal seeds give equal draws wherever a
    task runs. Tasks run on threads of this process, or on the workers of a cluster if there is a current client; what
    `run` compiles is compiled once in each process. BLAS uses one thread in a task.

    - `retries`: how often a task is run again whose process was lost, or that ended by an OSError (a file system, a
      network). Other errors would come again. On a cluster Dask counts lost workers itself (`allowed-failures`).
    - `checkpoint`: a file to which each result is appended when it is there. The same call goes on from it, also with
      more tasks behind the first ones. It is read by the user who wrote it only.
    - `on`: None for the current client of `distributed`, else threads; "threads", "synchronous", "processes", a client,
      an executor of `concurrent.futures`.
    - `progress`: None shows a bar on a terminal (tqdm, if it is installed) after a second, True always, False never.

    A task that fails does not end the others: `TaskError`, raised at the end, names it and has all their results.

    >>> import numpy as np
    >>> from gradtape import distributed as gd
    >>> gd.map(lambda task: task ** 2, [1, 2, 3], on="synchronous")
    [1, 4, 9]
    >>> def walk(steps, rng):
    ...     return rng.integers(-1, 2, size=steps).sum()
    >>> gd.map(walk, [10, 100], seed=1) == gd.map(walk, [10, 100], seed=1, on="synchronous")
    True
    """
    calls = _calls(run, tasks, seed)
    if not isinstance(retries, int) or isinstance(retries, bool) or retries < 0:
        raise argument_error(OperandError, f"{TITLE}: retries={retries!r}.", "an integer of at least 0")
    runner = _runner(on, function_name(run), retries)
    facts: dict[str, Any] = {"function": function_name(run)}
    if calls and calls[0].draws:
        facts["seed"] = seed
    store: Any = nullcontext() if checkpoint is None else ResultsFile(checkpoint, facts, [call.task for call in calls])
    with store as file:
        results: dict[int, Any] = {} if file is None else dict(file.results)
        return _Mapping(run, calls, results, file).run(runner, progress)


def _calls(run: Any, tasks: Any, seed: Any) -> list[Call]:
    """The tasks, checked, with how the function takes its generator."""
    if not callable(run):
        raise argument_error(
            OperandError, f"{TITLE}: run is a {type(run).__name__}.", "a function: run(task), or run(task, rng)"
        )
    if isinstance(tasks, Mapping | str | bytes) or not isinstance(tasks, Iterable):
        raise argument_error(
            OperandError,
            f"{TITLE}: tasks is a {type(tasks).__name__}.",
            "a list with one element for each call; list(d.items()) of a dictionary, range(n) for n calls",
        )
    try:
        number = -1 if isinstance(seed, bool) else operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise argument_error(
            OperandError, f"{TITLE}: seed={seed!r}.", "an integer of at least 0; equal ones give equal draws"
        )
    draws = _drawing(run)
    return [Call(task, position, number, draws) for position, task in enumerate(tasks)]


def _drawing(run: Function) -> str:
    """How a function takes a generator besides its task: "" for not at all, by "position", or by "name"."""
    try:
        parameters = list(inspect.signature(run).parameters.values())
    except (TypeError, ValueError):  # some functions in C do not say
        return ""
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    names = [p.name for p in positional]
    if "rng" in names[1:]:
        draws = "position" if names[1] == "rng" else "name"
    elif any(p.name == "rng" for p in parameters if p.kind is p.KEYWORD_ONLY):
        draws = "name"
    else:
        draws = "position" if len(required) == 2 and required == positional[:2] else ""
    taken = 1 + (draws == "position")
    short = len(names) < taken and not any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if short or [p for p in required if p.name not in (*names[:taken], "rng")]:
        raise argument_error(
            OperandError,
            f"{TITLE}: {function_name(run)}{inspect.signature(run)} cannot be called with a task, or a task and a "
            "generator.",
            "run(task) or run(task, rng); functools.partial or a lambda for what else it needs",
        )
    return draws


class _Mapping:
    """One call of `map`: which tasks are done, which failed, and what was reported."""

    def __init__(self, run: Function, calls: list[Call], results: dict[int, Any], file: ResultsFile | None) -> None:
        self.function, self.calls, self.results, self.file = run, calls, results, file
        self.failures: dict[int, Outcome] = {}
        self.problems: list[Problem] = []
        self.done_before = len(results)

    def run(self, runner: Runner, progress: bool | None) -> list[Any]:
        pending = [call for call in self.calls if call.position not in self.results]
        if pending:
            with _Progress(progress, function_name(self.function), len(self.calls), len(self.results)) as bar:
                ended = runner.run(Shipped(_same, self.function), pending)
                try:
                    for position, outcome in ended:
                        self._take(position, outcome)
                        bar.step(len(self.failures))
                        if self._is_hopeless():
                            break
                finally:
                    ended.close()
        for each in once_each(self.problems):
            report(each)
        if self.failures:
            raise self._error()
        return [self.results[call.position] for call in self.calls]

    def _take(self, position: int, outcome: Outcome) -> None:
        self.problems += outcome.problems
        if outcome.error is not None:
            self.failures[position] = outcome
            return
        self.results[position] = outcome.result
        if self.file is not None:
            self.file.append(position, outcome.result)

    def _is_hopeless(self) -> bool:
        return len(self.failures) >= FAILURES_ALONE and len(self.results) == self.done_before

    def _error(self) -> TaskError:
        """The error that names the tasks that failed, with what they raised and where."""
        positions = sorted(self.failures)
        first = self.failures[positions[0]]
        name = function_name(self.function)
        which = f"the task at position {positions[0]}" if len(positions) == 1 else f"{len(positions)} tasks"
        notes = []
        for position in positions[:SHOWN]:
            outcome = self.failures[position]
            notes.append(f"position {position}, {describe(self.calls[position].task)}: {_headline(outcome.error)}")
            if outcome.place:
                notes.append(f"  {outcome.place}")
        if len(positions) > SHOWN:
            more = ", ".join(str(position) for position in positions[SHOWN : SHOWN + 20])
            notes.append(f"and at {more}{', ...' if len(positions) > SHOWN + 20 else ''}")
        left = len(self.calls) - len(self.results) - len(self.failures)
        consequence = f"{len(self.results)} of {len(self.calls)} tasks are done"
        consequence += f"; {left} were not run, as all before them failed" if left else ""
        consequence += f", and stored in {self.file.path}" if self.file is not None else ": error.results has them"
        found = problem(
            "GT602",
            f"{TITLE}: {which} of {name} failed",
            consequence=consequence,
            notes=notes,
            fixes=self._fix(self.calls[positions[0]], first),
        )
        error = TaskError(found, {p: self.failures[p].error for p in positions}, dict(self.results))
        error.__cause__ = first.error
        return error

    def _fix(self, call: Call, outcome: Outcome) -> str:
        again = 'checkpoint="run.results" keeps what is done'
        if self.file is not None:
            again = "the same call runs what is missing only"
        if isinstance(outcome.error, LostProcess):
            return f"less memory a task, or more a worker; {again}"
        rng = f"np.random.default_rng(np.random.SeedSequence({call.seed}, spawn_key=({call.position},)))"
        rng = {"": "", "position": f", {rng}", "name": f", rng={rng}"}[call.draws]
        return f"{function_name(self.function)}(tasks[{call.position}]{rng}) fails here, under a debugger; {again}"


def _headline(error: BaseException | None) -> str:
    text = str(error).split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _same(function: Function) -> Function:
    return function


def describe(task: Any) -> str:
    """A task in a few words, arrays by their shapes.

    >>> import numpy as np
    >>> from gradtape.distributed.mapping import describe
    >>> describe({"rate": 0.5, "start": np.zeros(3)})
    "{'rate': 0.5, 'start': float64 array of shape (3,)}"
    """
    return _Brief().repr(task)


class _Brief(reprlib.Repr):
    """`repr`, cut short, without the numbers of arrays."""

    def repr1(self, x: Any, level: int) -> str:
        if isinstance(x, np.ndarray | Tensor) and x.ndim:
            return f"{x.dtype} {'array' if isinstance(x, np.ndarray) else 'tensor'} of shape {x.shape}"
        if isinstance(x, np.generic):
            return str(x)
        return super().repr1(x, level)


class _Progress:
    """A bar, after a second, on a terminal or in a notebook; lines where it was asked for and there is no bar."""

    def __init__(self, wanted: bool | None, label: str, total: int, done: int) -> None:
        self.label, self.total, self.done = label, total, done
        self.bar = open_bar(label, wanted, unit="tasks", total=total, done=done)
        self.lines = self.bar is None and wanted is True

    def step(self, failures: int) -> None:
        self.done += 1
        if self.bar is not None:
            if failures:
                self.bar.set_postfix(failed=failures, refresh=False)
            self.bar.update()
        elif self.lines and (self.done == self.total or not self.done & (self.done - 1)):  # 1, 2, 4, 8 ...
            print(f"{self.label}: {self.done} of {self.total} tasks, {failures} failed", file=sys.stderr)

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()


# -- where tasks run


class LostProcess(RuntimeError):
    """The process or the worker that ran a task ended, again and again."""


class Runner:
    """Runs calls somewhere and gives their outcomes as they come, with their positions."""

    def __init__(self, name: str, retries: int) -> None:
        self.name, self.retries = name, retries

    def run(self, function: Shipped, calls: list[Call]) -> Any:
        """A generator of pairs (position, outcome); when it is closed, what is not done is given up."""
        tries: dict[int, int] = {}
        waiting = calls
        while waiting:
            again = []
            for call, outcome in self.each(function, waiting):
                if isinstance(outcome.error, OSError) and tries.get(call.position, 0) < self.retries:
                    tries[call.position] = tries.get(call.position, 0) + 1
                    again.append(call)
                else:
                    yield call.position, outcome
            waiting = again

    def each(self, function: Shipped, calls: list[Call]) -> Iterator[tuple[Call, Outcome]]:
        """Each call with its outcome, in the order in which they end."""
        for call in calls:
            yield call, run_task(function, call)


class ExecutorRunner(Runner):
    """Runs calls by the executor that `make` gives. One of our own is made again when its processes are lost."""

    def __init__(self, name: str, retries: int, make: Callable[[], Any], is_ours: bool) -> None:
        super().__init__(name, retries)
        self.make, self.is_ours = make, is_ours

    def each(self, function: Shipped, calls: list[Call]) -> Iterator[tuple[Call, Outcome]]:
        waiting = {call.position: call for call in calls}
        breaks = 0
        while waiting:
            lost: BaseException | None = None
            before = len(waiting)
            executor = self.make()
            try:
                for position, outcome in self._until_broken(executor, function, list(waiting.values())):
                    if isinstance(outcome, BaseException):
                        lost = outcome
                    else:
                        yield waiting.pop(position), outcome
            finally:
                if self.is_ours:
                    executor.shutdown(wait=True, cancel_futures=True)
            if lost is None:
                return
            breaks = breaks + 1 if len(waiting) == before else 1
            if not self.is_ours or breaks > self.retries:
                why = "again and again" if self.is_ours else "and its executor cannot be used any more"
                error = LostProcess(f"a process ended, {why} ({_headline(lost)})")
                for call in waiting.values():
                    yield call, Outcome(error=error)
                return

    def _until_broken(self, executor: Any, function: Shipped, calls: list[Call]) -> Iterator[tuple[int, Any]]:
        """Positions with outcomes, or with the error of an executor that has lost its processes."""
        ended: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        here = isinstance(executor, ThreadPoolExecutor)
        pack = (lambda call: call) if here else import_library("cloudpickle", TITLE).dumps
        futures = []
        try:
            for number, call in enumerate(calls):
                try:
                    future = executor.submit(run_task, function, pack(call))
                except BrokenExecutor as error:
                    for left in calls[number:]:
                        ended.put((left.position, error))
                    break
                futures.append(future)
                future.add_done_callback(lambda future, position=call.position: ended.put((position, future)))
            for _ in calls:
                position, future = ended.get()
                yield position, _outcome_of(future)
        finally:
            for future in futures:
                future.cancel()


def _outcome_of(future: Any) -> Any:
    """What a future has: an outcome, or the error by which its executor lost it."""
    if isinstance(future, BaseException):
        return future
    try:
        return future.result()
    except BrokenExecutor as error:
        return error
    except Exception as error:  # what could not be sent, for one
        return Outcome(error=error)


class ClusterRunner(Runner):
    """Runs calls on the workers of a client of `distributed`."""

    def __init__(self, name: str, retries: int, client: Any) -> None:
        super().__init__(name, retries)
        self.client = client

    def each(self, function: Shipped, calls: list[Call]) -> Iterator[tuple[Call, Outcome]]:
        distributed = import_library("distributed", TITLE)
        token = uuid.uuid4().hex
        # a task of its own: workers get it from each other, and it is made again when those that have it are lost
        shipped = self.client.submit(_same, function, key=f"{self.name}-function-{token}", pure=False)
        keys = [(f"{self.name}-{token}", call.position) for call in calls]
        futures = self.client.map(_run_on_worker, calls, key=keys, pure=False, function=shipped)
        by_key = {future.key: call for future, call in zip(futures, calls, strict=True)}
        ended = distributed.as_completed(futures, raise_errors=False)
        try:
            for batch in ended.batches():
                for future, outcome in zip(batch, self._outcomes(batch), strict=True):
                    yield by_key.pop(future.key), outcome
                    future.release()
        finally:
            self.client.cancel([future for future in futures if future.key in by_key])
            shipped.release()

    def _outcomes(self, futures: list[Any]) -> list[Outcome]:
        """What tasks that have ended gave: in one message, if all went well."""
        if all(future.status == "finished" for future in futures):
            try:
                return list(self.client.gather(futures))
            except Exception:  # a worker is lost with its results; each is asked for by itself, and says what it has
                return [self._outcome(future) for future in futures]
        return [self._outcome(future) for future in futures]

    def _outcome(self, future: Any) -> Outcome:
        try:
            found = future.result()
        except Exception as error:  # those of tasks are inside outcomes: these are Dask's
            if type(error).__name__ == "KilledWorker":
                text = "the workers that ran it ended, one after the other, mostly because they ran out of memory"
                return Outcome(error=LostProcess(text))
            if type(error).__name__ in ("FutureCancelledError", "CancelledError"):
                return Outcome(error=ConnectionError("the scheduler lost the task, or was itself lost"))
            return Outcome(error=error)
        assert isinstance(found, Outcome)
        return found


def _run_on_worker(call: Call, function: Shipped) -> Outcome:
    return run_task(function, call)


def _runner(on: Any, name: str, retries: int) -> Runner:
    """What `on` stands for."""
    if on is None:
        on = _current_client() or "threads"
    if on == "synchronous":
        return Runner(name, retries)
    if on == "threads":
        return ExecutorRunner(name, retries, lambda: ThreadPoolExecutor(_cores(), "gradtape-map"), True)
    if on == "processes":
        spawn = get_context("spawn")  # a fork has the locks of threads that it does not have
        return ExecutorRunner(name, retries, lambda: ProcessPoolExecutor(_cores(), spawn), True)
    if type(on).__module__.partition(".")[0] == "distributed" and hasattr(on, "scheduler_info"):
        return ClusterRunner(name, retries, on)
    if isinstance(on, Executor) or (callable(getattr(on, "submit", None)) and not isinstance(on, type)):
        return ExecutorRunner(name, retries, lambda: on, False)
    raise argument_error(
        OperandError,
        f"{TITLE}: on={on!r} is nothing that runs tasks.",
        'on=None for the current client, or threads; "threads", "synchronous", "processes"; a distributed.Client; an '
        "executor of concurrent.futures",
    )


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return max(1, len(affinity(0)) if affinity is not None else os.cpu_count() or 1)


def _current_client() -> Any:
    """The current client of `distributed`, if that is imported and there is one."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:  # there is none
        return None
