"""Edits of the user's call, from advice about a parameter of one of gradtape's functions.

`target[:, 0] drops the axis of length 1` becomes `F.cross_entropy(logits, labels[:, 0])`: the name of the parameter is
replaced by the argument that was passed for it, and the edit that begins the advice is made in the call.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from types import FrameType

from gradtape.explain.fixes.shape_edits import add_argument
from gradtape.explain.model.problem import source_edit
from gradtape.explain.render.spelling import respell
from gradtape.explain.source.expression import UserExpression, offsets, replace_span
from gradtape.explain.source.files import one_line

_EDIT = re.compile(r"(?P<name>[a-z]\w*)(?P<suffix>(?:\[[^\]]+\]|\.[a-z]\w*\([^()]*\))+)(?=[ ,;]|$)")
_SWAP = re.compile(r"(?P<one>[a-z]\w*) and (?P<other>[a-z]\w*) the other way round")
_OPTION = re.compile(r"(?P<name>[a-z]\w*)=(?P<value>-?\w+)(?=[ ,:;]|$)")
_NAME_AT_MOST = 24


def apply_advice_to_call(site: UserExpression, advice: str) -> list[str]:
    """`advice` with the user's names; before it the edited call, if the advice begins with an edit."""
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if not isinstance(call, ast.Call):
        return [advice]
    passed = _arguments_by_parameter(site, call)
    offered: list[str] = []
    whole = site.source.span(call)
    edit, option = _EDIT.match(advice), _OPTION.match(advice)
    if edit is not None and edit["name"] in passed:
        part = passed[edit["name"]]
        text = one_line(site.source.text(part))
        if not isinstance(part, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
            text = f"({text})"
        suffix = respell(_with_user_names(edit["suffix"], site, passed, every=True), site.source.imports)
        written = replace_span(whole, site.source.span(part), text + suffix)
        offered += [] if written is None else [source_edit(written, whole)]
    elif (swap := _SWAP.match(advice)) is not None and {swap["one"], swap["other"]} <= passed.keys():
        offered += _swap_arguments(site, call, passed[swap["one"]], passed[swap["other"]])
    elif option is not None and option["name"] not in passed and _accepts(site, call, option["name"]):
        given = next((k.value for k in call.keywords if k.arg == option["name"]), None)
        if given is None:
            written = add_argument(whole.text, option[0])
        else:
            written = replace_span(whole, site.source.span(given), option["value"])
        offered += [] if written is None else [source_edit(written, whole)]
    return [*offered, _with_user_names(advice, site, passed)]


def _swap_arguments(site: UserExpression, call: ast.Call, one: ast.expr, other: ast.expr) -> list[str]:
    """The call with two arguments swapped."""
    whole, spans = site.source.span(call), [site.source.span(one), site.source.span(other)]
    (start, end), (next_start, next_end) = sorted(offsets(whole, span) for span in spans)
    text = whole.text
    written = text[:start] + text[next_start:next_end] + text[end:next_start] + text[start:end] + text[next_end:]
    return [source_edit(one_line(written), whole)]


def _with_user_names(advice: str, site: UserExpression, passed: dict[str, ast.expr], every: bool = False) -> str:
    """The advice with parameter names replaced by the user's arguments; with `every`, also by long ones."""

    def user_name(match: re.Match[str]) -> str:
        part = passed.get(match[0])
        text = "" if part is None else one_line(site.source.text(part))
        is_name = isinstance(part, ast.Name | ast.Attribute | ast.Subscript)
        if part is not None and every and not is_name:
            return f"({text})"
        return text if is_name and (every or len(text) <= _NAME_AT_MOST) else match[0]

    return re.sub(r"(?<![\w.])[a-z]\w*(?=\[|\.[a-z]|, -?\d)", user_name, advice)


def _accepts(site: UserExpression, call: ast.Call, option: str) -> bool:
    """Whether the call accepts `option`. A layer does not pass options on to the function it is made of."""
    callee = _callee_frame(site.frame)
    if callee is None or _has_stars(call):
        return False
    code = callee.f_code
    if code.co_name == "__call__":
        return False
    if code.co_name not in (_called_name(call), "__init__"):
        return True  # a function of NumPy, which dispatched the call to gradtape
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return option in names or bool(code.co_flags & inspect.CO_VARKEYWORDS)


def _called_name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _has_stars(call: ast.Call) -> bool:
    return any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)


def _arguments_by_parameter(site: UserExpression, call: ast.Call) -> dict[str, ast.expr]:
    """The arguments of the user's call, by the names of the parameters of the called function."""
    code = _callee_frame(site.frame)
    if code is None or _has_stars(call):
        return {}
    names = code.f_code.co_varnames[: code.f_code.co_argcount + code.f_code.co_kwonlyargcount]
    if code.f_code.co_name != _called_name(call) or (names and names[0] == "self"):
        return {}
    found = dict(zip(names, call.args))
    found.update({k.arg: k.value for k in call.keywords if k.arg is not None})
    return found


def _callee_frame(frame: FrameType | None) -> FrameType | None:
    """The frame of the function that `frame` has called."""
    above: FrameType | None = sys._getframe(1)
    while above is not None and above.f_back is not frame:
        above = above.f_back
    return above
