"""`numpy.testing` for tensors: their numbers are compared.

>>> import gradtape as gt
>>> import gradtape.numpy as np
>>> with gt.GradientTape() as tape:
...     x = tape.watch(gt.tensor([1.0, 2.0]))
...     np.testing.assert_allclose(2.0 * x, [2.0, 4.0])
"""

from __future__ import annotations

import functools
from typing import Any

import numpy.testing

from gradtape.extend import Tensor, concrete
from gradtape.numpy.arrays import Base, ndarray


def _numbers(value: Any) -> Any:
    """The numbers of tensors, in lists, tuples and dicts too; anything else as it is."""
    kind = type(value)
    if kind is ndarray:
        return value.view(Base)
    if isinstance(value, Tensor):
        return concrete(value)
    if kind is list or kind is tuple:
        return kind(map(_numbers, value))
    if kind is dict:
        return {key: _numbers(part) for key, part in value.items()}
    return value


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"gradtape.numpy.testing has no name {name!r}")
    found = getattr(numpy.testing, name)
    if not name.startswith("assert_") or isinstance(found, type):
        return found

    @functools.wraps(found)
    def compare(*args: Any, **kwargs: Any) -> Any:
        return found(*map(_numbers, args), **{key: _numbers(value) for key, value in kwargs.items()})

    globals()[name] = compare
    return compare


def __dir__() -> list[str]:
    return sorted({*globals(), *(name for name in dir(numpy.testing) if not name.startswith("_"))})
