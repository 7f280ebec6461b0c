"""TensorArray, IndexedSlices, and the initialisers that TensorFlow has outside of Keras."""

from __future__ import annotations

from typing import Any

from gradtape.standins.tensorflow import arrays, picking, random
from gradtape.standins.tensorflow.conversion import integers, lengths
from gradtape.standins.tensorflow.dtypes import float32
from gradtape.standins.tensorflow.errors import explained, invalid


class TensorArray:
    """A list of tensors that is written to step by step; gradients go through it.

    >>> from gradtape.standins import tensorflow as tf
    >>> steps = tf.TensorArray(tf.float32, size=2)
    >>> steps = steps.write(0, 1.0).write(1, 2.0)
    >>> steps.stack().numpy()
    array([1., 2.], dtype=float32)
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = 0,
        dynamic_size: bool = False,
        clear_after_read: bool | None = None,
        element_shape: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        self.dtype = dtype
        self.dynamic_size = dynamic_size
        self._held: list[Any] = [None] * integers(size)

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """This array with `value` at `index`."""
        place = integers(index)
        if place >= len(self._held):
            if not self.dynamic_size:
                raise invalid(
                    f"TensorArray.write: index {place} of an array of size {len(self._held)}", "dynamic_size=True"
                )
            self._held += [None] * (place + 1 - len(self._held))
        self._held[place] = arrays.convert_to_tensor(value, self.dtype)
        return self

    def read(self, index: Any, name: str | None = None) -> Any:
        """What was written at `index`."""
        value = self._held[integers(index)]
        if value is None:
            raise invalid(f"TensorArray.read: nothing was written at index {integers(index)}")
        return value

    def stack(self, name: str | None = None) -> Any:
        """All elements along a new first axis."""
        return arrays.stack([self.read(place) for place in range(len(self._held))])

    def concat(self, name: str | None = None) -> Any:
        """All elements joined along the first axis."""
        return arrays.concat([self.read(place) for place in range(len(self._held))], 0)

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """The elements at `indices`, stacked."""
        return arrays.stack([self.read(place) for place in lengths(indices)])

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """This array with the slices of `value`."""
        self._held = list(arrays.unstack(value))
        return self

    def size(self, name: str | None = None) -> Any:
        """The number of elements, as a tensor."""
        return arrays.constant(len(self._held))


class IndexedSlices:
    """Rows of a tensor and their places. Gradients here are dense: this is for those who make one themselves."""

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self.values, self.indices, self.dense_shape = values, indices, dense_shape

    def __tf_tensor__(self) -> Any:
        if self.dense_shape is None:
            raise ValueError(explained("IndexedSlices without dense_shape cannot be made dense"))
        return picking.scatter_nd(arrays.expand_dims(self.indices, -1), self.values, self.dense_shape)

    def __str__(self) -> str:
        shape = "" if self.dense_shape is None else f", dense_shape={self.dense_shape}"
        return f"IndexedSlices(indices={self.indices}, values={self.values}{shape})"


class zeros_initializer:
    """Zeros of a shape."""

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Any:
        return arrays.zeros(shape, dtype)


class ones_initializer:
    """Ones of a shape."""

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Any:
        return arrays.ones(shape, dtype)


class constant_initializer:
    """One value, or values in order, in a shape."""

    def __init__(self, value: Any = 0) -> None:
        self.value = value

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        return arrays.constant(self.value, dtype, shape)


class random_normal_initializer:
    """Normally distributed numbers."""

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Any:
        return random.normal(shape, self.mean, self.stddev, dtype, self.seed)


class random_uniform_initializer:
    """Evenly distributed numbers."""

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: Any = None) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = float32, **kwargs: Any) -> Any:
        return random.uniform(shape, self.minval, self.maxval, dtype, self.seed)


__all__ = ["IndexedSlices", "TensorArray", "constant_initializer", "ones_initializer", "random_normal_initializer"]
__all__ += ["random_uniform_initializer", "zeros_initializer"]
