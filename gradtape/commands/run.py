"""`gradtape run script.py`: run a script with explanations on, and say what was found."""

from __future__ import annotations

import argparse
import json
import os
import runpy
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TextIO

from gradtape.commands import terminal
from gradtape.core.location import Location, is_library
from gradtape.errors import GradientWarning, GradTapeError
from gradtape.explain import voices
from gradtape.explain.codes import CODES
from gradtape.explain.health import surveying
from gradtape.explain.locked import explain as explain_refused_write
from gradtape.explain.nones import explain as explain_none
from gradtape.explain.problem import Problem

DESCRIPTION = """\
Run a Python script as `python script.py args` does, with explanations on. What
is found is printed on stderr: a warning when it is met, once for each place;
the error that ends the script with the lines of your code that lead to it; notes
and a summary at the end.

  gradtape run train.py --steps 10 --report report.html
  gradtape run --strict train.py -- --json    what follows -- is the script's
  gradtape run --stand-in forum.py            import torch, tensorflow, autograd: ours

The options below are taken wherever they stand, unless behind `--`; all others
are handed to the script. Problems that the script itself handles (try/except,
warnings.catch_warnings(record=True), gt.expect) are not printed, but they are in
the JSON, as "handled".
"""
EXIT_CODES = """\
exit status:
  0  the script ended well
  1  the script ended with an error; or, with --strict, something was found
     (warnings and errors; notes do not count)
  2  the command was not used as it can be (no such script, a report that
     cannot be written)
  a script that calls sys.exit(n) gives n; Ctrl-C gives 130
"""


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "run",
        help="run a script with explanations on",
        usage="gradtape run [options] script.py [arguments of the script]",
        description=DESCRIPTION,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--report", metavar="FILE", help="write a page (HTML, one file) of the gradients")
    parser.add_argument("--json", metavar="FILE", help="write everything that was found, as JSON; - is stdout")
    parser.add_argument("--strict", action="store_true", help="exit with status 1 if something was found")
    parser.add_argument("--quiet", action="store_true", help="print only what the script prints, and its errors")
    parser.add_argument(
        "--stand-in", action="store_true", help="let import tensorflow, torch and autograd give gradtape's stand-ins"
    )
    parser.add_argument("script", help="the Python file to run")
    parser.add_argument("arguments", nargs="*", default=[], help="what the script finds in sys.argv")
    return parser


def separated(argv: Sequence[str]) -> list[str]:
    """`argv` with the options of this command in front, and `--` before the script and all that belongs to it."""
    ours: list[str] = []
    theirs: list[str] = []
    pending = list(argv[1:])
    while pending:
        word = pending.pop(0)
        name = word.partition("=")[0]
        if word == "--":
            theirs += pending
            break
        if name in ("--report", "--json"):
            ours.append(word)
            if "=" not in word and pending:
                ours.append(pending.pop(0))
        elif word in ("--strict", "--quiet", "--stand-in") or (not theirs and word.startswith("-")):
            ours.append(word)
        else:
            theirs.append(word)
    return [argv[0], *ours, *(["--", *theirs] if theirs else [])]


def main(arguments: argparse.Namespace) -> int:
    """Run the script; the exit status."""
    if not os.path.isfile(arguments.script):
        what = "is a folder" if os.path.isdir(arguments.script) else "is not there"
        terminal.complain(f"run: {arguments.script} {what}; give the path of a Python script")
        return 2
    for path in (arguments.report, arguments.json):
        folder = os.path.dirname(path or "")
        if folder and not os.path.isdir(folder):
            terminal.complain(f"run: {path} cannot be written, there is no folder {folder}")
            return 2
    session = Session(arguments.script, arguments.arguments, arguments.quiet, arguments.stand_in)
    if arguments.report:
        from gradtape.explain.report import Collector

        session.collector = Collector(os.path.basename(arguments.script))
    status = session.run()
    try:
        if arguments.json:
            _write_json(arguments.json, session, status)
        if arguments.report:
            _write_report(arguments.report, session)
    except OSError as error:
        terminal.complain(f"run: {error.filename} cannot be written: {error.strerror}")
        status = status or 2
    if not arguments.quiet:
        session.summarise()
    return 1 if arguments.strict and session.spoken and not status else status


@dataclass
class Session:
    """One run of a script, and what was found in it."""

    script: str
    arguments: list[str]
    quiet: bool = False
    stand_in: bool = False
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    found: list[Problem] = field(default_factory=list)
    voices: dict[int, str] = field(default_factory=dict)
    error: BaseException | None = None
    numeric: dict[tuple[str, int], Any] = field(default_factory=dict)  # NumPy's warnings of overflow and the like
    collector: Any = None

    @property
    def spoken(self) -> list[Problem]:
        """What counts as found: warnings, and the error that ended the script."""
        return [problem for problem in self.found if self.voices[id(problem)] in ("warning", "error")]

    def run(self) -> int:
        """Run the script as `python` would; its exit status."""
        argv, path = sys.argv[:], sys.path[:]
        sys.argv[:] = [self.script, *self.arguments]
        sys.path.insert(0, os.path.dirname(os.path.abspath(self.script)))
        shown = warnings.showwarning
        self._show = warnings.showwarning = self._shown(shown)
        try:
            with voices.listening(self._hear), surveying(), self.collector or nullcontext(), self._imports():
                runpy.run_path(self.script, run_name="__main__")
        except SystemExit as stopped:
            return self._stopped(stopped)
        except KeyboardInterrupt:
            print(f"gradtape: {os.path.basename(self.script)} was interrupted", file=self.stream)
            return 130
        except BaseException as error:
            self._failed(error)
            return 1
        finally:
            self._show_numeric()
            sys.argv[:], sys.path[:] = argv, path
            warnings.showwarning = shown
            sys.stdout.flush()
        return 0

    def _show_numeric(self) -> None:
        """NumPy's warnings about numbers, at the user's lines, where we have said nothing about those."""
        told = {(span.file, span.line) for problem in self.found for span in problem.spans if problem.code[:3] == "GT4"}
        for (file, line), (show, message, category) in self.numeric.items():
            if (file, line) not in told:
                show(message, category, file, line)

    def _imports(self) -> AbstractContextManager[None]:
        """With `--stand-in`, what makes the names of other libraries ours."""
        if not self.stand_in:
            return nullcontext()
        from gradtape.standins import standing_in

        return standing_in()

    def _hear(self, problem: Problem) -> None:
        """Keep what was found; a warning is printed at once, unless the script records warnings itself."""
        if _being_raised():
            self._keep(problem, "handled")
        elif voices.voice(problem.code) == "note":
            self._keep(problem, "note")
        elif warnings.showwarning is not self._show:
            self._keep(problem, "handled")
        else:
            self._warn(problem)

    def _keep(self, problem: Problem, voice: str) -> None:
        if id(problem) not in self.voices:
            self.found.append(problem)
        self.voices[id(problem)] = voice

    def _warn(self, problem: Problem) -> None:
        if any(problem.place == other.place and self.voices[id(other)] == "warning" for other in self.found):
            return
        self._keep(problem, "warning")
        if not self.quiet:
            self._print(problem, CODES[problem.code].warning.__name__)

    def _shown(self, before: Any) -> Any:
        """Warnings of ours were printed when they were heard of (those of other threads are now); the rest goes on."""

        def show(message: Any, category: Any, filename: str, lineno: int, *rest: Any, **more: Any) -> None:
            if isinstance(message, GradientWarning):
                self._warn(message.problem)
                return
            where = Location.here()
            if is_library(filename) and where.code is not None:  # NumPy's, about what the user's line computes
                filename, lineno = where.file, where.line
                if " encountered in " in str(message):  # we may have more to say about it
                    self.numeric.setdefault((filename, lineno), (before, message, category))
                    return
            before(message, category, filename, lineno, *rest, **more)

        return show

    def _failed(self, error: BaseException) -> None:
        """Print the error that ended the script: the user's lines, and the explanation if there is one."""
        self.error = error
        explain_refused_write(error)
        explain_none(error)
        if "gradtape.standins" in sys.modules:
            from gradtape.standins.explaining import explain as explain_stand_in

            explain_stand_in(error)
        problem = getattr(error, "problem", None)
        if isinstance(problem, Problem):
            self._keep(problem, "error")
        sys.stdout.flush()
        print(explained(error, terminal.has_colour(self.stream), terminal.width(self.stream)), file=self.stream)

    def _stopped(self, stopped: SystemExit) -> int:
        """The status that `python` would give."""
        if stopped.code is None or isinstance(stopped.code, int):
            return stopped.code or 0
        print(stopped.code, file=self.stream)
        return 1

    def _print(self, problem: Problem, kind: str) -> None:
        sys.stdout.flush()
        colour, width = terminal.has_colour(self.stream), terminal.width(self.stream)
        print(f"{kind}: {problem.to_text(colour, width)}\n", file=self.stream, flush=True)

    def summarise(self) -> None:
        """The notes, and one line about all that was found."""
        told = {(problem.main.file, problem.main.line) for problem in self.spoken if problem.main is not None}
        notes = [
            problem
            for problem in self.found
            if self.voices[id(problem)] == "note"
            and (problem.main is None or (problem.main.file, problem.main.line) not in told)
        ]
        for problem in notes:
            self._print(problem, "note")
        counts = Counter(problem.code for problem in self.spoken if problem.code)
        total = len(self.spoken)
        said = f"{total} problem{'s' * (total != 1)} found" if total else "nothing found"
        if counts:
            said += " (" + ", ".join(f"{code} x {n}" if n > 1 else code for code, n in sorted(counts.items())) + ")"
        if notes:
            said += f", {len(notes)} note{'s' * (len(notes) > 1)}"
        handled = sum(voice == "handled" for voice in self.voices.values())
        if handled:
            said += f", {handled} handled by the script"
        print(f"gradtape: {os.path.basename(self.script)}: {said}", file=self.stream)


def _being_raised() -> bool:
    """Whether what is heard now is an exception in the making, and not a report."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code is not voices.report.__code__:
        if frame.f_code is voices.spoken.__code__:
            return True
        frame = frame.f_back
    return False


def explained(error: BaseException, colour: bool = False, width: int = 80) -> str:
    """A traceback of the user's lines only, with the explanation of the error if gradtape has one."""
    problem = getattr(error, "problem", None)
    summary = traceback.TracebackException.from_exception(error)
    _filter(summary, drop_all=isinstance(problem, Problem))
    if not isinstance(problem, Problem):
        return "".join(summary.format()).rstrip("\n")
    lines = ["Traceback (most recent call last):\n", *summary.stack.format()] if summary.stack else []
    ours = isinstance(error, GradTapeError) or "".join(problem.title.split()) in "".join(str(error).split())
    words = "" if ours else f"{error}\n"  # NumPy's own error, which we have explained
    return "".join(lines) + f"{type(error).__name__}: {words}{problem.to_text(colour, width)}"


def _filter(summary: Any, drop_all: bool, seen: set[int] | None = None) -> None:
    """Take frames out of a traceback: those that started the script, and with `drop_all` every library's."""
    seen = set() if seen is None else seen
    while summary is not None and id(summary) not in seen:
        seen.add(id(summary))
        frames = list(summary.stack)
        starting = (__file__, runpy.__file__)
        while frames and (frames[0].filename in starting or frames[0].filename.startswith("<frozen runpy")):
            frames.pop(0)
        if drop_all:
            frames = [frame for frame in frames if frame.filename.startswith("<") or not is_library(frame.filename)]
        summary.stack = traceback.StackSummary.from_list(frames)
        _filter(summary.__context__, drop_all, seen)
        summary = summary.__cause__


def _write_json(path: str, session: Session, status: int) -> None:
    problems = [{**problem.to_json(), "voice": session.voices[id(problem)]} for problem in session.found]
    data = {"script": session.script, "arguments": session.arguments, "status": status, "problems": problems}
    text = json.dumps(data, indent=2, default=str) + "\n"
    if path == "-":
        sys.stdout.write(text)
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def _write_report(path: str, session: Session) -> None:
    from gradtape.explain.report import write

    with terminal.working(f"writing {path}"):
        write(path, session.collector)
    if not session.quiet:
        print(f"gradtape: the report is in {path}", file=sys.stderr)
