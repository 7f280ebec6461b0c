"""Losses of classification: cross entropy from logits, with its rule "softmax less target", and what is related.

Of logits x and a target distribution y the cross entropy is -sum(y log softmax(x)). For a class label it is
logsumexp(x) - x[label], and neither the softmax nor a one-hot array is stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.operation import Lifted, Op
from gradtape.core.rules import general
from gradtape.core.tensor import plain
from gradtape.core.typing import Array, DTypeLike, TensorLike
from gradtape.errors import OperandError, ShapeError
from gradtape.ops.arguments import argument_error, as_value, one_axis
from gradtape.ops.indexing import take
from gradtape.ops.labels import batch_labelled, checked_labels, hot, pick
from gradtape.ops.loss_checks import note_positive, note_probabilities
from gradtape.ops.reductions import sum
from gradtape.ops.softmax import _log_softmax_kernel, _top, log_softmax, softmax

__all__ = ["cross_entropy", "nll_loss"]


# -- of class labels


def _label_kernel(x: Array, labels: Array, axis: int) -> Any:
    if x.dtype.kind == "c":
        raise TypeError("logits are real numbers")
    shifted = x - _top(x, (axis,))
    picked = pick.kernel(shifted, labels, axis=axis, classes=x.shape[axis])
    losses = np.log(np.sum(np.exp(shifted, out=shifted), axis=axis)) - picked
    return losses if labels.min(initial=0) >= 0 else np.where(labels < 0, x.dtype.type(0), losses)


def _excess_kernel(x: Array, labels: Array, axis: int) -> Any:
    """softmax(x), less 1 at the label; zeros where the label is to be ignored."""
    if x.dtype.kind == "c":
        raise TypeError("logits are real numbers")
    out = x - _top(x, (axis,))
    np.exp(out, out=out)
    out /= np.sum(out, axis=axis, keepdims=True)
    if not x.shape[axis]:
        return out
    if axis == 1 and x.ndim == 2:
        out[np.arange(len(labels)), labels] -= 1
    else:
        places = np.expand_dims(np.maximum(labels, 0), axis)
        np.put_along_axis(out, places, np.take_along_axis(out, places, axis) - x.dtype.type(1), axis)
    return out if labels.min(initial=0) >= 0 else np.where(np.expand_dims(labels, axis) < 0, x.dtype.type(0), out)


def _softmax_change(change: Any, x: Array, labels: Array, axis: int) -> Any:
    """The derivative of softmax, which is symmetric: p (change - sum(p change)); 0 where the label is ignored."""
    p = np.where(np.expand_dims(labels, axis) < 0, np.zeros((), x.dtype), softmax(x, axis))
    return p * (change - sum(p * change, axis=axis, keepdims=True))


_excess: Op = general(
    _excess_kernel,
    reverse=lambda g, x, labels, axis: (_softmax_change(g, x, labels, axis), None),
    forward=lambda dx, x, labels, axis: _softmax_change(dx, x, labels, axis),
    name="softmax less label",
    names=("x", "labels"),
    inputs=2,
    batch=batch_labelled,
    samples=lambda draw: [
        ((draw(4, 3), np.array([1, 0, -1, 2])), {"axis": 1}),
        ((draw(2, 3, 2), np.array([[0, 2], [1, 1]])), {"axis": 1}),
    ],
)
_label_entropy: Op = general(
    _label_kernel,
    reverse=lambda g, x, labels, axis: (np.expand_dims(g, axis) * _excess(x, labels, axis=axis), None),
    forward=lambda dx, x, labels, axis: sum(dx * _excess(x, labels, axis=axis), axis=axis),
    name="cross entropy of labels",
    names=("x", "labels"),
    inputs=2,
    batch=batch_labelled,
    samples=lambda draw: [
        ((draw(4, 3), np.array([1, 0, -1, 2])), {"axis": 1}),
        ((draw(2, 3, 2), np.array([[0, 2], [1, 1]])), {"axis": 1}),
        ((draw(3), np.array(2)), {"axis": 0}),
        ((draw(0, 3), np.zeros(0, int)), {"axis": 1}),
    ],
)


# -- of target distributions


def _soft_kernel(x: Array, y: Array, axis: int) -> Any:
    """-sum(y log softmax(x)); where y is 0 nothing is added, whatever the logarithm."""
    if x.dtype.kind == "c" or y.dtype.kind == "c":
        raise TypeError("logits and probabilities are real numbers")
    logarithm = _log_softmax_kernel(x, (axis,))
    return -np.sum(np.where(y == 0, y.dtype.type(0), y) * np.where(y == 0, x.dtype.type(0), logarithm), axis=axis)


def _soft_excess(x: Array, y: Array, axis: int) -> Any:
    return softmax(x, axis) * sum(y, axis=axis, keepdims=True) - y


def _nothing_of_nothing(change: Any, slope: Array) -> Any:
    """The product, where 0 times infinity is 0."""
    still = change == 0
    return np.where(still, np.zeros((), change.dtype), change) * np.where(still, np.zeros((), slope.dtype), slope)


_soft_entropy: Op = general(
    _soft_kernel,
    reverse=lambda g, x, y, axis: (
        np.expand_dims(g, axis) * _soft_excess(x, y, axis),
        np.expand_dims(-g, axis) * log_softmax(x, axis),
    ),
    forward=lambda dx, dy, x, y, axis: sum(
        dx * _soft_excess(x, y, axis) - _nothing_of_nothing(dy, log_softmax(x, axis)), axis=axis
    ),
    name="cross entropy of distributions",
    inputs=2,
    batch=batch_labelled,
    samples=lambda draw: [
        ((draw(3, 4), draw.between((0.1, 0.9), (3, 4))), {"axis": 1}),
        ((draw(2, 3, 2), draw.between((0.1, 0.9), (2, 3, 2))), {"axis": 1}),
        ((draw(3), draw.between((0.1, 0.9), (3,))), {"axis": 0}),
    ],
)


# -- arguments


def reduce_losses(name: str, losses: Array, reduction: str, total: Array | None = None) -> Any:
    """The losses as they are, their sum, or their mean: the sum divided by `total`, or by how many they are."""
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    if reduction != "mean":
        raise argument_error(OperandError, f"{name}: reduction={reduction!r}.", "reduction 'mean', 'sum' or 'none'")
    return losses.mean() if total is None else losses.sum() / total


def _class_axis(name: str, input: Array, axis: int | None) -> int:
    if not input.ndim:
        raise argument_error(
            ShapeError, f"{name}: input is a single number; it needs an axis of classes.", "an array of logits"
        )
    return (1 if input.ndim > 1 else 0) if axis is None else one_axis(axis, input.ndim)


def _check_order(name: str, input: Array, target: Array) -> None:
    """Refuse labels, integers, that are given as the logits, with one row of numbers for each as the target."""
    if target.dtype.kind == "f" and target.ndim == input.ndim + 1 and target.shape[:1] == input.shape[:1]:
        raise argument_error(
            ShapeError,
            f"{name}: input has dtype {input.dtype} and shape {input.shape}, as labels have, and target has dtype "
            f"{target.dtype} and shape {target.shape}, as logits have.",
            "input and target the other way round: first the logits, then the labels",
        )


def _check_labels(name: str, input: Array, target: Array, place: int) -> None:
    """Refuse a target of labels that is not one label for each of the examples of `input`."""
    examples = (*input.shape[:place], *input.shape[place + 1 :])
    if target.shape == examples:
        return
    classes = input.shape[place]
    fix = f"a target of shape {examples}, of labels from 0 to {classes - 1}"
    if target.shape == input.shape:
        fix = f"target.argmax({place}) for labels, or target.astype(input.dtype) for probabilities, if it is one-hot"
    elif target.ndim == input.ndim and target.shape[place] == 1:
        index = ", ".join([":"] * place + ["0"])
        fix = f"target[{index}] drops the axis of length 1"
    else:
        along = [axis for axis in range(input.ndim) if target.shape == input.shape[:axis] + input.shape[axis + 1 :]]
        highest = target.max(initial=0) if isinstance(target, np.ndarray) else 0
        if len(along) == 1 and highest < input.shape[along[0]]:
            axis = -1 if along[0] == input.ndim - 1 else along[0]
            fix = f"axis={axis}, where the {input.shape[axis]} classes are if each of the labels is for one example"
    raise argument_error(
        ShapeError,
        f"{name}: target of {target.dtype} labels has shape {target.shape}, input has shape {input.shape} with its "
        f"{classes} classes along axis {place}; one label for each example is accepted, shape {examples}.",
        fix,
    )


def _class_weight(name: str, weight: TensorLike, classes: int, dtype: DTypeLike) -> Array:
    weight = as_value(weight)
    if weight.shape != (classes,):
        raise argument_error(
            ShapeError,
            f"{name}: weight has shape {weight.shape}; one weight for each of the {classes} classes is accepted.",
            f"a weight of shape ({classes},)",
        )
    return weight if weight.dtype == dtype else weight.astype(dtype)


def _label_total(labels: Array, weights: Array | None, dtype: DTypeLike) -> Any:
    """What the sum is divided by for a mean: how many labels are not ignored, or the sum of their weights.

    None stands for the number of all of them.
    """
    if weights is not None:
        return weights.sum()
    if not isinstance(labels, Lifted) and plain(labels).min(initial=0) >= 0:
        return None
    return (labels >= 0).astype(dtype).sum()


def _weights_of(weight: Array, labels: Array) -> Any:
    """The weight of each label's class; 0 where it is ignored."""
    return np.where(labels < 0, np.zeros((), weight.dtype), take(weight, np.maximum(labels, 0), axis=0))


def cross_entropy(
    input: TensorLike,
    target: TensorLike,
    weight: TensorLike | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    axis: int | None = None,
) -> Any:
    """The cross entropy of logits (examples, classes, ...) and targets: class labels, or probabilities.

    Integer targets are labels, one for each example, (examples, ...); floating point targets are probabilities in the
    shape of the logits. Examples whose label is `ignore_index` do not count. `weight` has a number for each class; a
    mean over labels is weighted with them. With `label_smoothing` a share of the target is spread over all classes.
    The classes are along axis 1, unless `axis` is given. The mean over no example at all is NaN.

    >>> import numpy as np, gradtape as gt
    >>> logits = gt.tensor([[0.0, 0.0], [1000.0, 0.0]])
    >>> gt.nn.functional.cross_entropy(logits, [0, 0], reduction="none")
    Tensor([0.69314718, 0.        ])
    >>> gt.grad(gt.nn.functional.cross_entropy)(logits, np.array([0, 1]))
    Tensor([[-0.25,  0.25],
            [ 0.5 , -0.5 ]])
    """
    name = "cross_entropy"
    input, target = as_value(input), as_value(target)
    if input.dtype.kind in "iu":
        _check_order(name, input, target)
    input = _logits(input)
    place = _class_axis(name, input, axis)
    classes = input.shape[place]
    if not 0 <= label_smoothing <= 1:
        raise argument_error(OperandError, f"{name}: label_smoothing={label_smoothing!r}.", "a share between 0 and 1")
    if weight is not None:
        weight = _class_weight(name, weight, classes, input.dtype)
    note_probabilities(name, input, place)
    along = (-1,) + (1,) * (input.ndim - place - 1)
    if target.dtype.kind == "f":
        if target.shape != input.shape:
            examples = (*input.shape[:place], *input.shape[place + 1 :])
            fix = f"shape {input.shape}"
            if target.shape == examples:
                fix = "target.astype(int), if it holds labels"
            elif target.shape == (*input.shape[:place], 1, *input.shape[place + 1 :]):
                fix = f"target[{':, ' * place}0].astype(int), if it holds labels"
            raise argument_error(
                ShapeError,
                f"{name}: target of {target.dtype} probabilities has shape {target.shape}; that of the input, "
                f"{input.shape}, is accepted.",
                fix,
            )
        if target.dtype != input.dtype:
            target = target.astype(input.dtype)
        if label_smoothing:
            target = target * (1 - label_smoothing) + label_smoothing / classes
        if weight is not None:
            target = target * weight.reshape(along)
        return reduce_losses(name, _soft_entropy(input, target, axis=place), reduction)
    if target.dtype.kind not in "iu":
        raise argument_error(
            OperandError,
            f"{name}: target has dtype {target.dtype}; integers (labels) or floating point numbers (probabilities) are "
            "accepted.",
            "target.astype(int) for labels, target.astype(float) for probabilities",
        )
    _check_labels(name, input, target, place)
    labels = checked_labels(target, classes, name, ignored=ignore_index)
    weights = None if weight is None else _weights_of(weight, labels)
    if label_smoothing:
        spread: Any = hot(labels, classes=classes, axis=place, dtype=input.dtype) * (1 - label_smoothing)
        if weight is not None:
            spread = spread * weight.reshape(along)
        rest = label_smoothing / classes * (1 if weight is None else weight.reshape(along))
        spread = spread + np.where(np.expand_dims(labels, place) < 0, np.zeros((), input.dtype), rest)
        losses = _soft_entropy(input, spread.astype(input.dtype), axis=place)
    else:
        losses = _label_entropy(input, labels, axis=place)
        if weights is not None:
            losses = losses * weights
    if reduction == "mean":
        return reduce_losses(name, losses, reduction, _label_total(labels, weights, input.dtype))
    return reduce_losses(name, losses, reduction)


def _logits(input: TensorLike) -> Array:
    input = as_value(input)
    return input if input.dtype.kind in "fc" else input.astype(float)


def nll_loss(
    input: TensorLike,
    target: TensorLike,
    weight: TensorLike | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    axis: int | None = None,
) -> Any:
    """What `cross_entropy` is for labels, from logarithms of probabilities (examples, classes, ...): -input[label].

    >>> import numpy as np, gradtape as gt
    >>> gt.nn.functional.nll_loss(np.log(gt.tensor([[0.5, 0.5]])), [1])
    Tensor(0.69314718)
    """
    name = "nll_loss"
    input, target = _logits(input), as_value(target)
    place = _class_axis(name, input, axis)
    classes = input.shape[place]
    if target.dtype.kind in "iu":
        _check_labels(name, input, target, place)
    labels = checked_labels(target, classes, name, ignored=ignore_index)
    note_positive(name, input, place)
    losses = -pick(input, labels, axis=place, classes=classes)
    weights = None if weight is None else _weights_of(_class_weight(name, weight, classes, input.dtype), labels)
    if weights is not None:
        losses = losses * weights
    if reduction == "mean":
        return reduce_losses(name, losses, reduction, _label_total(labels, weights, input.dtype))
    return reduce_losses(name, losses, reduction)
