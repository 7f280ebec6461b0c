"""What of TensorFlow is patched while a program is watched, and the guard around everything that runs there.

An error in our own code never reaches the program: it ends the watching. With GRADTAPE_WATCH_DEBUG=1 it is raised.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from gradtape.errors import GradTapeError


class Patches:
    """Attributes of classes and modules that were replaced, to be put back."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any, Any]] = []

    def wrap(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Replace an attribute of its owner by `make(attribute)`; one that is not there is left out."""
        original = vars(owner).get(name)
        if original is None:
            return
        function = original.__func__ if isinstance(original, staticmethod | classmethod) else original
        wrapped = functools.wraps(function)(make(function))
        setattr(owner, name, wrapped)
        self._replaced.append((owner, name, original, wrapped))

    def wrap_property(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Replace a property by one that is read by `make(function)`; one that is not there is left out."""
        original = vars(owner).get(name)
        if isinstance(original, property):
            wrapped = property(functools.wraps(original.fget)(make(original.fget)), original.fset, original.fdel)  # type: ignore[arg-type]
            setattr(owner, name, wrapped)
            self._replaced.append((owner, name, original, wrapped))

    def undo(self) -> None:
        """Put everything back, unless another package has replaced it since."""
        for owner, name, original, wrapped in reversed(self._replaced):
            if vars(owner).get(name) is wrapped:
                setattr(owner, name, original)
        self._replaced.clear()


class Guard:
    """Runs our own code at the boundary of a hook; the first error in it ends the watching."""

    def __init__(self, end: Callable[[], None]) -> None:
        self._end = end
        self.is_broken = False
        self._debugs = os.environ.get("GRADTAPE_WATCH_DEBUG") == "1"

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of our function; None after an error in it."""
        if self.is_broken:
            return None
        try:
            return function(*arguments)
        except (GradTapeError, Warning):  # what is reported may be configured to be raised
            raise
        except Exception:
            self.is_broken = True
            self._end()
            if self._debugs:
                raise
            return None

    def attempt(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The same for an explanation that the rest does not need: without it, the watching goes on."""
        if self.is_broken:
            return None
        try:
            return function(*arguments)
        except (GradTapeError, Warning):
            raise
        except Exception:
            if self._debugs:
                raise
            return None


__all__ = ["Guard", "Patches"]
