"""`tf.image`: what the guide on gradients shows it for, an operation that has no gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt
from gradtape.standins.names import missing
from gradtape.standins.tensorflow.arrays import convert_to_tensor
from gradtape.standins.tensorflow.tape import custom_gradient
from gradtape.standins.tensorflow.tensor import wrap

__all__ = ["adjust_contrast"]


def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """Every pixel further from (or nearer to) the mean of its channel by a factor. There is no gradient.

    >>> from gradtape.standins import tensorflow as tf
    >>> tf.image.adjust_contrast(tf.constant([[[0.0], [1.0]]]), 2.0).numpy().ravel()
    array([-0.5,  1.5], dtype=float32)
    """
    computed: Any = _adjusted(convert_to_tensor(images), convert_to_tensor(contrast_factor))
    return computed


@custom_gradient
def _adjusted(images: Any, factor: Any) -> Any:
    value = gt.stop_gradient(images._value)
    mean = gt.mean(value, axis=(-3, -2), keepdims=True)
    result = (value - mean) * gt.stop_gradient(factor._value) + mean

    def no_gradient(upstream: Any, variables: Any = None) -> Any:
        raise LookupError("gradient registry has no entry for: AdjustContrastv2")

    return wrap(np.asarray(result._concrete())), no_gradient


__getattr__ = missing(
    __name__,
    reasons=dict.fromkeys(
        ("resize", "decode_image", "random_flip_left_right", "flip_left_right", "random_crop"),
        "images are not in this stand-in.\n  fix: NumPy or Python before the tensors are made",
    ),
)
