"""Explains uncaught errors of NumPy and Python, in scripts (`sys.excepthook`) and in notebook cells (IPython).

gradtape's own errors are shown with the user's frames only, as their message tells the rest. Tracebacks of all other
errors are left alone, and so is what debuggers see: the frames are taken out while the error is shown. The environment
variable GRADTAPE_TRACEBACK=full shows them all. The modules that explain are not loaded before there is such an error.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from gradtape.core.location import is_library
from gradtape.errors import GradTapeError

_replaced_hooks: dict[Any, Any] = {}  # our hook -> the hook that it calls after explaining


def hook_of_program() -> Any:
    """The hook that shows uncaught errors: not ours, which explains them and then calls that one."""
    return _replaced_hooks.get(sys.excepthook, sys.excepthook)


def watch() -> None:
    """Install a hook that explains errors and shows ours with the user's frames only, by the hook before it."""
    if sys.excepthook not in _replaced_hooks:
        _install_hook(sys.excepthook)
    notebook = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if notebook is not None:
        notebook.events.register("post_run_cell", _after_cell)


def _install_hook(before: Any) -> None:
    """Install our hook, which calls the one `before`."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Any:
        explain(error)
        with frames_of_user_only(error, trace) as shown:
            return before(kind, error, shown)

    sys.excepthook = hook
    _replaced_hooks[hook] = before


def explain(error: BaseException | None) -> Any:
    """Add a note and a `.problem` to an error of NumPy or Python that has an explanation; the problem, or None."""
    if isinstance(error, TypeError) and "NoneType" in str(error):
        from gradtape.explain.detectors import none_used

        return none_used.explain_none_used(error)
    if not isinstance(error, ValueError) or "read-only" not in str(error):
        return None
    from gradtape.explain.kernel import locked_write

    return locked_write.explain_refused_write(error)


def shows_all_frames() -> bool:
    """Whether the user wants to see the frames of libraries too."""
    return os.environ.get("GRADTAPE_TRACEBACK", "").lower() == "full"


@contextmanager
def frames_of_user_only(error: BaseException, trace: TracebackType | None) -> Iterator[TracebackType | None]:
    """Inside, an error of ours has a traceback without the frames of libraries, which is also given; it is put back."""
    if not isinstance(error, GradTapeError) or shows_all_frames():
        yield trace
        return
    kept = error.__traceback__
    error.__traceback__ = shown = without_libraries(trace)
    try:
        yield shown
    finally:
        error.__traceback__ = kept


def without_libraries(trace: TracebackType | None) -> TracebackType | None:
    """A copy of a traceback without the frames of libraries; the traceback itself if there are no others."""
    entries = []
    entry = trace
    while entry is not None:
        if not is_library(entry.tb_frame.f_code.co_filename):
            entries.append(entry)
        entry = entry.tb_next
    shown: TracebackType | None = None
    for entry in reversed(entries):
        shown = TracebackType(shown, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return shown or trace


def traceback_for_ipython(error: GradTapeError) -> list[str]:
    """What IPython shows of an error of ours: its own kind of traceback, with the user's frames only."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    with frames_of_user_only(error, error.__traceback__) as shown:
        if shell is None:
            return traceback.format_exception(type(error), error, shown)
        lines: list[str] = shell.InteractiveTB.structured_traceback(type(error), error, shown)
        return lines


def _after_cell(result: Any) -> None:
    """Show the explanation below the traceback of a cell."""
    found = explain(getattr(result, "error_in_exec", None))
    if found is not None:
        importlib.import_module("IPython.display").display(found)
