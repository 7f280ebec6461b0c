"""Functions of gradtape as parts of other libraries' graphs, where those libraries are installed.

`as_torch`, `as_jax` and `as_pytensor` make of a function of tensors one that the other library differentiates through,
once or several times. They are imported when they are first asked for.

>>> import gradtape as gt
>>> sorted(gt.bridges.__all__)
['as_jax', 'as_pytensor', 'as_torch']
"""

import importlib
from typing import Any as _Any

__all__ = ["as_jax", "as_pytensor", "as_torch"]

_HOMES = {"as_jax": "jax", "as_pytensor": "pytensor", "as_torch": "torch"}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> _Any:
    if name not in _HOMES:
        raise AttributeError(f"gradtape.bridges has no name {name!r}; there are {', '.join(__all__)}")
    return getattr(importlib.import_module(f"gradtape.bridges.{_HOMES[name]}"), name)
