"""The arrays of the call that was traced, kept for another run of the program: see `Compiled.timeline`."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

SAMPLE_BYTES = 1 << 14
"""Up to how many bytes of arguments are kept as copies."""


class Sample:
    """The arrays of a call, for another run of it: small ones as copies, large ones by weak references.

    >>> import numpy as np
    >>> from gradtape.jit.runtime.sample import Sample
    >>> Sample([np.ones(2), np.ones(3)]).arrays()
    [array([1., 1.]), array([1., 1., 1.])]
    >>> Sample([np.ones(2), np.ones(100_000)]).arrays()
    [None, None]
    """

    __slots__ = ("_kept",)

    def __init__(self, arrays: Sequence[Any]) -> None:
        small = sum(array.nbytes for array in arrays) <= SAMPLE_BYTES
        self._kept = [x.copy() if small or type(x) is not np.ndarray else weakref.ref(x) for x in arrays]

    def arrays(self) -> list[Any]:
        """The arrays; None for those that are gone."""
        return [x() if isinstance(x, weakref.ref) else x for x in self._kept]
