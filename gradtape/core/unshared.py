"""Values that share memory with nothing: what a step of a loop is given and may write to, and what it returned before.

So, too, what a function of the user's returned that is called again, and may fill the same buffer then.

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


def unshared(value: Any) -> Any:
    """One value, which does not change if what it was is written to.

    >>> import numpy as np
    >>> buffer = np.zeros(2)
    >>> kept = unshared(buffer)
    >>> buffer[:] = 1.0
    >>> kept
    array([0., 0.])
    """
    return _unshare(value, False)


def _unshare(x: Any, is_alone: bool) -> Any:
    if isinstance(x, np.ndarray):
        return x if is_alone and x.base is None and x.flags.writeable else x.copy()
    if isinstance(x, Lifted):
        return x._on(x._node)
    if isinstance(x, Tensor):
        is_parameter = x._node.op is None and x._node.bits & (AMBIENT | VARIABLE)
        return +x if is_parameter else Tensor(x._array, x._node)
    return x
