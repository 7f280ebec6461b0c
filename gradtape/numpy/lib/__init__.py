"""`numpy.lib`: its `stride_tricks` and `scimath` take tensors, the rest is NumPy's own."""

import importlib
from typing import Any

import numpy.lib

OURS = {"stride_tricks": "gradtape.numpy.lib.stride_tricks", "scimath": "gradtape.numpy.emath"}


def __getattr__(name: str) -> Any:
    if name in OURS:
        return importlib.import_module(OURS[name])
    if name.startswith("_"):
        raise AttributeError(f"gradtape.numpy.lib has no name {name!r}")
    return getattr(numpy.lib, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *OURS, *(name for name in dir(numpy.lib) if not name.startswith("_"))})
