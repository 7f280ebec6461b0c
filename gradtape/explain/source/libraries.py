"""The array libraries whose values explanations recognise: gradtape's own, and those that are being watched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradtape.core.batch import BatchTensor
from gradtape.core.graph import with_numbers
from gradtape.core.tensor import Tensor, Variable
from gradtape.explain.model.record import ArrayLibrary, Record


class GradtapeLibrary:
    """Gradtape's tensors: the node of a tensor is its record."""

    def is_tensor(self, value: Any) -> bool:
        """Whether a value is a `gt.Tensor`, of an interpreter too."""
        return isinstance(value, Tensor)

    def is_variable(self, value: Any) -> bool:
        """Whether a value is a `gt.Variable`."""
        return isinstance(value, Variable)

    def record_of(self, value: Any) -> Record | None:
        """The node of a tensor."""
        record: Record | None = getattr(value, "_node", None)
        return record

    def source_record_of(self, value: Any) -> Record | None:
        """The node of the leaf that a tensor was before it was written to, else its node."""
        leaf: Record | None = getattr(value, "_source", None)
        return self.record_of(value) if leaf is None else leaf

    def array_of(self, value: Any) -> Any:
        """The NumPy array inside a tensor; inside `vmap`, that of the whole batch."""
        while isinstance(value, BatchTensor):
            value = value.value
        return with_numbers(value._array) if isinstance(value, Tensor) else value


_libraries: list[ArrayLibrary] = [GradtapeLibrary()]


@contextmanager
def recognising(library: ArrayLibrary) -> Iterator[None]:
    """Inside, the values of `library` are recognised as well."""
    _libraries.append(library)
    try:
        yield
    finally:
        _libraries.remove(library)


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor of one of the libraries."""
    return any(library.is_tensor(value) for library in _libraries)


def is_variable(value: Any) -> bool:
    """Whether a value is a variable of one of the libraries, trainable or not."""
    return any(library.is_variable(value) for library in _libraries)


def record_of(value: Any) -> Record | None:
    """The record of what computed a tensor, or of the leaf that it is; None for arrays, numbers and all else."""
    return next((record for library in _libraries if (record := library.record_of(value)) is not None), None)


def source_record_of(value: Any) -> Record | None:
    """The record that a gradient by a tensor is taken at; None for arrays, numbers and all else."""
    return next((record for library in _libraries if (record := library.source_record_of(value)) is not None), None)


def array_of(value: Any) -> Any:
    """The NumPy array that a tensor holds, or an array itself; None for all else."""
    found = (library.array_of(value) for library in _libraries)
    return next((array for array in found if isinstance(array, np.ndarray)), None)


__all__ = ["array_of", "is_tensor", "is_variable", "recognising", "record_of", "source_record_of"]
