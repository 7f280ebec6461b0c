"""A value that left TensorFlow as a number or an array: where, and what to write so that it stays on the tape."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from gradtape.explain.detectors.missing_gradient import verdict
from gradtape.explain.model.problem import Fix, Span, source_edit
from gradtape.explain.model.why import Why
from gradtape.explain.render.spelling import name_in
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import SourceFile, one_line, source_of, span_of
from gradtape.watching.tensorflow.recorder import TensorFlowRecorder
from gradtape.watching.tensorflow.tapes import TapeWatch


def with_departure_edit(reason: Why) -> Why:
    """The same, with an edit of the whole statement where a value left as a number or an array."""
    found = reason.problem
    if found.code != "GT210" or found.main is None:
        return reason
    source = source_of(found.main.file)
    node = source.at(found.main)
    statement = None if node is None else source.statement(node)
    if node is None or statement is None:
        return reason
    users = _numpy_users(source, statement)
    edit = _stay_in_tensorflow(source, [statement, *users])
    if edit is None and users:  # an edit of the one statement would only move the departure
        advice = [fix for fix in found.fixes if not isinstance(fix, Fix) or fix.replaces is None]
        names = ", ".join(sorted({name for user in users for name in _numpy_calls(source, user)}))
        return Why(found.with_(fixes=[f"functions of TensorFlow instead of {names}, which leave the tape", *advice]))
    return reason if edit is None else Why(found.with_(fixes=[edit, *found.fixes]))


def explain_detour(recorder: TensorFlowRecorder, watch: TapeWatch) -> Why | None:
    """A function of NumPy that was given a tensor on the tape, and whose array has come back."""
    detour = next((each for each in reversed(recorder.detours) if each.order > watch.opened), None)
    if detour is None:
        return None
    lines: list[Any] = [detour.span]
    back = span_of(detour.entered)
    if back.line != detour.span.line:
        lines += ["it comes back as a constant here", back]
    if detour.is_write:
        return verdict(
            "GT210",
            f"the value left the tape where it was written to {detour.function}: an array of NumPy keeps numbers only",
            *lines,
            fix="a list that the tensors are appended to, and tf.stack of it",
        )
    return verdict(
        "GT210",
        f"the value left the tape at {detour.function}, which takes the numbers of a tensor and returns an array",
        *lines,
        fix="the function of TensorFlow for it keeps the gradient",
    )


def explain_numpy_function(wanted: Any) -> Why | None:
    """A function of NumPy, in the statement that made the target, of something computed from the source.

    NumPy reads the memory of tensors without a call that is seen.
    """
    site = UserExpression.present()
    part = site.asked()[0]
    made = None if part is None else site.binding(part)
    node = None if made is None else source_of(made.file).at(made)
    if made is None or node is None or made.file != site.source.file:
        return None
    for call in [each for each in ast.walk(node) if isinstance(each, ast.Call)][::-1]:
        function = call.func
        if (
            not isinstance(function, ast.Attribute)
            or site.source.imports.get(getattr(function.value, "id", "")) != "numpy"
        ):
            continue
        names = [each for argument in call.args for each in ast.walk(argument) if isinstance(each, ast.Name)]
        if any(site.value(each) is wanted for each in names):
            name = one_line(site.source.text(function))
            return verdict(
                "GT210",
                f"the value left the tape at {name}, which takes the numbers of a tensor and returns an array",
                site.source.span(call),
                fix="the function of TensorFlow for it keeps the gradient",
            )
    return None


def _numpy_users(source: SourceFile, statement: ast.stmt) -> list[ast.stmt]:
    """The statements after one, in the same block, that give functions of NumPy what was computed from its result."""
    parent = source.parents.get(statement)
    blocks = [block for block in (getattr(parent, name, None) for name in ("body", "orelse")) if block]
    block = next((block for block in blocks if statement in block), [statement])
    names, users = _bound_names(statement), []
    for after in block[block.index(statement) + 1 :]:
        used = {node.id for node in ast.walk(after) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        if used & names:
            names |= _bound_names(after)
            if _numpy_calls(source, after):
                users.append(after)
    return users


def _bound_names(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _numpy_calls(source: SourceFile, statement: ast.stmt) -> list[str]:
    """The functions of NumPy that a statement calls, as they are written."""
    functions = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return [
        one_line(source.text(function))
        for function in functions
        if isinstance(function, ast.Attribute) and source.imports.get(getattr(function.value, "id", "")) == "numpy"
    ]


def _stay_in_tensorflow(source: SourceFile, statements: Sequence[ast.stmt]) -> Fix | None:
    """The values of statements, which follow each other, as TensorFlow computes them; None where that is not known."""
    values = [getattr(statement, "value", None) for statement in statements]
    known = [value for value in values if isinstance(value, ast.expr)]
    texts = [_value_in_tensorflow(source, value) for value in known]
    if len(known) < len(statements) or any(text is None for text in texts):
        return None
    if len(known) == 1:
        whole = source.span(known[0])
        return source_edit(str(texts[0]), whole) if texts[0] != whole.text else None
    spans = [source.span(statement) for statement in statements]
    if any((one.end_line or one.line) + 1 != other.line for one, other in pairwise(spans)):
        return None
    edited = [
        span.text[: (source.span(value).column or 0) - (span.column or 0)] + str(text)
        for span, value, text in zip(spans, known, texts)
    ]
    return source_edit(f"\n{' ' * (spans[0].column or 0)}".join(edited), joined_spans(spans))


def joined_spans(spans: Sequence[Span]) -> Span:
    """The region from the first to the last of some spans, on lines that follow each other."""
    first, last = spans[0], spans[-1]
    lines = "\n".join(span.source for span in spans)
    return Span(first.file, first.line, first.column, last.end_column, source=lines, end_line=last.line)


def _value_in_tensorflow(source: SourceFile, value: ast.expr) -> str | None:
    """An expression without `float(x)` and `x.numpy()`, and with TensorFlow's functions for those of NumPy.

    None where a function of NumPy has no counterpart of the same arguments.
    """
    if "\n" in source.text(value):
        return None
    whole = source.span(value)
    tensorflow = next((name for name, module in source.imports.items() if module == "tensorflow"), "")
    base = whole.column or 0
    edits: list[tuple[ast.expr, Span | str]] = []
    for node in ast.walk(value):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        if _gives_departure_away(source, node):
            return None
        if isinstance(function, ast.Name) and function.id == "float" and len(node.args) == 1:
            inner = source.span(node.args[0])
            edits += [(node, inner)]
        elif isinstance(function, ast.Attribute) and function.attr == "numpy" and not node.args:
            edits += [(node, source.span(function.value))]
        elif isinstance(function, ast.Attribute) and source.imports.get(getattr(function.value, "id", "")) == "numpy":
            name = name_in("tensorflow", function.attr)
            if not name or not tensorflow or function.attr in _OTHER_ARGUMENTS:
                return None
            edits += [(function, f"{tensorflow}.{name}")]
        elif _root_module(source, function).partition(".")[0] in ("numpy", "scipy"):
            return None  # of a module of theirs, as np.random.normal: the arguments are others
        elif isinstance(function, ast.Attribute) and getattr(function.value, "id", "") == "math":
            name = name_in("tensorflow", function.attr)
            if not name or not tensorflow:
                return None
            edits += [(function, f"{tensorflow}.{name}")]
    text = whole.text
    pieces: list[tuple[int, int, str]] = []
    for part, new in edits:
        place = source.span(part)
        start, end = (place.column or 0) - base, (place.end_column or 0) - base
        if isinstance(new, str):
            pieces.append((start, end, new))
        else:
            inner_start, inner_end = (new.column or 0) - base, (new.end_column or 0) - base
            pieces += [(start, inner_start, ""), (inner_end, end, "")]
    for start, end, written in sorted(pieces, reverse=True):
        text = text[:start] + written + text[end:]
    return text


def _root_module(source: SourceFile, function: ast.expr) -> str:
    """The module that `np` is imported from, in `np.random.normal`."""
    while isinstance(function, ast.Attribute):
        function = function.value
    return source.imports.get(function.id, "") if isinstance(function, ast.Name) else ""


_OTHER_ARGUMENTS = frozenset({"interp", "array", "asarray", "arange", "linspace", "random", "zeros", "ones", "full"})


def _gives_departure_away(source: SourceFile, call: ast.Call) -> bool:
    """Whether a function of the program, or of a library, is given an array: it may take no tensors."""
    function = call.func
    name = function.id if isinstance(function, ast.Name) else getattr(getattr(function, "value", None), "id", "")
    is_known = name in ("float", "math") or source.imports.get(name, "").partition(".")[0] in ("numpy", "tensorflow")
    arrays = [
        argument
        for argument in call.args
        if isinstance(argument, ast.Call) and getattr(argument.func, "attr", "") == "numpy" and not argument.args
    ]
    return bool(arrays) and not is_known


__all__ = ["explain_detour", "explain_numpy_function", "joined_spans", "with_departure_edit"]
