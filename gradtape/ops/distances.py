"""Angles and distances between vectors, and the losses that are made of them."""

from __future__ import annotations

from typing import Any

from gradtape.core.typing import TensorLike
from gradtape.errors import ShapeError
from gradtape.ops.arguments import argument_error, as_value, one_axis
from gradtape.ops.cross_entropy import reduce_losses
from gradtape.ops.elementwise import maximum, where
from gradtape.ops.loss_arguments import as_floating, cast_like, sign_targets
from gradtape.ops.norms import vector_norm
from gradtape.ops.reductions import sum
from gradtape.ops.softmax import relu

__all__ = ["cosine_embedding_loss", "cosine_similarity", "pairwise_distance", "triplet_margin_loss"]


def cosine_similarity(x1: TensorLike, x2: TensorLike, axis: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along `axis`; a length below `eps` counts as `eps`.

    >>> import gradtape as gt
    >>> gt.nn.functional.cosine_similarity(gt.tensor([1.0, 0.0]), gt.tensor([1.0, 1.0]), axis=0)
    Tensor(0.70710678)
    """
    x1 = as_floating("cosine_similarity", "x1", x1)
    x2 = cast_like("cosine_similarity", x1, x2, "x2", "x1")
    place = one_axis(axis, x1.ndim)
    units = [x / maximum(vector_norm(x, axis=place, keepdims=True), x.dtype.type(eps)) for x in (x1, x2)]
    return sum(units[0] * units[1], axis=place)


def cosine_embedding_loss(
    x1: TensorLike, x2: TensorLike, target: TensorLike, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """1 - cosine where the target is 1, max(0, cosine - margin) where it is -1; of vectors along the last axis.

    >>> import gradtape as gt
    >>> gt.nn.functional.cosine_embedding_loss(gt.tensor([[1.0, 0.0]]), gt.tensor([[0.0, 1.0]]), [1])
    Tensor(1.)
    """
    name = "cosine_embedding_loss"
    x1 = as_floating(name, "x1", x1)
    cosine = cosine_similarity(x1, cast_like(name, x1, x2, "x2", "x1"), axis=-1)
    target = as_value(target)
    if target.shape != cosine.shape:
        raise argument_error(
            ShapeError,
            f"{name}: target has shape {target.shape}, x1 has shape {x1.shape}; one number for each vector, "
            f"{cosine.shape}, is accepted.",
            f"a target of shape {cosine.shape}",
        )
    target = sign_targets(name, cosine, target)
    return reduce_losses(name, where(target > 0, 1 - cosine, relu(cosine - margin)), reduction)


def pairwise_distance(x1: TensorLike, x2: TensorLike, p: float = 2.0, eps: float = 1e-6, keepdims: bool = False) -> Any:
    """The p-norm of x1 - x2 + eps along the last axis.

    >>> import gradtape as gt
    >>> gt.nn.functional.pairwise_distance(gt.tensor([[3.0, 0.0]]), gt.tensor([[0.0, 4.0]]), eps=0.0)
    Tensor([5.])
    """
    x1 = as_floating("pairwise_distance", "x1", x1)
    apart = x1 - cast_like("pairwise_distance", x1, x2, "x2", "x1")
    return vector_norm(apart + eps if eps else apart, axis=-1, keepdims=keepdims, ord=p)


def triplet_margin_loss(
    anchor: TensorLike,
    positive: TensorLike,
    negative: TensorLike,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """max(0, margin + distance(anchor, positive) - distance(anchor, negative)), of vectors along the last axis.

    >>> import gradtape as gt
    >>> a, b, c = gt.tensor([[0.0, 0.0]]), gt.tensor([[3.0, 4.0]]), gt.tensor([[0.0, 2.0]])
    >>> gt.nn.functional.triplet_margin_loss(a, b, c, eps=0.0)
    Tensor(4.)
    """
    name = "triplet_margin_loss"
    anchor = as_floating(name, "anchor", anchor)
    positive = cast_like(name, anchor, positive, "positive", "anchor")
    negative = cast_like(name, anchor, negative, "negative", "anchor")
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    return reduce_losses(name, relu(margin + near - far), reduction)
