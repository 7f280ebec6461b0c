"""What loss functions are given: shapes that are broadcast inside of them, probabilities for logits, the wrong axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from gradtape.explain.detectors.broadcast import one_sided_problem, outer_problem
from gradtape.explain.detectors.loss_input import (
    warn_labels_out_of_range,
    warn_labels_without_sign,
    warn_not_log_probabilities,
    warn_not_logarithm,
    warn_sigmoid_twice,
    warn_softmax_twice,
    warn_squashed,
    warn_swapped,
    warn_targets_not_probabilities,
)
from gradtape.explain.detectors.training_dynamics import wrong_axis_problem
from gradtape.explain.emit.policy import is_due, report
from gradtape.explain.messages import problem
from gradtape.explain.source.axes import is_outer, stretched_axes
from gradtape.explain.source.expression import UserExpression
from gradtape.explain.source.libraries import array_of, record_of
from gradtape.watching.record import CONSTANT, OperationRecord, WatchedRecord
from gradtape.watching.torch.operations import Rule

_ELEMENT_BY_ELEMENT = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss"})
LOSSES = _ELEMENT_BY_ELEMENT | {
    "cross_entropy",
    "nll_loss",
    "kl_div",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "gaussian_nll_loss",
    "poisson_nll_loss",
    "ctc_loss",
    "multilabel_soft_margin_loss",
    "cosine_embedding_loss",
    "hinge_embedding_loss",
}
_OF_SIGNS = frozenset({"cosine_embedding_loss", "hinge_embedding_loss", "soft_margin_loss"})
_POSITIVE_FUNCTIONS = frozenset({"softplus", "exp", "relu", "square"})
_SHAPE_CHANGES = frozenset({"reshape", "getitem", "transpose", "clone", "contiguous", "astype", "expand_dims"})
TOLERANCE = 1e-4


def judge_loss(record: OperationRecord, rule: Rule, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Report what is wrong with the operands of a loss function that was executed."""
    places = ("input1", "input2", "target") if rule.name == "cosine_embedding_loss" else ("input", "target")
    given = dict(zip(places, args), **kwargs)
    input = given.get("input", given.get("log_probs", given.get("input1")))
    target = given.get("target", given.get("targets"))
    if not isinstance(input, torch.Tensor) or not isinstance(target, torch.Tensor):
        return
    name = rule.name
    if name in _OF_SIGNS:
        _judge_signs(name, target)
    if name in _ELEMENT_BY_ELEMENT or name in ("gaussian_nll_loss", "poisson_nll_loss"):
        variance = given.get("var", args[2] if len(args) > 2 else None) if name == "gaussian_nll_loss" else None
        judge_shapes([input, target], isinstance(variance, torch.Tensor) and variance.shape == input.shape)
        if name == "poisson_nll_loss" and given.get("log_input", args[2] if len(args) > 2 else True) is True:
            made = source_of(record_of(input))
            if made is not None and made.operation in _POSITIVE_FUNCTIONS:
                warn_not_logarithm(name, made)
    elif name == "cross_entropy":
        _judge_logits(input, target)
        array = array_of(target) if target.is_floating_point() and target.shape == input.shape else None
        if array is not None and array.size and array.min() < -TOLERANCE:
            warn_targets_not_probabilities(name, target)
    elif name == "multilabel_soft_margin_loss":
        made = source_of(record_of(input))
        if made is not None and made.operation == "sigmoid":
            warn_sigmoid_twice(name, made)
    elif name == "ctc_loss":
        array = array_of(input)
        if array is not None and array.size and not _are_log_probabilities(array):
            warn_not_log_probabilities(name, input, array.ndim - 1)
    elif name in ("nll_loss", "kl_div"):
        is_log_target = bool(kwargs.get("log_target", False))
        if name == "nll_loss" or is_log_target or not _is_swapped(input, target):
            _judge_log_probabilities(name, record, input, target)
        else:
            warn_swapped(name, input, target)
    elif name in ("binary_cross_entropy", "binary_cross_entropy_with_logits"):
        made = source_of(record_of(input))
        if name.endswith("logits") and made is not None and made.operation == "sigmoid":
            warn_sigmoid_twice(name, made)
        array = array_of(target)
        if array is not None and array.size and not target.requires_grad:
            low, high = float(array.min()), float(array.max())
            if low < -TOLERANCE or high > 1 + TOLERANCE:
                warn_labels_out_of_range(name, target, low, high)


def _judge_signs(name: str, target: Any) -> None:
    """Report labels 0 and 1 where 1 and -1 are taken."""
    array = array_of(target)
    if array is not None and array.size and not target.requires_grad and set(np.unique(array)[:3]) == {0, 1}:
        warn_labels_without_sign(name, target)


def _are_log_probabilities(array: Any) -> bool:
    """Whether numbers are logarithms of probabilities that sum to 1 along the last axis."""
    if array.max() > TOLERANCE:
        return False
    with np.errstate(all="ignore"):
        return bool(np.abs(np.exp(array.astype(np.float64)).sum(axis=-1) - 1).max() <= 1e-2)


def _is_swapped(input: Any, target: Any) -> bool:
    """Whether the first argument has probabilities and the second has logarithms of them."""
    first, second = array_of(input), array_of(target)
    if first is None or second is None or not first.size or not second.size or first.ndim < 1:
        return False
    is_probabilities = first.min() >= 0 and np.allclose(first.sum(axis=-1), 1, atol=TOLERANCE)
    return bool(is_probabilities and second.max() <= TOLERANCE and second.min() < -TOLERANCE)


def judge_shapes(inputs: Sequence[Any], edits_target: bool = False) -> None:
    """Report a broadcast of the input and the target; `edits_target` if a third operand has the input's shape."""
    shapes = tuple(inputs[0].shape), tuple(inputs[1].shape)
    if shapes[0] == shapes[1]:
        return
    site = UserExpression.present()
    found = None
    if is_outer(*shapes):
        found = outer_problem(site, inputs)
        if edits_target:
            found = found.with_(fixes=sorted(found.fixes, key=lambda fix: "None" not in fix))
    else:
        records = [record_of(x) for x in inputs]
        tracked = [bool(record is not None and record.is_tracked) for record in records]
        index = 0 if tracked[0] or not tracked[1] else 1
        own, _ = stretched_axes(shapes[index], shapes[1 - index])
        if own and any(tracked):
            found = one_sided_problem(site, inputs, index, shapes)
    if found is not None and is_due(found.code, *found.place[1:]):
        report(found)


def _judge_logits(input: Any, target: Any) -> None:
    axis = 1 if input.dim() > 1 else 0
    made = source_of(record_of(input))
    if input.shape[axis] == 1 and not target.is_floating_point():
        site = UserExpression.present()
        found = problem(
            "GT404",
            f"cross_entropy of one class is 0 whatever the model gives: its input has shape {tuple(input.shape)}",
            spans=[site.span],
            operands=site.operands([input, target]),
            consequence="the loss and all gradients are zero: nothing is learnt",
            fixes="binary_cross_entropy_with_logits with targets of 0.0 and 1.0 and the same shape, for one output; "
            "or as many outputs as there are classes",
        )
        if is_due("GT404", *found.place[1:]):
            report(found)
        return
    if made is None or not made.is_tracked or input.shape[axis] < 2:
        return
    if made.operation == "sigmoid":
        warn_squashed("cross_entropy", made)
        return
    array = array_of(input)
    if array is None or not array.size or array.min() < 0 or input.dim() < 2:
        return
    if np.abs(array.sum(axis=axis) - 1).max() <= TOLERANCE:
        warn_softmax_twice("cross_entropy", input, axis)


def _judge_log_probabilities(name: str, record: OperationRecord, input: Any, target: Any) -> None:
    made = source_of(record_of(input))
    array = array_of(input)
    if made is None or array is None or not array.size:
        return
    axis = 1 if input.dim() > 1 else 0
    if array.max() > 1e-3:
        warn_not_log_probabilities(name, input, axis if name == "nll_loss" else None)
        return
    axes = made.params.get("axis")
    is_whole = made.operation == "log_softmax" and made.shape == tuple(input.shape)
    if name == "nll_loss" and is_whole and axes and axes != (axis,) and made.shape[axis] > 1:
        found = wrong_axis_problem(
            made, axes[0], axis, f"one of axis {axis} is picked for each of axis {axes[0]}", record
        )
        if is_due("GT501", *found.place[1:]):
            report(found)


def source_of(record: Any) -> WatchedRecord | None:
    """The operation that computed a value, before its shape was changed; None for leaves and constants."""
    while (
        isinstance(record, WatchedRecord)
        and record.operation in _SHAPE_CHANGES
        and record.parents
        and record.parents[0].operation
    ):
        record = record.parents[0]
    return record if isinstance(record, WatchedRecord) and record is not CONSTANT and record.operation else None


__all__ = ["LOSSES", "judge_loss", "judge_shapes", "source_of"]
