"""Why a gradient is what it is: the path it takes, or the place where it was cut."""

from __future__ import annotations

from typing import Any


def why(target: Any, source: Any, mask: int, tape: Any = None) -> str:
    return "not connected"


def why_untracked(target: Any) -> str:
    return ""
