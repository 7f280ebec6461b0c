"""`r_`, `c_`, `mgrid` and `ogrid`, which make arrays of an index, and the iterators over places of an array."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy
from numpy.lib.stride_tricks import as_strided

import gradtape as gt
from gradtape.errors import UnsupportedError
from gradtape.extend import Tensor, argument_error
from gradtape.mirror import holds_tensor
from gradtape.numpy import creation
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


_ITERATOR_FLAGS = frozenset(["multi_index", "c_index", "f_index", "refs_ok", "zerosize_ok"])


class nditer:
    """NumPy's iterator; over tensors it gives each element as a tensor, which can be written to.

    >>> import gradtape as gt
    >>> import gradtape.numpy as np
    >>> x = gt.tensor([1.0, 2.0])
    >>> for element in np.nditer(x, op_flags=["readwrite"]):
    ...     element[...] = 2.0 * element
    >>> x
    Tensor([2., 4.])
    """

    def __new__(
        cls, op: Any, flags: Any = None, op_flags: Any = None, op_dtypes: Any = None, order: Any = "K", **kwargs: Any
    ) -> Any:
        if not holds_tensor((op,)):
            given = {"flags": flags, "op_flags": op_flags, "op_dtypes": op_dtypes}
            given = {name: value for name, value in given.items() if value is not None}
            return numpy.nditer(plain_view(op), order=order, **given, **kwargs)
        operands = op if isinstance(op, (list, tuple)) else (op,)
        if {*(flags or ())} - _ITERATOR_FLAGS or op_dtypes is not None or kwargs:
            raise argument_error(
                UnsupportedError,
                "numpy.nditer with buffers, dtypes, axes or outer loops, and a tensor among its arrays.",
                "for index in np.ndindex(x.shape): ... x[index] ...; or np.nditer(x.numpy()) without a gradient",
            )
        return TensorIterator(operands, flags or (), order)


class TensorIterator:
    """The elements of arrays that are broadcast against each other, some of them tensors.

    The order is that of NumPy's iterator over arrays of the same strides; an operand None is an array that is made.
    """

    def __init__(self, operands: Sequence[Any], flags: Sequence[str], order: Any) -> None:
        given = [None if each is None else as_array(each) for each in operands]
        self.shape = numpy.broadcast_shapes(*[each.shape for each in given if each is not None])
        self.operands = tuple([creation.empty(self.shape) if each is None else each for each in given])
        self.nop, self.ndim = len(self.operands), len(self.shape)
        self.itersize = math.prod(self.shape)
        self._places = _places_in_order(self.operands, order) if self.itersize else []
        self._is_fortran_index = "f_index" in flags
        self.reset()

    def reset(self) -> None:
        """Go back to the first element."""
        self.iterindex, self.finished, self._is_started = 0, self.itersize == 0, False

    @property
    def multi_index(self) -> tuple[int, ...]:
        """The place of the present elements."""
        return self._places[self.iterindex]

    @property
    def index(self) -> int:
        """The number of the place of the present elements in the order of the flag, `c_index` or `f_index`."""
        order: Any = "F" if self._is_fortran_index else "C"
        return int(numpy.ravel_multi_index(self.multi_index, self.shape, order=order)) if self.shape else 0

    def iternext(self) -> bool:
        """Go on to the next elements. Whether there are any."""
        self.finished = self.iterindex + 1 >= self.itersize
        self.iterindex += not self.finished
        return not self.finished

    @property
    def value(self) -> Any:
        """The present element of the array, or a tuple of those of all arrays."""
        return self[0] if self.nop == 1 else tuple([self[number] for number in range(self.nop)])

    def __len__(self) -> int:
        return self.nop

    def __getitem__(self, number: int) -> Any:
        array = self.operands[number]
        place = self.multi_index[self.ndim - array.ndim :]
        own = [i if size != 1 else 0 for i, size in zip(place, array.shape, strict=True)]
        index: Any = tuple([slice(i, i + 1) for i in own])
        return array[index].reshape(())

    def __setitem__(self, number: int, value: Any) -> None:
        self[number][...] = value

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self.finished or (self._is_started and not self.iternext()):
            raise StopIteration
        self._is_started = True
        return self.value

    def __enter__(self) -> TensorIterator:
        return self

    def __exit__(self, *error: object) -> None:
        """The elements are views of the arrays: there is nothing to write back."""

    def close(self) -> None:
        """Nothing is to be written back."""


def _places_in_order(arrays: Sequence[Any], order: Any) -> list[tuple[int, ...]]:
    """The places in the order in which NumPy's iterator visits them; the numbers of the arrays are not read."""
    alike = [as_strided(numpy.empty(1), array.shape, array.strides) for array in arrays]
    iterator = numpy.nditer(alike, ["multi_index"], order=order)
    return [iterator.multi_index for _ in iterator]
