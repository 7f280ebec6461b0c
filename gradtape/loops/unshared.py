"""Values that a step of a loop may write to: what it is given, and what it returned before, shares memory with nothing.

An array is copied, unless nothing else refers to it: so a step that writes to what it carries costs what it writes. A
tensor becomes another one with the same memory, which a write copies if anything else refers to it (see `core.views`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.graph import AMBIENT, VARIABLE
from gradtape.core.operation import Lifted
from gradtape.core.references import ALONE, COUNTS_ITEMS, references_of
from gradtape.core.tensor import Tensor


def unshare(values: list[Any]) -> list[Any]:
    """The same values, none of which changes if anything else is written to, or the other way round.

    References to arrays besides those of the list are what they may be shared with.
    """
    counts = references_of(values)
    return [_unshare(x, COUNTS_ITEMS and count <= ALONE) for x, count in zip(values, counts, strict=True)]


def _unshare(x: Any, is_alone: bool) -> Any:
    if isinstance(x, np.ndarray):
        return x if is_alone and x.base is None and x.flags.writeable else x.copy()
    if isinstance(x, Lifted):
        return x._on(x._node)
    if isinstance(x, Tensor):
        is_parameter = x._node.op is None and x._node.bits & (AMBIENT | VARIABLE)
        return +x if is_parameter else Tensor(x._array, x._node)
    return x
