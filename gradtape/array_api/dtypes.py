"""Data types, and what is asked about them."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradtape import ops
from gradtape.array_api.arguments import NUMBERS, ArgumentError, array, as_dtype, check_device
from gradtape.errors import DtypeError
from gradtape.extend import Tensor, argument_error

DType = np.dtype[Any]

bool = np.dtype("bool")
int8 = np.dtype("int8")
int16 = np.dtype("int16")
int32 = np.dtype("int32")
int64 = np.dtype("int64")
uint8 = np.dtype("uint8")
uint16 = np.dtype("uint16")
uint32 = np.dtype("uint32")
uint64 = np.dtype("uint64")
float32 = np.dtype("float32")
float64 = np.dtype("float64")
complex64 = np.dtype("complex64")
complex128 = np.dtype("complex128")

_SIGNED = (int8, int16, int32, int64)
_UNSIGNED = (uint8, uint16, uint32, uint64)
_REAL = (float32, float64)
_COMPLEX = (complex64, complex128)
KINDS: dict[str, tuple[DType, ...]] = {
    "bool": (bool,),
    "signed integer": _SIGNED,
    "unsigned integer": _UNSIGNED,
    "integral": _SIGNED + _UNSIGNED,
    "real floating": _REAL,
    "complex floating": _COMPLEX,
    "numeric": _SIGNED + _UNSIGNED + _REAL + _COMPLEX,
}
"""The standard's names for groups of data types."""


def unknown_kind(kind: Any, function: str) -> Exception:
    """The error for a kind that the standard does not know."""
    accepted = ", ".join(map(repr, KINDS))
    return argument_error(ArgumentError, f"{function}: kind={kind!r}.", f"one of {accepted}")


def astype(x: Any, dtype: Any, /, *, copy: builtins.bool = True, device: Any = None) -> Any:
    """`x` in another data type; a gradient passes between floating point types.

    >>> import gradtape.array_api as xp
    >>> xp.astype(xp.asarray([1.5, 2.5]), xp.int8)
    Tensor([1, 2], dtype=int8)
    """
    check_device(device, "astype")
    x, dtype = array(x, "astype"), as_dtype(dtype, "astype")
    if x.dtype == dtype:
        return ops.identity(x) if copy else x
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        raise argument_error(
            DtypeError,
            f"astype: {x.dtype} to {dtype} would drop the imaginary part.",
            "real(x) or abs(x) first, whichever is meant",
        )
    return ops.astype(x, dtype)


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """Whether values of one data type always fit into another.

    >>> import gradtape.array_api as xp
    >>> xp.can_cast(xp.int8, xp.int16), xp.can_cast(xp.float64, xp.float32)
    (True, False)
    """
    given = from_.dtype if isinstance(from_, (Tensor, np.ndarray)) else as_dtype(from_, "can_cast")
    return np.can_cast(given, as_dtype(to, "can_cast"), "safe")


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The data type that comes out when arrays, data types and Python numbers meet.

    >>> import gradtape.array_api as xp
    >>> xp.result_type(xp.asarray([1.0], dtype=xp.float32), 2.0)
    dtype('float32')
    """
    if not arrays_and_dtypes or all(type(each) in NUMBERS for each in arrays_and_dtypes):
        raise argument_error(
            ArgumentError,
            f"result_type: {len(arrays_and_dtypes)} arguments, none of them an array or a dtype.",
            "at least one array or dtype",
        )
    return ops.result_type(*arrays_and_dtypes)


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """Whether a data type is `kind`: another one, the name of a group, or any of a tuple of these.

    >>> import gradtape.array_api as xp
    >>> xp.isdtype(xp.float32, "real floating"), xp.isdtype(xp.int8, ("bool", xp.int16))
    (True, False)
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise unknown_kind(kind, "isdtype")
        return np.dtype(dtype) in KINDS[kind]
    return builtins.bool(np.dtype(dtype) == as_dtype(kind, "isdtype"))


@dataclass(frozen=True)
class FloatInfo:
    """The limits of a floating point type. Of a complex one, those of its parts."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True)
class IntegerInfo:
    """The limits of an integer type."""

    bits: int
    max: int
    min: int
    dtype: DType


def finfo(type: Any, /) -> FloatInfo:
    """The limits of a floating point type, which may be given by an array of it.

    >>> import gradtape.array_api as xp
    >>> xp.finfo(xp.float32).bits
    32
    """
    dtype = as_dtype(getattr(type, "dtype", type), "finfo")
    if dtype is None or dtype.kind not in "fc":
        raise argument_error(
            DtypeError, f"finfo: {dtype} is no floating point type.", "a floating point type, or iinfo"
        )
    info = np.finfo(dtype)
    eps, largest, least = float(info.eps), float(info.max), float(info.min)
    return FloatInfo(info.bits, eps, largest, least, float(info.smallest_normal), info.dtype)


def iinfo(type: Any, /) -> IntegerInfo:
    """The limits of an integer type, which may be given by an array of it.

    >>> import gradtape.array_api as xp
    >>> xp.iinfo(xp.int8).max
    127
    """
    dtype = as_dtype(getattr(type, "dtype", type), "iinfo")
    if dtype is None or dtype.kind not in "iu":
        raise argument_error(DtypeError, f"iinfo: {dtype} is no integer type.", "an integer type, or finfo")
    info = np.iinfo(dtype)
    return IntegerInfo(info.bits, info.max, info.min, info.dtype)
