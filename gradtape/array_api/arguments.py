"""How the functions of the standard read their arguments: arrays, numbers, devices and dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.errors import OperandError
from gradtape.extend import Tensor, argument_error

DEVICE = "cpu"
"""The one device there is."""

NUMBERS = (bool, int, float, complex)


class ArgumentError(OperandError, ValueError):
    """An argument that the standard does not have, such as another device or an unknown kind of data types."""


def array(x: Any, function: str, argument: str = "x") -> Tensor:
    """`x` as a tensor; NumPy's arrays are copied, and anything that is not an array is refused."""
    if isinstance(x, Tensor):
        return x
    if isinstance(x, (np.ndarray, np.generic)):
        return Tensor(np.array(x))
    raise argument_error(
        OperandError,
        f"{function}: {argument} is a {type(x).__name__}, not an array.",
        f"a tensor: gradtape.array_api.asarray({argument})",
    )


def each_array(arrays: Any, function: str) -> list[Tensor]:
    """Several arrays, each as a tensor."""
    return [array(x, function, f"arrays[{place}]") for place, x in enumerate(arrays)]


def operand(x: Any, function: str, argument: str) -> Any:
    """`x` as a tensor, or a Python number as it is: it takes the dtype of what it meets."""
    return x if type(x) in NUMBERS else array(x, function, argument)


def operands(x1: Any, x2: Any, function: str) -> tuple[Any, Any]:
    """Two operands of which at least one is an array, as the standard has it."""
    if isinstance(x1, Tensor) and isinstance(x2, Tensor):
        return x1, x2
    x1, x2 = operand(x1, function, "x1"), operand(x2, function, "x2")
    if not isinstance(x1, Tensor) and not isinstance(x2, Tensor):
        raise argument_error(
            OperandError,
            f"{function}: x1 is {x1!r} and x2 is {x2!r}, two Python numbers.",
            "at least one array: gradtape.array_api.asarray(x1)",
        )
    return x1, x2


def check_device(device: Any, function: str) -> None:
    """Raise unless `device` is the one device there is, or left open."""
    if device is not None and device != DEVICE:
        raise argument_error(
            ArgumentError, f"{function}: device={device!r}.", f"device={DEVICE!r}, the only one; or None"
        )


def as_dtype(dtype: Any, function: str) -> Any:
    """`dtype` as one of NumPy's, or None if it is left open."""
    if dtype is None:
        return None
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if found is None or found.kind not in "biufc":
        raise argument_error(OperandError, f"{function}: dtype={dtype!r}.", "a dtype of numbers, such as xp.float64")
    return found
