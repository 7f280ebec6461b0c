"""Results of pure functions that a program throws away: `x.at[0].set(1.0)` or `optax.apply_updates(p, u)` alone.

Arrays of JAX never change. A statement that is only such a call has no effect at all, wherever it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType
from typing import Any

from gradtape.core.location import is_library
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.model.problem import Problem, source_edit
from gradtape.explain.source.files import SourceFile, one_line, source_of

_UPDATES = frozenset({"set", "add", "subtract", "multiply", "divide", "power", "min", "max", "apply"})
_judged: set[CodeType] = set()


def judge_discarded(function: Any, caller: CodeType | None) -> None:
    """Report statements whose results are thrown away, in a function and where its gradient is taken."""
    for code in (getattr(function, "__code__", None), caller):
        if code is None or code in _judged or is_library(code.co_filename):
            continue
        _judged.add(code)
        for found in discarded_in(source_of(code.co_filename), code.co_name, code.co_firstlineno):
            if is_due(found.code, *found.place[1:]):
                report(found)


def forget() -> None:
    """Look at all files again."""
    _judged.clear()


def discarded_in(source: SourceFile, name: str, line: int = 0) -> Iterator[Problem]:
    """Problems for the statements of the functions with a name, or of the module, whose results are thrown away.

    With `line`, of the function only that begins there.
    """
    for node in [] if source.tree is None else ast.walk(source.tree):
        call = node.value if isinstance(node, ast.Expr) else None
        scope = None if call is None else next(iter(source.scopes(node)), None)
        if getattr(scope, "name", "<module>") != name:
            continue
        if line and isinstance(scope, ast.FunctionDef):
            begins = min([scope.lineno, *(part.lineno for part in scope.decorator_list)])
            if begins != line:
                continue
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        span, text = source.span(call), one_line(source.text(call))
        place = call.func.value
        is_at = isinstance(place, ast.Subscript) and isinstance(place.value, ast.Attribute) and place.value.attr == "at"
        if is_at and call.func.attr in _UPDATES:
            array = place.value.value  # type: ignore[attr-defined]
            owner = one_line(source.text(array))
            offered = [source_edit(f"{owner} = {text}", span)] if isinstance(array, ast.Name) else []
            yield problem(
                "GT202",
                f"{owner} stays as it was: .at[...].{call.func.attr} returns a new array, which is thrown away",
                spans=[span],
                consequence="what was to be written is never used, and gets no gradient",
                fixes=[*offered, f"{owner} = {owner}.at[...].{call.func.attr}(...)"],
            )
        elif call.func.attr == "apply_gradients" and isinstance(place, ast.Name):
            yield problem(
                "GT512",
                f"{place.id} stays as it was: apply_gradients returns a new state, which is thrown away",
                spans=[span],
                consequence="no parameter changes, however many steps are made",
                fixes=[source_edit(f"{place.id} = {text}", span)],
            )
        elif call.func.attr in ("map", "tree_map") and _is_pure_map(call):
            owner = one_line(source.text(call.args[1]))
            offered = [source_edit(f"{owner} = {text}", span)] if isinstance(call.args[1], ast.Name) else []
            yield problem(
                "GT512",
                f"{owner} stays as it was: {call.func.attr} returns a new tree, which is thrown away",
                spans=[span],
                consequence="no parameter changes, however many steps are made",
                fixes=[*offered, f"{owner} = jax.tree.map(lambda p, g: p - 0.1 * g, {owner}, grads)"],
            )
        elif call.func.attr == "apply_updates" and call.args:
            owner = one_line(source.text(call.args[0]))
            offered = [source_edit(f"{owner} = {text}", span)] if isinstance(call.args[0], ast.Name) else []
            yield problem(
                "GT512",
                f"{owner} stays as it was: apply_updates returns the new parameters, which are thrown away",
                spans=[span],
                consequence="no parameter changes, however many steps are made",
                fixes=[*offered, f"{owner} = optax.apply_updates({owner}, updates)"],
            )


def _is_pure_map(call: ast.Call) -> bool:
    """Whether arithmetic is mapped over several trees, which has no effect but its result."""
    function = call.args[0] if len(call.args) > 2 else None
    return isinstance(function, ast.Lambda) and isinstance(function.body, ast.BinOp)


__all__ = ["discarded_in", "forget", "judge_discarded"]
