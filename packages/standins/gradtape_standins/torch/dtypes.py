"""Types of numbers: `torch.float32` and its like, the default type, and how types are promoted.

PyTorch promotes by category (booleans, integers, real, complex numbers): a tensor with axes decides over one without,
which decides over a Python number, unless the other is of a higher category.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class dtype:
    """The type of a tensor's numbers.

    >>> from gradtape_standins import torch
    >>> torch.float32, torch.int64.is_floating_point
    (torch.float32, False)
    """

    def __init__(self, name: str, numpy: Any) -> None:
        self.name = name
        self.numpy = np.dtype(numpy)

    @property
    def is_floating_point(self) -> bool:
        """Whether these are real floating point numbers."""
        return bool(self.numpy.kind == "f")

    @property
    def is_complex(self) -> bool:
        """Whether these are complex numbers."""
        return bool(self.numpy.kind == "c")

    @property
    def is_signed(self) -> bool:
        """Whether these can be negative."""
        return self.numpy.kind in "ifc"

    @property
    def itemsize(self) -> int:
        """The number of bytes of one number."""
        return int(self.numpy.itemsize)

    def to_complex(self) -> dtype:
        """The complex type with parts of this type."""
        return of(np.result_type(self.numpy, np.complex64))

    def to_real(self) -> dtype:
        """The type of the real part."""
        return of(np.zeros((), self.numpy).real.dtype)

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


float16 = dtype("float16", np.float16)
float32 = dtype("float32", np.float32)
float64 = dtype("float64", np.float64)
complex64 = dtype("complex64", np.complex64)
complex128 = dtype("complex128", np.complex128)
uint8 = dtype("uint8", np.uint8)
uint16 = dtype("uint16", np.uint16)
uint32 = dtype("uint32", np.uint32)
uint64 = dtype("uint64", np.uint64)
int8 = dtype("int8", np.int8)
int16 = dtype("int16", np.int16)
int32 = dtype("int32", np.int32)
int64 = dtype("int64", np.int64)
boolean = dtype("bool", np.bool_)

NAMES = {t.name: t for t in list(globals().values()) if isinstance(t, dtype)}
NAMES.update(half=float16, float=float32, double=float64, cfloat=complex64, cdouble=complex128)
NAMES.update(short=int16, int=int32, long=int64)
"""The types under the names that they have in `torch`."""

_BY_NUMPY = {t.numpy: t for t in NAMES.values()}
_default = float32


def of(numpy: Any) -> dtype:
    """The type that holds what NumPy's type holds."""
    return _BY_NUMPY[np.dtype(numpy)]


def as_numpy(given: Any) -> Any:
    """NumPy's type for a type of torch's, a Python type, or None (which stays None)."""
    if isinstance(given, dtype):
        return given.numpy
    return _default.numpy if given is float else given


def default() -> Any:
    """NumPy's type for the default floating point type."""
    return _default.numpy


def default_complex() -> Any:
    """NumPy's type for complex numbers with parts of the default type."""
    return np.result_type(_default.numpy, np.complex64)


def get_default_dtype() -> dtype:
    """The type that Python's floats become: float32 at first.

    >>> from gradtape_standins import torch
    >>> torch.get_default_dtype()
    torch.float32
    """
    return _default


def set_default_dtype(d: dtype) -> None:
    """Choose the type that Python's floats become."""
    global _default
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError(f"set_default_dtype: {d!r} is no floating point type; torch.float32 and torch.float64 are")
    _default = d


def category(numpy: Any) -> int:
    """0 for booleans, 1 for integers, 2 for real numbers, 3 for complex ones."""
    return {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}[numpy.kind]


def promote(first: Any, second: Any) -> Any:
    """The type of a result of two tensors with axes, as NumPy's types; None stands for nothing."""
    if first is None or second is None or first == second:
        return second if first is None else first
    low, high = sorted((first, second), key=category)
    if category(low) == category(high) or (category(low) == 2 and category(high) == 3):
        return np.promote_types(low, high)
    return high


def of_number(number: Any) -> Any:
    """The type that a Python number brings along."""
    if isinstance(number, bool):
        return np.dtype(np.bool_)
    if isinstance(number, int):
        return np.dtype(np.int64)
    return _default.numpy if isinstance(number, float) else default_complex()


def _decide(higher: Any, lower: Any) -> Any:
    """What a group of operands of higher rank makes of one of lower rank."""
    if higher is None or lower is None:
        return lower if higher is None else higher
    return promote(higher, lower) if category(lower) > category(higher) else higher


def result(*operands: Any) -> Any:
    """The type of a result of tensors and Python numbers."""
    dimensioned = single = number = None
    for operand in operands:
        if not hasattr(operand, "dtype"):
            number = promote(number, of_number(operand))
        elif isinstance(operand, np.generic):
            number = promote(number, operand.dtype)
        elif operand.shape:
            dimensioned = promote(dimensioned, operand.dtype)
        else:
            single = promote(single, operand.dtype)
    return _decide(_decide(dimensioned, single), number)
