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


config = Config()
