"""`report`: each code raises, warns once per place, is kept as a note, or is dropped."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain import CODES, Problem, Span, configure, error, listening, notes, report
from gradtape.explain.emit import policy
from gradtape.jit import JitWarning


@pytest.fixture(autouse=True)
def no_notes_left() -> Iterator[None]:
    """No note of one test reaches another."""
    yield
    notes(clear=True)


def found(code: str = "GT101", line: int = 1) -> Problem:
    return Problem(code, "something", [Span("f.py", line, 0, 1, source="x")])


class TestReport:
    """The four severities."""

    def test_warn(self) -> None:
        """A warning carries the problem, and is at the user's file and line."""
        with pytest.warns(gt.BroadcastWarning) as caught:
            report(found(line=7))
        assert caught[0].message.problem == found(line=7)  # type: ignore[union-attr]
        assert (caught[0].filename, caught[0].lineno) == ("f.py", 7)
        assert str(caught[0].message) == found(line=7).to_text()

    def test_warns_once_per_place(self) -> None:
        """The same code at the same place is warned of once, elsewhere again."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for line in (1, 1, 2, 1):
                report(found(line=line))
        assert [warning.lineno for warning in caught] == [1, 2]

    def test_a_test_that_records_warnings_gets_it_again(self) -> None:
        """What was warned of before the warning filters changed is warned of again."""
        for _ in range(2):
            with pytest.warns(gt.BroadcastWarning):
                report(found())

    def test_raise(self) -> None:
        """With the severity "raise" the error is of the code's class."""
        with configure(GT101="raise"), pytest.raises(gt.ShapeError) as caught:
            report(found())
        assert caught.value.problem == found()

    def test_note(self) -> None:
        """What is only noted is in `notes()`, once per place."""
        report(found("GT503"))
        report(found("GT503"))
        report(found("GT503", 2))
        assert notes() == [found("GT503"), found("GT503", 2)]
        assert notes(clear=True)
        assert notes() == []

    def test_off(self) -> None:
        """Off is silent for all."""
        received: list[Problem] = []
        with configure(GT1="off"), listening(received.append):
            report(found())
        assert received == []

    def test_notes_stay_bounded(self) -> None:
        """A long run does not fill the memory with notes."""
        for line in range(policy.NOTES_AT_MOST + 50):
            report(found("GT503", line))
        assert len(notes()) == policy.NOTES_AT_MOST

    def test_warnings_as_errors_raise_the_warning(self) -> None:
        """Under `-W error` the warning is raised with its problem."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(gt.BroadcastWarning) as caught:
                report(found())
        assert caught.value.problem == found()


def test_the_table_is_complete() -> None:
    """Every code has a title, a summary, a severity, and classes to be raised and warned as."""
    assert len(CODES) == 69
    for code, row in CODES.items():
        assert row.code == code
        assert row.severity in ("raise", "warn", "note")
        assert len(row.title) < 60
        assert row.summary.endswith(".")
        assert issubclass(row.error, gt.GradTapeError)
        assert issubclass(row.warning, gt.GradientWarning | JitWarning)


def test_error_is_of_the_codes_class() -> None:
    """`error` makes the exception of the code, or of the class that is asked for."""
    assert type(error(found("GT110"))) is gt.ShapeError
    assert type(error(found("GT314"), gt.DtypeError)) is gt.DtypeError


def test_healthy_runs_load_nothing_of_this() -> None:
    """A program without problems does not load what renders, reads source, or explains."""
    import subprocess
    import sys

    code = (
        "import numpy as np, gradtape as gt, sys\n"
        "x = gt.Variable(np.ones(3))\n"
        "with gt.GradientTape() as tape:\n    y = (x * x).sum()\n"
        "tape.gradient(y, x)\n"
        "print([m for m in sys.modules if m.startswith('gradtape.explain.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=gt.__path__[0] + "/.."
    )
    facades = {"gradtape.explain.entry_points", "gradtape.explain.messages"}
    assert set(ast.literal_eval(done.stdout)) == facades


def test_an_error_in_any_text_is_a_problem() -> None:
    """Errors that were given a text only carry a problem with their class's code, place, fixes and notes."""
    from gradtape.core.location import Location

    made = gt.TapeError(
        f"something is wrong.\n{Location.here().show()}\n  because of that\n  fix: do this\n       and that"
    )
    problem = made.problem
    assert (problem.code, problem.title) == ("GT315", "something is wrong")
    assert problem.main is not None
    assert problem.main.text == "Location.here()"
    assert problem.fixes == ("do this and that",)
    assert problem.details["notes"] == ["because of that"]
    assert str(made).startswith("[GT315] something is wrong\n  test_policy.py:")


def test_numpy_classes_still_catch() -> None:
    """Errors are NumPy's classes, too, and AxisError keeps its text."""
    with pytest.raises(np.exceptions.AxisError, match="GT117"):
        gt.tensor([1.0]).sum(axis=3)
    with pytest.raises(IndexError, match="GT115"):
        gt.tensor([1.0])[3]
