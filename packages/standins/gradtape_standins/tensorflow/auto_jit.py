"""Functions that are called often with arguments of one kind, run through `gt.jit`.

The first calls run as they are, and what they do besides computing is noted: a draw, a print, an element of a dataset.
A function that did none of that is compiled when `WARM` calls are over (after the first with `jit_compile=True`). If it
turns out that it cannot be compiled, or has to be traced again and again, it is run as it is from then on.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as gt
from gradtape.extend import leaves, map_structure, rebuild
from gradtape_standins.tensorflow.conversion import Holder, value_of
from gradtape_standins.tensorflow.errors import in_tensorflow_terms
from gradtape_standins.tensorflow.execution_context import effects
from gradtape_standins.tensorflow.tensor import EagerTensor, Tensor, wrap
from gradtape_standins.tensorflow.variable import Variable

WARM = 256
"""How many calls run as they are before a function is compiled."""
TRACES_AT_MOST = 4
"""How many traces there may be for arguments of one kind, as for the branches of a condition; more of them only where
each is used often."""
RUNS_A_TRACE = 16
"""How often each trace has to be used on average, if there are more than that."""


_PLACE = object()


class AutoJit:
    """A Python function for arguments of one kind; compiled once it is called often."""

    def __init__(self, function: Callable[..., Any], wanted: bool | None) -> None:
        self._function = function
        self._left = 1 if wanted else WARM
        self._is_plain = wanted is False
        self._compiled: Any = None

    def __call__(self, args: Any, kwargs: Any) -> Any:
        """What the function returns, as a graph returns it."""
        if self._compiled is not None:
            return self._run((args, kwargs))
        if self._is_plain:
            return map_structure(returned, self._function(*args, **kwargs))
        self._left -= 1
        if self._left <= 0:
            return self._first((args, kwargs))
        noted: list[str] = []
        token = effects.set(noted)
        try:
            result = self._function(*args, **kwargs)
        finally:
            effects.reset(token)
        self._is_plain = bool(noted)
        return map_structure(returned, result)

    def _first(self, arguments: Any) -> Any:
        """The first run through `gt.jit`, which says nothing if it cannot be done."""
        from gradtape.extend import JitWarning
        from gradtape.jit import jit

        function = self._function
        given = [_PLACE if type(x) is EagerTensor else x for x in leaves(arguments)]
        skeleton = map_structure(lambda x: 0, arguments)  # no tensor of this call stays behind

        def traced(*values: Any) -> Any:
            supply = iter(values)
            args, kwargs = rebuild(skeleton, [wrap(next(supply)) if x is _PLACE else x for x in given])
            return map_structure(_bare, function(*args, **kwargs))

        self._compiled = jit(traced)
        self._compiled.is_silent = True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JitWarning)
            return self._run(arguments)

    @in_tensorflow_terms
    def _run(self, arguments: Any) -> Any:
        noted: list[str] = []
        token = effects.set(noted)
        try:
            made = self._compiled(*(x._value for x in leaves(arguments) if type(x) is EagerTensor))
        finally:
            effects.reset(token)
        stats = self._compiled.stats
        is_restless = stats.traces > TRACES_AT_MOST and stats.runs < RUNS_A_TRACE * stats.traces
        if noted or stats.uncompiled or is_restless:
            self._compiled, self._is_plain = None, True
        return map_structure(returned, made)


def _bare(x: Any) -> Any:
    found = returned(x)
    return found._value if isinstance(found, Holder) else found


def returned(x: Any) -> Any:
    """What the function returned, as a graph returns it: numbers are tensors, variables their values."""
    if isinstance(x, Variable):
        return x.value()
    if isinstance(x, Tensor):
        return EagerTensor(x._value) if x.symbol is not None else x
    if isinstance(x, bool | int | float | complex | np.ndarray | np.generic | gt.Tensor):
        return wrap(value_of(x))
    return x
