"""`r_`, `c_`, `mgrid` and `ogrid`, which make arrays of an index, and the iterators over places of an array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

import gradtape as gt
from gradtape.errors import UnsupportedError
from gradtape.extend import Tensor, argument_error
from gradtape.mirror import holds_tensor
from gradtape.numpy.arrays import adopt, plain_view
from gradtape.numpy.wrapping import as_array


def _range_of(part: slice) -> Any:
    """`start:stop:step` as numbers; a step that is imaginary is how many there are."""
    start, step = (0 if part.start is None else part.start), (1 if part.step is None else part.step)
    if isinstance(step, complex) or numpy.iscomplexobj(step):
        return gt.linspace(start, part.stop, int(abs(step)))
    return gt.arange(start, part.stop, step)


def _holds_tensor(key: Any) -> bool:
    entries = key if isinstance(key, tuple) else (key,)
    return any(
        holds_tensor((entry.start, entry.stop, entry.step) if isinstance(entry, slice) else (entry,))
        for entry in entries
    )


class Joining:
    """`np.r_` and `np.c_`: NumPy arranges the numbers of the entries, and the entries are taken in that order."""

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs
        self.__doc__ = theirs.__doc__

    def __getitem__(self, key: Any) -> Any:
        if not _holds_tensor(key):
            return adopt(self._theirs[plain_view(key)])
        parts: list[Any] = []
        places: list[Any] = []
        total = 0
        for entry in key if isinstance(key, tuple) else (key,):
            if isinstance(entry, str):
                places.append(entry)
                continue
            part = _range_of(entry) if isinstance(entry, slice) else gt.array(as_array(entry))
            places.append(numpy.arange(total, total + part.size).reshape(part.shape))
            total += part.size
            parts.append(numpy.ravel(part))
        return numpy.concatenate(parts)[numpy.asarray(self._theirs[tuple(places)])]

    def __len__(self) -> int:
        return 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._theirs, name)


class Grid:
    """`np.mgrid` and `np.ogrid`: coordinates from slices, whose ends may be tensors."""

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs
        self.__doc__ = theirs.__doc__

    def __getitem__(self, key: Any) -> Any:
        if not _holds_tensor(key):
            return adopt(self._theirs[plain_view(key)])
        if isinstance(key, slice):
            return _range_of(key)
        coordinates = [_range_of(part) for part in key]
        if self._theirs.sparse:
            return tuple(numpy.meshgrid(*coordinates, indexing="ij", sparse=True))
        return gt.stack(numpy.meshgrid(*coordinates, indexing="ij"))

    def __len__(self) -> int:
        return 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._theirs, name)


r_: Any = Joining(numpy.r_)
c_: Any = Joining(numpy.c_)
mgrid: Any = Grid(numpy.mgrid)
ogrid: Any = Grid(numpy.ogrid)


class ndenumerate(numpy.ndenumerate):
    """Pairs of the index and the value of each element; the values of a tensor are tensors.

    >>> import gradtape as gt
    >>> import gradtape.numpy as np
    >>> [(place, float(value)) for place, value in np.ndenumerate(gt.tensor([3.0, 4.0]))]
    [((0,), 3.0), ((1,), 4.0)]
    """

    def __new__(cls, arr: Any) -> Any:
        arr = as_array(arr)
        return _enumerated(arr) if isinstance(arr, Tensor) else numpy.ndenumerate(arr)


def _enumerated(array: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    for place in numpy.ndindex(array.shape):
        yield place, array[place]


class nditer:
    """NumPy's iterator; over one tensor it gives each element as a tensor, which can be written to.

    >>> import gradtape as gt
    >>> import gradtape.numpy as np
    >>> x = gt.tensor([1.0, 2.0])
    >>> for element in np.nditer(x, op_flags=["readwrite"]):
    ...     element[...] = 2.0 * element
    >>> x
    Tensor([2., 4.])
    """

    def __new__(cls, op: Any, flags: Any = None, *args: Any, **kwargs: Any) -> Any:
        if not holds_tensor((op,)):
            return numpy.nditer(plain_view(op), *(() if flags is None else (flags,)), *args, **kwargs)
        single = op[0] if isinstance(op, (list, tuple)) and len(op) == 1 else op
        unknown = {*(flags or ())} - {"multi_index", "c_index", "refs_ok", "zerosize_ok"}
        if not isinstance(single, Tensor) or unknown or args or {*kwargs} - {"op_flags"}:
            raise argument_error(
                UnsupportedError,
                "numpy.nditer of several arrays, or with buffers and outer loops, and a tensor among them.",
                "for index in np.ndindex(x.shape): ... x[index] ...; or np.nditer(x.numpy()) without a gradient",
            )
        return TensorIterator(single)


class TensorIterator:
    """The elements of a tensor in the order of their indices, with `multi_index` and `index` of the present one."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor
        self._places = numpy.ndindex(tensor.shape)
        self.multi_index: tuple[int, ...] = (0,) * tensor.ndim
        self.index = -1
        self.finished = tensor.size == 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        self.multi_index = next(self._places)
        self.index += 1
        self.finished = self.index + 1 >= self._tensor.size
        place: Any = tuple([slice(i, i + 1) for i in self.multi_index])
        return self._tensor[place].reshape(())

    def __enter__(self) -> TensorIterator:
        return self

    def __exit__(self, *error: object) -> None:
        """The elements are views of the tensor: there is nothing to write back."""
