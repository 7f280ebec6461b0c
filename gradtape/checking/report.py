"""What gradcheck found: the worst comparison, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradtape.errors import GradTapeError


class GradcheckError(GradTapeError, AssertionError):
    """A derivative that differs from the central difference; `.report` has the details.

    >>> import gradtape as gt
    >>> try:
    ...     gt.gradcheck(lambda x: gt.stop_gradient(x) * x, 3.0)
    ... except gt.GradcheckError as error:
    ...     print(error.report.worst.argument, error.report.worst.analytic)
    argument 0 3.0
    """

    def __init__(self, report: GradcheckReport) -> None:
        super().__init__(str(report))
        self.report = report


@dataclass(frozen=True)
class Comparison:
    """One derivative, by gradtape's rules and by a central difference.

    `output` and `argument` name the elements; `other_mode` has the name and the number of the mode that was less off.
    """

    mode: str
    output: str
    argument: str
    analytic: float
    numeric: float
    tolerance: float
    step: float
    other_mode: tuple[str, float] | None = None

    @property
    def difference(self) -> float:
        """How far apart the two numbers are."""
        return abs(self.analytic - self.numeric)

    @property
    def excess(self) -> float:
        """The difference in units of the tolerance; infinite where a number is not finite."""
        ratio = self.difference / self.tolerance if self.tolerance else np.inf * bool(self.difference)
        return np.inf if np.isnan(ratio) else ratio


@dataclass(frozen=True)
class GradcheckReport:
    """What `gradcheck` found: true when all derivatives agree, and readable as text.

    >>> import numpy as np, gradtape as gt
    >>> report = gt.gradcheck(np.sin, np.array([0.5, 1.0]))
    >>> bool(report), report.compared, report.modes
    (True, 8, ('reverse', 'forward'))
    """

    function: str
    where: str
    modes: tuple[str, ...] = ()
    """Which ways of differentiating were compared with differences."""
    compared: int = 0
    """How many derivatives were compared."""
    failed: int = 0
    """How many of them differ by more than the tolerance."""
    worst: Comparison | None = None
    """The one that differs most, in units of its tolerance; None where there was nothing to compare."""
    kink: str = ""
    """Where the step straddles a kink or a jump, and how steep the two sides are; empty if it does not."""
    rules: str = ""
    """Which of the user's own rules are wrong by themselves, and where they are; empty if none is."""
    problem: str = ""
    """Why nothing could be compared: a value that is not finite, or a function that is not deterministic."""

    @property
    def ok(self) -> bool:
        """Whether all derivatives agree."""
        return not self.failed and not self.problem

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.problem:
            return f"gradcheck of {self.function} failed.\n{self.where}\n{self.problem}"
        if self.worst is None:
            return f"gradcheck of {self.function} passed: there is nothing to compare"
        if self.ok:
            head = f"gradcheck of {self.function} passed: {self.compared} derivatives compared; the farthest apart:"
        else:
            head = (
                f"gradcheck of {self.function} failed; wrong derivatives: {self.failed} of {self.compared}.\n"
                f"{self.where}\n  the worst:"
            )
        rows = [
            head,
            f"    d {self.worst.output} / d {self.worst.argument}, {self.worst.mode} mode",
            f"      analytic    {self.worst.analytic:.10g}",
            f"      numeric     {self.worst.numeric:.10g}   (central difference, step {self.worst.step:.2g})",
            f"      difference  {self.worst.difference:.3g}   (tolerance {self.worst.tolerance:.3g})",
        ]
        if self.worst.other_mode is not None and not self.ok:
            rows.append("      {:<10}  {:.10g}".format(*self.worst.other_mode))
        if self.kink:
            rows.append(f"  {self.kink}")
        if self.rules:
            rows.append(self.rules)
        elif not self.ok:
            rows.append(
                "  fix: check at a point farther away, or with a smaller eps"
                if self.kink
                else "  fix: the rule of an operation on this path; gradcheck of parts of the function tells which"
            )
        return "\n".join(rows)
