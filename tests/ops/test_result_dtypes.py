"""The dtype of every elementwise function for every pair of dtypes: eager and compiled as in NumPy."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtape as gt
from gradtape.numpy_dispatch import protocols

protocols.open_special_chapters()

DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint32", "uint64"]
DTYPES += ["float16", "float32", "float64", "complex64", "complex128"]
NUMBERS = [True, 2, -1, 2.5, 0.5, 1j]
ARRAYS = {dtype: np.array([1, 0, 3]).astype(dtype) for dtype in DTYPES}

TENSORS = {dtype: gt.tensor(array) for dtype, array in ARRAYS.items()}

FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    f"np.{ufunc.__name__}": (ufunc, ufunc.nin)
    for ufunc in [*protocols.UFUNCS, *protocols.COMPOSED]
    if ufunc.nin <= 2 and ufunc.signature is None
}
FUNCTIONS |= {
    f"operator.{name}": (getattr(operator, name), 2)
    for name in [
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "lt",
        "le",
        "eq",
        "ne",
        "gt",
        "ge",
        "and_",
        "or_",
        "xor",
        "lshift",
        "rshift",
    ]
}
FUNCTIONS |= {f"operator.{name}": (getattr(operator, name), 1) for name in ("neg", "pos", "abs", "invert")}
FUNCTIONS |= {
    "np.where": (lambda x, y: np.where(np.array([True, False, True]), x, y), 2),
    "np.clip": (lambda x, y: np.clip(x, 0, y), 2),
}

Operands = tuple[Any, ...]


def combinations(count: int) -> list[Operands]:
    """The dtypes, pairs of them, and pairs with a Python number on either side."""
    if count == 1:
        return [(dtype,) for dtype in DTYPES]
    pairs: list[Operands] = [(x, y) for x in DTYPES for y in DTYPES]
    return pairs + [pair for x in DTYPES for number in NUMBERS for pair in ((x, number), (number, x))]


def operands(names: Operands, make: Callable[[Any], Any]) -> list[Any]:
    """What the names stand for; numbers stand for themselves."""
    return [make(name) if isinstance(name, str) else name for name in names]


def results(function: Callable[..., Any], given: list[Any]) -> tuple[Any, ...] | None:
    """What a function returns, as a tuple; None where it takes no such dtypes or numbers."""
    try:
        found = function(*given)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if isinstance(found, tuple) else (found,)


def dtypes(found: tuple[Any, ...] | None) -> list[str] | None:
    return None if found is None else [str(np.dtype(x.dtype)) for x in found]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_have_numpys_dtypes_eager_and_compiled(name: str) -> None:
    """Every dtype, pair of dtypes, and dtype with a Python number gives NumPy's dtype and values, or is refused too."""
    function, count = FUNCTIONS[name]
    taken: list[tuple[Operands, tuple[Any, ...]]] = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for names in combinations(count):
            expected = results(function, operands(names, ARRAYS.__getitem__))
            assert dtypes(results(function, operands(names, TENSORS.__getitem__))) == dtypes(expected), names
            if expected is not None:
                taken.append((names, expected))

        def all_of_them(arrays: dict[str, Any]) -> list[Any]:
            return [results(function, operands(names, arrays.__getitem__)) for names, _ in taken]

        compiled = gt.jit(all_of_them)(ARRAYS)
    for (names, expected), found in zip(taken, compiled, strict=True):
        assert dtypes(found) == dtypes(expected), names
        for one, other in zip(found, expected, strict=True):
            exact = other.dtype.kind in "biu"
            tolerance = 0 if exact else 8 * float(np.finfo(other.dtype).eps)
            np.testing.assert_allclose(np.asarray(one), other, rtol=tolerance, atol=tolerance, err_msg=str(names))
