"""`gradtape run script.py`: run a script with explanations on, and say what was found."""

from __future__ import annotations

import argparse
import builtins
import importlib.util
import io
import json
import os
import runpy
import sys
import traceback
import types
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from typing import Any, TextIO

from gradtape.atomic_write import write_atomically
from gradtape.commands import terminal
from gradtape.commands.numpy_imports import numpy_is_ours
from gradtape.core.location import Location, is_library, is_watched_file
from gradtape.errors import GradientWarning, GradTapeError
from gradtape.explain.detectors.none_used import explain_none_used
from gradtape.explain.emit import listeners, policy
from gradtape.explain.emit.excepthook import hook_of_program, shows_all_frames
from gradtape.explain.emit.severity import severity
from gradtape.explain.kernel.locked_write import explain_refused_write
from gradtape.explain.kernel.survey import surveying
from gradtape.explain.model.codes import CODES
from gradtape.explain.model.problem import Problem
from gradtape.standins_package import PACKAGE, import_standins
from gradtape.watching import LIBRARIES as WATCHED
from gradtape.watching import Watching, watch
from gradtape.watching.budget import STEPS

LIBRARIES = ("autograd", "tensorflow", "torch")  # as in gradtape_standins, which may not be installed
STAND_INS = (*LIBRARIES, "numpy")  # gradtape has a namespace for NumPy, and for SciPy with it
DESCRIPTION = """\
Run a Python script as `python script.py args` does, with explanations on. What
is found is printed on stderr: a warning when it is met, once for each place;
the error that ends the script with the lines of your code that lead to it; notes
and a summary at the end. The script does the same as without, with every option.

  gradtape run train.py --steps 10 --report report.html
  gradtape run --strict train.py -- --json    what follows -- is the script's
  gradtape run --watch-steps 10 train.py      of a script for the real PyTorch, Tensor-
                                              Flow, Keras or JAX: more than 3 gradients
  gradtape run --stand-in forum.py            import torch, tensorflow, autograd: ours
  gradtape run --stand-in numpy solver.py     its own import numpy, import scipy: ours
  gradtape run --stand-in=torch -m pytest     a test-suite, and what it starts; -m is
                                              as in python -m, what follows is pytest's

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
        usage="gradtape run [options] (script.py | -m module) [arguments of the script]",
        description=DESCRIPTION,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--report", metavar="FILE", help="write a page (HTML, one file) of the gradients")
    parser.add_argument("--json", metavar="FILE", help="write everything that was found, as JSON; - is stdout")
    parser.add_argument("--strict", action="store_true", help="exit with status 1 if something was found")
    parser.add_argument(
        "--full-traceback",
        action="store_true",
        help="show the frames of libraries in the traceback of an error that is explained, too",
    )
    parser.add_argument("--quiet", action="store_true", help="print only what the script prints, and its errors")
    parser.add_argument(
        "--stand-in",
        nargs="?",
        const=",".join(LIBRARIES),
        metavar="LIBRARIES",
        help="let import tensorflow, torch and autograd give gradtape's stand-ins, or those of them that are named, "
        "here and in all processes of Python that are started from here; numpy, if it is named: gradtape.numpy and "
        "gradtape.scipy for the imports of the script and of modules in its folder",
    )
    parser.add_argument(
        "--watch-steps",
        type=int,
        default=STEPS,
        metavar="N",
        help="of a script that imports torch, tensorflow or jax, watch the first N gradients of each place (default: "
        f"{STEPS}), and more while that costs little; 0 watches nothing",
    )
    parser.add_argument("-m", dest="is_module", action="store_true", help="what to run is the name of a module")
    parser.add_argument("script", help="the Python file to run, or the module")
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
        if name in ("--report", "--json", "--watch-steps"):
            ours.append(word)
            if "=" not in word and pending:
                ours.append(pending.pop(0))
        elif word == "-m" and not theirs:
            ours.append(word)
            theirs += pending
            break
        elif name == "--stand-in":
            named = word == name and pending and set(pending[0].split(",")) <= set(STAND_INS)
            ours.append(f"{word}={pending.pop(0)}" if named else word)
        elif word in ("--strict", "--quiet", "--full-traceback") or (not theirs and word.startswith("-")):
            ours.append(word)
        else:
            theirs.append(word)
    return [argv[0], *ours, *(["--", *theirs] if theirs else [])]


def main(arguments: argparse.Namespace) -> int:
    """Run the script; the exit status."""
    unknown = set((arguments.stand_in or LIBRARIES[0]).split(",")) - set(STAND_INS)
    if unknown:
        terminal.complain(
            f"run: --stand-in={arguments.stand_in}: there is no stand-in for {', '.join(sorted(unknown))}; there are "
            f"{', '.join(STAND_INS)}"
        )
        return 2
    others = {*(arguments.stand_in or "").split(",")} & {*LIBRARIES}
    if others and (failure := _find_fault_of_standins()):
        terminal.complain(f"run: --stand-in: {failure}")
        return 2
    if arguments.is_module and not _has_module(arguments.script):
        terminal.complain(f"run: there is no module {arguments.script}; give a name that python -m takes")
        return 2
    if not arguments.is_module and not os.path.isfile(arguments.script):
        what = "is a folder" if os.path.isdir(arguments.script) else "is not there"
        terminal.complain(f"run: {arguments.script} {what}; give the path of a Python script")
        return 2
    for path in (arguments.report, arguments.json):
        folder = os.path.dirname(path or "")
        if folder and not os.path.isdir(folder):
            terminal.complain(f"run: {path} cannot be written, there is no folder {folder}")
            return 2
    started_in, process = os.getcwd(), os.getpid()  # what is written is written there, wherever the script goes
    session = Session(
        arguments.script, arguments.arguments, arguments.quiet, arguments.stand_in or "", arguments.is_module
    )
    session.watch_steps = arguments.watch_steps
    session.hides_frames = not arguments.full_traceback and not shows_all_frames()
    session.owns_process = getattr(arguments, "owns_process", False)
    if arguments.report:
        from gradtape.explain.report import Collector

        session.collector = Collector(os.path.basename(arguments.script), is_private=True)
    status = session.run()
    if os.getpid() != process:  # a child that the script has forked
        return status
    try:
        if arguments.json:
            _write_json(arguments.json, session, status, started_in)
        if arguments.report:
            _write_report(arguments.report, session, started_in)
    except OSError as error:
        name = os.path.relpath(error.filename, started_in) if error.filename else "the file"
        terminal.complain(f"run: {name} cannot be written: {error.strerror}")
        status = status or 2
    if not arguments.quiet:
        session.summarise()
    return 1 if arguments.strict and session.spoken and not status else status


def _has_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):  # of a name with dots, what is in front of the last one cannot be imported
        return False


def _find_fault_of_standins() -> str:
    """Why the stand-ins cannot be used: not installed, or of another version than gradtape. Empty if they can."""
    try:
        import_standins()
    except ImportError as error:
        if error.name != PACKAGE:
            raise
        return str(error)
    return ""


@dataclass
class Session:
    """One run of a script, and what was found in it."""

    script: str
    arguments: list[str]
    quiet: bool = False
    stand_in: str = ""
    is_module: bool = False
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    found: list[Problem] = field(default_factory=list)
    voices: dict[int, str] = field(default_factory=dict)
    error: BaseException | None = None
    numeric: dict[tuple[str, int], Any] = field(default_factory=dict)  # NumPy's warnings of overflow and the like
    moved: set[tuple[Any, str, str, int]] = field(default_factory=set)  # warnings that were shown for the user's line
    collector: Any = None

    watch_steps: int = STEPS  # how many gradients of each place of a program for another library are watched
    hides_frames: bool = True  # whether the frames of libraries are left out where an error is explained
    watching: Watching | None = None
    owns_process: bool = False  # whether the process ends with the script, so that nothing is put back after it

    @property
    def spoken(self) -> list[Problem]:
        """What counts as found: warnings, and the error that ended the script."""
        return [problem for problem in self.found if self.voices[id(problem)] in ("warning", "error")]

    def run(self) -> int:
        """Run the script as `python` would; its exit status."""
        with _as_main(self.script, self.arguments, self.owns_process, self.is_module) as module:
            shown = warnings.showwarning
            self._show, self._format = self._shown(shown), warnings.formatwarning
            self._hook = hook_of_program()
            warnings.showwarning = self._show
            ended: BaseException | None = None
            try:
                with (
                    listeners.listening_in_all_threads(self._hear),
                    surveying(self._note),
                    self.collector or nullcontext(),
                    self._imports(),
                    self._watch() as self.watching,
                ):
                    if self.is_module:
                        runpy.run_module(self.script, run_name="__main__", alter_sys=True)
                    else:
                        _execute(self.script, module)
            except BaseException as error:  # looked at below, where it is no longer being handled
                ended = error
            _flush()
            self._show_numeric()
            status = 0 if ended is None else self._stopped(ended)
            if not isinstance(ended, SystemExit):  # as Python does before threads are waited for
                for name in ("__file__", "__cached__"):
                    vars(module).pop(name, None)
            if warnings.showwarning is self._show:
                warnings.showwarning = shown
            return status

    def _show_numeric(self) -> None:
        """NumPy's warnings about numbers, at the user's lines, where we have said nothing about those."""
        told = {(span.file, span.line) for problem in self.found for span in problem.spans if problem.code[:3] == "GT4"}
        for (file, line), (show, message, category) in self.numeric.items():
            if (file, line) not in told:
                show(message, category, file, line)

    def _imports(self) -> AbstractContextManager[Any]:
        """With `--stand-in`, what makes the names of other libraries ours."""
        named = self.stand_in.split(",")
        others = [library for library in named if library in LIBRARIES]
        blocks = ExitStack()
        if "numpy" in named:
            folder = os.getcwd() if self.is_module else os.path.dirname(os.path.realpath(self.script))
            blocks.enter_context(numpy_is_ours(folder))
        if others:
            blocks.enter_context(import_standins("child_processes").standing_in_everywhere(*others))
        return blocks

    def _watch(self) -> AbstractContextManager[Watching | None]:
        """What watches the libraries that the script imports, unless stand-ins take their place."""
        libraries = [library for library in WATCHED if library not in self.stand_in.split(",")]
        if not self.watch_steps:
            return nullcontext()
        observe = None if self.collector is None else self.collector.observe_elsewhere
        return watch(*libraries, steps=self.watch_steps, tell=self._note, observe=observe)

    def _hear(self, problem: Problem) -> None:
        """Keep what was found; a warning is printed at once, unless the script records warnings itself."""
        if self.collector is not None:
            self.collector.add_problem(problem)
        if _being_raised():
            self._keep(problem, "handled")
        elif severity(problem.code) == "note":
            self._keep(problem, "note")
        elif warnings.showwarning is not self._show:
            self._keep(problem, "handled")
        else:
            self._warn(problem)

    def _note(self, problem: Problem) -> None:
        """Keep what was found by looking at a healthy gradient: the script hears nothing of it."""
        if severity(problem.code) == "off" or any(problem.place == other.place for other in self.found):
            return
        if self.collector is not None:
            self.collector.add_problem(problem)
        self._keep(problem, "note")

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
        """Warnings of ours were printed when they were heard of, the rest goes on.

        Where the script redirects stderr or formats warnings itself, every warning is shown as without us.
        """

        def show(message: Any, category: Any, filename: str, lineno: int, *rest: Any, **more: Any) -> None:
            if isinstance(message, GradientWarning):
                self._warn(message.problem)
            if sys.stderr is not self.stream or warnings.formatwarning is not self._format:
                before(message, category, filename, lineno, *rest, **more)
                return
            if isinstance(message, GradientWarning):
                return
            where = Location.here()
            is_moved = is_library(filename) and not is_watched_file(filename)
            if is_moved and where.code is not None:  # NumPy's, about what the user's line computes
                filename, lineno = where.file, where.line
                if " encountered in " in str(message):  # we may have more to say about it
                    self.numeric.setdefault((filename, lineno), (before, message, category))
                    return
            place = category, str(message), filename, lineno
            if is_moved:  # Python does not know that it was shown for this line, and would show it there once more
                self.moved.add(place)
            elif place in self.moved:
                self.moved.remove(place)
                return
            before(message, category, filename, lineno, *rest, **more)

        return show

    def _stopped(self, ended: BaseException) -> int:
        """Say how the script ended, if not by its last line; the status that `python` would give."""
        if not isinstance(ended, SystemExit):
            self._show_error(ended)
            return 130 if isinstance(ended, KeyboardInterrupt) else 1
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        print(ended.code, file=sys.stderr)
        return 1

    def _show_error(self, error: BaseException) -> None:
        """Show the error that ended the script, by the hook of the script if it has set one."""
        self.error = error
        error.__traceback__ = _from_script(error.__traceback__)
        explain_refused_write(error)
        explain_none_used(error)
        if PACKAGE in sys.modules:
            import_standins("explain_errors").explain(error)
        problem = getattr(error, "problem", None)
        if isinstance(problem, Problem):
            self._keep(problem, "error")
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
        if sys.version_info >= (3, 12):
            sys.last_exc = error
        if hook_of_program() is not self._hook:
            self._call_hook(error)
        elif isinstance(error, KeyboardInterrupt):
            print(f"gradtape: {os.path.basename(self.script)} was interrupted", file=self.stream)
        else:
            colour, width = terminal.has_colour(self.stream), terminal.width(self.stream)
            print(explained(error, colour, width, self.hides_frames), file=self.stream)

    def _call_hook(self, error: BaseException) -> None:
        """Let the hook that the script has set show the error, as Python does."""
        try:
            sys.excepthook(type(error), error, error.__traceback__)
        except SystemExit:
            raise
        except BaseException as failed:
            failed.__traceback__ = _from_script(failed.__traceback__)
            print("Error in sys.excepthook:", explained(failed), "", file=self.stream, sep="\n")
            print("Original exception was:", explained(error), file=self.stream, sep="\n")

    def _print(self, problem: Problem, kind: str) -> None:
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


def _execute(script: str, module: types.ModuleType) -> None:
    """Run the code of `script` in `module`."""
    with io.open_code(os.path.abspath(script)) as file:
        source = file.read()
    exec(compile(source, module.__file__ or script, "exec", dont_inherit=True), vars(module))


@contextmanager
def _as_main(
    script: str, arguments: Sequence[str], owns_process: bool, is_module: bool = False
) -> Iterator[types.ModuleType]:
    """A new `__main__` for a file or a module, with the arguments and the first folder of the path that `python` gives.

    Threads of the script and what it has registered with `atexit` run after it: they find all of this as it was, where
    the process ends with the script. Elsewhere it is put back.
    """
    module = types.ModuleType("__main__")
    path = os.path.join(os.getcwd(), script)  # not made shorter: Python does not do so either
    loader = SourceFileLoader("__main__", path)
    given = {"__annotations__": {}, "__builtins__": builtins, "__file__": path, "__cached__": None}
    kept = vars(sys.modules["__main__"])  # which has the names that this version of Python gives
    vars(module).update({name: value for name, value in given.items() if name in kept or name == "__file__"})
    module.__loader__ = loader
    before = sys.argv[:], sys.path[:], sys.modules.get("__main__"), sys.excepthook
    sys.argv[:] = [script, *arguments]
    sys.modules["__main__"] = module
    folder = os.getcwd() if is_module else os.path.dirname(os.path.realpath(script))
    if not sys.flags.safe_path:
        sys.path[: int(owns_process)] = [folder]  # in place of the one of this command
    try:
        yield module
    finally:
        if not owns_process:
            sys.argv[:], sys.path[:], main, sys.excepthook = before
            if main is not None:
                sys.modules["__main__"] = main


def _flush() -> None:
    """What Python does after the last line of a script; a stream that is closed or broken is not our concern."""
    for stream in (sys.stderr, sys.stdout):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            continue  # Python says so when it ends


def _from_script(trace: types.TracebackType | None) -> types.TracebackType | None:
    """A traceback from the script on, without the frames of this command."""
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return trace


def _being_raised() -> bool:
    """Whether what is heard now is an exception in the making, and not a report."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code is not policy.report.__code__:
        if frame.f_code is listeners.notify_of_error.__code__:
            return True
        frame = frame.f_back
    return False


def explained(error: BaseException, colour: bool = False, width: int = 80, hides_frames: bool = True) -> str:
    """A traceback of the user's lines only, with the explanation of the error if gradtape has one."""
    problem = getattr(error, "problem", None)
    summary = traceback.TracebackException.from_exception(error)
    _filter(summary, drop_all=hides_frames and isinstance(problem, Problem))
    if not isinstance(problem, Problem):
        shown = summary.format() if summary.stack else summary.format_exception_only()  # of a file with an error: none
        return "".join(shown).rstrip("\n")
    lines = ["Traceback (most recent call last):\n", *summary.stack.format()] if summary.stack else []
    before = summary.__cause__ or (None if summary.__suppress_context__ else summary.__context__)
    if before is not None and before.stack:  # an error of the script's own, and not one that was met inside a library
        how = "The above exception was the direct cause of the following exception:"
        if summary.__cause__ is None:
            how = "During handling of the above exception, another exception occurred:"
        lines = [*before.format(), f"\n{how}\n\n", *lines]
    ours = isinstance(error, GradTapeError) or "".join(problem.title.split()) in "".join(str(error).split())
    words = "" if ours else f"{error}\n"  # NumPy's own error, which we have explained
    return "".join(lines) + f"{type(error).__name__}: {words}{problem.to_text(colour, width)}"


def _filter(summary: Any, drop_all: bool, seen: set[int] | None = None) -> None:
    """Take frames out of a traceback: those that started the script, and with `drop_all` every library's."""
    seen = set() if seen is None else seen
    while summary is not None and id(summary) not in seen:
        seen.add(id(summary))
        frames = list(summary.stack)
        while frames and frames[0].filename == __file__:
            frames.pop(0)
        if drop_all:
            frames = [frame for frame in frames if frame.filename.startswith("<") or not is_library(frame.filename)]
        summary.stack = traceback.StackSummary.from_list(frames)
        _filter(summary.__context__, drop_all, seen)
        summary = summary.__cause__


def _write_json(path: str, session: Session, status: int, folder: str) -> None:
    problems = [{**problem.to_json(), "voice": session.voices[id(problem)]} for problem in session.found]
    data = {"script": session.script, "arguments": session.arguments, "status": status, "problems": problems}
    text = json.dumps(data, indent=2, default=str) + "\n"
    if path == "-":
        sys.stdout.write(text)
    else:
        write_atomically(os.path.join(folder, path), text.encode())


def _write_report(path: str, session: Session, folder: str) -> None:
    from gradtape.explain.report import write

    with terminal.working(f"writing {path}"):
        write(os.path.join(folder, path), session.collector)
    if not session.quiet:
        print(f"gradtape: the report is in {path}", file=session.stream)
