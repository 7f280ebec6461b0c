"""The clock and the scales: best of many blocks for time, and a fresh process for every library."""

from __future__ import annotations

import ctypes
import gc
import importlib.util
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from workloads import WORKLOADS, Answer, Step, deep_chain

BLOCK = 0.01  # seconds of calls between two readings of the clock: short, so that some block goes undisturbed
PAUSE = 0.04  # seconds for another library's threads to stop spinning and fall asleep


def installed(library: str) -> bool:
    """Whether `import library` would find something."""
    return importlib.util.find_spec(library) is not None


def library_of(contender: str) -> str:
    """The library that a contender, `library` or `library: variant`, belongs to."""
    return contender.partition(":")[0]


def limit_threads(threads: int) -> None:
    """Let every process that is started from now on use so many threads for its arrays."""
    for pool in ("OMP", "OPENBLAS", "MKL"):
        os.environ[f"{pool}_NUM_THREADS"] = str(threads)


# -- time


CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def race(workload: str, sizes: dict[str, int], seconds: float, clock: str) -> tuple[dict[str, float], list[str]]:
    """The seconds that one step of each contender takes, and which of them disagree about the result.

    Every library runs in a process of its own, so that none pays for another's threads or garbage. They take turns: a
    turn is one call that is not counted and then a block of calls that is. What else the machine is doing meets all of
    them alike, and the best block is the one that was disturbed least. A contender gets about `seconds` in all, and
    five blocks at least. On a machine that is busy with other things, processor time is the steadier `clock`, provided
    that each library has one thread.
    """
    libraries = [library for library in _libraries(workload) if installed(library)]
    with ExitStack() as stack:
        workers = {library: stack.enter_context(_worker(workload, library, sizes, clock)) for library in libraries}
        answers: dict[str, Answer] = {}
        for worker in workers.values():
            answers.update(worker.recv())
        wrong = disagreements(answers)
        best = {name: _turn(workers, name, 1) for name in answers}
        spent = dict.fromkeys(answers, 0.0)
        racing, turns = list(answers), 0
        while racing:
            for name in racing:
                count = max(1, int(BLOCK / best[name]))
                taken = _turn(workers, name, count)
                best[name] = min(best[name], taken / count)
                spent[name] += taken
            turns += 1
            racing = [name for name in racing if turns < 5 or spent[name] < seconds]
    return best, wrong


def _libraries(workload: str) -> list[str]:
    return list(dict.fromkeys(library_of(name) for name in WORKLOADS[workload].contenders))


def _turn(workers: dict[str, Connection], name: str, count: int) -> float:
    time.sleep(PAUSE)
    worker = workers[library_of(name)]
    worker.send((name, count))
    taken: float = worker.recv()
    return taken


@contextmanager
def _worker(workload: str, library: str, sizes: dict[str, int], clock: str) -> Any:
    """A process that runs the steps of one library when told to, and the line to it."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_contend, args=(theirs, workload, library, sizes, clock), daemon=True)
    process.start()
    theirs.close()  # so that a worker that dies is the end of the line, not a silence
    try:
        yield ours
        ours.send(None)
    except EOFError:
        raise RuntimeError(f"{library} failed on {workload!r}; its own message is above") from None
    finally:
        ours.close()
        process.join(timeout=1)
        process.kill()


def _contend(line: Connection, workload: str, library: str, sizes: dict[str, int], clock: str) -> None:
    chosen = WORKLOADS[workload]
    data = chosen.data(**sizes)
    steps = {name: build(data) for name, build in chosen.contenders.items() if library_of(name) == library}
    line.send({name: step() for name, step in steps.items()})
    while (request := line.recv()) is not None:
        name, count = request
        gc.collect()
        steps[name]()
        line.send(_timed(steps[name], count, CLOCKS[clock]))


def _timed(step: Step, count: int, now: Callable[[], float]) -> float:
    start = now()
    for _ in range(count):
        step()
    return now() - start


def disagreements(answers: dict[str, Answer]) -> list[str]:
    """Which contenders do not compute what the first one computes, up to rounding."""
    (first, (value, gradients)), *others = answers.items()
    tolerance = {"rtol": 2e-3, "atol": 1e-5} if gradients[0].dtype == np.float32 else {"rtol": 1e-7, "atol": 1e-10}
    found = []
    for name, (other_value, other_gradients) in others:
        same = np.allclose(value, other_value, **tolerance) and len(gradients) == len(other_gradients)
        if same:
            pairs = zip(gradients, other_gradients, strict=True)
            same = all(a.shape == b.shape and np.allclose(a, b, **tolerance) for a, b in pairs)
        if not same:
            found.append(f"{name} differs from {first}")
    return found


# -- memory and imports

# Arrays get pages of their own and give them back when they die, so that resident memory is live memory. Huge pages
# would round it up, for NumPy only.
EXACT_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": "32768",
    "MALLOC_TRIM_THRESHOLD_": "65536",
    "NUMPY_MADVISE_HUGEPAGE": "0",
}


def peak_memory(workload: str, contender: str, sizes: dict[str, int]) -> dict[str, float | None] | None:
    """Bytes that one step adds at its peak; None if the library is not installed."""
    if not installed(library_of(contender)):
        return None
    answer: dict[str, float | None] = _asked("memory", workload, contender, json.dumps(sizes), **EXACT_MEMORY)
    return answer


def deep(library: str, operations: int) -> dict[str, float] | None:
    """Seconds and bytes of a chain of `operations`, and what is left of it; None if the library is not installed."""
    if not installed(library):
        return None
    answer: dict[str, float] = _asked("deep", library, str(operations))
    return answer


def import_seconds(module: str, runs: int = 15) -> float | None:
    """The median over fresh interpreters of what `import module` takes after `import numpy`."""
    if not installed(module):
        return None
    code = f"import numpy, time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
    with tempfile.TemporaryDirectory() as folder:  # for bytecode, whether or not it may be written elsewhere
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
        command = [sys.executable, "-c", code]
        taken = [
            float(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout)
            for _ in range(runs + 1)
        ]
    return statistics.median(taken[1:])  # the first one compiles


def _asked(*arguments: str, **environment: str) -> Any:
    """What `main` answers to `arguments` in a new process."""
    command = [sys.executable, str(Path(__file__).resolve()), *arguments]
    done = subprocess.run(command, env={**os.environ, **environment}, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


# -- what runs in those processes


def _status(field: str) -> int:
    """A line of /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise LookupError(field)


def _trim() -> None:
    """Give freed memory back to the system, where the C library knows how."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _growth(step: Callable[[], Any]) -> int:
    """How far resident memory rises above its present level during `step`."""
    gc.collect()
    _trim()
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark starts again from here
    before = _status("VmRSS")
    step()
    return _status("VmHWM") - before


def _memory(workload: str, contender: str, sizes: str) -> dict[str, float | None]:
    chosen = WORKLOADS[workload]
    step = chosen.contenders[contender](chosen.data(**json.loads(sizes)))
    for _ in range(3):  # thread pools, BLAS buffers and caches are not the step's
        step()
    resident = statistics.median(_growth(step) for _ in range(5)) if Path("/proc/self/clear_refs").exists() else None
    if library_of(contender) == "torch":  # its arrays are not NumPy's, and only NumPy reports to tracemalloc
        return {"resident": resident, "traced": None}
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    step()
    traced = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return {"resident": resident, "traced": traced}


def _deep(library: str, operations: str) -> dict[str, float]:
    count = int(operations)
    forward, backward = deep_chain(library)
    backward(forward(3000))
    _trim()
    before = _status("VmRSS")
    start = time.perf_counter()
    recorded = forward(count)
    recorded_at = time.perf_counter()
    held = _status("VmRSS") - before
    gradient = backward(recorded)
    del recorded
    done = time.perf_counter()
    if not np.all(np.isfinite(gradient)):
        raise ArithmeticError("the gradient of the deep chain is not finite")
    _trim()
    return {
        "forward": recorded_at - start,
        "backward": done - recorded_at,
        "bytes": held / count,
        "left": _status("VmRSS") - before,
    }


def main(arguments: Sequence[str]) -> None:
    """Run one of the functions above and print its answer for the process that asked."""
    what, *rest = arguments
    print(json.dumps({"memory": _memory, "deep": _deep}[what](*rest)))


if __name__ == "__main__":
    main(sys.argv[1:])
