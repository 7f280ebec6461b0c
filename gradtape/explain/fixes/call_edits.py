"""Advice about a parameter of a function of ours, turned into what to write in the user's call of it.

`target[:, 0] drops the axis of length 1` becomes `F.cross_entropy(logits, labels[:, 0])`: the name of a parameter gives
way to the argument that was passed for it, and an edit at the beginning of the advice is made in the call.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from types import FrameType

from gradtape.explain.fixes.shape_edits import extended, replaced
from gradtape.explain.model.problem import Fix
from gradtape.explain.render.spelling import respell
from gradtape.explain.source.expression import UserExpression, offsets
from gradtape.explain.source.files import one_line

_EDIT = re.compile(r"(?P<name>[a-z]\w*)(?P<suffix>(?:\[[^\]]+\]|\.[a-z]\w*\([^()]*\))+)(?=[ ,;]|$)")
_SWAP = re.compile(r"(?P<one>[a-z]\w*) and (?P<other>[a-z]\w*) the other way round")
_OPTION = re.compile(r"(?P<name>[a-z]\w*)=(?P<value>-?\w+)(?=[ ,:;]|$)")
_NAME_AT_MOST = 24


def in_the_call(site: UserExpression, advice: str) -> list[str]:
    """`advice` in the user's words; before it, the call with the edit that it begins with, if it begins with one."""
    call = site.node.value if isinstance(site.node, ast.Expr) else site.node
    if not isinstance(call, ast.Call):
        return [advice]
    passed = _passed(site, call)
    offered: list[str] = []
    whole = site.source.span(call)
    edit, option = _EDIT.match(advice), _OPTION.match(advice)
    if edit is not None and edit["name"] in passed:
        part = passed[edit["name"]]
        text = one_line(site.source.text(part))
        if not isinstance(part, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
            text = f"({text})"
        suffix = respell(_named(edit["suffix"], site, passed, every=True), site.source.imports)
        written = replaced(whole, site.source.span(part), text + suffix)
        offered += [] if written is None else [Fix(written, True, whole)]
    elif (swap := _SWAP.match(advice)) is not None and {swap["one"], swap["other"]} <= passed.keys():
        offered += _swapped(site, call, passed[swap["one"]], passed[swap["other"]])
    elif option is not None and option["name"] not in passed and _takes(site, call, option["name"]):
        offered.append(Fix(extended(whole.text, option[0]), True, whole))
    return [*offered, _named(advice, site, passed)]


def _swapped(site: UserExpression, call: ast.Call, one: ast.expr, other: ast.expr) -> list[str]:
    """The call with two arguments in each other's place."""
    whole, spans = site.source.span(call), [site.source.span(one), site.source.span(other)]
    (start, end), (next_start, next_end) = sorted(offsets(whole, span) for span in spans)
    text = whole.text
    written = text[:start] + text[next_start:next_end] + text[end:next_start] + text[start:end] + text[next_end:]
    return [Fix(one_line(written), True, whole)]


def _named(advice: str, site: UserExpression, passed: dict[str, ast.expr], every: bool = False) -> str:
    """The advice with the user's names for the parameters that it computes with; with `every`, long ones too."""

    def users(match: re.Match[str]) -> str:
        part = passed.get(match[0])
        text = "" if part is None else one_line(site.source.text(part))
        is_name = isinstance(part, ast.Name | ast.Attribute | ast.Subscript)
        if part is not None and every and not is_name:
            return f"({text})"
        return text if is_name and (every or len(text) <= _NAME_AT_MOST) else match[0]

    return re.sub(r"(?<![\w.])[a-z]\w*(?=\[|\.[a-z]|, -?\d)", users, advice)


def _takes(site: UserExpression, call: ast.Call, option: str) -> bool:
    """Whether the call can be given `option`: a layer that is called hands none on to the function it is made of."""
    callee = _callee(site.frame)
    if callee is None or _has_stars(call):
        return False
    code = callee.f_code
    if code.co_name == "__call__":
        return False
    if code.co_name not in (_called(call), "__init__"):
        return True  # NumPy's own function, which has handed the call on
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return option in names or bool(code.co_flags & inspect.CO_VARKEYWORDS)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _has_stars(call: ast.Call) -> bool:
    return any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)


def _passed(site: UserExpression, call: ast.Call) -> dict[str, ast.expr]:
    """The arguments of the user's call by the names of the parameters of the function that it called."""
    code = _callee(site.frame)
    if code is None or _has_stars(call):
        return {}
    names = code.f_code.co_varnames[: code.f_code.co_argcount + code.f_code.co_kwonlyargcount]
    if code.f_code.co_name != _called(call) or (names and names[0] == "self"):
        return {}
    found = dict(zip(names, call.args))
    found.update({k.arg: k.value for k in call.keywords if k.arg is not None})
    return found


def _callee(frame: FrameType | None) -> FrameType | None:
    """The frame that `frame` is waiting for."""
    above: FrameType | None = sys._getframe(1)
    while above is not None and above.f_back is not frame:
        above = above.f_back
    return above
