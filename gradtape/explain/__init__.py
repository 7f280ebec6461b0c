"""How gradtape explains itself: structured findings, who hears of them, and the causes behind a missing gradient.

Problem, Span, Operand, Fix      one finding, rendered as text, HTML and JSON
CODES                            what each code stands for
configure, voice                 whether a code raises, warns, is noted, or is off
report, error, is_due            how detectors speak
listening, expect, notes         who hears of it
surveying                        a look at healthy gradients as well, for what is worth a note
Why                              what `tape.why` and `t.why` answer
show, report.write               a gradient as a page, in a notebook and as a file
"""

import importlib
from typing import TYPE_CHECKING
from typing import Any as _Any

if TYPE_CHECKING:
    from gradtape.explain import report
    from gradtape.explain.detectors.survey import surveying
    from gradtape.explain.emit.policy import configure, error, expect, is_due, listening, notes, voice
    from gradtape.explain.model.codes import CODES, Code
    from gradtape.explain.model.problem import Fix, Operand, Problem, Span
    from gradtape.explain.queries.why_result import Why
    from gradtape.explain.report import show

_HOMES = {
    "model.codes": ("CODES", "Code"),
    "model.problem": ("Fix", "Operand", "Problem", "Span"),
    "emit.policy": ("configure", "error", "expect", "is_due", "listening", "notes", "voice"),
    "report": ("show",),
    "detectors.survey": ("surveying",),
    "queries.why_result": ("Why",),
}


def __getattr__(name: str) -> _Any:
    """The names above, imported when first used: a program without problems never loads them."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"gradtape.explain.{home}"), name)
    if name == "report":
        return importlib.import_module("gradtape.explain.report")
    raise AttributeError(f"gradtape.explain has no name {name!r}")


__all__ = [
    "CODES",
    "Code",
    "Fix",
    "Operand",
    "Problem",
    "Span",
    "Why",
    "configure",
    "error",
    "expect",
    "is_due",
    "listening",
    "notes",
    "report",
    "show",
    "surveying",
    "voice",
]
