"""Converts the text of an error that was raised without a `Problem` into one, and finds its code."""

from __future__ import annotations

import re

from gradtape.core.location import Location, location_of_running_rule
from gradtape.explain.messages.build import at, problem
from gradtape.explain.model.problem import Problem, Span
from gradtape.explain.render.elide_arrays import elide_arrays

_BY_CLASS = {
    "ShapeError": "GT110",
    "DtypeError": "GT314",
    "OperandError": "GT314",
    "IndexingError": "GT115",
    "AxisError": "GT117",
    "LinearAlgebraError": "GT405",
    "StructureError": "GT306",
    "TapeError": "GT315",
    "RuleError": "GT302",
    "MutationError": "GT309",
    "UntrackedError": "GT305",
    "DetachError": "GT312",
    "UnsupportedError": "GT313",
    "NumericsError": "GT401",
    "GradientWarning": "GT201",
    "GradTapeError": "GT314",
}
_BY_FUNCTION = {
    "GT111": "matmul dot vdot inner tensordot cross kron solve inv cholesky qr svd eigh eigvalsh eig det slogdet norm "
    "tensorinv tensorsolve lstsq pinv matrix_power multi_dot solve_triangular expm logm sqrtm trace matvec vecdot",
    "GT112": "einsum",
    "GT113": "concatenate stack hstack vstack dstack column_stack block append",
    "GT114": "reshape squeeze ravel unflatten resize",
}
_BY_PART = (
    (re.compile(r"cross_entropy|nll|hinge|kl_div|focal|labels"), "GT118"),
    (re.compile(r"conv(_|\d)|conv$|pool|_norm$|^linear$|bilinear|embedding|attention|unfold|fold|dropout"), "GT116"),
    (re.compile(r"(Norm|Conv|Pool|Dropout)(Transpose)?\dd$|Norm$|^(Linear|Dense|RNN|GRU|LSTM)|Attention"), "GT116"),
)
_CODE_OF = {name: code for code, names in _BY_FUNCTION.items() for name in names.split()}
_PLACE = re.compile(r"^  ([^\s:][^:\n]*):(\d+)(?:   (.*))?$")


def code_for(kind: type, text: str) -> str:
    """The code of an error with a text only: by the function that the text names, or by the class of the error."""
    names = [base.__name__ for base in kind.__mro__]
    if "AssertionError" in names:
        return ""
    code = next((_BY_CLASS[name] for name in names if name in _BY_CLASS), "GT314")
    function = re.match(r"(?:np\.|gt\.|linalg\.)*(\w+)\b", text)
    if function and ("ShapeError" in names or "IndexingError" in names):
        name = function.group(1)
        by_part = next((found for pattern, found in _BY_PART if pattern.search(name)), code)
        return _CODE_OF.get(name, by_part)
    if "LinearAlgebraError" in names and re.search(r"square|axes|shape|dimensional", text.split("\n")[0]):
        return "GT111"
    return code


def problem_from_text(given: Problem | str, kind: type) -> Problem:
    """`given`, or the problem that a text of the form "title, place, notes, fix" describes."""
    if isinstance(given, Problem):
        return given
    given = elide_arrays(given)
    code = code_for(kind, given)
    if not code:
        return Problem("", given)
    title, *rest = given.split("\n")
    spans: list[Span] = []
    notes: list[str] = []
    fixes: list[str] = []
    now = Location.here()
    for line in rest:
        place = _PLACE.match(line)
        if place:
            label = notes.pop() if notes and not spans else ""
            if str(now) == f"{place[1]}:{place[2]}" and (place[3] or "") == now.source:
                spans.append(at(now, label))
            else:
                spans.append(Span(place[1], int(place[2]), None, None, label, place[3] or ""))
        elif line.strip() and not line.strip().strip("~"):
            last = spans[-1] if spans else None
            if last is not None and last.column is None:
                start = len(line) - len(line.lstrip()) - len(f"  {last.place}   ")
                end = start + len(line.strip())
                spans[-1] = Span(last.file, last.line, start, end, last.label, last.source)
        elif line.startswith("  fix: "):
            fixes.append(line[7:])
        elif fixes and line.startswith("       "):
            if fixes[-1].endswith(";"):
                fixes[-1] = fixes[-1][:-1]
                fixes.append(line.strip().removeprefix("or "))
            else:
                fixes[-1] += " " + line.strip()
        elif line.strip():
            notes.append(line.strip())
    rule = location_of_running_rule()
    if rule is not None:
        spans = [at(rule), *(span.labelled(span.label or "asked here") for span in spans)]
    return problem(code, title.rstrip("."), spans=spans, fixes=fixes, notes=notes)


__all__ = [
    "code_for",
    "problem_from_text",
]
