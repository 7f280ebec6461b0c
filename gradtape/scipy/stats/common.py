"""What the modules of this package share: the original, and how arguments are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.extend import Tensor
from gradtape.mirror import Original, holds_tensor
from gradtape.ops.creation_from import asarray

original = Original("scipy.stats")


def joined(value: Any) -> Any:
    """A nested sequence with tensors in it as one tensor; anything else as it is."""
    if isinstance(value, list | tuple) and holds_tensor(value):
        return asarray(value)
    return value


def as_array(value: Any) -> Any:
    """An array or a tensor of an array-like argument, of floating point numbers."""
    value = joined(value)
    if not isinstance(value, Tensor):
        value = np.asarray(value)
    return value if value.dtype.kind in "fc" else value.astype(float)
