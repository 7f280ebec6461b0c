"""Errors that a stand-in raises in the words of the library it stands in for: the finding that each of them is.

They are errors of TensorFlow's and PyTorch's classes with a text of ours. What the text says (the user's line, the
fix) is put on them as `.problem`, where they surface.
"""

from __future__ import annotations

import os
import re

from gradtape import errors
from gradtape.extend import Location, Problem, is_library, problem_from_text, span_of

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_ASSERTIONS = os.path.join("tensorflow", "debugging.py")  # what they say is the user's own, not ours
_DTYPES = re.compile(r"\bdtypes?\b|\bto EagerTensor\b|\bdata of a different type\b")
_SHAPES = re.compile(r"\b(shapes?|rank|axes|axis|dimensions?)\b")
_LABELS = re.compile(r"\b(targets?|labels?|y_true)\b")
_ROLE = re.compile(r"\ba (source|target) is\b")


def explain(error: BaseException) -> Problem | None:
    """Put a `.problem` on an error that a stand-in has raised by itself; what was found. None for all others.

    >>> from gradtape_standins import tensorflow as tf
    >>> try:
    ...     tf.matmul(tf.ones([3]), tf.ones([3, 2]))
    ... except tf.errors.InvalidArgumentError as error:
    ...     print(explain(error).code)
    GT111
    """
    if hasattr(error, "problem") or error.__traceback__ is None:
        return None
    place, raised = None, error.__traceback__
    while True:
        if not is_library(raised.tb_frame.f_code.co_filename):
            place = Location(raised.tb_frame.f_code, raised.tb_lasti)
        if raised.tb_next is None:
            break
        raised = raised.tb_next
    file, text = raised.tb_frame.f_code.co_filename, str(error)
    if not file.startswith(_HERE) or file.endswith(_ASSERTIONS) or not text:
        return None
    kind = _kind(error, text)
    if kind is None:
        return None
    found = problem_from_text(text, kind)
    if found.code == "GT110" and _LABELS.search(found.title):
        found = found.with_(code="GT118")
    if place is not None and not any(span.line == place.line for span in found.spans):
        found = found.with_(spans=(span_of(place), *found.spans))
    error.problem = found  # type: ignore[attr-defined]
    return found


def _kind(error: BaseException, text: str) -> type[errors.GradTapeError] | None:
    """The class of ours for an error of another library's; None if it is not about tensors and how they are used."""
    title = text.partition("\n")[0]
    is_python = isinstance(error, ValueError | TypeError | RuntimeError)
    is_ours = "\n  fix: " in text or type(error).__name__ == "InvalidArgumentError"
    if isinstance(error, NotImplementedError):
        return errors.UnsupportedError
    if isinstance(error, IndexError):
        return errors.IndexingError
    if _ROLE.search(title):
        return errors.OperandError
    if is_python or is_ours:
        if _DTYPES.search(title):
            return errors.DtypeError
        return errors.ShapeError if _SHAPES.search(title) else errors.OperandError
    return None


__all__ = ["explain"]
