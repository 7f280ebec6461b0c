"""Uncaught errors in plain Python and in IPython: frames of libraries are left out of ours, and of no others."""

from __future__ import annotations

import subprocess
import sys
import traceback
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.explain.emit.excepthook import frames_of_user_only, traceback_for_ipython, without_libraries


def our_error() -> gt.ShapeError:
    """An error of gradtape's, raised within a function that a transform calls."""

    def add(x: Any) -> Any:
        return (x + gt.tensor(np.ones(4))).sum()

    with pytest.raises(gt.ShapeError) as caught:
        gt.grad(add)(np.ones(3))
    error: gt.ShapeError = caught.value
    return error


def files_of(trace: TracebackType | None) -> list[str]:
    """The names of the files of a traceback."""
    return [Path(frame.filename).name for frame in traceback.extract_tb(trace)]


def test_frames_of_the_user_are_kept() -> None:
    """The traceback that is shown has the user's frames in order; the error itself has all of them again afterwards."""
    error = our_error()
    full = error.__traceback__
    assert len(files_of(full)) > 3
    with frames_of_user_only(error, full) as shown:
        assert set(files_of(shown)) == {"test_excepthook.py"}
        assert [frame.name for frame in traceback.extract_tb(shown)] == ["our_error", "add"]
        assert error.__traceback__ is shown
    assert error.__traceback__ is full


def test_errors_of_others_are_left_alone() -> None:
    """An error that is not gradtape's keeps its traceback."""
    with pytest.raises(np.linalg.LinAlgError) as caught:
        np.linalg.inv(np.zeros((2, 2)))
    trace = caught.value.__traceback__
    with frames_of_user_only(caught.value, trace) as shown:
        assert shown is trace


def test_all_frames_can_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """With GRADTAPE_TRACEBACK=full nothing is left out."""
    error = our_error()
    monkeypatch.setenv("GRADTAPE_TRACEBACK", "full")
    with frames_of_user_only(error, error.__traceback__) as shown:
        assert shown is error.__traceback__


def test_a_traceback_of_libraries_only_is_shown_whole() -> None:
    """Where there is no frame of the user's, all are shown."""
    error = our_error()
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    assert without_libraries(last) is last
    assert without_libraries(None) is None


SCRIPT = """
import sys
import numpy as np, gradtape as gt
def model(x):
    return x + gt.tensor(np.ones(4))
{before}
gt.grad(lambda x: model(x).sum())(np.ones(3))
"""


@pytest.mark.parametrize("before", ["", "sys.excepthook = lambda *given: sys.__excepthook__(*given)"])
def test_plain_python_shows_frames_of_the_user(tmp_path: Path, before: str) -> None:
    """A script that ends with an error of ours shows its own lines, also by a hook of its own that was set before."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(before=before))
    shown = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False).stderr
    lines = [line for line in shown.splitlines() if line.startswith("  File ")]
    assert len(lines) == 3
    assert all("script.py" in line for line in lines)
    assert "[GT110]" in shown


def test_ipython_shows_frames_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """IPython asks the error itself for its traceback, and gets one of its own kind with fewer frames."""
    seen: list[Any] = []

    def structured_traceback(kind: type, error: BaseException, trace: TracebackType | None) -> list[str]:
        seen.append(files_of(trace))
        return ["shown"]

    shell = SimpleNamespace(InteractiveTB=SimpleNamespace(structured_traceback=structured_traceback))
    error = our_error()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert error._render_traceback_() == ["shown"]
    assert seen == [["test_excepthook.py"] * 2]
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert "ShapeError" in "".join(traceback_for_ipython(error))
