"""What probability distributions are given: values whose shape meets that of the parameters, and logits."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

import torch

from gradtape.core.location import is_library, is_own_file
from gradtape.explain.detectors.broadcast import is_axis_explicit
from gradtape.explain.detectors.loss_input import warn_softmax_twice
from gradtape.explain.source.axes import is_outer
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.libraries import record_of
from gradtape.watching.torch.losses import judge_shapes, source_of

_FOLDER = torch.distributions.__path__[0]
_METHODS = frozenset({"log_prob", "__init__"})
_OF_LOGITS = ("Categorical", "OneHotCategorical", "OneHotCategoricalStraightThrough")


def judge_meeting(operands: Sequence[Any]) -> None:
    """Report that a distribution stretches a column and a vector to all pairs: values and parameters, or two of these.

    `operands` are what it gives to `broadcast_tensors`; those of a categorical one have an axis for its classes.
    """
    method = _method_called()
    if method is None or method.f_code.co_name not in _METHODS or len(operands) != 2:
        return
    held = method.f_locals.get("self")
    is_categorical = isinstance(held, torch.distributions.Categorical)
    if not all(isinstance(x, torch.Tensor) and x.dim() >= is_categorical for x in operands):
        return
    if operands[0] is method.f_locals.get("value"):
        operands = operands[::-1]  # as they are written: dist.log_prob(value)
    given = [x[..., 0] for x in operands] if is_categorical else list(operands)
    shapes = [tuple(x.shape) for x in given]
    if is_outer(shapes[0], shapes[1]) and not is_axis_explicit(UserExpression.present(), given, shapes):
        judge_shapes(given)


def judge_likelihood(operands: Sequence[Any]) -> None:
    """Report `dist.log_prob(y)` with a column of parameters and a vector of values, as an operation in it shows it."""
    shapes = [tuple(x.shape) if isinstance(x, torch.Tensor) else () for x in operands]
    if not is_outer(shapes[0], shapes[1]):
        return
    method = _method_called()
    if method is None or method.f_code.co_name != "log_prob":
        return
    held, value = method.f_locals.get("self"), method.f_locals.get("value")
    shape = tuple(getattr(held, "batch_shape", ()))
    if not isinstance(value, torch.Tensor) or getattr(held, "event_shape", None) != ():
        return
    if not is_outer(tuple(value.shape), shape):
        return
    index = next((i for i, x in enumerate(operands) if x is value), None)
    parameters = operands[1 - index] if index is not None and shapes[1 - index] == shape else torch.empty(shape)
    if not is_axis_explicit(UserExpression.present(), [parameters, value], [shape, tuple(value.shape)]):
        judge_shapes([parameters, value])


def judge_logits(logits: Any) -> None:
    """Report that a categorical distribution is given the result of a softmax as its logits."""
    method = _method_called()
    held = None if method is None else method.f_locals.get("self")
    if method is None or method.f_code.co_name != "__init__" or method.f_locals.get("logits") is None:
        return
    if type(held).__name__ in _OF_LOGITS:
        judge_softmax(f"{type(held).__name__}(logits=...)", logits)


def judge_softmax(name: str, logits: Any) -> None:
    """Report that what takes logits is given the result of a softmax."""
    made = source_of(record_of(logits))
    if made is not None and made.is_tracked and made.operation == "softmax":
        warn_softmax_twice(name, logits, -1, made)


def _method_called() -> FrameType | None:
    """The method of a distribution that the user's program has called; None if it has called something else."""
    frame: FrameType | None = sys._getframe(1)
    last: FrameType | None = None
    while frame is not None and (is_library(frame.f_code.co_filename) or is_own_file(frame.f_code.co_filename)):
        last, frame = frame, frame.f_back
    return last if last is not None and last.f_code.co_filename.startswith(_FOLDER) else None


__all__ = ["judge_likelihood", "judge_logits", "judge_meeting", "judge_softmax"]
