"""Making tensors: from data, of one number, ranges, grids."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import Tensor as Value
from gradtape.extend import messages
from gradtape_standins.torch import dtypes
from gradtape_standins.torch.errors import as_torch, translating
from gradtape_standins.torch.storage import Mirror
from gradtape_standins.torch.tensor import Tensor, wrap


def convert_to_array(data: Any, dtype: Any = None) -> Any:
    """A fresh array with the numbers in `data`; Python's floats in the default type."""
    if isinstance(data, Tensor):
        return np.array(data._left("torch.tensor()"), dtype=dtype)
    if isinstance(data, (list, tuple)) and dtype is None and _holds_tensors(data):
        kinds = [part._value for part in _flat(data) if isinstance(part, Tensor)]
        dtype = dtypes.result(*kinds)
    try:
        array = np.array(_plain(data), dtype=dtype)
    except (ValueError, TypeError) as error:
        raise as_torch(messages.ragged(data, error), ValueError) from None
    if array.dtype.kind not in "fciub":
        raise as_torch(messages.not_numbers(data, array.dtype), TypeError)
    if dtype is None and not isinstance(data, (np.ndarray, np.generic)) and not _holds_arrays(data):
        if array.dtype.kind == "f":
            array = array.astype(dtypes.default())
        elif array.dtype.kind == "c":
            array = array.astype(dtypes.default_complex())
    return array


def _plain(data: Any) -> Any:
    if isinstance(data, Tensor):
        return data._left("torch.tensor()")
    return [_plain(part) for part in data] if isinstance(data, (list, tuple)) else data


def _flat(data: Any) -> list[Any]:
    return [leaf for part in data for leaf in _flat(part)] if isinstance(data, (list, tuple)) else [data]


def _holds_tensors(data: Any) -> bool:
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, Tensor)


def _holds_arrays(data: Any) -> bool:
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, (np.ndarray, np.generic, Tensor))


def tensor(
    data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A tensor with a copy of `data`.

    >>> from gradtape_standins import torch
    >>> torch.tensor([1.0, 2.0], requires_grad=True)
    tensor([1., 2.], requires_grad=True)
    """
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    if data is None:
        raise RuntimeError("Could not infer dtype of NoneType.\n  fix: a number, a list or an array")
    with translating():
        return _made(convert_to_array(data, dtypes.as_numpy(dtype)), requires_grad, device)


def _made(array: Any, requires_grad: bool = False, device: Any = None) -> Tensor:
    if device is not None:
        from gradtape_standins.torch.size_and_device import device as place

        place(device)
    made: Tensor = wrap(Value(array))
    return made.requires_grad_() if requires_grad else made


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` itself if it is a tensor of this type; an array's numbers are shared."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, np.ndarray) and dtype is None:
        return from_numpy(data)
    return tensor(data, dtype=dtype)


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: Any = None, requires_grad: bool = False
) -> Tensor:
    """`obj` as a tensor, copied only where that is needed or asked for."""
    made = tensor(_plain(obj), dtype=dtype) if copy else as_tensor(obj, dtype=dtype)
    return made.requires_grad_() if requires_grad else made


def from_numpy(ndarray: Any) -> Tensor:
    """A tensor that shares an array's numbers: a write to one is a write to the other."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    with translating():
        if ndarray.dtype not in [t.numpy for t in dtypes.NAMES.values()]:
            raise messages.not_numbers(ndarray, ndarray.dtype)
        made = _made(ndarray.copy())
    made._mirror, made._linked = Mirror(ndarray), True
    return made


def _shape(size: Sequence[Any]) -> tuple[int, ...]:
    if len(size) == 1 and isinstance(size[0], (list, tuple)):
        size = size[0]
    for length in size:
        if isinstance(length, float):
            raise TypeError(f"a shape is made of ints, and {length!r} is a float.\n  fix: int({length!r})")
        if length < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {length}: {list(size)}")
    return tuple([int(n) for n in size])


def zeros(
    *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, out: Any = None, **_: Any
) -> Tensor:
    """A tensor of zeros."""
    kind = dtype or dtypes.get_default_dtype()
    return full(_shape(size), 0, dtype=kind, requires_grad=requires_grad, device=device)


def ones(
    *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, out: Any = None, **_: Any
) -> Tensor:
    """A tensor of ones."""
    kind = dtype or dtypes.get_default_dtype()
    return full(_shape(size), 1, dtype=kind, requires_grad=requires_grad, device=device)


def empty(
    *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, out: Any = None, **_: Any
) -> Tensor:
    """A tensor whose numbers are still to be written: zeros here."""
    return zeros(*size, dtype=dtype, requires_grad=requires_grad, device=device)


def full(
    size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """A tensor of one number."""
    fill = fill_value._numbers if isinstance(fill_value, Tensor) else fill_value
    kind = dtypes.as_numpy(dtype)
    if kind is None:
        kind = fill.dtype if hasattr(fill, "dtype") else dtypes.of_number(fill)
    with translating():
        shape = (size,) if isinstance(size, int) else _shape((size,))
        return _made(np.full(shape, fill, kind), requires_grad, device)


def _like(input: Tensor, dtype: Any) -> Any:
    return dtype or input.dtype


def zeros_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """Zeros of the shape and type of `input`."""
    return _full_like(input, 0, dtype, requires_grad)


def ones_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """Ones of the shape and type of `input`."""
    return _full_like(input, 1, dtype, requires_grad)


def empty_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """A tensor of the shape and type of `input`, still to be written: zeros here."""
    return _full_like(input, 0, dtype, requires_grad)


def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """One number in the shape and type of `input`."""
    return _full_like(input, fill_value, dtype, requires_grad)


def _full_like(input: Tensor, number: Any, dtype: Any, requires_grad: bool) -> Tensor:
    return full(tuple(input._value.shape), number, dtype=_like(input, dtype), requires_grad=requires_grad)


def arange(
    start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """Numbers from `start` up to, not including, `end`."""
    first, last = (0, start) if end is None else (start, end)
    bounds = [x.item() if isinstance(x, Tensor) else x for x in (first, last, step)]
    if bounds[2] == 0 or (bounds[1] - bounds[0]) / bounds[2] < 0:
        raise RuntimeError(
            f"arange: from {bounds[0]} to {bounds[1]} by {bounds[2]}: upper bound and lower bound inconsistent with "
            "step sign.\n  fix: a step with the other sign, or the bounds the other way round"
        )
    kind = dtypes.as_numpy(dtype)
    if kind is None:
        kind = dtypes.default() if any(isinstance(x, float) for x in bounds) else np.dtype(np.int64)
    count = int(np.ceil((bounds[1] - bounds[0]) / bounds[2]))
    if kind.kind == "f":
        array = (bounds[0] + bounds[2] * np.arange(max(count, 0), dtype=np.float64)).astype(kind)
    else:
        array = np.arange(*bounds).astype(kind)
    return _made(array, requires_grad)


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """`steps` numbers from `start` to `end`, both included."""
    kind = dtypes.as_numpy(dtype) or dtypes.default()
    return _made(np.linspace(float(start), float(end), steps).astype(kind), requires_grad)


def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """`steps` numbers from base ** start to base ** end, their logarithms evenly spaced."""
    array = np.logspace(float(start), float(end), steps, base=base)
    return _made(array.astype(dtypes.as_numpy(dtype) or dtypes.default()), requires_grad)


def eye(n: int, m: int | None = None, *, dtype: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """Ones on the diagonal, zeros elsewhere."""
    if n < 0 or (m is not None and m < 0):
        raise RuntimeError(f"eye: n={n}, m={m}; lengths are at least 0")
    return _made(np.eye(n, m, dtype=dtypes.as_numpy(dtype) or dtypes.default()), requires_grad)


def tril_indices(row: int, col: int, offset: int = 0, **_: Any) -> Tensor:
    """The rows and columns of the lower triangle."""
    return _made(np.stack(np.tril_indices(row, offset, col)))


def triu_indices(row: int, col: int, offset: int = 0, **_: Any) -> Tensor:
    """The rows and columns of the upper triangle."""
    return _made(np.stack(np.triu_indices(row, offset, col)))


def complex(real: Tensor, imag: Tensor) -> Tensor:
    """A complex tensor from its parts."""
    label = "ComplexBackward0"
    with translating():
        made: Tensor = wrap(real._value + imag._value * _unit(real), label)
    return made


def _unit(real: Tensor) -> Any:
    return np.asarray(1j, np.result_type(real._value.dtype, np.complex64))


def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """A complex tensor from lengths and angles."""
    with translating():
        size, turn = abs._value, angle._value
        made: Tensor = wrap(size * gt.cos(turn) + size * gt.sin(turn) * _unit(abs), "PolarBackward0")
    return made


def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a tensor."""
    return isinstance(obj, Tensor)
