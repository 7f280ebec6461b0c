"""Whole programs of other libraries, run plainly and by `gradtape run`: unharmed, with equal bits, and in silence.

`whole/` has programs for PyTorch, TensorFlow with Keras, and JAX, with the packages that are built on them. Each makes
its data, trains for some seconds, and prints digests of its final parameters and of the random states, and the time of
each step. Each is run in two processes, and has to print the same in both. What gradtape says is a mistake of
gradtape's, except for notes.

    python exam/whole.py                   the table of all programs whose libraries are installed
    python exam/whole.py --library torch   those of one library
    python exam/whole.py --only amp        those whose name contains the text
    python exam/whole.py --debug           with errors inside gradtape raised, which otherwise end the watching
    python exam/whole.py --strict          exit status 1 if a program was not left whole
    python exam/whole.py --json out.json   what was measured, for other programs

Times are those of the processor, for one step: `first` is the median of the second to the fourth step, which gradtape
watches, `last` the median of the last fifth, when it has stopped. A ratio is that of the watched run to the plain one.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LIBRARIES = ("torch", "tensorflow", "jax")
SECONDS = 180
NUMBERS = re.compile(r"\s*(0x[0-9a-f]+|\d+)")  # with spaces before, which fill columns of a log


@dataclass
class Program:
    """A program of `whole/`, and the packages that it imports."""

    path: Path
    library: str
    needs: list[str]

    @property
    def name(self) -> str:
        return self.path.stem

    def missing(self) -> list[str]:
        """The packages that it needs and that are not installed."""
        return [name for name in self.needs if importlib.util.find_spec(name) is None]


@dataclass
class Run:
    """What a process that ran a program left behind."""

    status: int
    output: list[str]
    errors: list[str]
    times: list[float]
    kilobytes: int
    problems: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Outcome:
    """How a program fared when it was watched."""

    name: str
    skipped: str = ""
    failed: str = ""
    differences: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    first: tuple[float, float] = (0.0, 0.0)
    last: tuple[float, float] = (0.0, 0.0)
    memory: float = 0.0

    @property
    def is_whole(self) -> bool:
        """Whether it was left alone; also of one that could not be run."""
        return bool(self.skipped) or not (self.failed or self.differences or self.said)


def programs(library: str = "", only: str = "") -> list[Program]:
    """The programs of a library, or of all, whose name contains `only`."""
    found = []
    for path in sorted((HERE / "whole").glob("*.py")):
        owner = path.stem.partition("_")[0]
        if path.stem.endswith("measure") or owner not in LIBRARIES:
            continue
        named = re.match(r"# needs: (.*)\n", path.read_text())
        needs = named.group(1).split(", ") if named else []
        if library in ("", owner) and only in path.stem:
            found.append(Program(path, owner, [owner, *needs]))
    return sorted(found, key=lambda program: LIBRARIES.index(program.library))


def run(program: Program, watched: bool, debug: bool = False) -> Run:
    """Run a program in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder, "said.json")
        command = [sys.executable]
        if watched:
            command += ["-m", "gradtape", "run", f"--json={said}"]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "OMP_NUM_THREADS": "1",
            "TF_CPP_MIN_LOG_LEVEL": "2",
            "TF_NUM_INTRAOP_THREADS": "1",
            "TF_NUM_INTEROP_THREADS": "1",
            "JAX_PLATFORMS": "cpu",
            "PYTHONHASHSEED": "0",
        }
        environment.pop("GRADTAPE_WATCH_DEBUG", None)
        if debug:
            environment["GRADTAPE_WATCH_DEBUG"] = "1"
        with open(Path(folder, "out"), "w+") as output, open(Path(folder, "errors"), "w+") as errors:
            process = subprocess.Popen(
                [*command, str(program.path)], stdout=output, stderr=errors, env=environment, start_new_session=True
            )
            timer = threading.Timer(SECONDS, os.killpg, (process.pid, signal.SIGKILL))
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            timer.cancel()
            output.seek(0)
            errors.seek(0)
            lines, complaints = output.read().splitlines(), errors.read().splitlines()
        problems = json.loads(said.read_text())["problems"] if said.exists() else []
    times = [json.loads(line.removeprefix("times ")) for line in lines if line.startswith("times ")]
    printed = [line for line in lines if not line.startswith("times ")]
    return Run(process.returncode, printed, complaints, times[0] if times else [], usage.ru_maxrss, problems)


def examine(program: Program, debug: bool = False) -> Outcome:
    """Run a program plainly and watched, and compare."""
    outcome = Outcome(program.name)
    if missing := program.missing():
        outcome.skipped = f"{', '.join(missing)} not installed"
        return outcome
    plain = run(program, watched=False)
    if plain.status != 0 or not plain.times:
        outcome.skipped = f"fails without gradtape: {(plain.errors or ['no output'])[-1][:100]}"
        return outcome
    watched = run(program, watched=True, debug=debug)
    if watched.status != plain.status:
        outcome.failed = f"exit status {watched.status}: " + "\n".join(watched.errors[-25:])
        return outcome
    outcome.differences = [
        f"{old!r} became {new!r}" for old, new in zip(plain.output, watched.output, strict=False) if old != new
    ]
    if len(plain.output) != len(watched.output):
        outcome.differences.append(f"{len(plain.output)} lines became {len(watched.output)}")
    for problem in watched.problems:
        where = f"{problem.get('code')} line {_line_of(problem)}: {problem.get('title')}"
        (outcome.notes if problem["voice"] == "note" else outcome.said).append(where)
    outcome.said += added(plain.errors, watched.errors, program.path.name, bool(outcome.notes or outcome.said))
    outcome.first = statistics.median(plain.times[1:4]), statistics.median(watched.times[1:4])
    tail = max(len(plain.times) // 5, 1)
    outcome.last = statistics.median(plain.times[-tail:]), statistics.median(watched.times[-tail:])
    outcome.memory = watched.kilobytes / plain.kilobytes
    return outcome


def _line_of(problem: dict[str, Any]) -> object:
    """The line that a problem of the JSON is about."""
    return problem["spans"][0]["line"] if problem["spans"] else "?"


def added(plain: list[str], watched: list[str], script: str, has_spoken: bool) -> list[str]:
    """The lines on stderr that only the watched run has, without the summary; numbers in them may differ."""
    if has_spoken:  # what was said is in the JSON, with its code
        return []
    summary = f"gradtape: {script}: nothing found"
    known = Counter(NUMBERS.sub("#", line) for line in plain)
    extra = []
    for line in watched:
        pattern = NUMBERS.sub("#", line)
        if known[pattern]:
            known[pattern] -= 1
        elif line != summary:
            extra.append(line)
    missing = [] if summary in watched else [f"the summary {summary!r} is missing"]
    return [f"stderr: {line}" for line in extra] + missing


# -- the table


def table(outcomes: list[Outcome]) -> str:
    """The outcomes, one line each."""
    head = (
        "program",
        "equal bits",
        "silent",
        "first ms: plain",
        "watched",
        "ratio",
        "last ms: plain",
        "after",
        "ratio",
        "memory",
    )
    rows: list[tuple[str, ...]] = [head]
    for each in outcomes:
        if each.skipped:
            rows.append((each.name, "skipped: " + each.skipped, *[""] * 8))
        elif each.failed:
            rows.append((each.name, "FAILED", *[""] * 8))
        else:
            times = [*_times(each.first), *_times(each.last)]
            equal = "NO" if each.differences else "yes"
            silent = "NO" if each.said else f"yes, {len(each.notes)} notes" if each.notes else "yes"
            rows.append((each.name, equal, silent, *times, f"{each.memory:.2f}"))
    measured = [row for row in rows if not row[1].startswith("skipped")]
    widths = [max(len(row[column]) for row in measured) for column in range(len(head))]
    widths[0] = max(len(row[0]) for row in rows)
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines)


def _times(pair: tuple[float, float]) -> tuple[str, str, str]:
    plain, watched = pair
    return f"{plain * 1e3:.2f}", f"{watched * 1e3:.2f}", f"{watched / plain:.2f}" if plain else "-"


def main() -> int:
    """Run the programs that were asked for, print the table and what is wrong; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", choices=LIBRARIES, default="")
    parser.add_argument("--only", default="", metavar="NAME")
    parser.add_argument("--debug", action="store_true")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    outcomes = []
    for program in programs(options.library, options.only):
        outcome = examine(program, options.debug)
        outcomes.append(outcome)
        state = "skipped" if outcome.skipped else "whole" if outcome.is_whole else "NOT WHOLE"
        print(f"{program.name}: {state}", file=sys.stderr, flush=True)
    print(table(outcomes))
    for each in outcomes:
        for kind in ("failed", "differences", "said", "notes"):
            told = getattr(each, kind)
            for line in [told] if isinstance(told, str) and told else told:
                print(f"\n{each.name}, {kind}: {line}")
    run_at_all = [each for each in outcomes if not each.skipped]
    whole = sum(each.is_whole for each in run_at_all)
    print(f"\n{whole} of {len(run_at_all)} programs left whole, {len(outcomes) - len(run_at_all)} skipped")
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(each) for each in outcomes], indent=2) + "\n")
    return int(options.strict and whole < len(run_at_all))


if __name__ == "__main__":
    # the folders beside this file have the names of libraries, which would look as if they were installed
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]
    sys.exit(main())
