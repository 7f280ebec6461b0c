"""Settings of the library."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Config:
    """What can be switched.

    >>> import gradtape as gt
    >>> gt.config.locations
    True
    """

    locations: bool = True
    """Remember the user's line of every recorded operation. Off, messages lose their lines and 0.1 us an operation."""

    native: bool = False
    """Run the elementwise stretches and reductions of `jit` as native code, through LLVM. An experiment, so far."""


config = Config()
