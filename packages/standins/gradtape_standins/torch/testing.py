"""`torch.testing`: numbers that should be the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape_standins.missing_names import missing
from gradtape_standins.torch.tensor import Tensor

__all__ = ["assert_close"]

_RELATIVE = {"float16": 1e-3, "float32": 1.3e-6, "complex64": 1.3e-6, "float64": 1e-7, "complex128": 1e-7}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    **_: Any,
) -> None:
    """Raise AssertionError unless both have the same shape and type, and numbers that are nearly the same.

    >>> from gradtape_standins import torch
    >>> torch.testing.assert_close(torch.tensor([1.0]), torch.tensor([1.0000001]))
    """
    if isinstance(expected, dict):
        pairs = [(actual[key], expected[key]) for key in expected]
    elif isinstance(expected, (list, tuple)):
        pairs = list(zip(actual, expected, strict=True))
    else:
        ours, theirs = (np.asarray(x._numbers if isinstance(x, Tensor) else x) for x in (actual, expected))
        if ours.shape != theirs.shape:
            raise AssertionError(f"the shapes differ: {ours.shape} and {theirs.shape}")
        if ours.dtype != theirs.dtype and isinstance(actual, Tensor) and isinstance(expected, Tensor):
            raise AssertionError(f"the types differ: {actual.dtype} and {expected.dtype}")
        relative = _RELATIVE.get(ours.dtype.name, 0.0) if rtol is None else rtol
        absolute = (1e-5 if relative else 0.0) if atol is None else atol
        far = ~np.isclose(ours, theirs, relative, absolute, equal_nan)
        if far.any():
            worst = np.max(np.abs(ours - theirs))
            raise AssertionError(
                f"{int(far.sum())} of {far.size} numbers are not close: the largest difference is {worst:.3g}, "
                f"rtol={relative} and atol={absolute} are allowed"
            )
        return
    for left, right in pairs:
        assert_close(left, right, rtol=rtol, atol=atol, equal_nan=equal_nan)


__getattr__ = missing(__name__)
