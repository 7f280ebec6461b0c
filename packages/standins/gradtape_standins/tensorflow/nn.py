"""`tf.nn`: activations, losses, normalisation, dropout, embeddings; convolutions and pooling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow import activations, convolutions
from gradtape_standins.tensorflow.activations import *  # noqa: F403
from gradtape_standins.tensorflow.conversion import Holder, axes, integers, tensors, value_of
from gradtape_standins.tensorflow.convolutions import *  # noqa: F403
from gradtape_standins.tensorflow.errors import explained, in_tensorflow_terms, invalid
from gradtape_standins.tensorflow.gather_and_sort import gather, is_traced_in_range
from gradtape_standins.tensorflow.random import generator_for
from gradtape_standins.tensorflow.reductions import l2_normalize, zero_fraction
from gradtape_standins.tensorflow.segments import in_top_k, top_k
from gradtape_standins.tensorflow.shapes import TensorShape
from gradtape_standins.tensorflow.tensor import check_kind, wrap

functional = gt.nn.functional


@in_tensorflow_terms
def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis: int = -1, name: str | None = None) -> Any:
    """The cross entropy of each example; the labels are probabilities along `axis`, and get gradients too.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.nn.softmax_cross_entropy_with_logits(labels=[[0.0, 1.0]], logits=[[0.0, 0.0]]).numpy()
    array([0.6931472], dtype=float32)
    """
    scores, probabilities = tensors(logits, labels, "softmax_cross_entropy_with_logits")
    check_kind(scores, "f", "softmax_cross_entropy_with_logits")
    try:
        np.broadcast_shapes(scores.shape, probabilities.shape)
    except ValueError:
        raise invalid(
            "softmax_cross_entropy_with_logits: logits and labels must have one shape; they have "
            f"{scores.shape} and {probabilities.shape}",
            "labels that are class numbers go into tf.nn.sparse_softmax_cross_entropy_with_logits",
        ) from None
    return wrap(-gt.sum(probabilities * gt.log_softmax(scores, axis), axis))


@in_tensorflow_terms
def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: str | None = None) -> Any:
    """The cross entropy of each example; the labels are the numbers of the classes."""
    scores, classes = value_of(logits), value_of(labels)
    check_kind(scores, "f", "sparse_softmax_cross_entropy_with_logits")
    check_kind(classes, "iu", "sparse_softmax_cross_entropy_with_logits")
    if scores.ndim - 1 != classes.ndim:
        raise ValueError(
            explained(
                "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: "
                f"labels.shape={classes.shape} of rank {classes.ndim} and logits.shape={scores.shape} of rank "
                f"{scores.ndim}",
                "one-hot labels go into tf.nn.softmax_cross_entropy_with_logits; a column, tf.squeeze(labels, -1)",
            )
        )
    if scores.shape[:-1] != classes.shape:
        raise ValueError(
            explained(
                f"`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
                f"labels.shape={classes.shape} and logits.shape={scores.shape}",
                "one label for each row of logits",
            )
        )
    if is_traced_in_range(classes, scores.shape[-1]):
        picked = gt.take_along_axis(gt.log_softmax(scores, -1), gt.expand_dims(gt.astype(classes, np.int64), -1), -1)
        return wrap(-gt.squeeze(picked, -1))
    places = np.asarray(concrete(classes)).astype(np.int64)
    if places.size and (places.min() < 0 or places.max() >= scores.shape[-1]):
        wrong = places[(places < 0) | (places >= scores.shape[-1])].ravel()[0]
        raise invalid(f"label {wrong} is not in [0, {scores.shape[-1]}), the range of the {scores.shape[-1]} classes")
    picked = gt.take_along_axis(gt.log_softmax(scores, -1), places[..., None], -1)
    return wrap(-gt.squeeze(picked, -1))


@in_tensorflow_terms
def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None) -> Any:
    """The cross entropy of each element, a yes or a no."""
    scores, targets = tensors(logits, labels, "sigmoid_cross_entropy_with_logits")
    if scores.shape != targets.shape:
        raise ValueError(
            explained(f"logits and labels must have one shape; they have {scores.shape} and {np.shape(targets)}")
        )
    return wrap(functional.binary_cross_entropy_with_logits(scores, targets, reduction="none"))


@in_tensorflow_terms
def weighted_cross_entropy_with_logits(labels: Any, logits: Any, pos_weight: Any, name: str | None = None) -> Any:
    """The cross entropy of each element, with a weight for the positive ones."""
    scores, targets = tensors(logits, labels, "weighted_cross_entropy_with_logits")
    weight = tensors(logits, pos_weight, "weighted_cross_entropy_with_logits")[1]
    return wrap(functional.binary_cross_entropy_with_logits(scores, targets, reduction="none", pos_weight=weight))


@in_tensorflow_terms
def log_poisson_loss(targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None) -> Any:
    """The negative log-likelihood of counts, given the logarithm of the rate."""
    rate, counts = tensors(log_input, targets, "log_poisson_loss")
    return wrap(functional.poisson_nll_loss(rate, counts, full=compute_full_loss, reduction="none"))


@in_tensorflow_terms
def l2_loss(t: Any, name: str | None = None) -> Any:
    """Half the sum of squares."""
    value = value_of(t)
    check_kind(value, "f", "l2_loss")
    return wrap(gt.sum(gt.square(value)) * 0.5)


@in_tensorflow_terms
def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Any:
    """A number added to each channel."""
    x, b = tensors(value, bias, "bias_add")
    if data_format is not None and data_format.upper().startswith("NC"):
        b = gt.reshape(b, (-1, *(1,) * (x.ndim - 2)))
    elif x.shape[-1] != b.shape[0]:
        raise invalid(f"bias_add: {b.shape[0]} biases for a last axis of length {x.shape[-1]}")
    return wrap(x + b)


@in_tensorflow_terms
def dropout(x: Any, rate: Any, noise_shape: Any = None, seed: Any = None, name: str | None = None) -> Any:
    """Zeros in the place of a share `rate` of the elements; the others are made that much greater."""
    value, share = value_of(x), float(np.asarray(concrete(value_of(rate))))
    check_kind(value, "f", "dropout")
    if not 0 <= share < 1:
        raise ValueError(explained(f"dropout: rate={share}; a number from 0 up to, but not including, 1 is wanted"))
    kept = generator_for(seed).random(_noise_shape(noise_shape, value.shape)) >= share
    return wrap(value * gt.Tensor((kept / (1 - share)).astype(value.dtype)))


def _noise_shape(given: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of what is drawn: None in the place of a length is that of the tensor."""
    if given is None:
        return shape
    asked = given.as_list() if isinstance(given, TensorShape) else integers(given)
    wanted = [asked] if isinstance(asked, int) else list(asked)
    if None in wanted and len(wanted) != len(shape):
        raise ValueError(
            explained(f"dropout: noise_shape={wanted} has a None, and not the {len(shape)} axes of the tensor, {shape}")
        )
    return tuple(length if n is None else n for n, length in zip(wanted, shape)) if None in wanted else tuple(wanted)


@in_tensorflow_terms
def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The mean and the variance along `axes`."""
    value, along = value_of(x), _tuple(axes)
    spread = gt.astype(gt.var(value, along, keepdims=keepdims), value.dtype)
    return wrap(gt.mean(value, along, keepdims=keepdims)), wrap(spread)


def _tuple(axis: Any) -> Any:
    return axes(axis)


@in_tensorflow_terms
def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any, name: str | None = None
) -> Any:
    """(x - mean) / sqrt(variance + epsilon), scaled and shifted."""
    value, centre = tensors(x, mean, "batch_normalization")
    spread = gt.sqrt(tensors(x, variance, "batch_normalization")[1] + float(variance_epsilon))
    made = (value - centre) / spread
    if scale is not None:
        made = made * tensors(x, scale, "batch_normalization")[1]
    return wrap(made if offset is None else made + tensors(x, offset, "batch_normalization")[1])


def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Any:
    """The rows of `params` at `ids`. Its gradient is dense."""
    if max_norm is not None:
        raise NotImplementedError(explained("embedding_lookup: max_norm is not in this stand-in", "tf.clip_by_norm"))
    return gather(params if isinstance(params, Holder) else value_holder(params), ids)


def value_holder(x: Any) -> Any:
    """`x` as a tensor."""
    return wrap(value_of(x))


@in_tensorflow_terms
def local_response_normalization(
    input: Any, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5, name: Any = None
) -> Any:
    """Each element divided by a power of the sum of squares of its neighbours among the channels."""
    value = value_of(input)
    channels = np.arange(value.shape[-1])
    near = (np.abs(channels[:, None] - channels) <= integers(depth_radius)).astype(value.dtype)
    return wrap(value / gt.power(bias + alpha * (gt.square(value) @ gt.Tensor(near)), beta))


def _channels_first(function: Callable[..., Any], images: Any, block_size: Any) -> Any:
    """`function`, which has the channels last, of images that have them first."""
    moved = function(wrap(gt.moveaxis(value_of(images), 1, -1)), block_size)
    return wrap(gt.moveaxis(value_of(moved), -1, 1))


@in_tensorflow_terms
def space_to_depth(input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Any:
    """Blocks of space moved into the channels."""
    if data_format == "NCHW":
        return _channels_first(space_to_depth, input, block_size)
    value = value_of(input)
    batch, height, width, channels = value.shape
    n = integers(block_size)
    parts = gt.reshape(value, (batch, height // n, n, width // n, n, channels))
    moved = gt.transpose(parts, (0, 1, 3, 2, 4, 5))
    return wrap(gt.reshape(moved, (batch, height // n, width // n, n * n * channels)))


@in_tensorflow_terms
def depth_to_space(input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Any:
    """Channels moved into blocks of space."""
    if data_format == "NCHW":
        return _channels_first(depth_to_space, input, block_size)
    value = value_of(input)
    batch, height, width, channels = value.shape
    n = integers(block_size)
    parts = gt.reshape(value, (batch, height, width, n, n, channels // (n * n)))
    moved = gt.transpose(parts, (0, 1, 3, 2, 4, 5))
    return wrap(gt.reshape(moved, (batch, height * n, width * n, channels // (n * n))))


def compute_average_loss(per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None) -> Any:
    """The sum of the losses divided by the size of the batch."""
    losses = value_of(per_example_loss)
    if sample_weight is not None:
        losses = losses * value_of(sample_weight, losses.dtype)
    return wrap(gt.sum(losses) / float(integers(global_batch_size) or losses.size))


__all__ = ["batch_normalization", "bias_add", "compute_average_loss", "depth_to_space", "dropout", "embedding_lookup"]
__all__ += ["in_top_k", "l2_loss", "l2_normalize", "local_response_normalization", "log_poisson_loss", "moments"]
__all__ += ["sigmoid_cross_entropy_with_logits", "softmax_cross_entropy_with_logits", "space_to_depth"]
__all__ += ["sparse_softmax_cross_entropy_with_logits", "top_k", "weighted_cross_entropy_with_logits"]
__all__ += ["zero_fraction"]
__all__ += activations.__all__
__all__ += convolutions.__all__
__getattr__ = missing(__name__)
