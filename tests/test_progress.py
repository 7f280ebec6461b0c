"""Progress bars: where they are shown, and what a plain one writes."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest

from gradtape import progress
from gradtape.progress import PlainBar, is_seen, open_bar


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def use_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make stderr a terminal, without tqdm, and hide that this is a test; the terminal."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    monkeypatch.delenv("GRADTAPE_PROGRESS", raising=False)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    return stream


def test_bars_are_silent_in_tests_and_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A captured stream and a test get no bar unless it is asked for, whatever the stream says it is."""
    assert open_bar("fit", None, unit="batches") is None
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert not is_seen()
    assert open_bar("fit", None, unit="batches") is None


def test_terminals_and_notebooks_get_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal and a notebook get one; a keyword and an environment variable turn it off."""
    use_terminal(monkeypatch)
    assert isinstance(open_bar("fit", None, unit="batches"), PlainBar)
    assert open_bar("fit", False, unit="batches") is None
    monkeypatch.setenv("GRADTAPE_PROGRESS", "0")
    assert open_bar("fit", None, unit="batches") is None
    monkeypatch.delenv("GRADTAPE_PROGRESS")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert not is_seen()
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert is_seen()


def test_what_is_done_within_a_second_shows_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar that nothing was said about is written after a second, and erased at the end."""
    terminal = use_terminal(monkeypatch)
    now = 100.0
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now))
    bar = open_bar("fit", None, unit="batches", total=10)
    assert bar is not None
    bar.update()
    assert terminal.getvalue() == ""
    now += 1.5
    bar.set_postfix(loss="0.5")
    bar.update()
    assert "fit: 20 % [=====" in terminal.getvalue()
    assert terminal.getvalue().endswith("2 of 10 batches, loss 0.5")
    bar.close()
    assert terminal.getvalue().endswith(" \r")


def test_a_bar_without_an_end_counts() -> None:
    """Where it is not known how many steps there will be, the bar counts them."""
    stream = io.StringIO()
    bar = PlainBar(stream, "minimising", None, 0, "iterations", delay=0.0)
    bar.update()
    assert stream.getvalue().strip() == "minimising: 1 iterations"
