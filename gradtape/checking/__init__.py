"""`gradcheck`: derivatives against central differences, in both modes, with a report that names the worst element.

A function of nested arguments is looked at as one between real vectors: every floating point number that goes in is a
coordinate (a complex number is two), and so is every one that comes out. Up to `FULL` pairs of coordinates the whole
Jacobian is compared, element by element. Beyond, `PROJECTIONS` random directions are; where one of them fails, the
element to blame is found by halving the direction again and again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gradtape.checking.comparison import Check
from gradtape.checking.report import Comparison, GradcheckError, GradcheckReport
from gradtape.checking.rules import blamed
from gradtape.checking.vectors import Function, VectorFunction
from gradtape.errors import OperandError
from gradtape.extend import Location

__all__ = ["Comparison", "GradcheckError", "GradcheckReport", "gradcheck"]


def gradcheck(
    function: Function,
    *args: Any,
    order: int = 1,
    eps: float | None = None,
    rtol: float = 1e-5,
    atol: float = 1e-7,
    raise_exception: bool = True,
) -> GradcheckReport:
    """Compare the derivatives of `function` at `args`, in reverse and in forward mode, with central differences.

    Every floating point number in the (nested) arguments is varied, and every one in the result is watched; other
    arguments are handed on as they are. Numbers are float64 or complex128: in less precision a difference shows
    nothing. Up to 10 000 derivatives all are compared, beyond that five random projections. With `order=2` the
    derivatives of the derivatives are compared too, each mode over each. Forward mode is left out where an operation
    has no forward rule; `.modes` of the report tells.

    `eps` is the step (by default 6e-6, times the size of the number where that is more than 1). Two numbers agree when
    they differ by no more than `atol + rtol * |numeric|` and what rounding and the length of the step explain.

    Where a derivative is wrong, each function with a rule of yours (`custom_vjp`, ...) on the way is checked by itself,
    and those that fail are named, with the line of the rule.

    Returns a `GradcheckReport`; raises `GradcheckError`, which has it as `.report`, when something is wrong and
    `raise_exception` is set.

    >>> import numpy as np, gradtape as gt
    >>> bool(gt.gradcheck(lambda x: np.sum(x ** 3), np.array([1.0, 2.0]), order=2))
    True
    >>> report = gt.gradcheck(lambda x: gt.stop_gradient(x) * x, 3.0, raise_exception=False)
    >>> report.worst.analytic, round(report.worst.numeric, 6)
    (3.0, 6.0)
    """
    if order not in (1, 2):
        raise OperandError(f"gradcheck: order={order!r}; accepted are 1 and 2.\n{Location.here().show()}")
    if eps is not None and not eps > 0:
        raise OperandError(f"gradcheck: eps={eps!r}; a step is a positive number.\n{Location.here().show()}")
    report = GradcheckReport(getattr(function, "__name__", "the function"), Location.here().show())
    view = VectorFunction.of(function, args)
    report = Check(view, "", eps, rtol, atol).extend(report)
    if order == 2 and report.ok:  # second derivatives of wrong first ones would only confuse
        report = Check(view.gradient(), " over reverse", eps, rtol, atol).extend(report)
        if report.ok and view.can_push:
            report = Check(view.derivative(), " over forward", eps, rtol, atol).extend(report)
    if report.failed and not report.kink:
        report = replace(report, rules=blamed(view.nodes, lambda part, arrays: _alone(part, arrays, eps, rtol, atol)))
    if not report.ok and raise_exception:
        raise GradcheckError(report)
    return report


def _alone(function: Function, arrays: list[Any], eps: float | None, rtol: float, atol: float) -> GradcheckReport:
    """The report of one function with a rule that `function` calls, without looking into it further."""
    report = GradcheckReport(function.__name__, "")
    return Check(VectorFunction.of(function, tuple(arrays)), "", eps, rtol, atol).extend(report)
