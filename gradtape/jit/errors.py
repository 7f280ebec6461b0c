"""What keeps a function from being compiled, or its loop from being one; and how the user is told."""

from __future__ import annotations

import sys
import warnings

from gradtape.core.location import Location, is_library
from gradtape.errors import JitWarning


class Untraceable(BaseException):
    """A reason why a call cannot be compiled and has to run as it is. No `except Exception` of the user's stops it."""

    def __init__(self, message: str = "", location: Location | None = None) -> None:
        super().__init__(message)
        self.location = location  # the user's line that is the reason, where it is known


class GuardFailed(Exception):
    """A value differs from the one that the trace relied on."""


class Unrollable(BaseException):
    """A reason why the body of a loop cannot be traced once for all steps: they are traced one by one then."""


def warn(message: str, where: Location | None = None) -> None:
    """Warn the user, at the user's line."""
    place = (where or Location.here()).show()
    depth, frame = 1, sys._getframe(0)
    while frame.f_back is not None and is_library(frame.f_code.co_filename):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(f"{message}\n{place}", JitWarning, stacklevel=depth)
