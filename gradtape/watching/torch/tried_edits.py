"""Edits of one argument of a call that PyTorch refused, tried: the call is made again with the edited argument.

It is made on detached tensors under `no_grad`, so that neither the graph nor the tensors of the program change. What
writes, draws random numbers or walks back is not tried, and neither is an edit of anything but an argument.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from gradtape.explain.model.problem import Fix, Problem
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import one_line
from gradtape.watching.torch.operations import OPERATION, Rule


def try_edits(
    found: Problem, function: Callable[..., Any], rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Problem:
    """The problem with its edits marked as checked after which the call of `function` works."""
    if rule.what != OPERATION or rule.is_random:
        return found
    site = UserExpression.present()
    return found.with_(fixes=[_tried(fix, site, function, args, kwargs) for fix in found.fixes])


def _tried(
    fix: Fix, site: UserExpression, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Fix:
    if fix.checked or fix.replaces is None or fix.replaces.file != site.source.file:
        return fix
    part = site.source.at(fix.replaces)
    suffix = None if part is None else _suffix(fix, one_line(fix.replaces.text))
    value: Any = site.value(part) if isinstance(part, ast.Name | ast.Attribute | ast.Subscript) else None
    given = [*args, *kwargs.values()]
    if suffix is None or type(value) is not torch.Tensor or sum(x is value for x in given) != 1:
        return fix
    with torch.no_grad():
        try:
            edited = eval(f"x{suffix}", {"x": value.detach(), "torch": torch})
            again = {name: edited if x is value else _detached(x) for name, x in kwargs.items()}
            function(*(edited if x is value else _detached(x) for x in args), **again)
        except Exception:  # PyTorch refuses this call as well, or the edit has names of the program in it
            return fix
    return Fix(fix, True, fix.replaces)


def _suffix(fix: Fix, before: str) -> str | None:
    """What an edit writes after the expression, which stays; None if it changes anything else."""
    return fix[len(before) :] if fix.startswith(before) and fix[len(before) :] else None


def _detached(x: Any) -> Any:
    return x.detach() if isinstance(x, torch.Tensor) else x


__all__ = ["try_edits"]
