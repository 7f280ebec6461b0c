"""The losses of `torch.nn.functional`."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.errors import ShapeError
from gradtape.extend import Location, argument_error, problem, report
from gradtape.nn import functional as ours
from gradtape_standins.torch import dtypes
from gradtape_standins.torch.size_and_device import Size
from gradtape_standins.torch.tensor import Tensor
from gradtape_standins.torch.wrapping import Function, function

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "nll_loss",
    "pairwise_distance",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
]


def reduction_of(reduction: str, size_average: Any = None, reduce: Any = None) -> str:
    """How a loss is reduced; `size_average` and `reduce` are how that was asked for before reductions had names."""
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            UserWarning,
            stacklevel=4,
        )
    if reduction not in ("mean", "sum", "none", "batchmean"):
        raise ValueError(f"{reduction} is not a valid value for reduction; 'mean', 'sum' and 'none' are")
    return reduction


def _reducing(loss: Function) -> Function:
    """A loss whose reduction is checked before anything else."""

    @functools.wraps(loss)
    def reduced(
        *args: Any, reduction: str = "mean", size_average: Any = None, reduce: Any = None, **kwargs: Any
    ) -> Any:
        return loss(*args, reduction=reduction_of(reduction, size_average, reduce), **kwargs)

    return reduced


def _loss(name: str, label: str, check: Callable[[Any, Any], None] | None = None, alike: int = 0) -> Function:
    """A loss of gradtape's; the first operands, as many as `alike` says, are converted to one type."""
    compute = getattr(ours, name)

    def loss(*args: Any, **kwargs: Any) -> Any:
        return compute(*_one_kind(name, *args[:alike]), *args[alike:], **kwargs)

    loss.__name__, loss.__doc__ = name, compute.__doc__.partition("\n")[0]
    inner = _reducing(function(label)(loss))
    if check is None:
        return inner

    @functools.wraps(inner)
    def checked(input: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        check(input, target)
        return inner(input, target, *args, **kwargs)

    return checked


def _same_sizes(input: Any, target: Any) -> None:
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(
            f"Target size ({target.shape}) must be the same as input size ({input.shape}).\n"
            "  fix: target.reshape(input.shape), or input.squeeze(1)"
        )


def _probabilities(input: Any, target: Any) -> None:
    _same_sizes(input, target)
    if target.dtype != input.dtype:
        raise RuntimeError(
            f"binary_cross_entropy: the target has {target.dtype}, and the input {input.dtype}.\n  fix: target.float()"
        )


def _stretched(name: str, input: Any, target: Any) -> tuple[Any, Any]:
    """Operands of one shape; PyTorch warns where that takes stretching, because it is seldom meant."""
    try:
        shape = np.broadcast_shapes(input.shape, target.shape)
    except ValueError:
        raise argument_error(
            ShapeError,
            f"{name}: input has shape {list(input.shape)}, target has shape {list(target.shape)}; they do not fit.",
            "an input and a target of the same shape",
        ) from None
    said = (
        f"Using a target size ({Size(target.shape)}) that is different to the input size ({Size(input.shape)}). This "
        f"will likely lead to incorrect results due to broadcasting: every element of the one meets every element of "
        f"the other.\n{Location.here().show()}\n  fix: target.reshape(input.shape), or input.squeeze()"
    )
    both = shape not in (input.shape, target.shape)
    found = problem(
        "GT101" if both else "GT102",
        f"{name}: an input of shape {tuple(input.shape)} is compared with a target of shape {tuple(target.shape)}",
        fixes=["target.reshape(input.shape)"] if input.size == target.size else ["input and target of the same shape"],
        notes=[
            "every element of the one meets every element of the other"
            if both
            else f"one is stretched to the shape {tuple(shape)} of the other"
        ],
        consequence="the gradient has the right shape and the wrong value" if both else "",
    )
    report(found, said)
    return gt.broadcast_to(input, shape), gt.broadcast_to(target, shape)


def _differences(name: str, label: str, overload: Any = None) -> Function:
    """A loss of differences: operands in one type, stretched to one shape."""
    compute = getattr(ours, name)

    def loss(input: Any, target: Any, *old: Any, reduction: str = "mean", **kwargs: Any) -> Any:
        if input.shape != target.shape:
            input, target = _stretched(name, input, target)
        kind = dtypes.result(input, target)
        if kind.kind not in "fc":
            raise NotImplementedError(f"{name} is not implemented for {dtypes.of(kind)}.\n  fix: input.float()")
        input, target = (gt.astype(x, kind) if x.dtype != kind else x for x in (input, target))
        return compute(input, target, reduction=reduction, **kwargs)

    loss.__name__, loss.__doc__ = name, compute.__doc__.partition("\n")[0]
    return _reducing(function(label, overload)(loss))


_ABSOLUTE = {"mean": "Mean", "sum": "Sum", "none": "Abs"}
mse_loss = _differences("mse_loss", "MseLoss")
l1_loss = _differences("l1_loss", "Mean", lambda *args, reduction="mean", **_: _ABSOLUTE[reduction])
huber_loss = _differences("huber_loss", "HuberLoss")
smooth_l1_loss = _differences("smooth_l1_loss", "SmoothL1Loss")
binary_cross_entropy = _loss("binary_cross_entropy", "BinaryCrossEntropy", _probabilities)
binary_cross_entropy_with_logits = _loss(
    "binary_cross_entropy_with_logits", "BinaryCrossEntropyWithLogits", _same_sizes
)
poisson_nll_loss = _loss("poisson_nll_loss", "Mean")
gaussian_nll_loss = _loss("gaussian_nll_loss", "Mean")
soft_margin_loss = _loss("soft_margin_loss", "SoftMarginLoss")
hinge_embedding_loss = _loss("hinge_embedding_loss", "Mean")
margin_ranking_loss = _loss("margin_ranking_loss", "Mean")
cosine_embedding_loss = _loss("cosine_embedding_loss", "Mean", alike=2)
triplet_margin_loss = _loss("triplet_margin_loss", "Mean", alike=3)


_BY_REDUCTION = {"mean": "Mean", "sum": "Sum", "none": "Sub", "batchmean": "Div"}


@function("Div", lambda *args, reduction="mean", **kwargs: _BY_REDUCTION[reduction])
def _kl_div(input: Any, target: Any, reduction: str, log_target: bool) -> Any:
    return ours.kl_div(input, target, reduction, log_target)


def kl_div(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """target (log(target) - input): the divergence of `target` from a distribution given by its logarithm."""
    reduction = reduction_of(reduction, size_average, reduce)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' divides "
            "only by the batch size, and aligns with the KL math definition.",
            UserWarning,
            stacklevel=2,
        )
    return _kl_div(input, target, reduction=reduction, log_target=log_target)


@function("Sum", lambda *args, **kwargs: 1)
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along `dim`."""
    first, second = _one_kind("cosine_similarity", x1, x2)
    return ours.cosine_similarity(first, second, dim, eps)


@function("Norm", lambda *args, **kwargs: 1)
def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The p-norm of differences along the last axis."""
    first, second = _one_kind("pairwise_distance", x1, x2)
    return ours.pairwise_distance(first, second, p, eps, keepdim)


def _one_kind(name: str, *operands: Any) -> Any:
    """Operands in the type that PyTorch computes in; integers alone are refused."""
    if not operands:
        return []
    kind = dtypes.result(*operands)
    if kind.kind not in "fc":
        raise RuntimeError(
            f"{name}: expected common dtype to be floating point, yet common dtype is {dtypes.of(kind)}.\n"
            "  fix: x.float()"
        )
    return [gt.astype(x, kind) if x.dtype != kind else x for x in operands]


def _classes(compute: Any) -> Any:
    """A loss of (classes) for one example is that of a batch of one."""

    def loss(input: Any, target: Any, reduction: str = "mean", **options: Any) -> Any:
        if len(input.shape) != 1:
            return compute(input, target, reduction=reduction, **options)
        target = gt.expand_dims(target, 0)
        result = compute(gt.expand_dims(input, 0), target, reduction=reduction, **options)
        return result[0] if reduction == "none" else result

    return loss


@function("NllLoss", lambda input, target, label_smoothing=0.0, **_: "Add" if label_smoothing else 0)
def _cross_entropy(input: Any, target: Any, **options: Any) -> Any:
    return _classes(ours.cross_entropy)(input, target, **options)


@function("Div", lambda *args, **kwargs: 1)
def _soft_cross_entropy(input: Any, target: Any, **options: Any) -> Any:
    return _classes(ours.cross_entropy)(input, target, **options)


@function("NllLoss2D")
def _image_cross_entropy(input: Any, target: Any, **options: Any) -> Any:
    return ours.cross_entropy(input, target, **options)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """The cross entropy of logits and class labels, or of logits and probabilities."""
    reduction = reduction_of(reduction, size_average, reduce)
    options = {"weight": weight, "reduction": reduction, "label_smoothing": label_smoothing}
    if not target.dtype.is_floating_point:
        _check_labels("cross_entropy", input, target)
    if target.dtype.is_floating_point:
        return _soft_cross_entropy(input, target, **options)
    compute = _image_cross_entropy if input.ndim > 2 else _cross_entropy
    return compute(input, target, ignore_index=ignore_index, **options)


def _check_labels(name: str, input: Any, target: Any) -> None:
    """Refuse labels of another type than PyTorch takes, or of another number than there are examples."""
    if target.dtype not in (dtypes.int64, dtypes.uint8):
        raise RuntimeError(
            f"{name}: expected scalar type Long for the labels but found {target.dtype}.\n  fix: target.long()"
        )
    if input.ndim > 1 and target.ndim and input.shape[0] != target.shape[0]:
        raise ValueError(
            f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({target.shape[0]}).\n"
            "  fix: a label for each example; images of labels have the shape (examples, height, width)"
        )


@function("NllLoss", lambda input, *args, **kwargs: "NllLoss2D" if len(input.shape) > 2 else 0)
def _nll_loss(input: Any, target: Any, **options: Any) -> Any:
    return _classes(ours.nll_loss)(input, target, **options)


def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """What `cross_entropy` is for labels, from logarithms of probabilities."""
    reduction = reduction_of(reduction, size_average, reduce)
    _check_labels("nll_loss", input, target)
    return _nll_loss(input, target, weight=weight, ignore_index=ignore_index, reduction=reduction)
