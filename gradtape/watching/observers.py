"""Who is told of each gradient that a watched library takes: the report, if one is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gradtape.core.location import Location

if TYPE_CHECKING:
    from gradtape.explain.report.facts import Facts

Observer = Callable[[Location, "Callable[[], Facts]"], None]
"""Called with the place of a gradient and a function that collects the facts of it."""

observers: list[Observer] = []

__all__ = ["Observer", "observers"]
