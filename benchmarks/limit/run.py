"""gradtape against the hand-written limit: value and gradient by `gt.jit`, C++, jax and PyTorch, in one table.

    python benchmarks/limit/run.py [--only gmm,gp,...] [--seconds 1] [--threads 1] [--clock cpu]
                                   [--rivals jax,torch] [--no-rivals] [--json after.json] [--compare before.json]
                                   [--plot limit.svg]

Every contender of a row has a process of its own, and they take turns in one run, a block of calls at a time; the best
call counts. First calls, compilation included, are timed apart. The results of all are compared with gradtape's: C++
to 1e-9 (1e-4 in single precision). Without a C++ compiler or AVX2 there are the rivals only. The exit status is 1 if
results differ or gradtape fails.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path = [folder for folder in sys.path if Path(folder or ".").resolve() != HERE]  # `limit` is this folder

from measure import BLOCK, CLOCKS, PAUSE, limit_threads  # noqa: E402

import limit  # noqa: E402
from limit import compiler, contenders, plot, table  # noqa: E402

RIVALS = ("jax", "torch", "torch.compile")
RIVAL_TOLERANCE = {1e-9: 1e-6, 1e-4: 5e-3}
"""How far a rival may be from gradtape, by how far C++ may: some round otherwise (tanh, sums in single precision)."""


LONG = 0.2
"""Seconds of a call that needs no other one before it: it warms itself up."""


CHUNK = 1e-4
"""Seconds of calls between two readings of the clock: short, so that some chunk goes undisturbed."""


class Worker:
    """A process that runs one contender on one row when told to."""

    def __init__(self, row: str, contender: str, clock: str, threads: int | None) -> None:
        context = multiprocessing.get_context("spawn")
        self.line, theirs = context.Pipe()
        self.process = context.Process(target=_contend, args=(theirs, row, contender, clock, threads), daemon=True)
        self.process.start()
        theirs.close()  # so that a worker that dies is the end of the line, not a silence

    def begin(self, seconds: float) -> dict[str, Any]:
        """What the first call gave, or `failed` with a sentence."""
        if not self.line.poll(seconds):
            return {"failed": f"the first call takes more than {seconds:.0f} s"}
        try:
            begun: dict[str, Any] = self.line.recv()
        except EOFError:
            return {"failed": "the process ended"}
        return begun

    def turn(self, count: int) -> tuple[float, float]:
        """The seconds of the best of so many calls, and of all of them."""
        time.sleep(PAUSE)
        self.line.send(count)
        taken: tuple[float, float] = self.line.recv()
        return taken

    def close(self) -> None:
        """End the process."""
        self.line.close()
        self.process.kill()
        self.process.join()


def _contend(line: Connection, row: str, contender: str, clock: str, threads: int | None) -> None:
    name, size = limit.ROWS[row]
    now = CLOCKS[clock]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            contenders.warm_up(contender, name, threads)
            begun = now()
            step, memory = contenders.BUILDERS[contender](name, size)
            value, gradients = step()
            first = now() - begun
            value, gradients = step()
            begun = now()
            step()
            again = max(now() - begun, 1e-9)
            line.send({"first": first, "again": again, "answer": (float(value), list(gradients)), "memory": memory()})
        except Exception as error:
            line.send({"failed": f"{type(error).__name__}: {error}".strip().splitlines()[0][:200]})
            return
        del gradients
        while True:
            try:
                count = line.recv()
            except EOFError:
                return
            gc.collect()
            if again < LONG:
                step()
            line.send(_best_chunk(step, count, max(1, int(CHUNK / again)), now))


def _best_chunk(step: contenders.Step, count: int, together: int, now: Callable[[], float]) -> tuple[float, float]:
    """The seconds of a call in the best of chunks of calls, and those of all `count` of them."""
    best, whole = float("inf"), 0.0
    for _ in range(max(1, count // together)):
        begun = now()
        for _ in range(together):
            step()
        taken = max(now() - begun, 1e-9)
        best, whole = min(best, taken / together), whole + taken
    return best, whole


def race(row: str, names: Sequence[str], options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """For each contender the seconds of its first and of its best call, its memory, and what is wrong with it."""
    name, size = limit.ROWS[row]
    allowed = limit.tolerance(limit.load(name, "").initialise(size))
    found: dict[str, dict[str, Any]] = {}
    racing: dict[str, Worker] = {}
    answer = None
    try:
        for contender in names:
            worker = Worker(row, contender, options.clock, options.threads)
            begun = worker.begin(options.limit)
            found[contender] = {key: begun[key] for key in ("failed", "first", "memory") if key in begun}
            if "failed" in begun:
                worker.close()
                continue
            racing[contender] = worker
            found[contender]["best"] = begun["again"]
            answer = answer or begun["answer"]
            difference = _difference(begun["answer"], answer)
            if not difference <= (allowed if contender == "C++" else RIVAL_TOLERANCE[allowed]):
                found[contender]["wrong"] = f"differs from gradtape by {difference:.1e}, relative"
        _take_turns(racing, found, options.seconds)
    finally:
        for worker in racing.values():
            worker.close()
    return found


def _difference(found: Any, wanted: Any) -> float:
    return limit.relative_difference([found[0], *found[1]], [wanted[0], *wanted[1]])


def _take_turns(racing: dict[str, Worker], found: dict[str, dict[str, Any]], seconds: float) -> None:
    spent, turns = dict.fromkeys(racing, 0.0), 0
    least = {name: 5 if found[name]["best"] < LONG else 2 for name in racing}
    while any(turns < least[name] or spent[name] < seconds for name in racing):
        for name, worker in racing.items():
            if turns >= least[name] and spent[name] >= seconds:
                continue
            best, whole = worker.turn(max(1, int(BLOCK / found[name]["best"])))
            found[name]["best"] = min(found[name]["best"], best)
            spent[name] += whole
        turns += 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table row by row, then the totals; 1 if results differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(limit.ROWS), help="which rows, by name (default: all)")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each contender of each row")
    parser.add_argument("--limit", type=float, default=240.0, help="seconds after which a first call is given up")
    parser.add_argument("--threads", type=int, help="threads of each process, where the library can be told")
    parser.add_argument(
        "--clock", choices=sorted(CLOCKS), default="wall", help="cpu with --threads 1 on a busy machine"
    )
    parser.add_argument("--rivals", default=",".join(RIVALS), help="which rivals (default: all)")
    parser.add_argument("--no-rivals", action="store_true", help="gradtape and C++ only")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    parser.add_argument("--compare", type=Path, help="a file of --json, whose times are printed beside")
    parser.add_argument("--plot", type=Path, help="also write a plot (SVG) to this file")
    options = parser.parse_args(arguments)
    wanted = options.only.split(",")
    unknown = [row for row in wanted if row not in limit.ROWS]
    if unknown:
        parser.error(f"no rows named {', '.join(unknown)}; there are {', '.join(limit.ROWS)}")
    rivals = [] if options.no_rivals else options.rivals.split(",")
    strangers = [rival for rival in rivals if rival not in RIVALS]
    if strangers:
        parser.error(f"no rivals named {', '.join(strangers)}; there are {', '.join(RIVALS)}")
    if options.threads is not None:
        limit_threads(options.threads)
        if options.threads == 1:
            os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    if compiler.missing():
        print(f"no hand-written limit: {compiler.missing()}\n")
    before = json.loads(options.compare.read_text()) if options.compare else {}
    results: dict[str, dict[str, Any]] = {}
    print(table.header(rivals, bool(before)))
    for row in wanted:
        names = contenders.installed_contenders(limit.ROWS[row][0], rivals)
        results[row] = race(row, names, options)
        print(table.row(row, results[row], rivals, before.get(row, {}) if before else None), flush=True)
        if options.json is not None:  # after each row, so that a run that is broken off leaves something
            options.json.write_text(json.dumps(results, indent=1) + "\n")
    print("\n" + table.totals(results, before))
    if options.plot is not None:
        options.plot.write_text(plot.draw(results, before))
    wrong = [row for row, found in results.items() if any("wrong" in each for each in found.values())]
    failed = [
        row for row, found in results.items() if any("failed" in found.get(each, {}) for each in ("gradtape", "C++"))
    ]
    return int(bool(wrong or failed))


if __name__ == "__main__":
    sys.exit(main())
