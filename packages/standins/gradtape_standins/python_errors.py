"""Errors of gradtape's under the names of Python's own classes, as the libraries raise them that are stood in for."""

from __future__ import annotations

import functools

from gradtape.errors import GradTapeError


def as_python(error: GradTapeError, preferred: type[Exception] | None = None) -> GradTapeError:
    """The same error under the name of the class of Python's that it is a kind of: `preferred`, if it is one."""
    kind = _named(type(error), preferred)  # type: ignore[arg-type]
    if kind is type(error):
        return error
    renamed = kind.__new__(kind)
    renamed.problem, renamed.args = error.problem, error.args
    return renamed.with_traceback(error.__traceback__)


@functools.cache
def _named(kind: type[GradTapeError], preferred: type[Exception] | None) -> type[GradTapeError]:
    python = next(base for base in kind.__mro__ if base.__module__ == "builtins")
    if preferred is not None and issubclass(kind, preferred):
        python = preferred
    if python is Exception or kind.__module__ == "builtins":
        return kind
    return type(python.__name__, (kind,), {"__module__": "builtins", "__doc__": kind.__doc__})
