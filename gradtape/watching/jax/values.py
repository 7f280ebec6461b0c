"""Values of JAX as records keep them, and what is known of a value without reading it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np

from gradtape.explain.model.record import Shape
from gradtape.watching.jax.evaluate import as_array
from gradtape.watching.record import KeptValue

if TYPE_CHECKING:
    from gradtape.watching.jax.recorder import Evaluation, Program

Tracer = jax.core.Tracer


class HeldValue:
    """A concrete array of JAX, which is immutable; converted when it is read."""

    __slots__ = ("_array", "held")

    def __init__(self, held: Any) -> None:
        self.held = held
        self._array: Any = None

    def array(self) -> Any:
        """The NumPy array; None if its memory was given away (`donate_argnums`)."""
        if self._array is None and not (isinstance(self.held, jax.Array) and self.held.is_deleted()):
            self._array = as_array(self.held)
        return self._array


class ProgramValue(NamedTuple):
    """A value of a program under `jax.jit`, in its present evaluation."""

    program: Program
    slot: int

    def array(self) -> Any:
        """The NumPy array; None if the program was not evaluated, or not this far."""
        return self.program.values.get(self.slot)


class SlotValue(NamedTuple):
    """A value of one evaluation of a program."""

    values: Evaluation
    slot: int

    def array(self) -> Any:
        """The NumPy array."""
        return self.values.get(self.slot)


class IndexParams(Mapping[str, Any]):
    """The index of `x[index]`, whose arrays are read when it is asked for."""

    def __init__(self, parts: Sequence[Any], kept: Mapping[int, KeptValue | None]) -> None:
        self._parts = parts
        self._kept = kept

    def __getitem__(self, name: str) -> Any:
        if name != "index":
            raise KeyError(name)
        arrays = {place: None if kept is None else kept.array() for place, kept in self._kept.items()}
        if any(array is None for array in arrays.values()):
            return ()
        return tuple(arrays.get(place, part) for place, part in enumerate(self._parts))

    def __iter__(self) -> Iterator[str]:
        return iter(("index",))

    def __len__(self) -> int:
        return 1


def trace_key(trace: Any) -> int:
    """What identifies a trace: itself, or in older versions of JAX its main trace."""
    return id(getattr(trace, "main", trace))


def is_concrete(value: Any) -> bool:
    """Whether a value is an array or a number, no tracer."""
    return not isinstance(value, Tracer) and (
        hasattr(value, "dtype") or isinstance(value, bool | int | float | complex)
    )


def shape_of(value: Any) -> Shape:
    """The shape of an array, tracer or number."""
    return tuple(getattr(value, "shape", ()))


def dtype_of(value: Any) -> np.dtype[Any]:
    """The dtype of an array, tracer or number."""
    found = getattr(value, "dtype", None)
    if found is None:
        return np.dtype(type(value) if isinstance(value, bool | int | float | complex) else object)
    try:
        known: np.dtype[Any] = np.dtype(found)
        return known
    except TypeError:  # keys of random number generators
        return np.dtype(object)


def bytes_of(value: Any) -> int:
    """How much memory an array takes; keys of random number generators do not say it."""
    return int(np.prod(shape_of(value), dtype=float)) * dtype_of(value).itemsize
