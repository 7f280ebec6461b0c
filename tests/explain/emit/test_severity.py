"""`configure`: the severity of a code, for the process and for a block of one thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

import gradtape as gt
from gradtape.explain import CODES, configure
from gradtape.explain.emit import severity as severity_module
from gradtape.explain.emit.severity import severity


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """No severity of one test reaches another."""
    before = severity_module._of_process
    yield
    severity_module._of_process = before


class TestConfigure:
    """Choosing severities."""

    def test_block(self) -> None:
        """In a `with` block it holds for the block."""
        with configure(GT101="off", GT5="raise"):
            assert (severity("GT101"), severity("GT501"), severity("GT508")) == ("off", "raise", "raise")
            with configure(GT101="note"):
                assert severity("GT101") == "note"
            assert severity("GT101") == "off"
        assert (severity("GT101"), severity("GT501"), severity("GT508")) == ("warn", "warn", "note")

    def test_call(self) -> None:
        """Called alone, it holds for the process, in every thread."""
        configure(GT101="off")
        seen: list[str] = []
        thread = threading.Thread(target=lambda: seen.append(severity("GT101")))
        thread.start()
        thread.join()
        assert seen == ["off"]

    def test_block_is_of_its_thread(self) -> None:
        """A block in one thread does not change another."""
        seen: list[str] = []
        with configure(GT101="off"):
            thread = threading.Thread(target=lambda: seen.append(severity("GT101")))
            thread.start()
            thread.join()
        assert seen == ["warn"]

    def test_after_an_error(self) -> None:
        """An exception ends the block like any other."""
        with pytest.raises(ZeroDivisionError), configure(GT101="off"):
            raise ZeroDivisionError
        assert severity("GT101") == "warn"

    @pytest.mark.parametrize(
        ("severities", "words"),
        [
            ({"GT101": "loud"}, "'raise', 'warn', 'note', 'off'"),
            ({"GT999": "off"}, "no code"),
            ({"GT110": "off"}, "always"),
        ],
    )
    def test_refused(self, severities: dict[str, str], words: str) -> None:
        """Unknown severities and codes are refused, and so is silencing what nothing can go on after."""
        with pytest.raises(ValueError, match=words):
            configure(**severities)

    def test_families_leave_errors_alone(self) -> None:
        """A family is all of its codes that can be chosen."""
        with configure(GT="off"):
            assert {code for code in CODES if severity(code) == "off"} == {
                c for c, row in CODES.items() if not row.is_fixed
            }


def test_the_public_name() -> None:
    """`gt.explain.voice` is the severity of a code."""
    assert gt.explain.voice("GT101") == severity("GT101") == "warn"
