"""Losses that compare an input with a target, element by element.

Input and target have the same shape: they are never broadcast, because (n, 1) against (n,) would compare every
prediction with every target. The target is taken in the dtype of the input. Classification by logits and labels is in
`cross_entropy`, and what compares vectors in `distances`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtape.core.operation import Lifted
from gradtape.core.rules import elementwise
from gradtape.core.tensor import plain
from gradtape.core.typing import Array, TensorLike
from gradtape.errors import OperandError
from gradtape.ops.arguments import argument_error
from gradtape.ops.cross_entropy import reduce_losses
from gradtape.ops.elementwise import maximum, where
from gradtape.ops.loss_arguments import (
    apply_weight,
    as_floating,
    cast_like,
    input_and_target,
    require_positive,
    sign_targets,
)
from gradtape.ops.loss_checks import note_positive, note_sigmoid
from gradtape.ops.softmax import relu, sigmoid, softplus, softplus_kernel
from gradtape.ops.special import xlogy

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "hinge_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mae_loss",
    "margin_ranking_loss",
    "mse_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
]


# -- of differences


def mse_loss(input: TensorLike, target: TensorLike, reduction: str = "mean", weight: TensorLike | None = None) -> Any:
    """The mean of the squares of input - target.

    >>> import gradtape as gt
    >>> gt.nn.functional.mse_loss(gt.tensor([1.0, 2.0]), [1.0, 4.0])
    Tensor(2.)
    """
    input, target = input_and_target("mse_loss", input, target)
    return reduce_losses("mse_loss", apply_weight("mse_loss", np.square(input - target), weight), reduction)


def l1_loss(input: TensorLike, target: TensorLike, reduction: str = "mean", weight: TensorLike | None = None) -> Any:
    """The mean of the absolute values of input - target; where they are equal, the gradient is 0.

    >>> import gradtape as gt
    >>> gt.nn.functional.l1_loss(gt.tensor([1.0, 2.0]), [1.0, 4.0])
    Tensor(1.)
    """
    input, target = input_and_target("l1_loss", input, target)
    return reduce_losses("l1_loss", apply_weight("l1_loss", np.abs(input - target), weight), reduction)


mae_loss = l1_loss

# d^2 / 2 near 0; further away than delta, the straight line that goes on with the slope
_huber = elementwise(
    lambda x, delta: _huber_kernel(x, delta),
    lambda x, delta: np.clip(x, -delta, delta),
    name="huber",
    samples=lambda draw: [
        ((draw(3, 4),), {"delta": 0.8}),
        ((draw(),), {"delta": 0.8}),
        ((draw(0, 2),), {"delta": 1.0}),
    ],
)


def _huber_kernel(x: Array, delta: float) -> Any:
    if x.dtype.kind == "c":
        raise TypeError("differences are real numbers")
    distance = np.abs(x)
    near = np.minimum(distance, x.dtype.type(delta))
    return near * (distance - near / 2)


def huber_loss(
    input: TensorLike, target: TensorLike, reduction: str = "mean", delta: float = 1.0, weight: TensorLike | None = None
) -> Any:
    """d^2 / 2 for differences d up to `delta`, delta (|d| - delta / 2) beyond: outliers pull with a bounded force.

    >>> import gradtape as gt
    >>> gt.nn.functional.huber_loss(gt.tensor([1.0, 2.0]), [2.0, 12.0], reduction="none")
    Tensor([0.5, 9.5])
    """
    input, target = input_and_target("huber_loss", input, target)
    losses = _huber(input - target, delta=require_positive("huber_loss", "delta", delta))
    return reduce_losses("huber_loss", apply_weight("huber_loss", losses, weight), reduction)


def smooth_l1_loss(input: TensorLike, target: TensorLike, reduction: str = "mean", beta: float = 1.0) -> Any:
    """`huber_loss` divided by `beta`, its delta: the absolute value, rounded off near 0. With beta=0, `l1_loss`.

    >>> import gradtape as gt
    >>> gt.nn.functional.smooth_l1_loss(gt.tensor([1.0, 2.0]), [1.5, 12.0], reduction="none", beta=0.5)
    Tensor([0.25, 9.75])
    """
    if beta == 0:
        return l1_loss(input, target, reduction)
    delta = require_positive("smooth_l1_loss", "beta", beta)
    input, target = input_and_target("smooth_l1_loss", input, target)
    return reduce_losses("smooth_l1_loss", _huber(input - target, delta=delta) / delta, reduction)


# -- of probabilities

_LEAST_LOGARITHM = -100.0
_LEAST_VARIANCE = 1e-12  # of a probability p: p (1 - p)


def _binary_kernel(x: Array, y: Array) -> Any:
    if x.dtype.kind == "c" or y.dtype.kind == "c":
        raise TypeError("probabilities are real numbers")
    with np.errstate(divide="ignore"):
        one = np.maximum(np.log(x), x.dtype.type(_LEAST_LOGARITHM))
        other = np.maximum(np.log1p(-x), x.dtype.type(_LEAST_LOGARITHM))
    return -(y * one + (1 - y) * other)


_binary = elementwise(
    _binary_kernel,
    lambda x, y: (x - y) / np.maximum(x * (1 - x), _LEAST_VARIANCE),
    lambda x: np.clip(np.log1p(-x), _LEAST_LOGARITHM, None) - np.clip(np.log(x), _LEAST_LOGARITHM, None),
    name="binary cross entropy",
    domain=[(0.1, 0.9), (0.1, 0.9)],
)
# log(1 + exp(x)) - x y
_binary_with_logits = elementwise(
    lambda x, y: _binary_with_logits_kernel(x, y),
    lambda x, y: sigmoid(x) - y,
    lambda x: -x,
    name="binary cross entropy of logits",
)


def _binary_with_logits_kernel(x: Array, y: Array) -> Any:
    if x.dtype.kind == "c" or y.dtype.kind == "c":
        raise TypeError("logits and probabilities are real numbers")
    return softplus_kernel(x) - x * y


def _check_probabilities(name: str, what: str, given: Any) -> None:
    """Refuse numbers outside of 0 to 1, except inside `vmap`, where an example has no numbers to look at."""
    if isinstance(given, Lifted) or not given.size:
        return
    numbers = plain(given)
    low, high = float(np.min(numbers)), float(np.max(numbers))
    if low < 0 or high > 1:
        worst = low if -low > high - 1 else high
        raise argument_error(
            OperandError,
            f"{name}: {what} of shape {given.shape} has numbers from {low:.6g} to {high:.6g}, the worst of them "
            f"{worst:.6g}; probabilities between 0 and 1 are accepted.",
            "binary_cross_entropy_with_logits takes any numbers and is exact where they are large"
            if what == "input"
            else "targets between 0 and 1",
        )


def binary_cross_entropy(
    input: TensorLike, target: TensorLike, weight: TensorLike | None = None, reduction: str = "mean"
) -> Any:
    """-(target log(input) + (1 - target) log(1 - input)) of probabilities.

    Logarithms are at least -100, so that a probability of exactly 0 or 1 gives a large loss and no infinity.

    >>> import gradtape as gt
    >>> gt.nn.functional.binary_cross_entropy(gt.tensor([0.5, 1.0]), [1.0, 0.0], reduction="none")
    Tensor([  0.69314718, 100.        ])
    """
    name = "binary_cross_entropy"
    input, target = input_and_target(name, input, target)
    _check_probabilities(name, "input", input)
    _check_probabilities(name, "target", target)
    return reduce_losses(name, apply_weight(name, _binary(input, target), weight), reduction)


def binary_cross_entropy_with_logits(
    input: TensorLike,
    target: TensorLike,
    weight: TensorLike | None = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """`binary_cross_entropy` of sigmoid(input), without overflow and without loss of digits.

    `pos_weight` multiplies what positive targets add: one number, or one for each class (the last axis).

    >>> import gradtape as gt
    >>> gt.nn.functional.binary_cross_entropy_with_logits(gt.tensor([0.0, 1000.0]), [1.0, 0.0], reduction="none")
    Tensor([6.93147181e-01, 1.00000000e+03])
    """
    name = "binary_cross_entropy_with_logits"
    input, target = input_and_target(name, input, target)
    note_sigmoid(name, input)
    if pos_weight is None:
        losses = _binary_with_logits(input, target)
    else:
        positive = apply_weight(name, target, pos_weight, "pos_weight")
        losses = positive * softplus(-input) + (1 - target) * softplus(input)
    return reduce_losses(name, apply_weight(name, losses, weight), reduction)


def kl_div(input: TensorLike, target: TensorLike, reduction: str = "mean", log_target: bool = False) -> Any:
    """target (log(target) - input): the divergence of a distribution `target` from one given by its logarithm.

    With `log_target` the target is given by its logarithm too. The divergence of distributions is the sum;
    reduction="batchmean" divides it by the number of examples (the length of the first axis), "mean" by that of all
    numbers.

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.kl_div(np.log(gt.tensor([0.5, 0.5])), [1.0, 0.0], reduction="sum")
    Tensor(0.69314718)
    """
    input, target = input_and_target("kl_div", input, target)
    note_positive("kl_div", input)
    if log_target:
        losses = np.exp(target) * (target - input)
    else:
        losses = xlogy(target, target) - _product(target, input)
    if reduction == "batchmean":
        return losses.sum() / max(input.shape[0] if input.ndim else 1, 1)
    if reduction not in ("mean", "sum", "none"):
        raise argument_error(OperandError, f"kl_div: reduction={reduction!r}.", "'mean', 'batchmean', 'sum' or 'none'")
    return reduce_losses("kl_div", losses, reduction)


def _product(target: Array, logarithm: Any) -> Any:
    """target * logarithm, where 0 times -infinity is 0."""
    return target * where((target == 0) & np.isneginf(logarithm), np.zeros((), logarithm.dtype), logarithm)


# -- of likelihoods


def poisson_nll_loss(
    input: TensorLike,
    target: TensorLike,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Any:
    """-log of the Poisson probability of counts `target`: exp(input) - target * input, of the logarithm of a rate.

    With log_input=False the input is the rate itself. With `full`, Stirling's approximation of log(target!) is added
    where the target is above 1.

    >>> import gradtape as gt
    >>> gt.nn.functional.poisson_nll_loss(gt.tensor([0.0, 0.0]), [1.0, 3.0])
    Tensor(1.)
    """
    input, target = input_and_target("poisson_nll_loss", input, target)
    losses = np.exp(input) - target * input if log_input else input - target * np.log(input + eps)
    if full:
        above = where(target > 1, target, np.ones((), target.dtype))
        stirling = above * np.log(above) - above + 0.5 * np.log(2 * math.pi * above)
        losses = losses + where(target > 1, stirling, np.zeros((), target.dtype))
    return reduce_losses("poisson_nll_loss", losses, reduction)


def gaussian_nll_loss(
    input: TensorLike,
    target: TensorLike,
    var: TensorLike,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """-log of the normal density of `target` for the mean `input` and the variance `var`, which is at least `eps`.

    The variance has the shape of the input, or length 1 along its last axis. With `full` the constant log(2 pi) / 2 is
    added.

    >>> import gradtape as gt
    >>> gt.nn.functional.gaussian_nll_loss(gt.tensor([1.0]), [3.0], [1.0])
    Tensor(2.)
    """
    name = "gaussian_nll_loss"
    input, target = input_and_target(name, input, target)
    var = as_floating(name, "var", var).astype(input.dtype)
    if not (input.ndim and var.shape == (*input.shape[:-1], 1)):
        var = cast_like(name, input, var, "var")
    if not isinstance(var, Lifted) and var.size and float(np.min(plain(var))) < 0:
        raise argument_error(
            OperandError,
            f"{name}: var has a negative number, {float(np.min(plain(var))):.6g}.",
            "a variance, not below 0",
        )
    least = maximum(var, var.dtype.type(eps))
    losses = 0.5 * (np.log(least) + np.square(input - target) / least)
    return reduce_losses(name, losses + 0.5 * math.log(2 * math.pi) if full else losses, reduction)


# -- of margins


def hinge_loss(input: TensorLike, target: TensorLike, reduction: str = "mean", margin: float = 1.0) -> Any:
    """max(0, margin - target * input), for targets 1 and -1: what a support vector machine minimises.

    >>> import gradtape as gt
    >>> gt.nn.functional.hinge_loss(gt.tensor([2.0, 0.5]), [1.0, -1.0], reduction="none")
    Tensor([0. , 1.5])
    """
    input = as_floating("hinge_loss", "input", input)
    return reduce_losses("hinge_loss", relu(margin - sign_targets("hinge_loss", input, target) * input), reduction)


def soft_margin_loss(input: TensorLike, target: TensorLike, reduction: str = "mean") -> Any:
    """log(1 + exp(-target * input)), for targets 1 and -1.

    >>> import gradtape as gt
    >>> gt.nn.functional.soft_margin_loss(gt.tensor([0.0, -1000.0]), [1.0, 1.0], reduction="none")
    Tensor([6.93147181e-01, 1.00000000e+03])
    """
    input = as_floating("soft_margin_loss", "input", input)
    losses = softplus(-sign_targets("soft_margin_loss", input, target) * input)
    return reduce_losses("soft_margin_loss", losses, reduction)


def hinge_embedding_loss(input: TensorLike, target: TensorLike, margin: float = 1.0, reduction: str = "mean") -> Any:
    """Of distances: the distance itself where the target is 1, max(0, margin - distance) where it is -1.

    >>> import gradtape as gt
    >>> gt.nn.functional.hinge_embedding_loss(gt.tensor([2.0, 0.25]), [1.0, -1.0], reduction="none")
    Tensor([2.  , 0.75])
    """
    input = as_floating("hinge_embedding_loss", "input", input)
    target = sign_targets("hinge_embedding_loss", input, target)
    return reduce_losses("hinge_embedding_loss", where(target > 0, input, relu(margin - input)), reduction)


def margin_ranking_loss(
    input1: TensorLike, input2: TensorLike, target: TensorLike, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """max(0, margin - target * (input1 - input2)): input1 should be larger where the target is 1, smaller where -1.

    >>> import gradtape as gt
    >>> gt.nn.functional.margin_ranking_loss(gt.tensor([1.0]), gt.tensor([3.0]), [1.0])
    Tensor(2.)
    """
    name = "margin_ranking_loss"
    input1 = as_floating(name, "input1", input1)
    input2 = cast_like(name, input1, input2, "input2", "input1")
    losses = relu(margin - sign_targets(name, input1, target) * (input1 - input2))
    return reduce_losses(name, losses, reduction)
