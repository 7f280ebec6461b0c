"""SciPy's function for plain arrays, gradtape's of the same name for tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, MutableMapping
from typing import Any

import gradtape as gt
from gradtape_standins.autograd.box_conversion import holds_tensor, settled

Function = Callable[..., Any]


def either(theirs: Function, ours: Function) -> Function:
    """A function that is `ours` when it is given a tensor and `theirs` otherwise."""

    @functools.wraps(theirs, updated=())
    def chosen(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        if not any(holds_tensor(argument) for argument in given):
            return theirs(*args, **kwargs)
        return settled(ours(*map(_gathered, args), **{name: _gathered(value) for name, value in kwargs.items()}))

    chosen.fun = theirs  # type: ignore[attr-defined]
    return chosen


def _gathered(argument: Any) -> Any:
    return gt.array(argument) if isinstance(argument, (list, tuple)) and holds_tensor(argument) else argument


def enter(theirs: Any, ours: Any, methods: str, module: MutableMapping[str, Any]) -> None:
    """Enter the functions of a distribution into a module."""
    for method in methods.split():
        module[method] = either(getattr(theirs, method), getattr(ours, method))
