"""Losses of `torch.nn.functional` that are made of others: margins of several labels, and alignments (CTC)."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete, reduce_losses
from gradtape.nn import functional as ours
from gradtape_standins.torch.nn.loss_functions import reduction_of
from gradtape_standins.torch.wrapping import floating, function

__all__ = [
    "ctc_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "triplet_margin_with_distance_loss",
]


@function("MultiMarginLoss")
def multi_margin_loss(
    input: Any, target: Any, p: int = 1, margin: float = 1.0, weight: Any = None, reduction: str = "mean"
) -> Any:
    """The mean over classes of max(0, margin - input[label] + input[class])^p, the label left out."""
    picked = gt.take_along_axis(input, gt.expand_dims(target, -1), -1)
    missed = gt.relu(margin - picked + input) ** p
    if weight is not None:
        missed = missed * gt.expand_dims(gt.take(weight, target, 0), -1)
    others = gt.where(ours.one_hot(target, input.shape[-1]) > 0, 0.0, missed)
    return reduce_losses("multi_margin_loss", gt.mean(floating(others), -1), reduction_of(reduction))


@function("MultilabelMarginLoss")
def multilabel_margin_loss(input: Any, target: Any, reduction: str = "mean", **_: Any) -> Any:
    """The sum over labels and other classes of max(0, 1 - input[label] + input[class]), over the number of classes.

    The labels of an example are the numbers in front of the first -1.
    """
    labels = np.asarray(concrete(target))
    count = input.shape[-1]
    ahead = np.cumprod(labels >= 0, -1, dtype=bool)
    times = ((labels[..., None] == np.arange(count)) & ahead[..., None]).sum(-2)  # how often each class is a label
    weights = (times[..., :, None] * (times == 0)[..., None, :]).astype(input.dtype)
    missed = gt.relu(1 - gt.expand_dims(input, -1) + gt.expand_dims(input, -2)) * weights
    losses = gt.sum(missed, (-2, -1)) / count
    return reduce_losses("multilabel_margin_loss", losses, reduction_of(reduction))


@function("Mean")
def multilabel_soft_margin_loss(input: Any, target: Any, weight: Any = None, reduction: str = "mean", **_: Any) -> Any:
    """The mean over classes of the binary cross entropy of logits."""
    each = ours.binary_cross_entropy_with_logits(input, target, reduction="none")
    losses = gt.mean(each if weight is None else each * weight, -1)
    return reduce_losses("multilabel_soft_margin_loss", losses, reduction_of(reduction))


def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Any = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """max(0, margin + the distance to `positive` - that to `negative`)."""
    from gradtape_standins.torch.nn import functional

    distance = functional.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    losses = (margin + near - far).clamp(min=0.0)
    return losses if reduction == "none" else losses.sum() if reduction == "sum" else losses.mean()


# -- alignments

_NEVER = -1e30
"""The logarithm of the probability of what cannot be: a number, so that differences of two of them are numbers."""


def _lengths(name: str, lengths: Any, count: int) -> Any:
    found = np.asarray(concrete(lengths) if isinstance(lengths, gt.Tensor) else lengths).reshape(-1)
    if len(found) != count:
        raise RuntimeError(f"{name} must be of size batch_size: {len(found)} for {count} examples")
    return found


def _labels(targets: Any, lengths: Any) -> Any:
    """The labels of each example in a row of its own, from rows or from one behind the other."""
    given = np.asarray(concrete(targets))
    if given.ndim == 2:
        return given[:, : int(lengths.max(initial=0))]
    if len(given) != lengths.sum():
        raise RuntimeError(
            f"ctc_loss: there are {len(given)} targets, and target_lengths add up to {int(lengths.sum())}.\n"
            "  fix: targets of shape (examples, longest), or all labels one behind the other"
        )
    rows = np.zeros((len(lengths), int(lengths.max(initial=0))), given.dtype)
    rows[np.arange(rows.shape[1]) < lengths[:, None]] = given
    return rows


def _ctc_label(*args: Any, reduction: str = "mean", zero_infinity: bool = False, **_: Any) -> str:
    """What PyTorch calls the last operation, by how the losses are put together."""
    return {"mean": "Mean", "sum": "Sum"}.get(reduction, "Where" if zero_infinity else "CtcLoss")


@function("CtcLoss", _ctc_label)
def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """-log of the probability of a sequence of labels, summed over all ways to align it with longer sequences.

    `log_probs` has the shape (time, examples, classes). An alignment repeats labels and puts blanks between them.
    """
    single = len(log_probs.shape) == 2
    given = gt.expand_dims(log_probs, 1) if single else log_probs
    times, count, _classes = given.shape
    if not given.size:
        raise RuntimeError(
            f"log_probs tensor must not be empty: it has the shape {list(log_probs.shape)}.\n"
            "  fix: at least one step in time, one example and one class"
        )
    steps, sizes = _lengths("input_lengths", input_lengths, count), _lengths("target_lengths", target_lengths, count)
    if steps.max(initial=0) > times:
        raise RuntimeError(
            f"Expected input_lengths to have value at most {times}, but got value {int(steps.max())}.\n"
            "  fix: log_probs has the shape (time, examples, classes); permute(1, 0, 2) if examples come first"
        )
    labels = _labels(targets, sizes) if not single or len(targets.shape) == 2 else np.asarray(concrete(targets))[None]
    places = np.full((count, 2 * labels.shape[1] + 1), blank, np.int64)
    places[:, 1::2] = labels
    skips = np.zeros(places.shape, bool)  # where a blank may be left out: between two labels that differ
    skips[:, 3::2] = labels[:, 1:] != labels[:, :-1]
    emitted = gt.take_along_axis(given, np.broadcast_to(places, (times, *places.shape)), 2)
    never = np.full(places.shape, _NEVER, given.dtype)
    begins = (np.arange(places.shape[1]) < 2) & (np.arange(places.shape[1]) <= 2 * sizes[:, None])
    ways = gt.where(begins, emitted[0], never)
    for time in range(1, times):
        one = gt.concatenate([never[:, :1], ways[:, :-1]], 1)
        two = gt.where(skips, gt.concatenate([never[:, :2], ways[:, :-2]], 1)[:, : places.shape[1]], never)
        moved = gt.logsumexp(gt.stack([ways, one, two]), 0) + emitted[time]
        ways = gt.where((time < steps)[:, None], moved, ways)
    last = gt.take_along_axis(ways, 2 * sizes[:, None], 1)[:, 0]
    before = gt.take_along_axis(ways, np.maximum(2 * sizes - 1, 0)[:, None], 1)[:, 0]
    losses = -gt.where(sizes > 0, gt.logaddexp(last, before), last)
    if not np.all(steps):  # nothing was emitted: certain for no labels, impossible for others
        losses = gt.where(steps > 0, losses, np.where(sizes > 0, -_NEVER, 0.0).astype(given.dtype))
    impossible = np.asarray(concrete(gt.stop_gradient(losses))) > -_NEVER / 2
    losses = gt.where(impossible, np.asarray(0.0 if zero_infinity else np.inf, given.dtype), losses)
    if reduction == "mean":
        losses = losses / np.maximum(sizes, 1).astype(given.dtype)
    reduction = reduction_of(reduction)
    return losses[0] if single and reduction == "none" else reduce_losses("ctc_loss", losses, reduction)
