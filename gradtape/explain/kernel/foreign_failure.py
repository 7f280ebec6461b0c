"""Errors of SciPy's own that a tracked tensor has caused, explained when they leave the block of a tape.

Most functions of SciPy convert what they are given, which is refused with a reason. Some look at it before and raise an
error that says nothing of tensors, and compiled ones replace the error that a function of the user's raised. Such an
error stays what it is; it gets a note and a `.problem` that name the import with which the call has a gradient.
"""

from __future__ import annotations

import ast
from types import FrameType
from typing import Any

from gradtape.core.graph import FLAGS
from gradtape.core.location import is_library
from gradtape.core.tensor import Tensor
from gradtape.errors import DetachError
from gradtape.explain.detectors.foreign_function import ForeignCall, find_foreign_call
from gradtape.explain.emit.listeners import notify_of_error
from gradtape.explain.messages.build import problem
from gradtape.explain.messages.tensors import last_refused_conversion
from gradtape.explain.model.problem import Problem
from gradtape.explain.source.expression import UserExpression


def explain_foreign_failure(error: BaseException) -> Problem | None:
    """Put a note and a `.problem` on `error`, if a function raised it that has a gradient in `gradtape.scipy`."""
    refusal = error.__cause__
    if isinstance(refusal, DetachError) and isinstance(error, ValueError):  # NumPy has replaced the refusal of a number
        error.add_note(f"gradtape: {refusal}")
        vars(error)["problem"] = vars(refusal)["problem"]
        return None
    site = _call_into_package(error)
    theirs = None if site is None or hasattr(error, "problem") else find_foreign_call(site)
    if site is None or theirs is None or not theirs.name.startswith("scipy."):
        return None
    fixes = theirs.fixes_by_import()
    if not fixes or not _is_about_tensors(site, theirs):
        return None
    found = problem(
        "GT312",
        f"{theirs.name} takes bare arrays, and was given a tracked tensor",
        spans=[site.span],
        fixes=fixes,
        intent="if the gradient is not wanted, say so: x.numpy() or gt.stop_gradient(x)",
    )
    vars(error)["problem"] = found
    error.add_note(f"gradtape: {found}")
    notify_of_error(found)
    return found


def _call_into_package(error: BaseException) -> UserExpression | None:
    """The user's call of a function of an installed package in which `error` was raised; None if it was elsewhere."""
    frame: FrameType | None = None
    offset, trace = 0, error.__traceback__
    inside = ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if "-packages" not in file and not is_library(file):
            frame, offset, inside = trace.tb_frame, trace.tb_lasti, ""
        else:
            inside = file
        trace = trace.tb_next
    return UserExpression(frame, offset) if frame is not None and "-packages" in inside else None


def _is_about_tensors(site: UserExpression, theirs: ForeignCall) -> bool:
    """Whether a tracked tensor is an argument of the call, or its conversion was refused inside of the call."""
    refused = last_refused_conversion()
    if refused is not None and (refused.file, refused.line) == (site.span.file, site.span.line):
        return True
    given = [] if theirs.call is None else [*theirs.call.args, *(keyword.value for keyword in theirs.call.keywords)]
    names = (part for argument in given for part in ast.walk(argument) if isinstance(part, ast.Name))
    return any(_was_tracked(site.value(name)) for name in names)


def _was_tracked(value: Any) -> bool:
    """Whether a value was on a tape; the tape has ended by now."""
    return isinstance(value, Tensor) and value._node.bits > FLAGS
