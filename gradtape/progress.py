"""Progress bars: after a second, where they can be seen (a terminal or a notebook), and nowhere else.

They are tqdm's where it is installed, else a plain line that is written over. `progress=False` or the environment
variable GRADTAPE_PROGRESS=0 turn them off, `progress=True` shows them at once and in files too.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Protocol, TextIO

DELAY = 1.0  # seconds before a bar that nothing was said about appears
INTERVAL = 0.2  # seconds between two writes of a plain bar
CELLS = 24


class Bar(Protocol):
    """What is used of tqdm's bars."""

    def set_description(self, desc: str, refresh: bool = ...) -> None:
        """The text in front."""

    def set_postfix(self, ordered_dict: dict[str, Any] | None = ..., refresh: bool = ..., **kwargs: Any) -> None:
        """Numbers by name behind it."""

    def update(self, n: int = ...) -> Any:
        """More steps are done."""

    def close(self) -> None:
        """No more steps come."""


def is_seen() -> bool:
    """Whether stderr is a terminal or the output of a notebook's cell, and no test captures it."""
    if os.environ.get("GRADTAPE_PROGRESS") == "0" or "PYTEST_CURRENT_TEST" in os.environ:
        return False
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return sys.stderr.isatty() or getattr(shell, "kernel", None) is not None


def open_bar(label: str, wanted: bool | None, *, unit: str, total: int | None = None, done: int = 0) -> Bar | None:
    """A bar, if one is `wanted` (None: where it is seen, after a second); None where there is nothing to draw one."""
    if wanted is False or (wanted is None and not is_seen()):
        return None
    delay = 0.0 if wanted else DELAY
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return PlainBar(sys.stderr, label, total, done, unit, delay) if is_seen() else None
    leave = bool(wanted)
    look: dict[str, Any] = {"unit": f" {unit}", "delay": delay, "leave": leave, "dynamic_ncols": True}
    bar: Bar = tqdm(desc=label, total=total, initial=done, file=sys.stderr, **look)
    return bar


class PlainBar:
    """One line that is written over, and erased at the end.

    >>> import io
    >>> stream = io.StringIO()
    >>> bar = PlainBar(stream, "fitting", 4, 0, "batches", delay=0.0)
    >>> bar.update(2)
    >>> stream.getvalue().strip()
    'fitting: 50 % [============            ] 2 of 4 batches'
    """

    def __init__(self, stream: TextIO, label: str, total: int | None, done: int, unit: str, delay: float) -> None:
        self.stream, self.label, self.total, self.done, self.unit = stream, label, total, done, unit
        self.told: dict[str, Any] = {}
        self._next = time.monotonic() + delay
        self._width = 0

    def set_description(self, desc: str, refresh: bool = True) -> None:
        """Change the text in front."""
        self.label = desc

    def set_postfix(self, ordered_dict: dict[str, Any] | None = None, refresh: bool = True, **kwargs: Any) -> None:
        """Change the numbers behind it."""
        self.told = {**(ordered_dict or {}), **kwargs}

    def update(self, n: int = 1) -> None:
        """`n` more steps are done."""
        self.done += n
        now = time.monotonic()
        if now >= self._next:
            self._next = now + INTERVAL
            self._write(self._text())

    def _text(self) -> str:
        told = "".join(f", {name} {value}" for name, value in self.told.items())
        if not self.total:
            return f"{self.label}: {self.done} {self.unit}{told}"
        share = min(self.done / self.total, 1.0)
        bar = ("=" * round(share * CELLS)).ljust(CELLS)
        return f"{self.label}: {share:.0%} [{bar}] {self.done} of {self.total} {self.unit}{told}".replace("%", " %", 1)

    def _write(self, text: str) -> None:
        self.stream.write("\r" + text.ljust(self._width))
        self.stream.flush()
        self._width = len(text)

    def close(self) -> None:
        """Erase the line."""
        if self._width:
            self._write("")
            self.stream.write("\r")
            self.stream.flush()
            self._width = 0
