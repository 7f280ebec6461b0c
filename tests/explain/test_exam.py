"""The exam of the explanations, program by program: see exam/run.py, which is what marks it."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradtape as gt

EXAM = Path(__file__).resolve().parents[2] / "exam"


def _load() -> Any:
    specification = importlib.util.spec_from_file_location("exam_run", EXAM / "run.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["exam_run"] = module  # dataclasses look their module up there
    specification.loader.exec_module(module)
    return module


run = _load()
PROGRAMS = run.programs()
FAULTY = [program for program in PROGRAMS if program.is_faulty]
HEALTHY = [program for program in PROGRAMS if not program.is_faulty]
MARKS: dict[str, Any] = {}


def marked(program: Any) -> Any:
    """The mark of a program, which is run once however many tests ask for it."""
    if program.name not in MARKS:
        MARKS[program.name] = run.mark(program)
    return MARKS[program.name]


def named(programs: list[Any]) -> Any:
    return pytest.mark.parametrize("program", programs, ids=[program.path.stem for program in programs])


# -- the exam itself


def test_exam_is_large_enough_and_covers_the_codes() -> None:
    """There are at least 90 programs of either kind, and every code that can be met by a program has one."""
    assert len(FAULTY) >= 90
    assert len(HEALTHY) >= 90
    codes = Counter(code for program in FAULTY for code in program.codes + program.causes)
    shapes = [101, 102, 110, 111, 112, 113, 114, 115, 117, 118]
    missing = [*range(202, 213)]
    misuse = [*range(301, 315)]
    numbers = [401, 402, 403, 404, 501]
    assert [n for n in shapes + missing + misuse + numbers if not codes[f"GT{n}"]] == []


@named(FAULTY)
def test_faulty_program_is_faulty_and_its_cure_cures_it(program: Any) -> None:
    """A faulty program is wrong in the way its header says, and right after the edit its header gives."""
    assert run.check(program) == []


def test_an_edit_takes_the_place_of_its_span() -> None:
    """A suggested edit replaces the columns it names, over one line or several, and nothing else."""
    source = "a = 1\nb = f(a,\n      a)  # tail\n"
    assert run.Edit("g(a)", 2, 4, 3, 8).of(source) == "a = 1\nb = g(a)  # tail\n"
    assert run.Edit("2", 1, 4, 1, 5).of(source) == "a = 2\nb = f(a,\n      a)  # tail\n"


def said(code: str, *lines: int, causes: tuple[str, ...] = (), last: int = 0) -> Any:
    return run.Said("", "warning", code, list(causes), list(lines), last or max(lines, default=0))


def program(tmp_path: Path, expect: str, body: str) -> Any:
    path = tmp_path / "faulty" / "topic_01.py"
    path.parent.mkdir()
    path.write_text(f"# expect: {expect}\n# cause: a mistake\n# wrong: True\n{body}")
    return run.read(path)


def test_header_is_read(tmp_path: Path) -> None:
    """Codes, causes, edits and marked lines of a header are what the marks are given by."""
    read = program(
        tmp_path, "GT201 or GT305 because GT208", "# cure: a -> b -> c\n\nx = a  # <- here\ny = 1  # <- asked\n"
    )
    assert (read.codes, read.causes, read.cures) == (["GT201", "GT305"], ["GT208"], [("a", "b -> c")])
    assert (read.guilty, read.asked, read.topic) == ([6], [7], "topic")


def test_line_is_right_only_if_it_is_the_guilty_one(tmp_path: Path) -> None:
    """The main span lies on the guilty line, or on the line that asks while another span lies on the guilty one."""
    asked = program(tmp_path, "GT201", "x = 1  # <- here\ny = 2\nz = 3  # <- asked\n")
    right = {(4,), (4, 5), (6, 4)}
    for lines in [(4,), (4, 5), (6, 4), (6,), (5,), (5, 4), ()]:
        assert run._names_line(said("GT201", *lines, last=lines[0] if lines else 0), asked) is (lines in right), lines
    assert run._names_line(said("GT201", 3, last=5), asked)


def test_cause_is_right_only_with_the_code_that_is_expected(tmp_path: Path) -> None:
    """Where a cause is expected, the general code alone is not enough."""
    expecting = program(tmp_path, "GT201 because GT209", "x = 1  # <- here\n")
    assert run._names_cause(said("GT209", 4), expecting)
    assert run._names_cause(said("GT201", 4, causes=("GT209",)), expecting)
    assert not run._names_cause(said("GT201", 4), expecting)
    assert not run._names_cause(said("GT201", 4, causes=("GT202",)), expecting)
    assert not run._names_cause(said("GT101", 4, causes=("GT209",)), expecting)


def test_silence_and_other_words_get_no_mark(tmp_path: Path) -> None:
    """A faulty program that is not explained is marked wrong, and a healthy one that warns is a false alarm."""
    silent = run.mark(program(tmp_path, "GT101", "x = 1  # <- here\n"))
    assert (silent.line, silent.cause, silent.fix, silent.said) == (False, False, "none", ["nothing"])
    healthy = tmp_path / "healthy" / "topic_01.py"
    healthy.parent.mkdir()
    healthy.write_text("import warnings\nwarnings.warn('careful')\n")
    assert run.mark(run.read(healthy)).alarms == ["warning: UserWarning: careful"]
    share = run.shares([silent, run.mark(run.read(healthy))], {silent.name})
    assert share == {"line": 0.0, "cause": 0.0, "fix": 0.0, "alarms": 1.0}
    assert not run.passes(share)
    assert run.passes({"line": 1.0, "cause": 1.0, "fix": 0.9, "alarms": 0.0})


def test_program_that_ends_its_process_is_a_failed_one(tmp_path: Path) -> None:
    """A program that takes its process down is marked as not explained, or as a false alarm, and the others go on."""
    crashing = program(tmp_path, "GT101", "import os\nos._exit(3)  # <- here\n")
    healthy = tmp_path / "healthy" / "topic_01.py"
    healthy.parent.mkdir()
    healthy.write_text("import os\nos._exit(4)\n")
    quiet = healthy.with_stem("topic_02")
    quiet.write_text("assert 1 + 1 == 2\n")
    ended, alarm, fine = run.examine([crashing, run.read(healthy), run.read(quiet)])
    assert (ended.line, ended.cause, ended.said) == (False, False, ["the process ended with exit status 3"])
    assert alarm.alarms == ["the process ended with exit status 4"]
    assert fine.alarms == []
    assert [*run.examine([crashing], run.check)] == [["faulty/topic_01: the process ended with exit status 3"]]


# -- the marks


@named(HEALTHY)
def test_healthy_program_is_met_with_silence(program: Any) -> None:
    """A program without a mistake runs to its end, its assertions hold, and nobody is warned."""
    assert marked(program).alarms == []


@named(FAULTY)
def test_mistake_is_named_with_its_line_and_cause(program: Any) -> None:
    """The first thing said about a mistake has its code (and cause), and points at the guilty line."""
    mark = marked(program)
    assert (mark.cause, mark.line) == (True, True), f"expected {mark.expected} at {mark.guilty}; said {mark.said}"


def test_suggested_edits_work() -> None:
    """Of the edits that are suggested, at least nine in ten cure the program they are made in."""
    share = run.shares([marked(program) for program in PROGRAMS], {program.name for program in FAULTY})
    failing = [program.name for program in FAULTY if marked(program).fix == "fails"]
    assert share["fix"] >= run.TARGETS["fix"], failing


def test_warning_is_heard_from_code_that_no_module_holds(tmp_path: Path) -> None:
    """A warning about code run by exec, as in a notebook, reaches the user like any other."""
    source = "import gradtape as gt\nw = gt.Variable([0.4])\nwith gt.GradientTape() as tape:\n    y = gt.round(w)\n"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(compile(source + "tape.gradient(y, w)\n", str(tmp_path / "cell.py"), "exec"), {})
    assert len(caught) == 1


def test_labels_without_an_axis_are_refused_as_numpy_does() -> None:
    """take_along_axis with a vector of labels would pick a table of all pairs; NumPy refuses it, and so do we."""
    log_probabilities = gt.log_softmax(gt.tensor(np.zeros((4, 3))))
    with pytest.raises(ValueError, match=r"dimensions|axes"):
        gt.take_along_axis(log_probabilities, np.array([0, 2, 1, 1]), axis=1)
