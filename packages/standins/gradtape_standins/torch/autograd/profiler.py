"""`torch.autograd.profiler`: marks in a program, which nobody reads here."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gradtape_standins.missing_names import missing

__all__ = ["record_function"]


class record_function:
    """A named block (or function) for a profiler; it runs as it is."""

    def __init__(self, name: str, args: Any = None) -> None:
        self.name = name

    def __enter__(self) -> record_function:
        return self

    def __exit__(self, *details: object) -> None:
        pass

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return functools.wraps(function)(lambda *args, **kwargs: function(*args, **kwargs))


_ADVICE = (
    "times are not taken here.\n  fix: python -m cProfile script.py, or time by line of compiled code (docs/jit.md)"
)
__getattr__ = missing(__name__, reasons=dict.fromkeys(("profile", "profiler", "schedule"), _ADVICE))
