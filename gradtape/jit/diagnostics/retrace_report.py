"""A report, once for each compiled function, that it is traced again and again: which argument differs, and a fix."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.tensor import Tensor
from gradtape.jit.diagnostics.slowness_reason import RETRACED, Reason
from gradtape.loops.checks import paths

SIGNATURES_AT_MOST = 6
"""For how many kinds of arguments a function is traced without a report: a few shapes are usual."""
VARIANTS_AT_MOST = 4
"""How many traces for one kind of arguments are made without a report."""
NOTED_AT_MOST = 100
"""How many kinds of arguments are noted."""
VALUES_AT_MOST = 3
"""How many shapes, dtypes or values of one argument are usual."""
USED_OFTEN = 10
"""Calls for each kind of arguments, from which on the time to compile them does not matter."""
SHOWN = 4
"""How many values, shapes or dtypes a report shows."""


class Leaf(NamedTuple):
    """What a trace depends on of one argument or part of one: its shape, dtype or value, or how many parts it has."""

    shape: str
    dtype: str
    value: str
    parts: str = ""


class RetraceReport:
    """The arguments that a function was traced for, and what differs among them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._seen: list[dict[str, Leaf]] = []
        self._is_told = False

    def note(self, args: tuple[Any, ...], kwargs: dict[str, Any], runs: int) -> Reason | None:
        """Note the arguments of a call that is traced, for a kind of arguments that is new; a report if it is time.

        `runs` is how often compiled programs of the function were run so far.
        """
        if self._is_told or len(self._seen) >= NOTED_AT_MOST:
            return None
        self._seen.append(describe_arguments(self._function, args, kwargs))
        if len(self._seen) <= SIGNATURES_AT_MOST or runs >= USED_OFTEN * len(self._seen):
            return None
        told = self._differences()
        if not told:
            return None
        self._is_told = True
        text = f"was traced for {len(self._seen)} kinds of arguments, and each takes its time to compile"
        notes = tuple([what for what, _ in told])
        return Reason(RETRACED, text, (), tuple(dict.fromkeys(fix for _, fix in told)), notes)

    def _differences(self) -> list[tuple[str, str]]:
        """For each part of the arguments that differs: what it was, and what to write instead."""
        names = dict.fromkeys(name for seen in self._seen for name in seen)
        found = []
        for name in [name for name in names if all(name in seen for seen in self._seen)]:
            for kind, fix in _FIXES.items():
                values = dict.fromkeys(getattr(seen[name], kind) for seen in self._seen)
                values.pop("", None)
                if len(values) > VALUES_AT_MOST:
                    found.append((f"{name} {_WORDS[kind]} {_list(list(values))}", fix.format(name=name)))
        return found


_WORDS = {"shape": "had shapes", "dtype": "had dtypes", "value": "was", "parts": "had numbers of parts:"}
_FIXES = {
    "shape": "pad {name} to one of a few sizes, or call the function without jit where each size comes once",
    "dtype": "convert {name} to one dtype before the call",
    "parts": "join the parts of {name} to one array, padded to one of a few lengths",
    "value": "pass np.asarray({name}) if it is a number to compute with: each Python number is a program of its own",
}


def _list(values: list[str]) -> str:
    more = f" and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
    return ", ".join(values[:SHOWN]) + more


def describe_arguments(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Leaf]:
    """What a trace depends on of each argument, under the name that the user knows it by, such as `batch['x'][0]`."""
    names = _parameter_names(function, len(args))
    given = [*zip(names, args, strict=True), *kwargs.items()]
    found = {}
    for name, value in given:
        parts = {f"{name}{path}": _describe(leaf) for path, leaf in paths(value)}
        if list(parts) != [name]:
            found[name] = Leaf("", "", "", str(len(parts)))
        found.update(parts)
    return found


def _describe(leaf: Any) -> Leaf:
    if isinstance(leaf, Tensor | np.ndarray | np.generic):
        return Leaf(str(tuple(leaf.shape)), str(leaf.dtype), "")
    text = repr(leaf) if isinstance(leaf, bool | int | float | complex | str | bytes | None) else ""
    return Leaf("", type(leaf).__name__, text if len(text) <= 24 else f"{text[:21]}...")


def _parameter_names(function: Callable[..., Any], count: int) -> list[str]:
    """The names of the first parameters; `argument 3` for those that have none."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = ()  # type: ignore[assignment]
    known = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [*known[:count], *(f"argument {number}" for number in range(len(known[:count]), count))]
