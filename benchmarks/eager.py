"""gradtape's eager mode against PyTorch's and autograd, in one table.

    python benchmarks/eager.py [--rows chain,mlp,...] [--seconds 2] [--threads 1] [--clock cpu] [--json out.json]

Every number in a row comes from one run on one machine; only the ratios mean anything elsewhere. See README.md.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from measure import CLOCKS, deep, import_seconds, installed, library_of, limit_threads, peak_memory, race
from workloads import CHAIN_OPERATIONS, WORKLOADS

RIVALS = ("torch", "autograd")
MEBI = 1024 * 1024


@dataclass
class Row:
    """One line of the table: what it costs gradtape and the rivals, and what was promised of it."""

    label: str
    unit: str
    gradtape: float | None
    rivals: dict[str, float | None]
    goal: str = ""
    met: bool | None = None
    notes: list[str] = field(default_factory=list)

    def ratio(self, rival: str) -> float | None:
        theirs = self.rivals.get(rival)
        return None if theirs is None or not self.gradtape else theirs / self.gradtape


@dataclass(frozen=True)
class How:
    """How to measure time: for how long each contender, and by which clock."""

    seconds: float
    clock: str


@dataclass(frozen=True)
class Goal:
    """A promise: at most so much, or so many times ahead of a rival."""

    at_most: float | None = None
    ahead: dict[str, float] = field(default_factory=dict)

    def judge(self, row: Row) -> None:
        """Write the goal into `row`, and whether it was met by what could be measured."""
        words, met = [], []
        if self.at_most is not None:
            words.append(f"at most {self.at_most:g} {row.unit}")
            met.append(None if row.gradtape is None else row.gradtape <= self.at_most)
        for rival, times in self.ahead.items():
            ratio = row.ratio(rival)
            words.append(f"{times:g}x {rival}")
            met.append(None if ratio is None else ratio >= times)
        row.goal = ", ".join(words)
        known = [answer for answer in met if answer is not None]
        row.met = all(known) if known else None


def timed_rows(
    workload: str, label: str, unit: str, per_second: float, goal: Goal, how: How, **sizes: int
) -> Iterator[Row]:
    """The contenders of a workload, compared, then timed: a row for each way of asking gradtape."""
    best, wrong = race(workload, sizes, how.seconds, how.clock)
    taken = {name: spent * per_second for name, spent in best.items()}
    rivals: dict[str, float | None] = {}
    notes = list(wrong)
    for rival in RIVALS:
        ways = {name: spent for name, spent in taken.items() if library_of(name) == rival}
        rivals[rival] = min(ways.values(), default=None)
        if len(ways) > 1:  # the rival's best way counts
            notes.append("; ".join(f"{name} {spent:.4g}" for name, spent in ways.items()))
    for name, spent in taken.items():
        library, _, variant = name.partition(":")
        if library == "gradtape":
            row = Row(f"{label}{':' if variant else ''}{variant}", unit, spent, rivals, notes=notes)
            goal.judge(row)
            if wrong:
                row.met = False
            yield row


def memory_rows(workload: str, label: str, goal: Goal, **sizes: int) -> Iterator[Row]:
    """Peak memory of one step: resident, which all libraries can be held to, and what NumPy reports to tracemalloc."""
    peaks = {name: peak_memory(workload, name, sizes) for name in WORKLOADS[workload].contenders}
    for kind, promised in (("resident", goal), ("traced", Goal())):
        values = {name: _scaled(None if peak is None else peak[kind], 1 / MEBI) for name, peak in peaks.items()}
        rivals = {rival: values[rival] for rival in RIVALS}
        for name in values:
            library, _, variant = name.partition(":")
            if library == "gradtape":
                row = Row(f"{label}, peak {kind}:{variant}", "MiB", values[name], rivals)
                promised.judge(row)
                yield row


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


# -- the rows


def chain_rows(how: How) -> Iterator[Row]:
    goal = Goal(at_most=5.0, ahead={"torch": 1.0, "autograd": 3.0})
    spent = {}
    for row in timed_rows("chain", "chain", "us/op", 1e6 / CHAIN_OPERATIONS, goal, how):
        spent[row.label] = row.gradtape
        if "no explanations" in row.label:  # not a way to use it: what there would be without them
            row.goal, row.met = "", None
        yield row
    for label, taken in spent.items():
        bare = spent.get(f"{label.rpartition(',')[0]}, no explanations")
        if taken is not None and bare is not None and taken is not bare:
            cost = Row(f"{label}: cost of explanations", "%", 100 * (taken / bare - 1), {})
            Goal(at_most=10.0).judge(cost)
            yield cost


# of the large batches: at the small ones the system's count of resident pages is too coarse to judge by. A hundredth is
# the coarseness at the large ones
NO_LARGER = Goal(ahead={"torch": 0.99})


def mlp_rows(how: How) -> Iterator[Row]:
    yield from timed_rows("mlp", "MLP, batch 128", "us", 1e6, Goal(), how, batch=128)
    yield from memory_rows("mlp", "MLP, batch 128", Goal(), batch=128)
    yield from timed_rows("mlp", "MLP, batch 4096", "us", 1e6, Goal(), how, batch=4096)
    yield from memory_rows("mlp", "MLP, batch 4096", NO_LARGER, batch=4096)


def rnn_rows(how: How) -> Iterator[Row]:
    yield from timed_rows("rnn", "RNN, batch 16", "us", 1e6, Goal(), how, batch=16)
    yield from memory_rows("rnn", "RNN, batch 16", Goal(), batch=16)
    yield from timed_rows("rnn", "RNN, batch 512", "us", 1e6, Goal(), how, batch=512)
    yield from memory_rows("rnn", "RNN, batch 512", NO_LARGER, batch=512)


def jacobian_rows(how: How) -> Iterator[Row]:
    goal = Goal(ahead={"autograd": 20.0})
    yield from timed_rows("jacobian", "Jacobian, 200 x 200", "us", 1e6, goal, how, size=200)


def rosenbrock_rows(how: How) -> Iterator[Row]:
    yield from timed_rows("rosenbrock", "Rosenbrock, 10", "us", 1e6, Goal(), how, size=10)
    yield from timed_rows("rosenbrock", "Rosenbrock, 1e6", "us", 1e6, Goal(), how, size=1_000_000)


def logistic_rows(how: How) -> Iterator[Row]:
    yield from timed_rows("logistic", "logistic regression, 2000 x 50", "us", 1e6, Goal(), how)


def black_scholes_rows(how: How) -> Iterator[Row]:
    yield from timed_rows("black_scholes", "Black-Scholes, 1e6", "us", 1e6, Goal(), how)


def pressure_rows(how: How) -> Iterator[Row]:
    yield from timed_rows("pressure", "pressure field, 96^3", "us", 1e6, Goal(), how)


def mixture_rows(how: How) -> Iterator[Row]:
    yield from timed_rows("mixture", "Gaussian mixture, 1000 x 10, 25", "us", 1e6, Goal(), how)


def import_rows(how: How) -> Iterator[Row]:
    taken = {library: import_seconds(library) for library in ("gradtape", *RIVALS)}
    values = {library: _scaled(spent, 1e3) for library, spent in taken.items()}
    row = Row("import, after numpy", "ms", values.pop("gradtape"), values)
    Goal(at_most=60.0).judge(row)
    yield row


def deep_rows(how: How, operations: int = 1_000_000) -> Iterator[Row]:
    taken = {library: deep(library, operations) for library in ("gradtape", *RIVALS)}
    for label, unit, key, scale in (
        ("million operations: forward", "s", "forward", 1.0),
        ("million operations: backward, and freed", "s", "backward", 1.0),
        ("million operations: held by each", "bytes", "bytes", 1.0),
        ("million operations: left when freed", "MiB", "left", 1 / MEBI),
    ):
        values = {library: _scaled(spent and spent[key], scale) for library, spent in taken.items()}
        yield Row(label, unit, values.pop("gradtape"), values)


ROWS: dict[str, Callable[[How], Iterator[Row]]] = {
    "chain": chain_rows,
    "mlp": mlp_rows,
    "rnn": rnn_rows,
    "jacobian": jacobian_rows,
    "rosenbrock": rosenbrock_rows,
    "logistic": logistic_rows,
    "black_scholes": black_scholes_rows,
    "pressure": pressure_rows,
    "mixture": mixture_rows,
    "import": import_rows,
    "deep": deep_rows,
}


# -- the table

HEADINGS = ("workload", "unit", "gradtape", "torch", "autograd", "torch /", "autograd /", "goal", "met")
WIDTHS = (50, 6, 10, 10, 10, 8, 10, 36, 4)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}" if abs(value) < 100 else f"{value:.1f}"


def line(row: Row) -> str:
    """A row as text; a rival that is not there is said to be so, where its first number would be."""
    cells = [row.label, row.unit, _number(row.gradtape)]
    cells += [_number(row.rivals.get(rival)) for rival in RIVALS]
    for rival in RIVALS:
        ratio = row.ratio(rival)
        cells.append("-" if ratio is None else f"{ratio:.2f}")
    cells += [row.goal, "" if row.met is None else "yes" if row.met else "NO"]
    return _aligned(cells)


def _aligned(cells: Any) -> str:
    padded = [
        f"{cell:<{width}}" if index < 2 or index > 6 else f"{cell:>{width}}"
        for index, (cell, width) in enumerate(zip(cells, WIDTHS, strict=True))
    ]
    return "  ".join(padded).rstrip()


def versions() -> dict[str, str]:
    """The version of everything that takes part, or that it is not installed."""
    names = ("gradtape", "numpy", "scipy", *RIVALS)
    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "from source" if installed(name) else "not installed"
    return found


def main() -> int:
    """Print the table row by row, and write it as JSON where asked. The exit status tells whether results agreed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=",".join(ROWS), help="which workloads, by name (default: all)")
    parser.add_argument("--seconds", type=float, default=2.0, help="time for each contender of each row")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu: processor time, for one thread")
    parser.add_argument("--threads", type=int, help="threads of every library (default: as each of them decides)")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    arguments = parser.parse_args()
    wanted = arguments.rows.split(",")
    unknown = [name for name in wanted if name not in ROWS]
    if unknown:
        parser.error(f"no rows named {', '.join(unknown)}; there are {', '.join(ROWS)}")
    if arguments.threads is not None:
        limit_threads(arguments.threads)
    taking_part = versions()
    print(", ".join(f"{name} {version}" for name, version in taking_part.items()))
    print("torch / and autograd / are times (or bytes) of theirs for each of gradtape's: above 1, gradtape is ahead\n")
    print(_aligned(HEADINGS), flush=True)
    print("-" * (sum(WIDTHS) + 2 * len(WIDTHS)))
    rows = []
    for name in wanted:
        for row in ROWS[name](How(arguments.seconds, arguments.clock)):
            print(line(row), flush=True)
            rows.append(row)
    notes = dict.fromkeys(f"{row.label.partition(':')[0]}: {note}" for row in rows for note in row.notes)
    for note in notes:
        print(note)
    if arguments.json is not None:
        arguments.json.write_text(
            json.dumps({"versions": taking_part, "rows": [asdict(row) for row in rows]}, indent=1) + "\n"
        )
    return int(any("differs from" in note for note in notes))


if __name__ == "__main__":
    sys.exit(main())
