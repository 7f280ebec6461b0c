"""`tf.image`: turning, cutting, scaling and measuring images, through which gradients go."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import concrete
from gradtape_standins.missing_names import missing
from gradtape_standins.tensorflow import dtypes
from gradtape_standins.tensorflow.arrays import cast, convert_to_tensor, reverse
from gradtape_standins.tensorflow.conversion import integers, value_of
from gradtape_standins.tensorflow.errors import explained, in_tensorflow_terms
from gradtape_standins.tensorflow.random import generator_for
from gradtape_standins.tensorflow.tape import custom_gradient
from gradtape_standins.tensorflow.tensor import wrap


def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """Every pixel further from (or nearer to) the mean of its channel by a factor. There is no gradient.

    >>> from gradtape_standins import tensorflow as tf
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

    return wrap(np.asarray(concrete(result))), no_gradient


def adjust_brightness(image: Any, delta: Any) -> Any:
    """Every pixel brighter by `delta`."""
    return convert_to_tensor(image) + delta


def flip_left_right(image: Any) -> Any:
    """The columns in the other order."""
    return reverse(image, [-2])


def flip_up_down(image: Any) -> Any:
    """The rows in the other order."""
    return reverse(image, [-3])


def random_flip_left_right(image: Any, seed: Any = None) -> Any:
    """Each image with its columns in the other order, or not: as it falls."""
    whole = convert_to_tensor(image)
    value = value_of(whole)
    turned = generator_for(seed).random(value.shape[:-3]) < 0.5
    return wrap(gt.where(turned[..., None, None, None], value_of(flip_left_right(whole)), value))


@in_tensorflow_terms
def rot90(image: Any, k: int = 1, name: Any = None) -> Any:
    """Turned by `k` quarters, against the clock."""
    return wrap(gt.rot90(value_of(image), integers(k), axes=(-3, -2)))


@in_tensorflow_terms
def transpose(image: Any, name: Any = None) -> Any:
    """Rows and columns exchanged."""
    return wrap(gt.swapaxes(value_of(image), -3, -2))


@in_tensorflow_terms
def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """A part of the image."""
    top, left, height, width = (integers(n) for n in (offset_height, offset_width, target_height, target_width))
    return wrap(value_of(image)[..., top : top + height, left : left + width, :])


def central_crop(image: Any, central_fraction: float) -> Any:
    """The middle of the image."""
    whole = convert_to_tensor(image)
    starts = [int((n - n * central_fraction) / 2) for n in whole.shape[-3:-1]]
    sizes = [n - 2 * start for n, start in zip(whole.shape[-3:-1], starts)]
    return crop_to_bounding_box(whole, *starts, *sizes)


@in_tensorflow_terms
def rgb_to_grayscale(images: Any, name: Any = None) -> Any:
    """One channel: how bright each pixel is."""
    value = value_of(images)
    return wrap(gt.sum(value * np.array([0.2989, 0.5870, 0.1140], value.dtype), -1, keepdims=True))


def grayscale_to_rgb(images: Any, name: Any = None) -> Any:
    """Three channels that are alike."""
    return wrap(gt.repeat(value_of(images), 3, -1))


@in_tensorflow_terms
def per_image_standardization(image: Any) -> Any:
    """Each image with mean 0 and variance 1; flat ones are only shifted."""
    value = value_of(cast(image, "float32"))
    space = (-3, -2, -1)
    least = 1.0 / float(np.sqrt(np.prod(value.shape[-3:])))
    deviation = gt.maximum(gt.std(value, space, keepdims=True), least)
    return wrap((value - gt.mean(value, space, keepdims=True)) / deviation)


def _full_range(image: Any, most: int) -> Any:
    """From 0 to 1 as from 0 to `most`, with nothing beyond."""
    return wrap(gt.clip(value_of(image) * (most + 0.5), 0.0, float(most)))


def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: Any = None) -> Any:
    """Between integers of a full range and floats from 0 to 1."""
    whole, wanted = convert_to_tensor(image), dtypes.numpy_of(dtype)
    have = whole._value.dtype
    if have.kind == "f" and wanted.kind != "f":
        most = np.iinfo(wanted).max
        return cast(_full_range(whole, most), dtype)
    if have.kind != "f" and wanted.kind == "f":
        return cast(whole, dtype) * (1.0 / float(np.iinfo(have).max))
    return cast(whole, dtype)


@in_tensorflow_terms
def total_variation(images: Any, name: Any = None) -> Any:
    """The sum of the differences between neighbours, for each image.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.image.total_variation(tf.constant([[[0.0], [1.0]], [[0.0], [3.0]]])).numpy()
    np.float32(6.0)
    """
    value = value_of(images)
    down = value[..., 1:, :, :] - value[..., :-1, :, :]
    across = value[..., :, 1:, :] - value[..., :, :-1, :]
    space = (-3, -2, -1)
    return wrap(gt.sum(gt.absolute(down), space) + gt.sum(gt.absolute(across), space))


@in_tensorflow_terms
def image_gradients(image: Any) -> tuple[Any, Any]:
    """The differences between neighbours down and across, with zeros at the end."""
    value = value_of(image)
    down = gt.concatenate([value[:, 1:] - value[:, :-1], gt.zeros_like(value[:, :1])], 1)
    across = gt.concatenate([value[:, :, 1:] - value[:, :, :-1], gt.zeros_like(value[:, :, :1])], 2)
    return wrap(down), wrap(across)


class ResizeMethod:
    """How `resize` finds the pixels between pixels."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"


@in_tensorflow_terms
def resize(
    images: Any,
    size: Any,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: Any = None,
) -> Any:
    """The images in another size; linear between the middles of the pixels, or the nearest pixel.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.image.resize(tf.constant([[[0.0], [1.0]]]), [1, 4]).numpy().ravel()
    array([0.  , 0.25, 0.75, 1.  ], dtype=float32)
    """
    if method not in ("bilinear", "nearest") or preserve_aspect_ratio or antialias:
        raise NotImplementedError(
            explained("tf.image.resize: method 'bilinear' or 'nearest', plainly, is what this stand-in has")
        )
    value = value_of(images)
    value = value if method == "nearest" or value.dtype.kind == "f" else gt.astype(value, np.float32)
    for axis, length in zip((-3, -2), integers(size)):
        value = _resized(value, axis % value.ndim, length, method)
    return wrap(value)


def _resized(value: Any, axis: int, length: int, method: str) -> Any:
    """One axis in another length."""
    have = value.shape[axis]
    middles = (np.arange(length) + 0.5) * have / length
    if method == "nearest":
        return gt.take(value, np.minimum(np.floor(middles).astype(np.int64), have - 1), axis)
    places = np.clip(middles - 0.5, 0, have - 1)
    below = np.floor(places).astype(np.int64)
    above = np.minimum(below + 1, have - 1)
    share = (places - below).astype(value.dtype).reshape([-1 if n == axis else 1 for n in range(value.ndim)])
    low, high = gt.take(value, below, axis), gt.take(value, above, axis)
    return low + (high - low) * share


__all__ = ["ResizeMethod", "adjust_brightness", "adjust_contrast", "central_crop", "convert_image_dtype"]
__all__ += ["crop_to_bounding_box", "flip_left_right", "flip_up_down", "grayscale_to_rgb", "image_gradients"]
__all__ += ["per_image_standardization", "random_flip_left_right", "resize", "rgb_to_grayscale", "rot90"]
__all__ += ["total_variation", "transpose"]
_FILES = "image files are not in this stand-in.\n  fix: read them with another library, as NumPy arrays"
__getattr__ = missing(
    __name__, reasons=dict.fromkeys(("decode_image", "decode_jpeg", "decode_png", "encode_jpeg", "encode_png"), _FILES)
)
