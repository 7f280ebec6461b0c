"""TensorFlow's dtypes: `tf.float32` and its relatives, which print as TensorFlow's do and equal NumPy's."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from gradtape_standins.missing_names import missing


class DType:
    """A kind of number: `tf.float32` is one of these.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.float32, tf.float32 == "float32", tf.float32.as_numpy_dtype
    (tf.float32, True, <class 'numpy.float32'>)
    """

    def __init__(self, name: str, numpy_dtype: Any) -> None:
        self.name = name
        self.numpy: np.dtype[Any] = np.dtype(numpy_dtype)

    @property
    def as_numpy_dtype(self) -> Any:
        """The type of a NumPy scalar of this kind."""
        return self.numpy.type

    @property
    def base_dtype(self) -> DType:
        """The dtype itself: there are no reference dtypes here."""
        return self

    @property
    def is_floating(self) -> builtins.bool:
        """Whether the numbers are real and have derivatives."""
        return builtins.bool(self.numpy.kind == "f")

    @property
    def is_complex(self) -> builtins.bool:
        """Whether the numbers are complex."""
        return builtins.bool(self.numpy.kind == "c")

    @property
    def is_integer(self) -> builtins.bool:
        """Whether the numbers are integers."""
        return builtins.bool(self.numpy.kind in "iu")

    @property
    def is_unsigned(self) -> builtins.bool:
        """Whether the numbers are integers without a sign."""
        return builtins.bool(self.numpy.kind == "u")

    @property
    def is_bool(self) -> builtins.bool:
        """Whether the values are True and False."""
        return builtins.bool(self.numpy.kind == "b")

    @property
    def size(self) -> int:
        """The number of bytes of one element."""
        return int(self.numpy.itemsize)

    @property
    def min(self) -> Any:
        """The smallest number."""
        return np.finfo(self.numpy).min if self.is_floating else np.iinfo(self.numpy).min

    @property
    def max(self) -> Any:
        """The largest number."""
        return np.finfo(self.numpy).max if self.is_floating else np.iinfo(self.numpy).max

    @property
    def real_dtype(self) -> DType:
        """The dtype of the real part."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Whether `other` is the same dtype."""
        return builtins.bool(self == other)

    def __eq__(self, other: object) -> builtins.bool:
        if isinstance(other, DType):
            return self.name == other.name
        try:
            return other is not None and self == as_dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"


float16 = half = DType("float16", np.float16)
float32 = DType("float32", np.float32)
float64 = double = DType("float64", np.float64)
int8 = DType("int8", np.int8)
int16 = DType("int16", np.int16)
int32 = DType("int32", np.int32)
int64 = DType("int64", np.int64)
uint8 = DType("uint8", np.uint8)
uint16 = DType("uint16", np.uint16)
uint32 = DType("uint32", np.uint32)
uint64 = DType("uint64", np.uint64)
complex64 = DType("complex64", np.complex64)
complex128 = DType("complex128", np.complex128)
bool = DType("bool", np.bool_)
string = DType("string", object)

_ALL = (
    *(float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64),
    *(complex64, complex128, bool, string),
)
_BY_NAME = {dtype.name: dtype for dtype in _ALL} | {"half": float16, "double": float64, "float": float32}
_BY_NUMPY = {dtype.numpy: dtype for dtype in _ALL}
_BY_TYPE: dict[Any, DType] = {float: float32, int: int32, complex: complex128, str: string, bytes: string}


def as_dtype(type_value: Any) -> DType:
    """The dtype that `type_value` (a dtype, a NumPy or Python type, a name) stands for.

    >>> from gradtape_standins import tensorflow as tf
    >>> tf.as_dtype("float64"), tf.as_dtype(float)
    (tf.float64, tf.float32)
    """
    if isinstance(type_value, DType):
        return type_value
    if isinstance(type_value, str) and type_value in _BY_NAME:
        return _BY_NAME[type_value]
    if isinstance(type_value, type) and type_value in _BY_TYPE:
        return _BY_TYPE[type_value]
    try:
        numpy_dtype = np.dtype(type_value)
    except TypeError:
        numpy_dtype = None
    if numpy_dtype in _BY_NUMPY:
        return _BY_NUMPY[numpy_dtype]
    known = ", ".join(dtype.name for dtype in _ALL)
    raise TypeError(f"{type_value!r} is no dtype of this stand-in for TensorFlow; there are: {known}")


def numpy_of(dtype: Any) -> np.dtype[Any]:
    """NumPy's dtype for anything that TensorFlow takes as one."""
    found: np.dtype[Any] = as_dtype(dtype).numpy
    return found


__all__ = ["DType", "as_dtype", "bool", "complex64", "complex128", "double", "float16", "float32", "float64", "half"]
__all__ += ["int8", "int16", "int32", "int64", "string", "uint8", "uint16", "uint32", "uint64"]

_absent = missing(
    __name__,
    reasons={"bfloat16": "NumPy has no such numbers.\n  fix: tf.float32, which holds every bfloat16 exactly"},
)


def __getattr__(name: str) -> Any:
    """The conversions, which are functions of tensors and so of later chapters."""
    if name in ("cast", "complex", "saturate_cast"):
        from gradtape_standins import tensorflow

        return getattr(tensorflow, name)
    return _absent(name)
