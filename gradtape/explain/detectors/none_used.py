"""Detector: a gradient that is None is used as a number. Finds which gradient it is, and why it is None.

The use is often far from the tape. The names in the source lead back: the None was bound to the result of
`tape.gradient`, whose tape and target have names too, so that `tape.why` can be asked.
"""

from __future__ import annotations

import ast
from types import TracebackType
from typing import Any

from gradtape.core.location import is_library
from gradtape.core.pytree import leaves
from gradtape.explain.emit.listeners import notify_of_error
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem, Span
from gradtape.explain.model.why import Why
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import one_line
from gradtape.explain.source.libraries import array_of, is_tensor
from gradtape.explain.source.parameter_names import names_as_at, tensor_of


def explain_none_used(error: BaseException | None) -> Problem | None:
    """Put a note and a `.problem` on Python's `error` about None, if that is a gradient that a tape was asked for."""
    if not isinstance(error, TypeError) or "NoneType" not in str(error) or hasattr(error, "problem"):
        return None
    site = _raising_user_expression(error.__traceback__)
    found = None if site is None else _find_none_operand(site)
    if found is not None:
        vars(error)["problem"] = found
        error.add_note(f"gradtape: {found}")
        notify_of_error(found)
    return found


def cause_of_missing_gradient(variable: Any) -> Problem | None:
    """Why the gradient of `variable`, an argument of the user's present call, is None; None if names do not show it."""
    site = UserExpression.present()
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    parts = [*call.args, *(keyword.value for keyword in call.keywords)] if isinstance(call, ast.Call) else []
    for part in parts:
        if isinstance(part, ast.Call):  # zip(grads, variables)
            parts += part.args
        request = _gradient_call(site, part)
        source = None if request is None else _find_source(site, request, variable)
        cause = None if request is None else _ask_tape(site, request, source)
        if cause is not None:
            return cause
    return None


def _raising_user_expression(trace: TracebackType | None) -> UserExpression | None:
    """The expression that raised, if it is in the user's code."""
    last = None
    while trace is not None:
        last, trace = trace, trace.tb_next
    if last is None or is_library(last.tb_frame.f_code.co_filename):
        return None
    return UserExpression(last.tb_frame, last.tb_lasti)


def _find_none_operand(site: UserExpression) -> Problem | None:
    if not isinstance(site.node, ast.expr | ast.AugAssign):
        return None
    for part in ast.walk(site.node):
        if not isinstance(part, ast.Name | ast.Subscript) or site.value(part) is not None:
            continue
        request = _gradient_call(site, part)
        if request is None:
            continue
        name, asked = one_line(site.source.text(part)), site.source.span(request, "asked here")
        variable = _source_of_gradient(site, request, part)
        cause = None if variable is None else _ask_tape(site, request, variable[1])
        of = "" if variable is None else f" of {variable[0]}"
        reason = "" if cause is None else f": {cause.title.removeprefix('no gradient: ')}"
        spans: list[Span] = [site.span, asked, *(() if cause is None else cause.spans)]
        return problem(
            "GT201",
            f"{name} is None, the gradient{of}{reason}",
            spans=spans,
            notes=[] if cause is None else cause.details.get("notes", ()),
            fixes=["leave it out, if it is not to be learned", *([] if cause is None else cause.fixes)],
            cause="" if cause is None else cause.code,
        )
    return None


def _gradient_call(site: UserExpression, part: ast.expr) -> ast.Call | None:
    """The call of `tape.gradient` that an expression is the result of, or a part of the result."""
    while isinstance(part, ast.Subscript):
        part = part.value
    if isinstance(part, ast.Name):
        bound = site.binding(part)
        if bound is None or bound.label or bound.file != site.source.file:
            return None
        found = site.source.at(bound)
    else:
        found = part
    is_request = isinstance(found, ast.Call) and isinstance(found.func, ast.Attribute) and found.func.attr == "gradient"
    return found if is_request and isinstance(found, ast.Call) else None


def _source_of_gradient(site: UserExpression, request: ast.Call, part: ast.expr) -> tuple[str, Any] | None:
    """The source whose gradient an expression is, by its position in the target of the assignment."""
    sources = _sources_argument(request)
    statement = site.source.statement(request)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is request else None
    if isinstance(part, ast.Name) and isinstance(target, ast.Tuple | ast.List):
        places = [i for i, one in enumerate(target.elts) if getattr(one, "id", "") == part.id]
        index: Any = places[0] if len(places) == 1 else None
    elif isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant):
        index = part.slice.value
    elif isinstance(part, ast.Name) and isinstance(target, ast.Name) and sources is not None:
        value = site.value(sources)
        return (one_line(site.source.text(sources)), value) if is_tensor(value) else None
    else:
        return None
    if isinstance(sources, ast.List | ast.Tuple) and isinstance(index, int) and index < len(sources.elts):
        chosen = sources.elts[index]
        value = site.value(chosen)
        return (one_line(site.source.text(chosen)), value) if is_tensor(value) else None
    return None


def _sources_argument(request: ast.Call) -> ast.expr | None:
    given = {keyword.arg: keyword.value for keyword in request.keywords}
    return request.args[1] if len(request.args) > 1 else given.get("sources")


def _find_source(site: UserExpression, request: ast.Call, variable: Any) -> Any:
    """The tensor among the sources that `variable` is, or is the value of."""
    sources = _sources_argument(request)
    parts = sources.elts if isinstance(sources, ast.List | ast.Tuple) else [] if sources is None else [sources]
    for part in parts:
        for tensor in leaves(site.value(part)):
            if is_tensor(tensor) and (tensor is variable or array_of(tensor) is variable):
                return tensor
    found = tensor_of(variable, site)
    return variable if found is None else found


def _ask_tape(site: UserExpression, request: ast.Call, variable: Any) -> Problem | None:
    """The answer of `tape.why` for this request; None if the gradient flows, or tape and target are not found.

    A tape is any object with a `why` that answers with a `Why`: other recorders may have tapes of their own.
    """
    function = request.func
    tape = site.value(function.value) if isinstance(function, ast.Attribute) else None
    target = site.value(request.args[0]) if request.args else None
    ask = getattr(tape, "why", None)
    if not callable(ask) or not is_tensor(target) or not is_tensor(variable):
        return None
    with names_as_at(site, request):
        answer = ask(target, variable)
    return answer.problem if isinstance(answer, Why) and not answer.flows else None


__all__ = ["cause_of_missing_gradient", "explain_none_used"]
