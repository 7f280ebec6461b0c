"""Examine the exams of other libraries with these libraries themselves, without gradtape.

`torch/`, `tensorflow/` and `jax/` have programs for the real libraries: `faulty/` and `healthy/` are for tuning,
`unseen/faulty/` and `unseen/healthy/` are kept for the end. Their headers are those that `run.py` describes. This
script runs each program with its library only, and says where a program is no fair question:

- a faulty program must be wrong in the way its header says: `wrong` holds at its end, or it raises what is named, at a
  line that is marked; with the edits of its `cure` it must run to its end and `wrong` must not hold;
- a healthy program must run to its end, and assert something;
- each must be quick.

    python exam/check_library.py torch                 all programs of exam/torch
    python exam/check_library.py torch --only nan      those that expect a code or have this in their name
    python exam/check_library.py torch --part unseen   one part of them
    python exam/check_library.py torch --messages      write what the library says to its own_messages.json
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import linecache
import logging
import multiprocessing
import os
import re
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from run import Program, missing_packages, packages_of, read  # noqa: E402

# the folders beside this file have the names of the libraries: nothing that is imported from here on may find them
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]

# what is imported once, before the workers are forked: libraries take seconds to import
MODULES = {
    "torch": ("torch", "torch._dynamo", "torch.utils.checkpoint", "torch.utils.data", "torch.func"),
    "tensorflow": ("tensorflow", "keras"),
    "jax": ("jax", "jax.numpy", "jax.scipy.special", "optax", "flax.linen", "flax.nnx", "equinox"),
}
SECONDS = {"torch": 1.0, "tensorflow": 3.0, "jax": 3.0}
PARTS = {"tuning": ("faulty", "healthy"), "unseen": ("unseen/faulty", "unseen/healthy")}


@dataclass
class Run:
    """What came of running a program once. `line` is the last line of the program in the traceback, 0 if none."""

    raised: list[str] = field(default_factory=list)  # the class of the exception and its bases
    line: int = 0
    says: str = ""  # the last line of the exception, or else of the warnings and log messages
    wrong: bool | None = None
    seconds: float = 0.0


def find_programs(library: str, part: str = "all", only: str = "") -> list[Program]:
    """The programs of a library, or those of one part, or that expect the code `only` or have it in their name."""
    folders = [folder for name in PARTS if part in (name, "all") for folder in PARTS[name]]
    found = [read(path) for folder in folders for path in sorted((HERE / library / folder).glob("*.py"))]
    return [p for p in found if not only or only in p.codes + p.causes or only.lower() in p.name]


def name_of(program: Program) -> str:
    """The path of a program below the folder of its library, without the ending."""
    parts = program.path.parts
    start = parts.index("unseen") if "unseen" in parts else len(parts) - 2
    return "/".join(parts[start:]).removesuffix(".py")


class _Messages(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            self.lines.append(record.getMessage())


@contextlib.contextmanager
def _logged() -> Iterator[list[str]]:
    """While this lasts, what libraries log at the level of a warning is collected."""
    handler = _Messages()
    loggers = [logging.getLogger(name) for name in ("", "absl", "tensorflow", "jax")]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield handler.lines
    finally:
        for logger in loggers:
            logger.removeHandler(handler)


def run(path: Path, source: str, wrong: str = "") -> Run:
    """Run `source` as the program `path`, and collect what the library says."""
    filename = str(path)
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": "__main__", "__file__": filename}
    result, error = Run(), None
    silence = io.StringIO()
    started = time.process_time()
    with warnings.catch_warnings(record=True) as caught, _logged() as logged:
        warnings.simplefilter("always")
        with contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
            try:
                exec(compile(source, filename, "exec"), namespace)
            except Exception as stopped:
                error = stopped
    result.seconds = time.process_time() - started
    if error is not None:
        result.raised = [kind.__name__ for kind in type(error).__mro__]
        # the message too: there an error in a traced function has its lines, and the frames are those of the tracer
        text = "".join(traceback.format_exception(error))
        lines = [int(number) for number in re.findall(rf'File "{re.escape(filename)}", line (\d+)', text)]
        result.line = (lines and lines[-1]) or 0
        result.says = _last_line(f"{type(error).__name__}: {error}")
    elif caught:
        warning = caught[-1]
        result.says = _last_line(f"{warning.category.__name__}: {warning.message}")
        result.line = warning.lineno if warning.filename == filename else 0
    elif logged:
        result.says = _last_line(logged[-1])
    if wrong.startswith("raises"):
        result.wrong = wrong.split()[1] in result.raised
    elif wrong and error is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result.wrong = bool(eval(wrong, {"np": np, **namespace}))
    return result


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if len(lines) < 2 else f"{lines[0]} ... {lines[-1]}"


def run_as(task: tuple[Program, str]) -> Run:
    """Run a program "as it is" or "cured"."""
    program, how = task
    if how == "cured":
        return run(program.path.with_stem(program.path.stem + "_cured"), program.cured(), program.wrong)
    return run(program.path, program.source, program.wrong)


def check(program: Program, as_it_is: Run, cured: Run | None) -> list[str]:
    """What is wrong with a program as a question."""
    library = program.path.relative_to(HERE).parts[0]
    name = f"{library}/{name_of(program)}"
    problems = []
    if as_it_is.seconds > SECONDS[library]:
        problems.append(f"{name}: takes {as_it_is.seconds:.1f} s")
    if not program.is_faulty:
        if as_it_is.raised:
            problems.append(f"{name}: line {as_it_is.line}: {as_it_is.says}")
        if "assert " not in program.source:
            problems.append(f"{name}: asserts nothing")
        return problems
    if as_it_is.wrong is not True:
        problems.append(f"{name}: not wrong in the way it says; line {as_it_is.line}: {as_it_is.says or 'it runs'}")
    elif as_it_is.raised and as_it_is.line not in program.guilty + program.asked:
        problems.append(f"{name}: raised at line {as_it_is.line}, which is not marked; {as_it_is.says}")
    body = "".join(line for line in program.source.splitlines(keepends=True) if not line.startswith("# "))
    counts = [(old, body.count(old)) for old, _ in program.cures]
    problems += [f"{name}: {old!r} is there {count} times" for old, count in counts if count != 1]
    if cured is None:
        problems.append(f"{name}: has no cure")
    elif cured.raised or cured.wrong:
        problems.append(f"{name}: the cure does not cure; line {cured.line}: {cured.says or 'still wrong'}")
    return problems


def run_all(programs: list[Program], processes: int) -> Iterator[tuple[Program, Run, Run | None]]:
    """Run each program, and each with its cure, in processes of their own: some leave the library changed behind."""
    tasks = [(p, how) for p in programs for how in ("as it is", *(["cured"] if p.cures else []))]
    with multiprocessing.get_context("fork").Pool(processes, maxtasksperchild=1) as pool:
        runs = dict(zip([(p.path, how) for p, how in tasks], pool.imap(run_as, tasks, chunksize=1), strict=True))
    for p in programs:
        yield p, runs[p.path, "as it is"], runs.get((p.path, "cured"))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="exam/check_library.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("library", choices=sorted(MODULES))
    parser.add_argument("--only", default="", metavar="TEXT", help="programs that expect this code or have this name")
    parser.add_argument("--part", default="all", choices=[*PARTS, "all"])
    parser.add_argument("--messages", action="store_true", help="write what the library says to own_messages.json")
    parser.add_argument("--processes", type=int, default=1, metavar="N")
    options = parser.parse_args(arguments)
    missing = missing_packages()
    programs = [
        program
        for program in find_programs(options.library, options.part, options.only)
        if not missing & packages_of(program)
    ]
    for module in MODULES[options.library]:
        if module.partition(".")[0] not in missing:
            importlib.import_module(module)
    problems: list[str] = []
    faulty: dict[str, dict[str, Any]] = {}
    for program, as_it_is, cured in run_all(programs, options.processes):
        problems += check(program, as_it_is, cured)
        if program.is_faulty:
            own = {"says": as_it_is.says, "raised": bool(as_it_is.raised), "line": as_it_is.line}
            faulty[name_of(program)] = {**own, "guilty": as_it_is.line in program.guilty}
    counts = f"{len(faulty)} faulty and {len(programs) - len(faulty)} healthy programs"
    print("\n".join([*problems, f"{options.library}: {counts}, {len(problems)} problems"]))
    speaks = [own for own in faulty.values() if own["says"]]
    raises = [own for own in speaks if own["raised"]]
    at_guilty = sum(own["guilty"] for own in speaks)
    print(f"the library says something about {len(speaks)} of {len(faulty)} ({len(raises)} raise), {at_guilty} of them")
    print("at a guilty line")
    if options.messages:
        path = HERE / options.library / "own_messages.json"
        kept = {} if options.part == "all" and not options.only else json.loads(path.read_text())
        path.write_text(json.dumps(dict(sorted({**kept, **faulty}.items())), indent=1) + "\n")
    return int(bool(problems))


if __name__ == "__main__":
    # one thread each: programs are small, and the same bits come out on every machine
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    sys.exit(main())
