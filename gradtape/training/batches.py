"""Batches: arrays cut into pieces in the order of the day, or what an iterable gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from typing import Any

import numpy as np

from gradtape.errors import OperandError, ShapeError
from gradtape.extend import Tensor, argument_error, plain

Batch = tuple[Any, ...]


class Batches:
    """The data of a run. `order` is None for an iterable, which has an order of its own."""

    def __init__(self, what: str, data: Any, batch_size: int, drop_last: bool, dtype: Any) -> None:
        self.what, self.batch_size, self.drop_last, self.dtype = what, batch_size, drop_last, dtype
        self.arrays: Batch | None = None
        self.source: Iterable[Any] = ()
        if isinstance(data, np.ndarray | Tensor):
            data = (data,)
        if isinstance(data, tuple) and data and all(isinstance(part, np.ndarray | Tensor) for part in data):
            self.arrays = tuple(self._cast(plain(part)) for part in data)
            self._check_lengths()
        elif isinstance(data, Iterator):
            raise argument_error(
                OperandError,
                f"fit: {what} is a {type(data).__name__}, which can be gone through once only; every epoch goes "
                "through it again.",
                "list(batches), or an object with __iter__; for arrays a tuple (x, y)",
            )
        elif isinstance(data, Iterable) and not isinstance(data, str | bytes | dict):
            self.source = data
        else:
            raise argument_error(
                OperandError,
                f"fit: {what} is a {type(data).__name__}.",
                "a tuple of arrays (x, y) with one row for each example, or an iterable of batches",
            )

    def _check_lengths(self) -> None:
        assert self.arrays is not None
        shapes = [array.shape for array in self.arrays]
        if any(not shape for shape in shapes) or len({shape[0] for shape in shapes}) != 1:
            raise argument_error(
                ShapeError,
                f"fit: the arrays of {self.what} have the shapes {', '.join(map(str, shapes))}; the first axis is the "
                "examples, the same number in all.",
                "arrays with a row for each example",
            )
        if not shapes[0][0]:
            raise argument_error(ShapeError, f"fit: {self.what} has no examples.", "at least one example")

    def _cast(self, array: Any) -> Any:
        array = np.asarray(array)
        return array.astype(self.dtype) if self.dtype is not None and array.dtype.kind == "f" else array

    @property
    def examples(self) -> int | None:
        """How many examples there are; None where only going through them would tell."""
        return None if self.arrays is None else int(self.arrays[0].shape[0])

    def count(self) -> int | None:
        """How many batches an epoch has; None where only going through them would tell."""
        if self.examples is None:
            return len(self.source) if isinstance(self.source, Sized) else None
        whole, rest = divmod(self.examples, self.batch_size)
        return max(whole + (rest > 0 and not self.drop_last), 1)

    def each(self, order: Any, skipped: int = 0) -> Iterator[Batch]:
        """The batches in `order` (None: as they are), without the first `skipped`."""
        if self.arrays is None:
            for number, batch in enumerate(self.source):
                if not isinstance(batch, tuple | list) or not batch:
                    raise argument_error(
                        OperandError,
                        f"fit: a batch of {self.what} is a {type(batch).__name__}; a tuple of arrays is accepted.",
                        "(x, y) for arrays with a row for each example: a tuple, because a list is a list of batches",
                    )
                if number >= skipped:
                    yield tuple(self._cast(plain(part)) for part in batch)
            return
        count, size = self.count(), self.batch_size
        assert count is not None
        for number in range(skipped, count):
            span = slice(number * size, (number + 1) * size)
            chosen = span if order is None else order[span]
            yield tuple(array[chosen] for array in self.arrays)
