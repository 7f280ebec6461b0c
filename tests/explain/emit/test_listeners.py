"""Listeners and `expect`: each problem is received once per place, whatever its severity."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

import gradtape as gt
from gradtape.explain import Problem, Span, configure, expect, is_due, listening, notes, report


@pytest.fixture(autouse=True)
def no_notes_left() -> Iterator[None]:
    """No note of one test reaches another."""
    yield
    notes(clear=True)


def found(code: str = "GT101", line: int = 1) -> Problem:
    return Problem(code, "something", [Span("f.py", line, 0, 1, source="x")])


class TestListening:
    """Listeners receive problems."""

    def test_receives_every_severity(self) -> None:
        """Errors, warnings and notes are received, each place once."""
        received: list[str] = []
        with listening(lambda problem: received.append(problem.code)), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(2):
                report(found())
                report(found("GT503"))
                with pytest.raises(gt.ShapeError):
                    gt.tensor([1.0, 2.0]) + gt.tensor([1.0, 2.0, 3.0])
        assert received == ["GT101", "GT503", "GT110"]

    def test_blocks_may_be_nested(self) -> None:
        """Outer and inner listeners both receive problems."""
        outer: list[Problem] = []
        inner: list[Problem] = []
        with listening(outer.append):
            with listening(inner.append):
                report(found("GT503"))
            report(found("GT504"))
        assert [len(outer), len(inner)] == [2, 1]

    def test_is_due(self) -> None:
        """A report is due if it would reach a listener, the notes or the warnings."""
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

    def test_listeners_outside_receive_nothing(self) -> None:
        """What was expected does not reach listeners outside the block."""
        received: list[Problem] = []
        with listening(received.append), gt.expect("GT101"):
            report(found())
        assert received == []
