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
        return isinstance(tensor, Tensor)

    def from_numpy(self, x: Any) -> Tensor:
        return Tensor(np.array(x))

    def to_numpy(self, x: Tensor) -> Any:
        return x.numpy()

    def arange(self, start: int, stop: int) -> Tensor:
        return ops.arange(start, stop)

    def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Any:
        return ops.stack(tensors)

    def add_axis(self, x: Tensor, new_position: int) -> Any:
        return ops.expand_dims(x, new_position)

    def tile(self, x: Tensor, repeats: Any) -> Any:
        return ops.tile(x, repeats)

    def concat(self, tensors: list[Any], axis: int) -> Any:
        return ops.concatenate(tensors, axis)

    def is_float_type(self, x: Tensor) -> bool:
        return x.dtype.kind in "fc"

    def einsum(self, pattern: str, *x: Any) -> Any:
        return ops.einsum(pattern, *x)
