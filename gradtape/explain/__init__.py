"""Explanations of mistakes: structured problems, how they are reported, and the causes of a missing gradient.

Problem, Span, Operand, Fix      one problem, rendered as text, HTML and JSON
CODES                            the table of codes: title, default severity, error and warning class
configure, voice                 the severity of a code: "raise", "warn", "note" or "off"
report, error, is_due            how detectors report a problem
listening, expect, notes         how programs and tests receive problems
surveying                        checks healthy gradients as well, for what is worth a note
why                              why a gradient is what it is, of gradtape's tensors and of a watched library's
Why                              the result of `tape.why` and `t.why`
show, report.write               a gradient as a page, in a notebook and as a file
"""

import importlib
from typing import TYPE_CHECKING
from typing import Any as _Any

if TYPE_CHECKING:
    from gradtape.explain import report
    from gradtape.explain.emit.listeners import expect, listening
    from gradtape.explain.emit.policy import error, is_due, notes
    from gradtape.explain.emit.severity import configure
    from gradtape.explain.emit.severity import severity as voice
    from gradtape.explain.kernel.survey import surveying
    from gradtape.explain.model.codes import CODES, Code
    from gradtape.explain.model.problem import Fix, Operand, Problem, Span
    from gradtape.explain.model.why import Why
    from gradtape.explain.queries.of_libraries import why
    from gradtape.explain.report import show

_HOMES = {
    "model.codes": ("CODES", "Code"),
    "model.problem": ("Fix", "Operand", "Problem", "Span"),
    "emit.listeners": ("expect", "listening"),
    "emit.policy": ("error", "is_due", "notes"),
    "emit.severity": ("configure",),
    "report": ("show",),
    "kernel.survey": ("surveying",),
    "model.why": ("Why",),
    "queries.of_libraries": ("why",),
}


def __getattr__(name: str) -> _Any:
    """Import a public name when it is first used: a program without problems never loads these modules."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"gradtape.explain.{home}"), name)
    if name == "voice":  # the public name of `severity`
        return importlib.import_module("gradtape.explain.emit.severity").severity
    if name == "report":
        return importlib.import_module("gradtape.explain.report")
    raise AttributeError(f"gradtape.explain has no name {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


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
    "why",
]
