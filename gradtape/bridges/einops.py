"""einops on tensors: `rearrange`, `reduce`, `repeat`, `einsum`, `pack`, `unpack` and `parse_shape`, with gradients.

einops finds its backends among the subclasses of one class. Importing this module adds one;
`gradtape.numpy_dispatch.import_hook` imports it when einops is imported.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from einops._backends import AbstractBackend

from gradtape import ops
from gradtape.extend import Tensor


class GradtapeBackend(AbstractBackend):
    """What einops needs to do with tensors, as operations that are recorded."""

    framework_name = "gradtape"

    def is_appropriate_type(self, tensor: Any) -> bool:
        """Whether einops should use this backend for a value."""
        return isinstance(tensor, Tensor)

    def from_numpy(self, x: Any) -> Tensor:
        """A tensor with a copy of an array."""
        return Tensor(np.array(x))

    def to_numpy(self, x: Tensor) -> Any:
        """The numbers of a tensor; raises if its gradient would be lost."""
        return x.numpy()

    def arange(self, start: int, stop: int) -> Tensor:
        """The integers from `start` to `stop - 1`."""
        return ops.arange(start, stop)

    def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Any:
        """Tensors of one shape along a new first axis."""
        return ops.stack(tensors)

    def add_axis(self, x: Tensor, new_position: int) -> Any:
        """`x` with an axis of length 1 at `new_position`."""
        return ops.expand_dims(x, new_position)

    def tile(self, x: Tensor, repeats: Any) -> Any:
        """`x` repeated along its axes."""
        return ops.tile(x, repeats)

    def concat(self, tensors: list[Any], axis: int) -> Any:
        """Tensors joined along an axis."""
        return ops.concatenate(tensors, axis)

    def is_float_type(self, x: Tensor) -> bool:
        """Whether means can be taken in the dtype of `x`."""
        return x.dtype.kind in "fc"

    def einsum(self, pattern: str, *x: Any) -> Any:
        """The contraction that einops has written as an einsum pattern."""
        return ops.einsum(pattern, *x)
