"""Results of pure functions that a program throws away: `x.at[0].set(1.0)` or `optax.apply_updates(p, u)` alone.

Arrays of JAX never change. A statement that is only such a call has no effect at all, wherever it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from gradtape.core.location import is_library
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Fix, Problem
from gradtape.explain.source.files import SourceFile, one_line, source_of

_UPDATES = frozenset({"set", "add", "subtract", "multiply", "divide", "power", "min", "max", "apply"})
_judged: set[str] = set()


def judge_discarded(function: Any) -> None:
    """Report the statements, in the file of a function of the user's, whose results are thrown away."""
    code = getattr(function, "__code__", None)
    file = "" if code is None else code.co_filename
    if not file or file in _judged or is_library(file):
        return
    _judged.add(file)
    for found in discarded_in(source_of(file)):
        if is_due(found.code, *found.place[1:]):
            report(found)


def forget() -> None:
    """Look at all files again."""
    _judged.clear()


def discarded_in(source: SourceFile) -> Iterator[Problem]:
    """Problems for the statements of a file whose results are thrown away."""
    for node in [] if source.tree is None else ast.walk(source.tree):
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        span, text = source.span(call), one_line(source.text(call))
        place = call.func.value
        is_at = isinstance(place, ast.Subscript) and isinstance(place.value, ast.Attribute) and place.value.attr == "at"
        if is_at and call.func.attr in _UPDATES:
            array = place.value.value  # type: ignore[attr-defined]
            name = one_line(source.text(array))
            offered = [Fix(f"{name} = {text}", True, span)] if isinstance(array, ast.Name) else []
            yield problem(
                "GT202",
                f"{name} stays as it was: .at[...].{call.func.attr} returns a new array, which is thrown away",
                spans=[span],
                consequence="what was to be written is never used, and gets no gradient",
                fixes=[*offered, f"{name} = {name}.at[...].{call.func.attr}(...)"],
            )
        elif call.func.attr == "apply_updates" and call.args:
            name = one_line(source.text(call.args[0]))
            offered = [Fix(f"{name} = {text}", True, span)] if isinstance(call.args[0], ast.Name) else []
            yield problem(
                "GT512",
                f"{name} stays as it was: apply_updates returns the new parameters, which are thrown away",
                spans=[span],
                consequence="no parameter changes, however many steps are made",
                fixes=[*offered, f"{name} = optax.apply_updates({name}, updates)"],
            )


__all__ = ["discarded_in", "forget", "judge_discarded"]
