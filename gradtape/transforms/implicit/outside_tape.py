"""Computations that happen outside of gradtape, on plain arrays: a solver of SciPy's, say, or of the user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtape.core.batch import BatchLevel, BatchTensor
from gradtape.core.early_binding import bind_early
from gradtape.core.graph import LIFTED_NODE
from gradtape.core.operation import Lifted, Op, apply
from gradtape.core.tensor import Tensor
from gradtape.transforms.custom.arrays import is_recorded

Arrays = list[Any]


class _OutsideCallError(Exception):
    """An error on its way out of a kernel, where NumPy's errors would be given other words."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def off_tape(value: Any) -> Any:
    """The array of a tensor, or the same example of a batch or value of a trace, on no tape."""
    if isinstance(value, BatchTensor):
        assert isinstance(value.level, BatchLevel)
        return BatchTensor(off_tape(value.value), value.level)
    if isinstance(value, Lifted):
        return value._on(LIFTED_NODE)
    return value._array if isinstance(value, Tensor) else value


def call_outside(name: str, function: Callable[..., Sequence[Any]], inputs: Sequence[Any]) -> Arrays:
    """The arrays that `function` makes of plain arrays, whatever tensors the inputs are; nothing is recorded.

    In a batch it runs for one example after the other; while a function is compiled it becomes one instruction.
    """
    inputs = [off_tape(x) for x in inputs]
    if not any(isinstance(x, Lifted) for x in inputs):
        return list(function(*inputs))
    function = bind_early(function)  # a compiled program runs it later

    def kernel(*arrays: Any) -> tuple[Any, ...]:
        try:
            return tuple([np.asarray(x) for x in function(*arrays)])
        except Exception as error:
            raise _OutsideCallError(error) from error

    try:
        return [off_tape(x) for x in apply(Op(name, kernel, outputs=True, kind="outside"), tuple(inputs), {})]
    except _OutsideCallError as carried:
        failure = carried.error
    raise failure


def is_followed(value: Any) -> bool:
    """Whether somebody records what becomes of `value`, or it stands for one example of a batch or for a trace."""
    return isinstance(value, Tensor) and (isinstance(value, Lifted) or is_recorded(value))


def numbers_if_known(value: Any) -> Any:
    """The numbers behind a value; of a batch, those of all examples along axes in front; None while compiling."""
    while isinstance(value, BatchTensor):
        value = value.value
    if isinstance(value, Lifted):
        return None
    return value._concrete() if isinstance(value, Tensor) else np.asarray(value)
