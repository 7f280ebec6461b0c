"""What PyTorch says about types, devices and compilers, as far as it makes sense here."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape_standins.torch import dtypes
from gradtape_standins.torch.size_and_device import device, strided
from gradtape_standins.torch.tensor import Tensor

__all__ = [
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "are_deterministic_algorithms_enabled",
    "can_cast",
    "compile",
    "e",
    "finfo",
    "get_default_device",
    "get_num_threads",
    "iinfo",
    "inf",
    "is_complex",
    "is_floating_point",
    "is_nonzero",
    "is_signed",
    "nan",
    "newaxis",
    "pi",
    "promote_types",
    "result_type",
    "set_default_device",
    "set_float32_matmul_precision",
    "set_num_threads",
    "strided",
    "use_deterministic_algorithms",
]

inf, nan, pi, e = float("inf"), float("nan"), float(np.pi), float(np.e)
newaxis = None


class finfo:
    """The limits of a floating point type.

    >>> from gradtape_standins import torch
    >>> torch.finfo(torch.float32).eps
    1.1920928955078125e-07
    """

    def __init__(self, type: dtypes.dtype | None = None) -> None:
        kind = dtypes.get_default_dtype() if type is None else type
        limits = np.finfo(kind.numpy)
        self.bits, self.dtype = int(limits.bits), kind.name
        self.eps, self.max, self.min = float(limits.eps), float(limits.max), float(limits.min)
        self.tiny = self.smallest_normal = float(limits.tiny)
        self.resolution = float(limits.resolution)

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{name}={getattr(self, name):g}' for name in names)}, dtype={self.dtype})"


class iinfo:
    """The limits of an integer type."""

    def __init__(self, type: dtypes.dtype) -> None:
        limits = np.iinfo(type.numpy)
        self.bits, self.max, self.min, self.dtype = int(limits.bits), int(limits.max), int(limits.min), type.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """The type of a result of arithmetic with both."""
    return dtypes.of(dtypes.result(*[x._value if isinstance(x, Tensor) else x for x in (tensor1, tensor2)]))


def promote_types(type1: dtypes.dtype, type2: dtypes.dtype) -> dtypes.dtype:
    """The smallest type that both can be converted to."""
    return dtypes.of(dtypes.promote(type1.numpy, type2.numpy))


def can_cast(from_: dtypes.dtype, to: dtypes.dtype) -> bool:
    """Whether a conversion stays in the category of numbers, or goes to a higher one."""
    return dtypes.category(from_.numpy) <= dtypes.category(to.numpy)


def is_floating_point(input: Tensor) -> bool:
    """Whether the numbers are real floating point numbers."""
    return input.is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Whether the numbers are complex."""
    return input.is_complex()


def is_signed(input: Tensor) -> bool:
    """Whether the numbers can be negative."""
    return input.is_signed()


def set_float32_matmul_precision(precision: str) -> None:
    """Accepted: products are computed in full precision."""


def is_nonzero(input: Tensor) -> bool:
    """Whether a single number is not 0."""
    return bool(input)


class _Typed(type(Tensor)):  # type: ignore[misc]
    """Classes of tensors by the type of their numbers: calling one makes a tensor, and tensors of the type are its."""

    dtype_of_class: dtypes.dtype

    def __call__(cls, *data: Any) -> Tensor:
        return Tensor(*data, dtype=cls.dtype_of_class)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype_of_class


def _typed(name: str, kind: dtypes.dtype) -> Any:
    doc = f"A tensor of the type {kind!r} from data."
    return _Typed(name, (), {"__doc__": doc, "dtype_of_class": kind, "_original": f"torch.{name}"})


FloatTensor = _typed("FloatTensor", dtypes.float32)
DoubleTensor = _typed("DoubleTensor", dtypes.float64)
LongTensor = _typed("LongTensor", dtypes.int64)
IntTensor = _typed("IntTensor", dtypes.int32)
HalfTensor = _typed("HalfTensor", dtypes.float16)
ShortTensor = _typed("ShortTensor", dtypes.int16)
CharTensor = _typed("CharTensor", dtypes.int8)
ByteTensor = _typed("ByteTensor", dtypes.uint8)
BoolTensor = _typed("BoolTensor", dtypes.boolean)


def compile(model: Any = None, **options: Any) -> Any:
    """The function or module as it is: the stand-in runs it operation by operation.

    `gt.jit` compiles functions of gradtape's own tensors.
    """
    return (lambda function: function) if model is None else model


def get_default_device() -> device:
    """The CPU."""
    return device("cpu")


def set_default_device(new: Any) -> None:
    """Accepts the CPU."""
    device(new)


def get_num_threads() -> int:
    """One: NumPy decides for itself where it uses more."""
    return 1


def set_num_threads(count: int) -> None:
    """Accepted: NumPy decides for itself."""


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Accepted: there are no others here."""


def are_deterministic_algorithms_enabled() -> bool:
    """True: there are no others here."""
    return True
