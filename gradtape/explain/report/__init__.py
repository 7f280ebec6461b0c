"""The report: a gradient as one page of HTML, with verdicts, the source, the graph, a card for each node, the sources.

tape.report(path)           the page of a tape
show(tape)                  the same in a notebook
Collector                   collects from a whole script; `write(path, collector)` makes the page of it

>>> import gradtape as gt
>>> x = gt.Variable([1.0, 2.0])
>>> with gt.GradientTape(persistent=True) as tape:
...     loss = (x * x).sum()
>>> _ = tape.gradient(loss, x)
>>> print(gt.explain.show(tape).to_text().splitlines()[1])
  x  (2,)  norm 4.47
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gradtape.explain.emit import policy
from gradtape.explain.model.problem import Problem
from gradtape.explain.report.build import of_tape
from gradtape.explain.report.page import Report
from gradtape.explain.report.script import Collector

if TYPE_CHECKING:
    from gradtape.core.tape import GradientTape

__all__ = ["Collector", "Report", "of_tape", "show", "write"]


def show(tape: GradientTape | Collector, target: Any = None, sources: Any = None) -> Report:
    """The report of a tape, or of everything a collector has; a notebook shows it where it is the value of a cell.

    >>> import gradtape as gt
    >>> x = gt.Variable(3.0)
    >>> with gt.GradientTape() as tape:
    ...     y = x * x
    >>> report = gt.explain.show(tape, y, x)
    >>> report.gradients[0].sources[0].gradient.norm
    6.0
    """
    return tape.report() if isinstance(tape, Collector) else of_tape(tape, target, sources)


def write(
    path: str | os.PathLike[str],
    what: GradientTape | Collector | Report | None = None,
    *,
    title: str | None = None,
    problems: Iterable[Problem] = (),
) -> Path:
    """Write the page of a tape, of everything a collector has, or of some problems alone; returns the path.

    >>> import gradtape as gt, os, tempfile
    >>> x = gt.Variable([1.0, 2.0])
    >>> with gt.explain.report.Collector() as collector:
    ...     with gt.GradientTape() as tape:
    ...         loss = (x * x).sum()
    ...     gradient = tape.gradient(loss, x)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = gt.explain.report.write(os.path.join(folder, "report.html"), collector, title="a test")
    ...     path.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    if isinstance(what, Report):
        report = what
    elif what is None:
        report = Report(title or "Problems")
    else:
        report = show(what)
    known = {(problem.place, problem.title) for problem in report.problems}
    added = [problem for problem in problems if (problem.place, problem.title) not in known]
    return Report(title or report.title, report.gradients, [*added, *report.problems], report.timelines).save(path)


class _Report(ModuleType):
    """This package can be called: `gt.explain.report(problem)` reports a problem."""

    def __call__(self, problem: Problem) -> None:
        policy.report(problem)


sys.modules[__name__].__class__ = _Report
