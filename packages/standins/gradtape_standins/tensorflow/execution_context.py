"""What is going on around an operation: name scopes, and whether a `tf.function` is being traced or run again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_names: ContextVar[tuple[str, ...]] = ContextVar("names of scopes", default=())
mode: ContextVar[str] = ContextVar("mode", default="eager")
"""`eager`; or, inside of a `tf.function`, `tracing` the first time with arguments of a kind and `replaying` after."""


made_while_tracing: ContextVar[list[Any]] = ContextVar("made while tracing")
"""Weak references to the variables that are made while a `tf.function` is traced."""


graph_tape: ContextVar[Any] = ContextVar("tape of the function", default=None)
"""The tape on which a `tf.function` that calls `tf.gradients` records all that it does."""


effects: ContextVar[list[str] | None] = ContextVar("effects", default=None)
"""What the `tf.function` that is running has done that a compiled program would not do again: draws, prints, reads."""


def note_effect(what: str) -> None:
    """Say that something happens here that must happen at every call."""
    noted = effects.get()
    if noted is not None:
        noted.append(what)


class name_scope:
    """`tf.name_scope(name)`: the names of variables made inside begin with it.

    >>> from gradtape_standins import tensorflow as tf
    >>> with tf.name_scope("layer"):
    ...     v = tf.Variable(1.0, name="w")
    >>> v.name
    'layer/w:0'
    """

    def __init__(self, name: str) -> None:
        self._own = name
        self._tokens: list[Any] = []

    @property
    def name(self) -> str:
        """The name, with those of the scopes around it."""
        return f"{scoped(self._own)}/"

    def __enter__(self) -> str:
        self._tokens.append(_names.set((*_names.get(), self._own)))
        return "/".join(_names.get()) + "/"

    def __exit__(self, *details: Any) -> None:
        _names.reset(self._tokens.pop())


def scoped(name: str) -> str:
    """`name` behind the scopes that it is made in."""
    return "/".join((*_names.get(), name))


@contextmanager
def device(device_name: Any) -> Iterator[None]:
    """A block whose operations run on a device: always the CPU."""
    yield


@contextmanager
def init_scope() -> Iterator[None]:
    """A block that is lifted out of functions; here it just runs."""
    yield


@contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """A block that runs after `control_inputs`, as everything here does."""
    yield


def executing_eagerly() -> bool:
    """Whether no `tf.function` is running."""
    return mode.get() == "eager"


def inside_function() -> bool:
    """Whether a `tf.function` is running."""
    return mode.get() != "eager"
