"""Errors of NumPy's and Python's that we can explain, where nobody catches them: in a script, in a notebook's cells.

Nothing of what explains is loaded before there is such an error.
"""

from __future__ import annotations

import importlib
import sys
from types import TracebackType
from typing import Any

_set_by_us: dict[Any, Any] = {}  # our hook, with the one that it hands on to


def hook_of_program() -> Any:
    """The hook that shows uncaught errors, leaving out ours, which only explains them before."""
    return _set_by_us.get(sys.excepthook, sys.excepthook)


def watch() -> None:
    """Explain refused writes, and gradients that are None, before whoever showed uncaught errors until now does so."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Any:
        explain(error)
        return before(kind, error, trace)

    sys.excepthook = hook
    _set_by_us[hook] = before
    notebook = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if notebook is not None:
        notebook.events.register("post_run_cell", _after_cell)


def explain(error: BaseException | None) -> Any:
    """Put a note and a `.problem` on an error of NumPy's or Python's that we can explain; what was found, or None."""
    if isinstance(error, TypeError) and "NoneType" in str(error):
        from gradtape.explain.detectors import none_used

        return none_used.explain(error)
    if not isinstance(error, ValueError) or "read-only" not in str(error):
        return None
    from gradtape.explain.detectors import locked_write

    return locked_write.explain(error)


def _after_cell(result: Any) -> None:
    """Show below the traceback of a cell what it is about."""
    found = explain(getattr(result, "error_in_exec", None))
    if found is not None:
        importlib.import_module("IPython.display").display(found)
