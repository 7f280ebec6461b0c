"""`tf.TensorArray`: a list of tensors that is written and read by index."""

from __future__ import annotations

from typing import Any

from gradtape_standins.tensorflow import arrays
from gradtape_standins.tensorflow.conversion import integers, lengths
from gradtape_standins.tensorflow.errors import OutOfRangeError, explained, invalid


class TensorArray:
    """A list of tensors that is written to step by step; gradients go through it.

    >>> from gradtape_standins import tensorflow as tf
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
        self.clear_after_read = True if clear_after_read is None else clear_after_read
        self._held: list[Any] = [None] * integers(size)
        self._read: set[int] = set()

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
        self._read.discard(place)
        return self

    def read(self, index: Any, name: str | None = None) -> Any:
        """What was written at `index`."""
        place = integers(index)
        if place in self._read:
            raise invalid(
                f"Could not read index {place} twice because it was cleared after a previous read",
                "TensorArray(..., clear_after_read=False)",
            )
        value = self._element(place)
        if self.clear_after_read:
            self._read.add(place)
        return value

    def _element(self, place: int) -> Any:
        """What was written at a place; zeros where it was read and cleared."""
        if not -len(self._held) <= place < len(self._held):
            raise OutOfRangeError(None, None, explained(f"Tried to read from index {place} of {len(self._held)}"))
        value = self._held[place]
        if value is None:
            raise invalid(f"TensorArray.read: nothing was written at index {place}")
        return arrays.zeros_like(value) if place in self._read else value

    def stack(self, name: str | None = None) -> Any:
        """All elements along a new first axis."""
        return arrays.stack([self._element(place) for place in range(len(self._held))])

    def concat(self, name: str | None = None) -> Any:
        """All elements joined along the first axis."""
        return arrays.concat([self._element(place) for place in range(len(self._held))], 0)

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """The elements at `indices`, stacked."""
        return arrays.stack([self._element(place) for place in lengths(indices)])

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """This array with the slices of `value`."""
        self._held, self._read = list(arrays.unstack(value)), set()
        return self

    def size(self, name: str | None = None) -> Any:
        """The number of elements, as a tensor."""
        return arrays.constant(len(self._held))


__all__ = ["TensorArray"]
