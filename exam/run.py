"""The exam of gradtape's explanations: does it name the line, the cause and the cure, and is it silent otherwise?

`faulty/` has small programs with one mistake each, `healthy/` programs without any. A faulty program starts with what
is expected of the explanation, in comments that are read by this script:

    # expect: GT101                      the code; `GT118 or GT115` if two say it, `GT201 because GT209` with its cause
    # says: params["b"]                  what is in its own words, not only in the lines it shows (maybe several times)
    # cause: one sentence
    # wrong: g is None                   true at the end of the program as it is, false when it is cured;
                                         `raises ShapeError` if it does not come to its end
    # cure: pred - y -> pred[:, 0] - y   an edit that mends it (may be given several times; \\n is a new line)

The guilty line ends in `# <- here`; several lines may, where each is a fair answer. Where the gradient is asked for on
another line, that one ends in `# <- asked`: the explanation may start there if it also points at the guilty one.

    python exam/run.py                   the marks, topic by topic, and what was said where it was not right
    python exam/run.py --only GT101      the programs that expect a code, or whose name contains the text
    python exam/run.py --json out.json   the marks of every program, for other programs
    python exam/run.py --strict          exit status 1 below 100 % lines, 100 % causes, 90 % fixes, no false alarm
    python exam/run.py --check           examine the exam: each faulty program is faulty, and its cure cures it
    python exam/run.py --library torch   the programs for another library in exam/torch, which are watched as they run;
                                         with --part unseen, those that nothing was tuned on
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import importlib
import importlib.util
import io
import json
import linecache
import multiprocessing
import re
import sys
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
TARGETS = {"line": 1.0, "cause": 1.0, "fix": 0.9}
CODE = re.compile(r"GT\d{3}")
LIBRARIES = {  # what is imported once, because it takes long
    "torch": ("torch", "torch._dynamo", "torch.utils.checkpoint", "torch.utils.data", "torch.func"),
    "tensorflow": ("tensorflow", "keras"),
    "jax": ("jax", "jax.numpy", "jax.scipy.special", "optax", "flax.linen", "flax.nnx", "equinox"),
}
SECONDS = 300  # for one program
OPTIONAL = ("optax", "flax", "equinox")
"""Packages that only some programs need: those are left out where one is not installed, which is said."""


# -- the programs


@dataclass
class Program:
    """One program of the exam, and what its header expects."""

    path: Path
    source: str
    codes: list[str] = field(default_factory=list)
    causes: list[str] = field(default_factory=list)
    says: list[str] = field(default_factory=list)
    because: str = ""
    wrong: str = ""
    cures: list[tuple[str, str]] = field(default_factory=list)
    guilty: list[int] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def topic(self) -> str:
        return self.path.stem.rpartition("_")[0]

    @property
    def is_faulty(self) -> bool:
        return self.path.parent.name == "faulty"

    @property
    def library(self) -> str:
        """The library that it is written for; empty if that is gradtape."""
        folder = self.path.parent.parent
        folder = folder.parent if folder.name == "unseen" else folder
        return folder.name if folder.name in LIBRARIES else ""

    def cured(self) -> str:
        """The source with the edits of its header made."""
        head, body = _split_header(self.source)
        for old, new in self.cures:
            body = body.replace(old, new)
        return head + body


def read(path: Path) -> Program:
    """The program at `path`."""
    source = path.read_text()
    program = Program(path, source)
    for line in _split_header(source)[0].splitlines():
        key, _, value = line.lstrip("# ").partition(": ")
        value = value.strip()
        if key == "expect":
            named, _, because = value.partition(" because ")
            program.codes, program.causes = CODE.findall(named), CODE.findall(because)
        elif key == "says":
            program.says.append(value)
        elif key == "cause":
            program.because = value
        elif key == "wrong":
            program.wrong = value
        elif key == "cure":
            old, _, new = value.partition(" -> ")
            program.cures.append((old.replace("\\n", "\n"), new.replace("\\n", "\n")))
    lines = list(enumerate(source.splitlines(), 1))
    program.guilty = [number for number, line in lines if line.endswith("# <- here")]
    program.asked = [number for number, line in lines if line.endswith("# <- asked")]
    if program.is_faulty and not (program.codes and program.because and program.wrong and program.guilty):
        raise ValueError(f"{program.name}: expect, cause, wrong and a line marked '# <- here' are all needed")
    return program


def _split_header(source: str) -> tuple[str, str]:
    """The comments that a program starts with, and the rest."""
    lines = source.splitlines(keepends=True)
    end = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return "".join(lines[:end]), "".join(lines[end:])


def programs(only: str = "", library: str = "", part: str = "") -> list[Program]:
    """All programs, or those that expect the code `only` or have it in their name; of a library, and of its `part`."""
    folder = HERE / library / part
    found = [read(path) for kind in ("faulty", "healthy") for path in sorted((folder / kind).glob("*.py"))]
    return [p for p in found if not only or only in p.codes + p.causes or only.lower() in p.name]


def packages_of(program: Program) -> set[str]:
    """The packages that a program imports."""
    return set(re.findall(r"^(?:import|from) (\w+)", program.source, re.MULTILINE))


def missing_packages() -> set[str]:
    """Those of the `OPTIONAL` packages that are not installed."""
    return {package for package in OPTIONAL if importlib.util.find_spec(package) is None}


# -- sitting it


@dataclass
class Edit:
    """A suggested piece of source, and the piece of the program it takes the place of."""

    text: str
    line: int
    column: int
    end_line: int
    end_column: int

    def of(self, source: str) -> str:
        """`source` with the edit made."""
        lines = source.splitlines(keepends=True)
        before, after = lines[self.line - 1][: self.column], lines[self.end_line - 1][self.end_column :]
        return "".join([*lines[: self.line - 1], before + self.text + after, *lines[self.end_line :]])


@dataclass
class Said:
    """Something that was said while a program ran. What has no code was not said by an explanation."""

    text: str
    voice: str
    code: str = ""
    causes: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    last: int = 0  # the last line of the main span
    edits: list[Edit] = field(default_factory=list)
    advises: bool = False
    words: str = ""  # the explanation without the lines of the program that it shows


@dataclass
class Run:
    """What came of running a program once."""

    said: list[Said]
    raised: str
    wrong: bool | None
    seconds: float
    place: str = ""

    @property
    def aloud(self) -> list[Said]:
        return [s for s in self.said if s.voice != "note"]


def run(path: Path, source: str, wrong: str = "", library: str = "") -> Run:
    """Run `source` as the program `path` in a namespace of its own, and collect what is said.

    A program for another library is watched, and what that library itself says is left out.
    """
    from gradtape.explain.emit import excepthook

    filename = str(path)
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": "__main__", "__file__": filename}
    noted: list[Any] = []
    error: Exception | None = None
    started = time.perf_counter()
    silence = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, _listening(noted):
        warnings.simplefilter("always")
        with contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
            try:
                with _watching(library, noted):
                    exec(compile(source, filename, "exec"), namespace)
            except Exception as stopped:
                error = stopped
                excepthook.explain(error)  # as Python's hook for uncaught errors does
    seconds = time.perf_counter() - started
    said = [_said(w.message, "warning", filename) for w in caught]
    said = [each for each in said if each.code or not library]
    said += [] if error is None else [_said(error, "error", filename)]
    spoken = {id(getattr(w.message, "problem", None)) for w in caught} | {id(getattr(error, "problem", None))}
    said += [_found(problem, "note", filename) for problem in noted if id(problem) not in spoken]
    raised = type(error).__name__ if error is not None else ""
    place = "" if error is None else _place(error, filename)
    return Run(said, raised, _is_wrong(wrong, namespace, error), seconds, place)


def _is_wrong(wrong: str, namespace: dict[str, Any], error: Exception | None) -> bool | None:
    """Whether what the header calls wrong is so, now that the program has run; None if that cannot be told."""
    if not wrong:
        return None
    if wrong.startswith("raises"):
        names = [kind.__name__ for kind in type(error).__mro__]
        return error is not None and wrong.split()[1] in names
    if error is not None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return bool(eval(wrong, {"np": np, **namespace}))
        except (AttributeError, TypeError):  # a gradient is None now
            return None


def _place(error: BaseException, filename: str) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == filename]
    return f"line {lines[-1]}" if lines else ""


def _listening(noted: list[Any]) -> contextlib.AbstractContextManager[Any]:
    """While this lasts, every problem that is found is put into `noted`, in whatever voice it is said."""
    from gradtape.explain.emit.listeners import listening

    return listening(noted.append)


def _watching(library: str, noted: list[Any]) -> contextlib.AbstractContextManager[Any]:
    """While this lasts, the programs of a library are watched."""
    from gradtape.watching import watch

    return watch(library, tell=noted.append) if library else contextlib.nullcontext()


def _said(message: Any, voice: str, filename: str) -> Said:
    problem = getattr(message, "problem", None)
    if problem is None:
        return Said(f"{type(message).__name__}: {str(message).partition(chr(10))[0]}", voice)
    return _found(problem, voice, filename)


def _found(problem: Any, voice: str, filename: str) -> Said:
    """A `Problem` as what counts in the exam: codes, lines of the program, and the fixes that are edits of it."""
    lines = [span.line for span in problem.spans if _same(span.file, filename)]
    places = [(fix, fix.replaces) for fix in problem.fixes if fix.replaces is not None]
    edits = [
        Edit(str(fix), span.line, span.column or 0, span.end_line or span.line, span.end_column or 0)
        for fix, span in places
        if _same(span.file, filename)
    ]
    text = f"[{problem.code}] {problem.title}"
    last = (problem.spans[0].end_line or lines[0]) if lines else 0
    labels = [span.label for span in problem.spans]
    words = "\n".join([problem.title, problem.consequence, *labels, *problem.details.get("notes", ()), *problem.fixes])
    return Said(text, voice, problem.code, list(problem.codes[1:]), lines, last, edits, bool(problem.fixes), words)


def _same(file: str, filename: str) -> bool:
    return Path(file).name == Path(filename).name  # a message may show the name only


# -- marking it


@dataclass
class Mark:
    """How one program was answered."""

    name: str
    topic: str
    expected: str
    guilty: list[int]
    line: bool = False
    cause: bool = False
    fix: str = "none"  # works, fails, prose (advice that is no edit) or none
    alarms: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    seconds: float = 0.0


def mark(program: Program) -> Mark:
    """Run a program and mark what was said."""
    result = run(program.path, program.source, program.wrong, program.library)
    expected = " or ".join(program.codes) + (" because " + " or ".join(program.causes) if program.causes else "")
    given = Mark(program.name, program.topic, expected, program.guilty, seconds=result.seconds)
    given.said = [_in_words(s) for s in result.said] or ["nothing"]
    if not program.is_faulty:
        given.alarms = [_in_words(s) for s in result.aloud]
        return given
    explanations = [s for s in result.aloud if s.code]
    if not explanations:
        return given
    first = explanations[0]
    given.cause = _names_cause(first, program)
    given.line = _names_line(first, program)
    given.fix = _try_fix(first, program)
    return given


def _names_cause(said: Said, program: Program) -> bool:
    if not all(words in said.words for words in program.says):
        return False
    if program.causes:
        return said.code in program.causes or (said.code in program.codes and bool({*said.causes} & {*program.causes}))
    return said.code in program.codes


def _names_line(said: Said, program: Program) -> bool:
    """Whether the main span is at a guilty line, or where the gradient is asked for and another at a guilty one."""
    if not said.lines:
        return False
    if any(said.lines[0] <= line <= said.last for line in program.guilty):
        return True
    return said.lines[0] in program.asked and bool({*said.lines} & {*program.guilty})


def _try_fix(said: Said, program: Program) -> str:
    """Make the first suggested edit and run the program again."""
    if not said.edits:
        return "prose" if said.advises else "none"
    source = said.edits[0].of(program.source)
    again = run(program.path.with_stem(program.path.stem + "_fixed"), source, program.wrong, program.library)
    gone = not any(s.code in program.codes + program.causes for s in again.aloud)
    return "works" if gone and not again.raised and not again.wrong else "fails"


def _in_words(said: Said) -> str:
    where = f" at line {said.lines[0]}" if said.lines else ""
    return f"{said.voice}{where}: {said.text}"


# -- examining the exam


def check(program: Program) -> list[str]:
    """What is wrong with the program as a question: it is not faulty, its cure does not cure, or it is not healthy."""
    if not program.is_faulty:
        result = run(program.path, program.source)
        loud = [s.text for s in result.aloud] + ([] if "assert" in program.source else ["asserts nothing"])
        return [f"{program.name}: {text}" for text in loud]
    problems: list[str] = []
    as_it_is = run(program.path, program.source, program.wrong)
    if as_it_is.wrong is not True:
        problems.append(f"{program.name}: not wrong in the way it says; {as_it_is.said or 'it runs'}")
    elif as_it_is.raised and int(as_it_is.place.split()[-1]) not in program.guilty + program.asked:
        problems.append(f"{program.name}: raised at {as_it_is.place}, which is not marked")
    body = _split_header(program.source)[1]
    problems += [
        f"{program.name}: {old!r} is there {body.count(old)} times" for old, _ in program.cures if body.count(old) != 1
    ]
    if program.cures:
        cured = run(program.path.with_stem(program.path.stem + "_cured"), program.cured(), program.wrong)
        if cured.raised or cured.wrong:
            problems.append(f"{program.name}: the cure does not cure; {cured.raised} {cured.place} {cured.said}")
        elif cured.aloud:
            problems.append(f"{program.name}: cured, and still something is said: {cured.aloud[0].text}")
    return problems


# -- the report


def examine(questions: Iterable[Program], work: Any = mark, processes: int = 2) -> Iterator[Any]:
    """The marks of all programs, each run in a fresh process: one that ends it, or runs too long, is a failed one."""
    waiting = collections.deque(questions)
    running: collections.deque[_Worker] = collections.deque()
    while waiting or running:
        while waiting and len(running) < processes:
            running.append(_Worker(waiting.popleft(), work))
        yield running.popleft().answer()


class _Worker:
    """A process that runs one program."""

    def __init__(self, program: Program, work: Any) -> None:
        method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
        context = multiprocessing.get_context(method)
        self.program, self.work = program, work
        self.ends = time.monotonic() + SECONDS
        self.receiver, sender = context.Pipe(duplex=False)
        self.process = context.Process(target=_send, args=(sender, work, program))
        self.process.start()
        sender.close()  # the other end is the worker's alone: when it ends, that is noticed here

    def answer(self) -> Any:
        """What the process answers, or what stands for it."""
        try:
            if not self.receiver.poll(max(0.0, self.ends - time.monotonic())):
                return _failed(self.program, self.work, f"no answer within {SECONDS} s")
            return self.receiver.recv()
        except EOFError:
            self.process.join()
            return _failed(self.program, self.work, f"the process ended with exit status {self.process.exitcode}")
        finally:
            self.process.kill()
            self.process.join()
            self.receiver.close()


def _send(sender: Any, work: Any, program: Program) -> None:
    """What the process of a worker does."""
    sender.send(work(program))
    sender.close()


def _failed(program: Program, work: Any, why: str) -> Any:
    """What stands for the answer of a process that gave none."""
    if work is not mark:
        return [f"{program.name}: {why}"]
    expected = " or ".join(program.codes)
    alarms = [] if program.is_faulty else [why]
    return Mark(program.name, program.topic, expected, program.guilty, alarms=alarms, said=[why])


def shares(marks: list[Mark], faulty: set[str]) -> dict[str, float]:
    """The share of right lines, right causes and (of the suggested edits) fixes that work; and the false alarms."""
    asked = [m for m in marks if m.name in faulty]
    edits = [m for m in asked if m.fix in ("works", "fails")]
    return {
        "line": sum(m.line for m in asked) / max(len(asked), 1),
        "cause": sum(m.cause for m in asked) / max(len(asked), 1),
        "fix": sum(m.fix == "works" for m in edits) / max(len(edits), 1),
        "alarms": float(sum(bool(m.alarms) for m in marks if m.name not in faulty)),
    }


def passes(share: dict[str, float]) -> bool:
    return all(share[what] >= least for what, least in TARGETS.items()) and not share["alarms"]


def report(marks: list[Mark], faulty: set[str]) -> None:
    """Print the failures, then a table with a row for each topic."""
    for m in marks:
        if m.name in faulty and not (m.line and m.cause and m.fix != "fails"):
            missed = [
                what for what, right in (("line", m.line), ("cause", m.cause), ("fix", m.fix != "fails")) if not right
            ]
            print(f"{m.name}: {', '.join(missed)} not right; expected {m.expected}, line {_or(m.guilty)}; said")
            print("".join(f"    {text}\n" for text in m.said), end="")
        for text in m.alarms:
            print(f"{m.name}: false alarm\n    {text}")
    print(f"\n{'topic':<16}{'programs':>9}{'line':>7}{'cause':>7}{'fix works':>11}{'prose':>7}{'no fix':>8}")
    asked = [m for m in marks if m.name in faulty]
    topics = sorted({m.topic for m in asked})
    for topic in topics:
        _row(topic, [m for m in asked if m.topic == topic])
    _row("all", asked)
    silent = [m for m in marks if m.name not in faulty]
    alarms = sum(bool(m.alarms) for m in silent)
    print(f"\nhealthy programs: {len(silent)}; false alarms: {alarms}")
    share = shares(marks, faulty)
    words = "  ".join(f"{what} {100 * share[what]:.0f} % (target {100 * least:.0f})" for what, least in TARGETS.items())
    print(f"{words}  false alarms {alarms} (target 0)")


def _or(numbers: list[int]) -> str:
    return " or ".join(map(str, numbers))


def _row(topic: str, marks: list[Mark]) -> None:
    edits = [m for m in marks if m.fix in ("works", "fails")]
    works = f"{sum(m.fix == 'works' for m in edits)} of {len(edits)}"
    prose, none = (sum(m.fix == kind for m in marks) for kind in ("prose", "none"))
    lines, causes = sum(m.line for m in marks), sum(m.cause for m in marks)
    print(f"{topic:<16}{len(marks):>9}{lines:>7}{causes:>7}{works:>11}{prose:>7}{none:>8}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="exam/run.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="programs that expect this code or have this name")
    parser.add_argument("--json", metavar="FILE", help="write the marks of every program to FILE")
    parser.add_argument("--strict", action="store_true", help="exit status 1 if below the targets")
    parser.add_argument("--library", default="", choices=["", *LIBRARIES], help="programs for another library")
    parser.add_argument("--part", default="", choices=["", "unseen"], help="which part of those programs")
    parser.add_argument("--check", action="store_true", help="examine the programs themselves instead")
    options = parser.parse_args(arguments)
    questions = programs(options.only, options.library, options.part)
    missing = missing_packages()
    for module in LIBRARIES.get(options.library, ()):
        if module.partition(".")[0] not in missing:
            importlib.import_module(module)  # once, before the workers are forked from here
    there = [program for program in questions if not missing & packages_of(program)]
    if len(there) < len(questions):
        print(f"{len(questions) - len(there)} programs are left out: {', '.join(sorted(missing))} not installed")
    questions = there
    if not questions:
        print(f"no program expects {options.only!r} or has it in its name", file=sys.stderr)
        return 2
    answers = []
    for answer in examine(questions, check if options.check else mark):
        answers.append(answer)
        if sys.stderr.isatty():
            print(f"\r{len(answers)} of {len(questions)}", end="\r", file=sys.stderr, flush=True)
    if options.check:
        problems = [text for answer in answers for text in answer]
        print("\n".join([*problems, f"{len(questions)} programs, {len(problems)} problems"]))
        return int(bool(problems))
    faulty = {p.name for p in questions if p.is_faulty}
    report(answers, faulty)
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(m) for m in answers], indent=1))
    return int(options.strict and not passes(shares(answers, faulty)))


if __name__ == "__main__":
    # the folders beside this file have the names of libraries: nothing may import them instead of the libraries
    sys.path[:] = [str(HERE.parent), *(entry for entry in sys.path if Path(entry).resolve() != HERE)]
    # once, before the workers are forked from here; asking for gradtape.special opens what is opened when first used
    for module in ("gradtape", "scipy.ndimage", "scipy.optimize", "scipy.special"):
        importlib.import_module(module)
    sys.modules["gradtape"].special  # noqa: B018

    sys.exit(main())
