"""The shapes and dtypes of a function's results, for libraries that have to know them before there are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.bridges.program import BridgeCall
from gradtape.errors import OperandError
from gradtape.extend import argument_error, leaves, rebuild

Kind = tuple[tuple[int, ...], np.dtype[Any]]


def shapes_by_trial(call: BridgeCall, bridge: str, declared: Any, unknown: int = 2) -> list[Kind]:
    """The shape and dtype of each result: by a trial with numbers of the arguments' shapes, checked with `declared`.

    Lengths that are not known are taken for `unknown`. With `declared`, a trial that fails does no harm, but then the
    function must not return anything other than arrays.
    """
    try:
        found = [(result.shape, result.dtype) for result in call.program(*[_trial(x, unknown) for x in call.arrays])]
    except Exception as error:
        if declared is None:
            raise argument_error(
                OperandError,
                f"{bridge}: a trial of {call.name}, to find the shapes of its results, failed with "
                f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'}.",
                f"{bridge}(f, result=...) with arrays of the shapes and dtypes of its results",
            ) from error
        call.result = rebuild(declared, [0.0] * len(leaves(declared)))
        return [_kind(each) for each in leaves(declared)]
    if declared is None:
        return found
    if len(leaves(declared)) != len(found):
        raise argument_error(
            OperandError,
            f"{bridge}: result has {len(leaves(declared))} arrays, and {call.name} returns {len(found)}.",
            "one for each array that it returns",
        )
    return [_kind(each) for each in leaves(declared)]


def _kind(declared: Any) -> Kind:
    if hasattr(declared, "shape"):
        return tuple(declared.shape), np.dtype(declared.dtype)
    return np.shape(declared), np.result_type(declared)


def _trial(array: Any, unknown: int) -> Any:
    """Numbers between 0.25 and 0.75 in the shape and dtype of `array`; ones where it has integers."""
    shape = tuple(unknown if length is None else length for length in array.shape)
    dtype = np.dtype(array.dtype)
    if dtype.kind not in "fc":
        return np.ones(shape, dtype)
    count = int(np.prod(shape, dtype=int))
    spread = 0.25 + 0.5 * ((np.arange(count) * 0.6180339887498949) % 1.0)
    return spread.reshape(shape).astype(dtype)
