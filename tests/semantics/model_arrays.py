"""Arrays that share memory, modelled without sharing any: the random programs of writes are compared with them.

A `ModelArray` is a set of positions in a memory; the memory is one flat tensor, and a write makes another one by
`where`. So what is differentiated has neither a view nor a write. Where an array is, NumPy tells: the operations that
make views are applied to arrays of positions. `model_numpy` is the namespace that programs find as `np`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as gt


class Memory:
    """The numbers that arrays share: a flat tensor, and where the elements of its first array are in it."""

    def __init__(self, flat: Any, shape: tuple[int, ...]) -> None:
        self.flat = flat
        self.index = np.arange(flat.shape[0]).reshape(shape)


class ModelArray:
    """Some elements of a memory, in a shape."""

    __array_priority__ = 2000.0

    def __init__(self, memory: Memory, positions: Any) -> None:
        self.memory = memory
        self.positions = positions

    @staticmethod
    def of(value: Any, axes: tuple[int, ...] | None = None) -> ModelArray:
        """A new array with a memory of its own; `axes` are in the order in which they lie in memory."""
        if axes is None:
            axes = tuple(range(np.ndim(value)))
        moved = np.transpose(value, axes)
        memory = Memory(np.reshape(moved, (-1,)), tuple(moved.shape))
        return ModelArray(memory, memory.index.transpose(np.argsort(axes)))

    @property
    def value(self) -> Any:
        """The numbers, as a tensor that shares nothing."""
        return gt.take(self.memory.flat, np.array(self.positions))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.positions.shape)

    # -- views and copies

    def _seen(self, positions: Any) -> ModelArray | ModelNumber:
        """The elements at `positions`: a view if NumPy would have made one, else a copy that is laid out as NumPy's."""
        if not isinstance(positions, np.ndarray):
            return ModelNumber(gt.take(self.memory.flat, np.array(positions)))
        if np.shares_memory(positions, self.memory.index):
            return ModelArray(self.memory, positions)
        return ModelArray.of(gt.take(self.memory.flat, np.array(positions)), _axes_in_memory(positions))

    def __getitem__(self, index: Any) -> ModelArray | ModelNumber:
        return self._seen(self.positions[index])

    def __len__(self) -> int:
        return len(self.positions)

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))

    def reshape(self, *shape: Any) -> Any:
        return self._seen(self.positions.reshape(*shape))

    def ravel(self) -> Any:
        return self._seen(self.positions.ravel())

    def swapaxes(self, one: int, other: int) -> Any:
        return self._seen(self.positions.swapaxes(one, other))

    @property
    def T(self) -> Any:
        return self._seen(self.positions.T)

    def copy(self) -> ModelArray:
        return ModelArray.of(self.value)

    def sum(self) -> ModelNumber:
        return ModelNumber(np.sum(self.value))

    def __gt__(self, other: Any) -> ModelMask:
        return ModelMask(self.value > value_of(other))

    # -- writes

    def __setitem__(self, index: Any, new: Any) -> None:
        if isinstance(index, ModelMask):
            self._write(self.positions, np.where(index.value, value_of(new), self.value))
        else:
            self._write(self.positions[index], value_of(new))

    def fill(self, new: Any) -> None:
        self._write(self.positions, value_of(new))

    def _write(self, targets: Any, new: Any) -> None:
        """Replace the elements at `targets`, the later ones last, in a new memory."""
        targets = np.asarray(targets)
        spread = np.reshape(np.broadcast_to(new, targets.shape), (-1,))
        if not targets.size:
            return
        source = np.zeros(self.memory.index.size, int)
        is_written = np.zeros(self.memory.index.size, bool)
        source[targets.ravel()], is_written[targets.ravel()] = np.arange(targets.size), True
        self.memory.flat = np.where(is_written, gt.take(gt.asarray(spread), source), self.memory.flat)

    # -- functions of NumPy

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), where: Any = True) -> Any:
        if method == "at":
            target, index, *others = inputs
            for place in np.ndindex(self.positions[index].shape):
                position = np.array(self.positions[index][place])
                values = [np.broadcast_to(value_of(other), self.positions[index].shape)[place] for other in others]
                target._write(position[None], ufunc(gt.take(target.memory.flat, position), *values)[None])
            return None
        assert method == "__call__"
        result = ufunc(*[value_of(x) for x in inputs])
        if not out:
            given = [x.positions for x in inputs if isinstance(x, ModelArray)]
            return _new(result, np.positive(sum(given[1:], start=given[0])))
        (target,) = out
        kept = target.value
        target._write(target.positions, result if where is True else np.where(value_of(where), result, kept))
        return target

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in (np.stack, np.concatenate):
            (parts,) = args
            joined = function([_positions_of(part) for part in parts], **kwargs)
            return _new(function([value_of(part) for part in parts], **kwargs), joined)
        if function is np.copyto:
            target, new = args
            mask = value_of(kwargs.get("where", True))
            target._write(target.positions, np.where(mask, value_of(new), target.value))
            return None
        if function is np.where:
            mask, one, other = args
            return _new(function(*map(value_of, args)), np.where(True, *map(_positions_of, (one, other))))
        if function is np.fill_diagonal:
            target, new = args
            target._write(np.einsum("ii->i", target.positions), value_of(new))
            return None
        if function is np.put:
            target, places, new = args
            target._write(target.positions.reshape(-1)[places], value_of(new))
            return None
        if function is np.einsum:
            subscripts, one = args
            return one._seen(np.einsum(subscripts, one.positions))
        # what is left rearranges: flip, squeeze, moveaxis, ...
        one, *rest = args
        return one._seen(function(one.positions, *rest, **kwargs))

    def _binary(ufunc: Any) -> Any:  # type: ignore[misc]
        return (
            lambda self, other: ufunc(self, other),
            lambda self, other: ufunc(other, self),
            lambda self, other: ufunc(self, other, out=self),
        )

    __add__, __radd__, __iadd__ = _binary(np.add)
    __sub__, __rsub__, __isub__ = _binary(np.subtract)
    __mul__, __rmul__, __imul__ = _binary(np.multiply)


class ModelNumber:
    """A number: an element, a sum, or what was computed of such. It is immutable, so that it may have many names."""

    __array_priority__ = 2001.0
    shape: tuple[int, ...] = ()

    def __init__(self, value: Any) -> None:
        self.value = value

    def copy(self) -> ModelNumber:
        return self

    def sum(self) -> ModelNumber:
        return self

    def __gt__(self, other: Any) -> bool:
        return bool(gt.stop_gradient(self.value) > gt.stop_gradient(value_of(other)))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = ()) -> Any:
        for other in (*inputs, *out):
            if isinstance(other, ModelArray):
                return other.__array_ufunc__(ufunc, method, *inputs, **({"out": out} if out else {}))
        assert method == "__call__"
        return ModelNumber(ufunc(*[value_of(x) for x in inputs]))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        arrays = [x for x in args if isinstance(x, ModelArray)]
        if arrays:
            return arrays[0].__array_function__(function, types, args, kwargs)
        assert function is np.stack
        return ModelArray.of(np.stack([value_of(part) for part in args[0]]))

    def _binary(ufunc: Any) -> Any:  # type: ignore[misc]
        return lambda self, other: ufunc(self, other), lambda self, other: ufunc(other, self)

    __add__, __radd__ = _binary(np.add)
    __sub__, __rsub__ = _binary(np.subtract)
    __mul__, __rmul__ = _binary(np.multiply)


class ModelMask:
    """The truth of a comparison, element by element: a tensor, which may differ between the examples of a batch."""

    def __init__(self, value: Any) -> None:
        self.value = value


def value_of(x: Any) -> Any:
    """The numbers of an array, a number or a mask of the model; any other value as it is."""
    return x.value if isinstance(x, (ModelArray, ModelNumber, ModelMask)) else x


def _positions_of(x: Any) -> Any:
    return x.positions if isinstance(x, ModelArray) else np.zeros(np.shape(value_of(x)), int)


def _new(value: Any, positions: Any) -> Any:
    """A result that shares nothing, laid out as NumPy lays out what it computes of `positions`."""
    return ModelArray.of(value, _axes_in_memory(positions)) if np.ndim(value) else ModelNumber(value)


def _axes_in_memory(array: Any) -> tuple[int, ...]:
    """The axes of an array, that of the largest steps in memory first."""
    return tuple(sorted(range(array.ndim), key=lambda axis: -array.strides[axis]))


class ModelNumpy:
    """NumPy, but for the functions that create arrays: theirs are model arrays, which can be written to."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def array(self, values: Any) -> ModelArray:
        """A nesting of numbers and arrays as one array."""
        return ModelArray.of(_nested(values))

    def stack(self, parts: Any) -> Any:
        return np.stack(parts) if any(isinstance(x, (ModelArray, ModelNumber)) for x in parts) else self.array(parts)

    def zeros(self, shape: Any) -> ModelArray:
        return ModelArray.of(np.zeros(shape))

    def zeros_like(self, like: Any) -> ModelArray:
        return ModelArray.of(np.zeros(like.shape), _axes_in_memory(np.zeros_like(like.positions)))

    def empty_like(self, like: Any) -> ModelArray:
        return self.zeros_like(like)

    def full(self, shape: Any, new: Any) -> ModelArray:
        return ModelArray.of(np.zeros(shape) + value_of(new))


def _nested(values: Any) -> Any:
    if isinstance(values, list):
        return np.stack([_nested(value) for value in values])
    return value_of(values)


model_numpy = ModelNumpy()
