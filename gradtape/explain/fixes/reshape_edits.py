"""Edits of a reshape that gives a layer another number of features than it takes.

`h.reshape(-1, 64)` of eight examples with 256 features each gives 32 rows of 64: the -1 absorbs the mistake, and the
number of examples changes. If there is no reshape, an image was not flattened to features.
"""

from __future__ import annotations

import ast
import math
from typing import Any

from gradtape.explain.model.problem import Fix
from gradtape.explain.source.expression import UserExpression, replace_span
from gradtape.explain.source.files import one_line
from gradtape.explain.source.libraries import record_of

Shape = tuple[int, ...]


def feature_count_fixes(x: Any, wanted: int) -> list[Fix]:
    """Edits after which each row of `x`, the input of a layer in the user's present call, has `wanted` features.

    Empty if the number of elements, or the source, does not show how.
    """
    shape = tuple(x.shape)
    site = UserExpression.present()
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if not isinstance(call, ast.Call) or len(call.args) != 1 or not wanted or not math.prod(shape):
        return []
    part = call.args[0]
    if len(shape) > 2 and math.prod(shape[1:]) == wanted:
        return _flatten_edit(site, part)
    if len(shape) != 2 or math.prod(shape) % wanted or wanted % shape[-1]:
        return []
    reshape = _find_reshape(site, part)
    return [] if reshape is None else _reshape_edit(site, reshape, x, wanted)


def _flatten_edit(site: UserExpression, part: ast.expr) -> list[Fix]:
    """The argument with all axes but the first flattened."""
    name = one_line(site.source.text(part))
    if not isinstance(part, ast.Name | ast.Attribute | ast.Subscript):
        return []
    text = replace_span(site.span, site.source.span(part), f"{name}.reshape(len({name}), -1)")
    return [] if text is None else [Fix(text, True, site.span)]


def _find_reshape(site: UserExpression, part: ast.expr) -> ast.Call | None:
    """The call of `reshape(-1, n)` or `view(-1, n)` that made an argument; None if the source shows none."""
    made: Any = part
    if isinstance(part, ast.Name):
        bound = site.binding(part)
        made = None if bound is None or bound.file != site.source.file else site.source.at(bound)
    for node in [] if made is None else ast.walk(made):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            lengths = _reshape_lengths(node)
            if node.func.attr in ("reshape", "view") and len(lengths) == 2 and ast.unparse(lengths[0]) == "-1":
                return node
    return None


def _reshape_lengths(call: ast.Call) -> list[ast.expr]:
    """The new lengths in a call of `reshape`."""
    for argument in call.args:
        if isinstance(argument, ast.Tuple | ast.List):
            return list(argument.elts)
    return list(call.args)


def _reshape_edit(site: UserExpression, reshape: ast.Call, x: Any, wanted: int) -> list[Fix]:
    """The reshape that keeps the number of examples, if that is known; otherwise one with `wanted` features."""
    is_function = len(reshape.args) == 2 and isinstance(reshape.args[1], ast.Tuple | ast.List)
    owner = reshape.args[0] if is_function else getattr(reshape.func, "value", reshape.func)
    name, function = (one_line(site.source.text(part)) for part in (owner, reshape.func))
    record = record_of(x)
    is_reshaped = record is not None and record.operation == "reshape" and bool(record.parents)
    before: Shape = record.parents[0].shape if record is not None and is_reshaped else ()
    keeps = bool(before) and before[0] * wanted == math.prod(before) and isinstance(owner, ast.Name | ast.Attribute)
    lengths = f"len({name}), -1" if keeps else f"-1, {wanted}"
    text = f"{function}({name}, ({lengths}))" if is_function else f"{function}({lengths})"
    return [Fix(text, True, site.source.span(reshape))]


__all__ = ["feature_count_fixes"]
