"""Errors of Python's own functions of numbers that a tensor has caused, explained when they leave the block of a tape.

`Decimal(x)`, `memoryview(x)`, `json.dumps(x)` and `statistics.mean` look at the type of what they are given, and raise
an error that says nothing of gradients. It stays what it is; a note and a `.problem` say what to write instead.
"""

from __future__ import annotations

import ast
import sysconfig
from types import FrameType
from typing import Any

from gradtape.core.location import is_library
from gradtape.core.tensor import Tensor
from gradtape.explain.emit.listeners import notify_of_error
from gradtape.explain.messages.build import problem
from gradtape.explain.model.problem import Problem
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.files import one_line

_STANDARD = sysconfig.get_paths()["stdlib"]
_STATISTICS = {
    "mean": "np.mean({})",
    "fmean": "np.mean({})",
    "median": "np.median({})",
    "stdev": "np.std({}, ddof=1)",
    "variance": "np.var({}, ddof=1)",
    "pstdev": "np.std({})",
    "pvariance": "np.var({})",
    "geometric_mean": "np.exp(np.mean(np.log({})))",
    "harmonic_mean": "1 / np.mean(1 / {})",
}
_WITHOUT_GRADIENT = {
    "bytearray": "bytearray({}.tobytes())",
    "memoryview": "memoryview({}.numpy())",
    "decimal.Decimal": "Decimal({}.item())",
    "fractions.Fraction": "Fraction({}.item())",
    "json.dumps": "json.dumps of {}.tolist()",
    "json.dump": "json.dump of {}.tolist()",
}


def explain_number_failure(error: BaseException) -> Problem | None:
    """Put a note and a `.problem` on `error`, if a function of Python's that takes numbers raised it for a tensor."""
    site = _call_of_user(error) if isinstance(error, TypeError) and not hasattr(error, "problem") else None
    call = None if site is None else site.node.value if isinstance(site.node, ast.Expr) else site.node
    if site is None or not isinstance(call, ast.Call) or not call.args or not _holds_tensor(site, call):
        return None
    name = _full_name(site, call.func)
    fix = _fix_for(site, name, call)
    if fix is None:
        return None
    found = problem(
        "GT312",
        f"{name} takes numbers, and was given a tensor, whose gradient it would lose",
        spans=[site.span],
        fixes=[fix],
    )
    vars(error)["problem"] = found
    error.add_note(f"gradtape: {found}")
    notify_of_error(found)
    return found


def _fix_for(site: UserExpression, name: str, call: ast.Call) -> str | None:
    given = call.args[0]
    words = one_line(site.source.text(given))
    module, _, function = name.rpartition(".")
    if module == "statistics" and function in _STATISTICS:
        return f"{_STATISTICS[function].format(f'gt.stack({words})')}, which has a gradient"
    if name not in _WITHOUT_GRADIENT:
        return None
    words = words if isinstance(given, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else "each tensor x: x"
    return (
        f"{_WITHOUT_GRADIENT[name].format(words)}, if the gradient is not wanted; else compute with the tensor itself"
    )


def _call_of_user(error: BaseException) -> UserExpression | None:
    """The user's call in which `error` was raised, by a function that is compiled or in Python's own library."""
    frame: FrameType | None = None
    offset, trace = 0, error.__traceback__
    is_direct = False
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        is_standard = file.startswith(_STANDARD) and "-packages" not in file
        if not is_standard:
            is_direct = "-packages" not in file and not is_library(file)
            if is_direct:
                frame, offset = trace.tb_frame, trace.tb_lasti
        trace = trace.tb_next
    return UserExpression(frame, offset) if frame is not None and is_direct else None


def _full_name(site: UserExpression, function: ast.expr) -> str:
    """`decimal.Decimal` for `Decimal` and for `d.Decimal`, as the imports of the file have it."""
    if isinstance(function, ast.Name):
        return site.source.imports.get(function.id, function.id)
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return f"{site.source.imports.get(function.value.id, function.value.id)}.{function.attr}"
    return ""


def _holds_tensor(site: UserExpression, call: ast.Call) -> bool:
    """Whether a tensor, or a sequence or a dictionary with one, is named in the arguments of a call."""
    names = (part for argument in call.args for part in ast.walk(argument) if isinstance(part, ast.Name))
    return any(_has_tensor(site.value(name)) for name in names)


def _has_tensor(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_tensor, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_tensor, value))
    return isinstance(value, Tensor)
