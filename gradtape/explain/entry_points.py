"""The functions of this package that the kernel calls, besides `messages`.

The kernel is below this package, so it imports none of its modules: it calls these functions by the names below, and
the module of each is loaded with the first call. A program without problems pays nothing.
"""

import importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from gradtape.explain.emit.excepthook import watch
    from gradtape.explain.emit.policy import report
    from gradtape.explain.kernel.accumulated_grad import note_parameter_change
    from gradtape.explain.kernel.broadcast import check_broadcast
    from gradtape.explain.kernel.examine import examine
    from gradtape.explain.kernel.per_row import examine_rows
    from gradtape.explain.queries.coverage import coverage
    from gradtape.explain.queries.saved import saved
    from gradtape.explain.queries.why import why, why_no_grad, why_untracked
    from gradtape.explain.report import of_tape

_HOMES = {
    "check_broadcast": "kernel.broadcast",
    "coverage": "queries.coverage",
    "examine": "kernel.examine",
    "examine_rows": "kernel.per_row",
    "note_parameter_change": "kernel.accumulated_grad",
    "of_tape": "report",
    "report": "emit.policy",
    "saved": "queries.saved",
    "watch": "emit.excepthook",
    "why": "queries.why",
    "why_no_grad": "queries.why",
    "why_untracked": "queries.why",
}


def __getattr__(name: str) -> _Any:
    """Import a function from the module that has it."""
    if name not in _HOMES:
        raise AttributeError(f"gradtape.explain.entry_points has no function {name!r}")
    globals()[name] = found = getattr(importlib.import_module(f"gradtape.explain.{_HOMES[name]}"), name)
    return found


__all__ = [
    "check_broadcast",
    "coverage",
    "examine",
    "examine_rows",
    "note_parameter_change",
    "of_tape",
    "report",
    "saved",
    "watch",
    "why",
    "why_no_grad",
    "why_untracked",
]
