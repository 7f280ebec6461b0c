"""The values of a sparse matrix of tensors, in the memory that SciPy's matrices would have them in.

Matrices share values as SciPy's do: `A.T` and `A.tocoo(copy=False)` see what is written to `A.data`, copies do not.

SciPy stores no zeros of a dense array that is made sparse. An element that is zero has a derivative all the same, so it
is kept among the values; what shows which elements are stored (`A.data`, `A.nnz`, `A.indices`) leaves it out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.extend import Lifted, Tensor, as_value, numbers_if_known
from gradtape.ops import concatenate
from gradtape.ops.sparse_products import Pattern


def numbers_of(x: Any) -> Any:
    """The array of a tensor without a gradient; an array as it is. Examples of a batch have to agree."""
    if not isinstance(x, Tensor):
        return np.asarray(x)
    if isinstance(x, Lifted) and (known := numbers_if_known(x)) is not None and known.ndim > x.ndim:
        examples = known.reshape((-1, *x.shape))
        if len(examples) and np.all(examples == examples[0]):
            return examples[0]
    return x.numpy()


class Values:
    """The values that one or several matrices have.

    `data` is the array that the matrices show; with `places`, the values are its elements there, else all of them.
    `droppable` marks values that are stored only if they are not zero, and with `groups` (a number for each value) only
    if not all values of their group are zero. Values that are not stored are in `dropped`. `offsets` are those of the
    rows of `data`, if they are diagonals. `is_shared` says that more than one matrix has had these values.
    """

    def __init__(self, data: Any, droppable: Any = None, groups: Any = None) -> None:
        self.data = data
        self.droppable = droppable if droppable is not None and np.any(droppable) else None
        self.groups = groups
        self.places: Any = None
        self.offsets: Any = None
        self.dropped: Any = None
        self.order: Any = None
        self.count = 0
        self.is_shared = False

    @property
    def stored(self) -> Any:
        """The values in `data`, one after the other."""
        flat = self.data if self.data.ndim == 1 else self.data.reshape((-1,))
        return flat if self.places is None else flat[self.places]

    @property
    def everything(self) -> Any:
        """The values that are stored and those that are not, in the order that `arranged` gives places."""
        return self.stored if self.dropped is None else concatenate([self.stored, self.dropped])

    @property
    def marks(self) -> Any:
        """Which of `everything` are stored only if they are not zero; None for none of them."""
        if self.dropped is None:
            return self.droppable
        return np.arange(len(self.order)) >= self.count

    def sift(self) -> None:
        """Leave out of `data` what is zero and need not be stored."""
        if self.droppable is None:
            return
        is_zero, values = self.droppable.copy(), self.stored
        chosen = np.flatnonzero(is_zero)
        is_zero[chosen] = numbers_of(values[chosen] == 0)
        if self.groups is not None:
            others = np.zeros(int(np.max(self.groups, initial=-1)) + 1, bool)
            others[self.groups[~is_zero]] = True
            is_zero = ~others[self.groups]
        self.droppable = self.groups = None
        if np.any(is_zero):
            kept, left_out = np.flatnonzero(~is_zero), np.flatnonzero(is_zero)
            self.order, self.count = np.concatenate([kept, left_out]), len(kept)
            self.data, self.dropped = values[kept], values[left_out]

    def arranged(self, pattern: Pattern) -> Pattern:
        """The places of `everything`, of those that the values had when they were made."""
        if self.order is None:
            return pattern
        return Pattern(pattern.rows[self.order], pattern.columns[self.order], pattern.shape)

    def copy(self) -> Values:
        """The same in memory of its own."""
        made = Values(self.data.copy(), self.droppable, self.groups)
        made.places, made.offsets, made.dropped = self.places, self.offsets, self.dropped
        made.order, made.count = self.order, self.count
        return made

    def multiply(self, factor: Any) -> None:
        """Multiply all values, in place."""
        factor = as_value(factor)
        if isinstance(factor, Tensor) and not isinstance(self.data, Tensor):
            self.data = self.data * factor
        else:
            self.data *= factor.astype(self.data.dtype) if factor.dtype != self.data.dtype else factor
        if self.dropped is not None:
            self.dropped = self.dropped * factor
