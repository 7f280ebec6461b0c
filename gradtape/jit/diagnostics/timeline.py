"""A profiler of compiled functions: the program is run step by step with a clock, and times are summed by line.

A step is a NumPy kernel, or native code for a group of instructions that were fused, which has one time for all of
them. Where these are of several lines, the time is split by the work that each has: so many elements, weighted by what
an operation takes. Such a figure is an estimate, and marked as one. Next to a step that takes long enough is how near
it is to the limit of the machine: see `machine_limits`.
"""

from __future__ import annotations

import html
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradtape.core.location import Location
from gradtape.jit.diagnostics import machine_limits
from gradtape.jit.ir.kernels import call_silently
from gradtape.jit.ir.program import GUARD, Instruction, Program, Value
from gradtape.jit.native.lower import conv
from gradtape.jit.runtime import backends
from gradtape.jit.runtime.runner import Runner
from gradtape.jit.runtime.schedule import NativeGroup, Step
from gradtape.source_names import name_of_file

LONG_ENOUGH = 0.05  # seconds of running
RUNS_AT_LEAST, RUNS_AT_MOST = 3, 200
USUAL_STEPS = 100
"""How many steps a loop is taken to have where their number depends on values."""
WIDTH = 50  # columns of source that are shown

_LIGHT = frozenset(
    {
        *("add", "subtract", "multiply", "divide", "negative", "square", "sqrt", "absolute", "maximum", "minimum"),
        *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or"),
        *("logical_not", "where", "sign", "relu", "sum", "mean", "max", "min", "astype", "broadcast_to"),
        *("concatenate", "stack", "scatter"),
        *("positions of the largest", "take from windows", "put into windows", "sums over windows"),
        "shares of windows",
    }
)
_HEAVY = 8  # additions that a function such as `exp` takes as long as
_PRODUCTS = 8  # multiplications and additions of a matrix product in the time of one elsewhere


@dataclass(frozen=True)
class TimedStep:
    """A NumPy kernel or a native group: its name, the seconds of a run (the median), and the instructions in it."""

    name: str
    seconds: float
    instructions: tuple[Instruction, ...]
    native: bool
    traffic: int = 0
    """The bytes of what it reads and writes."""

    @property
    def limit(self) -> str:
        """How near it is to the limit of the machine, such as `at 60 % of bandwidth`; empty for short steps."""
        return machine_limits.work_of(self.instructions, self.traffic).describe(self.seconds)

    @property
    def lines(self) -> tuple[str, ...]:
        """The source lines, as `file:line`."""
        return tuple(dict.fromkeys(str(location) for i in self.instructions for location, _ in _work(i)))


@dataclass(frozen=True)
class TimedLine:
    """A source line, and the seconds of one run that were spent for it."""

    file: str
    number: int
    source: str
    seconds: float
    estimated: bool
    """Whether it was fused with other lines, so that this is a share of their time."""

    @property
    def place(self) -> str:
        """File name and line, for a reader; "elsewhere" for time that no line accounts for."""
        return f"{name_of_file(self.file)}:{self.number}" if self.number else "elsewhere"


class Timeline:
    """The time of one run of a compiled function, by source line and by step. It prints as a table.

    >>> import numpy as np
    >>> from gradtape.jit import jit
    >>> step = jit(lambda x: np.sum(np.exp(np.sin(x))))
    >>> _ = step(np.ones(1000))
    >>> timeline = step.timeline()
    >>> len(timeline.lines), timeline.seconds > 0
    (1, True)
    """

    def __init__(self, name: str, steps: Sequence[TimedStep], runs: int, given: str) -> None:
        self.name, self.steps, self.runs, self.given = name, tuple(steps), runs, given
        self.lines = _by_line(self.steps)

    @property
    def seconds(self) -> float:
        """The seconds of one run, of all steps together."""
        return sum(step.seconds for step in self.steps)

    @staticmethod
    def duration(seconds: float) -> str:
        """Seconds in a unit that suits them."""
        return _time(seconds)

    @property
    def groups(self) -> tuple[TimedStep, ...]:
        """The steps that are native code."""
        return tuple([step for step in self.steps if step.native])

    def _share(self, seconds: float) -> float:
        return seconds / self.seconds if self.seconds else 0.0

    def _head(self) -> str:
        kernels = [step for step in self.steps if not step.native]
        fused = sum(len(step.instructions) for step in self.groups)
        parts = [_plural(len(self.groups), "native group") + f" of {_plural(fused, 'instruction')}"] * bool(self.groups)
        parts += [_plural(len(kernels), "NumPy kernel")] * bool(kernels)
        did = " and ".join(parts) or "nothing to compute"
        return f"{self.name}: {_time(self.seconds)} a run, on {self.given}, {_plural(self.runs, 'run')}; {did}"

    def _notes(self) -> list[str]:
        if any(line.estimated for line in self.lines):
            return ["~ fused with other lines into one group: its time is split by the work estimated for each"]
        return []

    def __str__(self) -> str:
        rows = [self._head()]
        width = max((len(line.place) for line in self.lines), default=0)
        for line in self.lines:
            share = self._share(line.seconds)
            mark = "~" if line.estimated else " "
            source = line.source if len(line.source) <= WIDTH else line.source[: WIDTH - 3] + "..."
            bar = "#" * round(10 * share)
            rows.append(
                f"{mark}{_time(line.seconds):>9} {share:>5.0%} {bar:<10}  {line.place:<{width}}  {source}".rstrip()
            )
        rows += [f"  {note}" for note in self._notes()]
        for step in self.steps:
            count = f", {_plural(len(step.instructions), 'instruction')}" if step.native else ""
            near = f", {step.limit}" if step.limit else ""
            rows.append(f"  {_time(step.seconds):>9}  {step.name}{count}{near}  {_join_names(step.lines)}".rstrip())
        return "\n".join(rows)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The same for a notebook: colours are the page's own, and names are escaped."""
        cell = "padding:0.1em 0.6em;text-align:left"
        rows = []
        for line in self.lines:
            share = self._share(line.seconds)
            bar = (
                f'<div style="width:{100 * share:.0f}px;height:0.7em;display:inline-block;'
                f'background:color-mix(in srgb,currentColor 45%,transparent)"></div>'
            )
            mark = "~" if line.estimated else ""
            texts = [mark + _time(line.seconds), f"{share:.0%}", line.place]
            cells = [f'<td style="{cell}">{html.escape(text)}</td>' for text in texts]
            cells.insert(2, f'<td style="{cell}">{bar}</td>')
            rows.append(f'<tr>{"".join(cells)}<td style="{cell}"><code>{html.escape(line.source)}</code></td></tr>')
        steps = ""
        for step in self.steps:
            fused = _join_names(tuple([instruction.name for instruction in step.instructions]))
            near = f", {step.limit}" if step.limit else ""
            text = f"{_time(step.seconds)} {step.name}{near}: {fused} ({_join_names(step.lines)})"
            steps += f"<li>{html.escape(text)}</li>"
        notes = "".join(f"<div>{html.escape(note)}</div>" for note in self._notes())
        return (
            f"<div><div>{html.escape(self._head())}</div><table>{''.join(rows)}</table>{notes}"
            f"<details><summary>steps</summary><ol>{steps}</ol></details></div>"
        )


class TimedRunner(Runner):
    """A runner that records the seconds of each step. Guards are left out unless `guarded`."""

    def __init__(self, program: Program, steps: Sequence[Step], guarded: bool) -> None:
        self.guarded = guarded
        self.spent: list[list[float]] = [[] for _ in steps]
        super().__init__(program, steps)

    def _lines(self) -> list[str]:
        self.scope.update(clock=time.perf_counter, spent=self.spent, start=0.0)
        return super()._lines()

    def _line(self, index: int, step: Step) -> str:
        line = super()._line(index, step)
        if isinstance(step, Instruction) and step.op is GUARD:
            return line if self.guarded else "pass"
        return f"start = clock(); {line}; spent[{index}].append(clock() - start)"


def measure(
    name: str, program: Program, steps: Sequence[Step], arrays: Sequence[Any], guarded: bool = True
) -> Timeline:
    """The timeline of a program on `arrays`, where None stands for one that is made up; without its guards if asked to.

    Raises what a step raises, and `GuardFailed`.
    """
    given = [_make_sample(value) if x is None else x for value, x in zip(program.inputs, arrays, strict=True)]
    words = "these arguments" if guarded else "those it was traced with"
    runner = TimedRunner(program, steps, guarded)
    backends.quicken(runner)
    call_silently(runner.call, given)  # what is only made in a first run is not counted
    for times in runner.spent:
        times.clear()
    runs, start = 0, time.perf_counter()
    while runs < RUNS_AT_LEAST or (runs < RUNS_AT_MOST and time.perf_counter() - start < LONG_ENOUGH):
        call_silently(runner.call, given)
        runs += 1
    timed = [
        TimedStep(
            _name(step),
            float(np.median(times)),
            step.instructions if isinstance(step, NativeGroup) else (step,),
            _native(step),
            sum(value.nbytes for value in (*step.values, *step.results)),
        )
        for step, times in zip(steps, runner.spent, strict=True)
        if isinstance(step, NativeGroup) or step.op is not GUARD
    ]
    return Timeline(name, timed, runs, "arrays of ones" if any(x is None for x in arrays) else words)


def _make_sample(value: Value) -> Any:
    """Ones, and a positive definite matrix in the place of a square one, which is often to be solved with."""
    array = np.ones(value.shape, value.dtype)
    if value.ndim > 1 and value.shape[-1] == value.shape[-2] and value.dtype.kind in "fc":
        array += value.shape[-1] * np.eye(value.shape[-1], dtype=value.dtype)
    return array


def _native(step: Step) -> bool:
    return isinstance(step, NativeGroup)


def _name(step: Step) -> str:
    return "native code" if isinstance(step, NativeGroup) else step.name


def _by_line(steps: Sequence[TimedStep]) -> tuple[TimedLine, ...]:
    seconds: dict[tuple[str, int], float] = {}
    where: dict[tuple[str, int], Location] = {}
    estimated: set[tuple[str, int]] = set()
    for step in steps:
        parts: dict[tuple[str, int], float] = {}
        for instruction in step.instructions:
            for location, work in _work(instruction):
                key = location.file, location.line
                where.setdefault(key, location)
                parts[key] = parts.get(key, 0.0) + work
        total = sum(parts.values())
        for key, work in parts.items():
            share = work / total if total else 1 / len(parts)
            seconds[key] = seconds.get(key, 0.0) + share * step.seconds
        if len(parts) > 1:
            estimated.update(parts)
    lines = [
        TimedLine(key[0], key[1], where[key].source if key[1] else "", spent, key in estimated)
        for key, spent in seconds.items()
    ]
    return tuple(sorted(lines, key=lambda line: -line.seconds))


def _work(instruction: Instruction, times: int = 1) -> list[tuple[Location, float]]:
    """The lines behind an instruction, and a guess at its work for each: a number of additions."""
    if instruction.op.kind == "loop":
        loop = instruction.params["loop"]
        length = getattr(loop, "length", USUAL_STEPS)
        found = [part for inner in loop.body.instructions for part in _work(inner, times * length)]
        return found or [(instruction.location, 0.0)]
    if instruction.op.view or instruction.op is GUARD:
        return [(instruction.location, 0.0)]
    sizes = [value.size for value in (*instruction.values, *instruction.results)]
    work = float(max(sizes, default=0))
    if instruction.name == "matmul":
        work = sum(value.size for value in instruction.results) * instruction.values[0].shape[-1] / _PRODUCTS
    elif instruction.name in conv.NAMES:
        work = conv.multiplications(instruction) / _PRODUCTS
    elif instruction.name not in _LIGHT:
        work *= _HEAVY
    return [(instruction.location, times * work)]


def estimate_work(program: Program) -> float:
    """A guess at the work of a run, as a number of additions."""
    return sum(work for instruction in program.instructions for _, work in _work(instruction))


def _join_names(items: tuple[str, ...]) -> str:
    return ", ".join(items[:6]) + (f" and {len(items) - 6} more" if len(items) > 6 else "")


def _plural(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"
