"""Explains uncaught errors of NumPy and Python, in scripts (`sys.excepthook`) and in notebook cells (IPython).

The modules that explain are not loaded before there is such an error.
"""

from __future__ import annotations

import importlib
import sys
from types import TracebackType
from typing import Any

_replaced_hooks: dict[Any, Any] = {}  # our hook -> the hook that it calls after explaining


def hook_of_program() -> Any:
    """The hook that shows uncaught errors: not ours, which explains them and then calls that one."""
    return _replaced_hooks.get(sys.excepthook, sys.excepthook)


def watch() -> None:
    """Install a hook that explains refused writes and gradients that are None, then calls the hook before it."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Any:
        explain(error)
        return before(kind, error, trace)

    sys.excepthook = hook
    _replaced_hooks[hook] = before
    notebook = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if notebook is not None:
        notebook.events.register("post_run_cell", _after_cell)


def explain(error: BaseException | None) -> Any:
    """Add a note and a `.problem` to an error of NumPy or Python that has an explanation; the problem, or None."""
    if isinstance(error, TypeError) and "NoneType" in str(error):
        from gradtape.explain.detectors import none_used

        return none_used.explain_none_used(error)
    if not isinstance(error, ValueError) or "read-only" not in str(error):
        return None
    from gradtape.explain.kernel import locked_write

    return locked_write.explain_refused_write(error)


def _after_cell(result: Any) -> None:
    """Show the explanation below the traceback of a cell."""
    found = explain(getattr(result, "error_in_exec", None))
    if found is not None:
        importlib.import_module("IPython.display").display(found)
