"""Voices: each code raises, warns, is noted or is off, and everybody who listens hears of it once per place."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain import CODES, Problem, Span, configure, error, expect, is_due, listening, notes, report, voice
from gradtape.explain.emit import policy as voices_module


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """No voice or note of one test reaches another."""
    before = voices_module._process
    yield
    voices_module._process = before
    notes(clear=True)


def found(code: str = "GT101", line: int = 1) -> Problem:
    return Problem(code, "something", [Span("f.py", line, 0, 1, source="x")])


class TestReport:
    """The four voices."""

    def test_warn(self) -> None:
        """A warning carries the problem, and is at the user's file and line."""
        with pytest.warns(gt.BroadcastWarning) as caught:
            report(found(line=7))
        assert caught[0].message.problem == found(line=7)  # type: ignore[union-attr]
        assert (caught[0].filename, caught[0].lineno) == ("f.py", 7)
        assert str(caught[0].message) == found(line=7).to_text()

    def test_warns_once_per_place(self) -> None:
        """The same code at the same place is heard once, elsewhere again."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for line in (1, 1, 2, 1):
                report(found(line=line))
        assert [warning.lineno for warning in caught] == [1, 2]

    def test_a_test_that_records_hears_it_again(self) -> None:
        """What was said before the warning filters changed is said again."""
        for _ in range(2):
            with pytest.warns(gt.BroadcastWarning):
                report(found())

    def test_raise(self) -> None:
        """With the voice "raise" the error is of the code's class."""
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
        heard: list[Problem] = []
        with configure(GT1="off"), listening(heard.append):
            report(found())
        assert heard == []

    def test_notes_stay_bounded(self) -> None:
        """A long run does not fill the memory with notes."""
        for line in range(voices_module.NOTES_AT_MOST + 50):
            report(found("GT503", line))
        assert len(notes()) == voices_module.NOTES_AT_MOST

    def test_warnings_as_errors_raise_the_warning(self) -> None:
        """Under `-W error` the warning is raised with its problem."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(gt.BroadcastWarning) as caught:
                report(found())
        assert caught.value.problem == found()


class TestConfigure:
    """Choosing voices."""

    def test_block(self) -> None:
        """In a `with` block it holds for the block."""
        with configure(GT101="off", GT5="raise"):
            assert (voice("GT101"), voice("GT501"), voice("GT508")) == ("off", "raise", "raise")
            with configure(GT101="note"):
                assert voice("GT101") == "note"
            assert voice("GT101") == "off"
        assert (voice("GT101"), voice("GT501"), voice("GT508")) == ("warn", "warn", "note")

    def test_call(self) -> None:
        """Called alone, it holds for the process, in every thread."""
        configure(GT101="off")
        seen: list[str] = []
        thread = threading.Thread(target=lambda: seen.append(voice("GT101")))
        thread.start()
        thread.join()
        assert seen == ["off"]

    def test_block_is_of_its_thread(self) -> None:
        """A block in one thread is nothing to another."""
        seen: list[str] = []
        with configure(GT101="off"):
            thread = threading.Thread(target=lambda: seen.append(voice("GT101")))
            thread.start()
            thread.join()
        assert seen == ["warn"]

    def test_after_an_error(self) -> None:
        """An exception ends the block like any other."""
        with pytest.raises(ZeroDivisionError), configure(GT101="off"):
            raise ZeroDivisionError
        assert voice("GT101") == "warn"

    @pytest.mark.parametrize(
        ("voices", "words"),
        [
            ({"GT101": "loud"}, "'raise', 'warn', 'note', 'off'"),
            ({"GT999": "off"}, "no code"),
            ({"GT110": "off"}, "always"),
        ],
    )
    def test_refused(self, voices: dict[str, str], words: str) -> None:
        """Unknown voices and codes are refused, and so is silencing what nothing can go on after."""
        with pytest.raises(ValueError, match=words):
            configure(**voices)

    def test_families_leave_errors_alone(self) -> None:
        """A family is all of its codes that can be chosen."""
        with configure(GT="off"):
            assert {code for code in CODES if voice(code) == "off"} == {
                c for c, row in CODES.items() if not row.is_fixed
            }


class TestListening:
    """Those who listen."""

    def test_hears_every_voice(self) -> None:
        """Errors, warnings and notes are heard, each place once."""
        heard: list[str] = []
        with listening(lambda problem: heard.append(problem.code)), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(2):
                report(found())
                report(found("GT503"))
                with pytest.raises(gt.ShapeError):
                    gt.tensor([1.0, 2.0]) + gt.tensor([1.0, 2.0, 3.0])
        assert heard == ["GT101", "GT503", "GT110"]

    def test_blocks_may_be_nested(self) -> None:
        """Outer and inner listeners both hear."""
        outer: list[Problem] = []
        inner: list[Problem] = []
        with listening(outer.append):
            with listening(inner.append):
                report(found("GT503"))
            report(found("GT504"))
        assert [len(outer), len(inner)] == [2, 1]

    def test_is_due(self) -> None:
        """Asking first tells whether anybody would hear."""
        assert is_due("GT503", "f.py", 1)
        report(found("GT503"))
        assert not is_due("GT503", "f.py", 1)
        with listening(lambda problem: None):
            assert is_due("GT503", "f.py", 1)
            report(found("GT503"))
            assert not is_due("GT503", "f.py", 1)
        with configure(GT101="off"):
            assert not is_due("GT101", "f.py", 1)
            with expect("GT101"):
                assert is_due("GT101", "f.py", 1)
                report(found())


class TestExpect:
    """`gt.expect` in tests."""

    def test_swallows_what_was_expected(self) -> None:
        """A warning is not given, an error does not leave the block, and both are kept."""
        with gt.expect("GT101") as expected:
            report(found())
        assert expected.problems == [found()]
        with gt.expect("GT110") as expected:
            gt.tensor([1.0, 2.0]) + gt.tensor([1.0, 2.0, 3.0])
        assert [problem.code for problem in expected.problems] == ["GT110"]

    def test_fails_without(self) -> None:
        """A block that reports nothing of the kind fails, naming the code."""
        with (
            pytest.raises(AssertionError, match=r"GT101 \(accidental outer broadcast\) was not reported"),
            gt.expect("GT101"),
        ):
            report(found("GT503"))

    def test_other_errors_pass(self) -> None:
        """An error of another kind is not swallowed."""
        with pytest.raises(gt.ShapeError), gt.expect("GT101"):
            gt.tensor([1.0, 2.0]) + gt.tensor([1.0, 2.0, 3.0])
        with pytest.raises(ZeroDivisionError), gt.expect("GT101"):
            raise ZeroDivisionError

    def test_causes_count(self) -> None:
        """GT201 for the cause GT208 is expected by either name."""
        x = gt.Variable(2.0)
        for code in ("GT201", "GT208"):
            with gt.GradientTape() as tape:
                y = gt.stop_gradient(x) * 2.0
            with gt.expect(code):
                tape.gradient(y, x)

    def test_unknown_code(self) -> None:
        """A typing mistake is found at once."""
        with pytest.raises(ValueError, match="no code"):
            gt.expect("GT99")

    def test_listeners_outside_do_not_hear(self) -> None:
        """What was expected is kept quiet for those outside, too."""
        heard: list[Problem] = []
        with listening(heard.append), gt.expect("GT101"):
            report(found())
        assert heard == []


def test_the_table_is_complete() -> None:
    """Every code has a title, a summary, a voice, and classes to be raised and warned as."""
    assert len(CODES) == 59
    for code, row in CODES.items():
        assert row.code == code
        assert row.voice in ("raise", "warn", "note")
        assert len(row.title) < 60
        assert row.summary.endswith(".")
        assert issubclass(row.error, gt.GradTapeError)
        assert issubclass(row.warning, gt.GradientWarning)


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
    assert done.stdout.strip() == "['gradtape.explain.messages']"


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
